package executor

import (
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const restOfStat = " 4194560 1 2 3 4 5 6 7 8 20 0 1 0 98765 0 0"

func TestStatIsReadWhateverTheName(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want process
		ok   bool
	}{
		"a usual one":          {"12 (sh) S 1 12 10 0 -1" + restOfStat, process{pid: 12, name: "sh", parent: 1, group: 12, start: 98765}, true},
		"a name with brackets": {"12 (a) S 9 (b)) S 1 12 10 0 -1" + restOfStat, process{pid: 12, name: "a) S 9 (b)", parent: 1, group: 12, start: 98765}, true},
		"a zombie":             {"12 (sh) Z 1 12 10 0 -1" + restOfStat, process{pid: 12, name: "sh", parent: 1, group: 12, start: 98765, dead: true}, true},
		"a first thread that ended before the others": {
			"12 (sh) Z 1 12 10 0 -1" + strings.Replace(restOfStat, " 20 0 1 ", " 20 0 3 ", 1),
			process{pid: 12, name: "sh", parent: 1, group: 12, start: 98765}, true,
		},
		"nothing":         {"", process{}, false},
		"too few fields":  {"12 (sh) S 1 12", process{}, false},
		"no name":         {"12 S 1 12 10 0 -1" + restOfStat, process{}, false},
		"not a number":    {"12 (sh) S x 12 10 0 -1" + restOfStat, process{}, false},
		"brackets turned": {"12 )sh( S 1 12 10 0 -1" + restOfStat, process{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := parseStat([]byte(c.text))
			if ok != c.ok || ok && got != c.want {
				t.Errorf("%+v, %v, want %+v, %v", got, ok, c.want, c.ok)
			}
		})
	}
}

func TestNoStatMakesItPanic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parseStat([]byte(rapid.StringOf(rapid.SampledFrom([]rune("() 0Sz-"))).Draw(t, "stat")))
	})
}

func TestAProcessIsReadAsItIs(t *testing.T) {
	p, ok := readProcess(os.Getpid())
	if !ok || p.pid != os.Getpid() || p.parent != os.Getppid() || p.dead || p.start == 0 {
		t.Errorf("%+v, %v", p, ok)
	}
	if _, ok := readProcess(1 << 30); ok {
		t.Error("a process that cannot be is there")
	}
}

func TestALongProcFileIsReadWhole(t *testing.T) {
	want, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := readProc("/proc/self/mountinfo"); err != nil || string(got) != string(want) {
		t.Errorf("%d bytes of %d, error %v", len(got), len(want), err)
	}
}

func TestTheTreeThatThisProcessIsInLeavesItOut(t *testing.T) {
	self, ok := readProcess(os.Getpid())
	parent, ok2 := readProcess(os.Getppid())
	if !ok || !ok2 {
		t.Skip("the parent is outside of this container")
	}
	found := map[int]int{}
	for _, p := range withDescendants([]process{parent, parent, self}) {
		found[p.pid]++
	}
	if found[self.pid] != 0 || found[parent.pid] != 1 {
		t.Errorf("this process is there %d times, its parent %d times", found[self.pid], found[parent.pid])
	}
}
