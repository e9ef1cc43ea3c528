package reload

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ax-scheduler/ax/dag"
)

// chain gives a workflow whose tasks follow on each other.
func chain(name string, tasks int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "name: %s\ncron: '0 4 1 1 *'\ntimezone: UTC\ntasks:\n", name)
	for i := range tasks {
		fmt.Fprintf(&b, "  t%d:\n    run: ./step.sh %d\n    timeout: 10m\n", i, i)
		if i > 0 {
			fmt.Fprintf(&b, "    depends_on: t%d\n", i-1)
		}
	}
	return b.String()
}

func TestHowLongAPlanStays(t *testing.T) {
	for _, c := range []struct {
		name     string
		tasks    int
		held     bool
		compiled int // times, when it was asked for twice
	}{
		{"a small one that nobody has any more is compiled again", smallPlan, false, 2},
		{"a small one that somebody has is shared", smallPlan, true, 1},
		{"a large one stays", smallPlan + 1, false, 1},
		{"a large one that somebody has is shared", smallPlan + 1, true, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			var p plan
			compiled := 0
			compile := func() *dag.Plan {
				compiled++
				return &dag.Plan{Tasks: make([]dag.Node, c.tasks)}
			}
			var held []*dag.Plan
			if first := p.get(compile); c.held {
				held = append(held, first)
			}
			runtime.GC()
			second := p.get(compile)
			if compiled != c.compiled {
				t.Errorf("it was compiled %d times, want %d", compiled, c.compiled)
			}
			if c.held && second != held[0] {
				t.Error("there are two of one plan")
			}
		})
	}
}

func TestThoseWhoAskAtOneTimeShareAPlan(t *testing.T) {
	var p plan
	var compiled atomic.Int32
	var all [16]*dag.Plan
	var asking sync.WaitGroup
	for i := range all {
		asking.Go(func() {
			all[i] = p.get(func() *dag.Plan {
				compiled.Add(1)
				return &dag.Plan{Tasks: make([]dag.Node, 1)}
			})
		})
	}
	asking.Wait()
	for _, one := range all {
		if one != all[0] {
			t.Error("there are two of one plan")
		}
	}
	if n := compiled.Load(); n != 1 {
		t.Errorf("it was compiled %d times", n)
	}
}

func TestAPlanThatIsCompiledAgainIsTheSame(t *testing.T) {
	text := "name: flow\ntags: [a]\ntasks:\n  a: {run: x, cron: '0 3 * * *'}\n  b: {run: y, depends_on: a, on_failure: c}\n  c: {run: z}\n"
	checked := Check("flow.yaml", []byte(text))
	l := checked.Keep()
	l.plan = plan{}
	again := l.Plan()
	if again == checked.Plan {
		t.Fatal("it was not compiled again")
	}
	if !reflect.DeepEqual(again.Tasks, checked.Plan.Tasks) || !reflect.DeepEqual(again.Order, checked.Plan.Order) || !reflect.DeepEqual(again.Entries, checked.Plan.Entries) {
		t.Errorf("it was %+v and is %+v", checked.Plan, again)
	}
	if !reflect.DeepEqual(l.Entries, again.Entries) || l.Entries[0].IDs[0] != "a" {
		t.Errorf("the entries are %+v", l.Entries)
	}
	if got := again.Workflow.Source.Hash(); got != l.Version {
		t.Errorf("its version is %s, and was %s", got, l.Version)
	}
	head := *again.Workflow
	head.Source, head.Tasks = l.Head.Source, nil
	if !reflect.DeepEqual(&head, l.Head) {
		t.Errorf("the head is %+v, of the workflow %+v", l.Head, head)
	}
}

// chains fills a folder with files of 20 tasks, and gives how many bytes they have.
func chains(t *testing.T, dir string, files int) (size int) {
	t.Helper()
	for i := range files {
		name := fmt.Sprintf("flow-%d", i)
		text := chain(name, 20)
		size += len(text)
		if err := os.WriteFile(filepath.Join(dir, name+".yaml"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return size
}

func scanned(t *testing.T, dir string, old *Catalog) *Catalog {
	t.Helper()
	c, err := Scan(dir, old, time.Unix(0, 0), 0)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// What is loaded and idle is its text and little more: 1,000 files of 20 tasks
// have room in a small server.
func TestALoadedTaskTakesLittleMemory(t *testing.T) {
	const files, tasks = 300, 300 * 20
	dir := t.TempDir()
	size := chains(t, dir, files)
	heap := func() int {
		runtime.GC()
		runtime.GC() // what pools had
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	scanned(t, dir, nil) // what is made once is there
	before := heap()
	c := scanned(t, dir, nil)
	each := (heap() - before) / tasks
	if len(c.Workflows) != files {
		t.Fatalf("%d are loaded", len(c.Workflows))
	}
	t.Logf("%d bytes a task, of which %d are the text", each, size/tasks)
	if each > 300 {
		t.Errorf("a loaded task takes %d bytes", each)
	}
}

// Twice a minute all files are looked at: the waste of that is memory of an idle
// server until it is collected.
func TestALookAtFilesThatHaveNotChangedWastesLittle(t *testing.T) {
	const files = 300
	dir := t.TempDir()
	chains(t, dir, files)
	c := scanned(t, dir, nil)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	next := scanned(t, dir, c)
	runtime.ReadMemStats(&after)
	if !next.Same(c) || len(next.Workflows) != files {
		t.Fatalf("%d are loaded", len(next.Workflows))
	}
	each := int(after.TotalAlloc-before.TotalAlloc) / files
	t.Logf("%d bytes a file", each)
	if each > 1500 {
		t.Errorf("%d bytes are allocated for each file", each)
	}
}
