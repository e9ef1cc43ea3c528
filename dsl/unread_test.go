package dsl

import (
	"slices"
	"strings"
	"testing"
)

func TestWhatAMistakeKeepsFromBeingKnownIsUnread(t *testing.T) {
	for _, c := range []struct {
		name, text string
		workflow   string // the keys of the workflow that are unread, of those that are asked for
		task       string // those of the task t
	}{
		{"nothing, where nothing is wrong", "tasks: {t: {run: x, timeout: 5m}}", "", ""},
		{"a value that cannot be", "timeout: x\ntasks: {t: {run: x, timeout: y, retry: {max: z}}}", "timeout", "retry timeout"},
		{"the key that was meant", "timezon: UTC\ntasks: {t: {run: x, needs: u}, u: {run: x}}", "timezone", "depends_on"},
		{"what a key that nobody knows could have meant, by its value", "tasks: {t: {run: x, zzzz: 5m}}", "", "shell timeout when workdir"},
		{"but not what has another shape", "tasks: {t: {run: x, zzzz: [1, {}]}}", "", ""},
		{"nor edges, if no task has such a name", "tasks: {t: {run: x, zzzz: u}}", "", "shell when workdir"},
		{"unless one has", "tasks: {t: {run: x, zzzz: u}, u: {run: x}}", "", "depends_on shell when workdir"},
		{"a zone looks like one", "zzzz: Europe/Berlin\ntasks: {t: {run: x}}", "timezone", ""},
		{"a text that looks like none is none", "zzzz: red\ntasks: {t: {run: x}}", "", ""},
		{"a mistake in a task is its own", "tasks: {t: {run: x, timeout: y}, 1x: {run: x}}", "", "timeout"},
		{"a task that is given twice may be missing", "tasks: {t: {run: x}, t: {run: x}}", "tasks", ""},
		{"a mistake in a parameter is its own", "params: {a: {type: zzzz}, b: }\ntasks: {t: {run: x}}", "", ""},
		{"a parameter that is given twice", "params: {a: 1, a: 2}\ntasks: {t: {run: x}}", "params", ""},
		{"parameters that are none", "params: [a]\ntasks: {t: {run: x}}", "params", ""},
		{"a secret's", "secrets: {A: {zzzz: B}}\ntasks: {t: {run: x}}", "", ""},
		{"defaults hold for the tasks without their own", "defaults: {timeout: y, workdir: z}\ntasks: {t: {run: x, workdir: .}}", "defaults", "timeout"},
		{"defaults that are none", "defaults: []\ntasks: {t: {run: x}}", "defaults", "retry shell timeout workdir"},
		{"defaults under another name", "default: {timeout: 5m}\ntasks: {t: {run: x}}", "defaults", "retry shell timeout workdir"},
		{"a task that is no map", "tasks: {t: x}", "", "depends_on retry shell timeout when workdir"},
	} {
		t.Run(c.name, func(t *testing.T) {
			wf, _ := Parse("x.yaml", []byte(c.text))
			var workflow, task []string
			for _, key := range []string{"defaults", "params", "secrets", "tasks", "timeout", "timezone"} {
				if wf.Unread(key) {
					workflow = append(workflow, key)
				}
			}
			for _, key := range []string{"depends_on", "retry", "shell", "timeout", "when", "workdir"} {
				if wf.Tasks[0].Unread(key) {
					task = append(task, key)
				}
			}
			if got := strings.Join(workflow, " "); got != c.workflow {
				t.Errorf("of the workflow are unread %q, want %q", got, c.workflow)
			}
			if got := strings.Join(task, " "); got != c.task {
				t.Errorf("of the task are unread %q, want %q", got, c.task)
			}
		})
	}
}

func TestATaskThatABrokenKeyNamesMayBeAHandler(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"in a list with something else", "tasks: {a: {run: x, on_failure: [b, {}]}, b: {run: x}, c: {run: x}}", "b"},
		{"under a key with a slip", "tasks: {a: {run: x, onfailur: c}, b: {run: x}, c: {run: x}}", "c"},
		{"of the workflow", "on_finsh: [b, c]\ntasks: {a: {run: x}, b: {run: x}, c: {run: x}}", "b c"},
		{"under a key that nobody knows", "zzzz: {b: c}\ntasks: {a: {run: x}, b: {run: x}, c: {run: x}}", "b c"},
		{"by an alias", "x-a: &a [b]\ntasks: {a: {run: x, zzzz: *a}, b: {run: x}, c: {run: x}}", "b"},
		{"not where all is well", "tasks: {a: {run: x, on_failure: b}, b: {run: x}, c: {run: x}}", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			wf, _ := Parse("x.yaml", []byte(c.text))
			var got []string
			for i := range wf.Tasks {
				if wf.Tasks[i].Uncalled() {
					got = append(got, wf.Tasks[i].ID.V)
				}
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestAParameterOfWhichSomethingIsWrongIsStillDeclared(t *testing.T) {
	wf, _ := Parse("x.yaml", []byte("params:\n  a: {type: zzzz}\n  b:\n  c: 1\n  d:{default: 1}\ntasks: {t: {run: x}}"))
	var got []string
	for i := range wf.Params {
		if p := &wf.Params[i]; p.Unread() {
			got = append(got, p.Name.V)
		}
	}
	if len(wf.Params) != 4 || !slices.Equal(got, []string{"a", "b", "d"}) {
		t.Errorf("%d parameters, unread %q", len(wf.Params), got)
	}
}

func TestAFileThatAliasesBlowUpNamesNothingThatIsNotThere(t *testing.T) {
	text := "x-a: &a [" + strings.Repeat("z, ", 999) + "z]\nx-b: &b [" + strings.Repeat("*a, ", 200) + "*a]\n" +
		"tasks:\n  one: {call: f, with: {rows: *b}, depends_on: two}\n  two: {run: x}\n"
	wf, ds := Parse("x.yaml", []byte(text))
	if len(ds) != 1 || ds[0].Rule != "too-large" || ds[0].Pos.Line != 4 {
		t.Fatalf("got %v", ds)
	}
	for i := range wf.Tasks {
		if len(wf.Tasks[i].DependsOn) > 0 || !wf.Tasks[i].Unread("run") {
			t.Errorf("task %q is taken for complete", wf.Tasks[i].ID.V)
		}
	}
}
