package format

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ax-scheduler/ax/dsl"
)

// taskEntries are what a task may have, comments among them.
var taskEntries = []string{
	"    description: what it is # really\n",
	"    # why it waits\n    depends_on: [b]\n",
	"    depends_on:\n      # first\n      - b\n",
	"    join: any\n",
	"    when: 1 == 1\n",
	"    foreach:\n      max_parallel: 2\n      items: [x, y]\n",
	"    workdir: /tmp\n",
	"    shell: bash\n",
	"    env:\n      B: 1 # second\n      A: 2\n",
	"    # a script\n    run: |\n      # in the script\n      echo one\n\n        two   \n",
	"    run: " + strings.Repeat("echo ", 200) + "\n",
	"    command: [echo,   'a', # flow\n      b]\n",
	"    retry: {delay: 5s, max: 3}\n",
	"    retry:\n      delay: 5s\n      # at most\n      max: 3\n",
	"    timeout: 5m\n",
	"    kill_after: 1s\n",
	"    skip_codes: [3]\n",
	"    allow_failure: true # for now\n",
	"    pool: db\n",
	"    recovery: fail\n",
	"    on_failure: b\n",
	"    disabled: false\n",
}

// key gives the key of an entry.
func key(entry string) string {
	for line := range strings.Lines(entry) {
		if name, _, ok := strings.Cut(strings.TrimSpace(line), ":"); ok && !strings.HasPrefix(name, "#") {
			return name
		}
	}
	return ""
}

// choose draws entries with different keys, one action among them at most.
func choose(t *rapid.T) (chosen []string) {
	seen, action := map[string]bool{}, map[string]bool{"run": true, "command": true}
	for _, e := range rapid.Permutation(taskEntries).Draw(t, "entries") {
		if k := key(e); !seen[k] && !(action[k] && seen["action"]) {
			seen[k], seen["action"] = true, seen["action"] || action[k]
			chosen = append(chosen, e)
		}
	}
	return chosen[:rapid.IntRange(1, len(chosen)).Draw(t, "count")]
}

func TestHoweverTheKeysStoodTheLayoutIsTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		entries := choose(t)
		end := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "line end")
		bom := rapid.SampledFrom([]string{"", "\ufeff"}).Draw(t, "mark")
		write := func(entries []string) string {
			return bom + strings.ReplaceAll("tasks:\n  b: {run: x}\n  a:\n"+strings.Join(entries, ""), "\n", end)
		}
		one := []byte(write(entries))
		other := []byte(write(rapid.Permutation(entries).Draw(t, "again")))
		a, ok := check(t, one)
		b, also := check(t, other)
		if !ok || !also || string(a) != string(b) {
			t.Fatalf("laid out %v and %v\n--- one\n%s\n--- other\n%s", ok, also, a, b)
		}
		if strings.ContainsAny(string(a), "\r\ufeff") {
			t.Fatalf("line ends or the mark are those of another system: %q", a)
		}
	})
}

func TestKeysStandInTheOrderInWhichTheyAreRead(t *testing.T) {
	for name, order := range map[string]string{
		"a task":       "description depends_on join when foreach shell run with retry timeout on_failure",
		"the workflow": "name description owner tags cron params env secrets defaults timeout on_failure notify tasks",
	} {
		keys, at := dsl.Keys()[name], -1
		for _, k := range strings.Fields(order) {
			i := slices.Index(keys, k)
			if i <= at {
				t.Errorf("%s: %q stands too early in %v", name, k, keys)
			}
			at = i
		}
		if at != len(keys)-1 {
			t.Errorf("%s: %q is not the last of %v", name, keys[at], keys)
		}
	}
}

func TestCommentsInOddPlacesAreKept(t *testing.T) {
	good, err := os.ReadFile(filepath.Join("..", "testdata", "full.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	read, done := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		lines := strings.SplitAfter(string(good), "\n")
		for i := range rapid.IntRange(1, 8).Draw(t, "comments") {
			at := rapid.IntRange(0, len(lines)-1).Draw(t, "line")
			switch blanks := strings.Repeat(" ", rapid.IntRange(0, 12).Draw(t, "blanks")); {
			case rapid.Bool().Draw(t, "behind"):
				lines[at] = fmt.Sprintf("%s %s# odd %d\n", strings.TrimSuffix(lines[at], "\n"), blanks, i)
			default:
				lines[at] = fmt.Sprintf("%s# odd %d\n%s", blanks, i, lines[at])
			}
		}
		text := []byte(strings.Join(lines, ""))
		if _, _, ds := dsl.Tree("w.yaml", text); len(ds) > 0 {
			t.Skip("no YAML")
		}
		read++
		if _, ok := check(t, text); ok {
			done++
		}
	})
	if done < read*9/10 {
		t.Errorf("only %d of %d files were laid out", done, read)
	}
}

func TestAVeryLongLineStaysOne(t *testing.T) {
	long := strings.Repeat("é 漢 x, ", 20_000)
	text := "tasks:\n  a:\n    run: |\n      " + long + "\n    env: {A: '" + long + "', B: \"" + long + "\"}\n    description: x # " + long + "\n"
	out, ok := check(t, []byte(text))
	if !ok || bytes.Count(out, []byte("\n")) != strings.Count(text, "\n") {
		t.Errorf("laid out %v, in %d lines", ok, bytes.Count(out, []byte("\n")))
	}
}
