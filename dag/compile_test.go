package dag_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dsl"
)

// parse reads a workflow that has no mistakes of its own.
func parse(t testing.TB, text string) *dsl.Workflow {
	t.Helper()
	wf, ds := dsl.Parse("w.yaml", []byte(text))
	if ds.Errors() {
		t.Fatalf("the file itself is wrong: %v", told(ds))
	}
	return wf
}

// told gives diagnostics as lines of "line:column severity rule: message (hint)".
func told(ds dsl.Diagnostics) []string {
	lines := []string{}
	for _, d := range ds {
		hint := ""
		if d.Hint != "" {
			hint = " (" + d.Hint + ")"
		}
		lines = append(lines, fmt.Sprintf("%d:%d %s %s: %s%s", d.Pos.Line, d.Pos.Col, d.Severity, d.Rule, d.Message, hint))
	}
	return lines
}

// ids gives the names of tasks, in their order.
func ids(p *dag.Plan, ts []dag.Task) string {
	names := make([]string, len(ts))
	for i, t := range ts {
		names[i] = p.Tasks[t].ID
	}
	return strings.Join(names, " ")
}

type diagnosticCase struct {
	name string
	text string
	want []string
}

func checkDiagnostics(t *testing.T, cases []diagnosticCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			plan, ds := dag.Compile(parse(t, c.text))
			if got := told(ds); !slices.Equal(got, c.want) {
				t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(c.want, "\n\t"))
			}
			if (plan == nil) != ds.Errors() {
				t.Errorf("errors: %v, but plan is nil: %v", ds.Errors(), plan == nil)
			}
		})
	}
}

func TestWhatIsWrongWithNamesIsToldAtTheirPlace(t *testing.T) {
	checkDiagnostics(t, []diagnosticCase{
		{"a workflow without mistakes gives nothing", `
tasks:
  a: {run: x, on_failure: h}
  b: {run: x, depends_on: a}
  h: {run: x}
`, []string{}},
		{"a task that depends on itself is no cycle as well", `
tasks:
  a: {run: x, depends_on: a}
`, []string{`3:27 error self-dependency: task "a" depends on itself (remove it, or name the task that must come first)`}},
		{"a task that handles its own failure", `
tasks:
  a: {run: x, on_failure: [h, a]}
  h: {run: x}
`, []string{`3:31 error self-dependency: on_failure of task "a" names itself (remove it, or name the task that handles the failure)`}},
		{"an unknown name in a list stands where it is written", `
tasks:
  extract: {run: x}
  b: {run: x, depends_on: [extract, extarct]}
`, []string{`4:37 error unknown-task: task "b" depends on unknown task "extarct" (did you mean "extract"?)`}},
		{"ids with commas between them", `
tasks:
  a: {run: x}
  b: {run: x}
  c: {run: x, depends_on: "a, b"}
`, []string{`5:27 error unknown-task: task "c" depends on unknown task "a, b" (write [a, b])`}},
		{"ids with blanks between them", `
tasks:
  a: {run: x}
  b: {run: x}
  c: {run: x, depends_on: a b}
`, []string{`5:27 error unknown-task: task "c" depends on unknown task "a b" (write [a, b])`}},
		{"a list that is a text", `
tasks:
  a: {run: x}
  b: {run: x}
  c: {run: x, depends_on: "[a, b]"}
`, []string{`5:27 error unknown-task: task "c" depends on unknown task "[a, b]" (write [a, b])`}},
		{"a list without commas", `
tasks:
  a: {run: x}
  b: {run: x}
  c: {run: x, depends_on: [a b]}
`, []string{`5:28 error unknown-task: task "c" depends on unknown task "a b" (write [a, b])`}},
		{"a list in which one is no task", `
tasks:
  a: {run: x}
  b: {run: x}
  c: {run: x, depends_on: a zebra}
`, []string{`5:27 error unknown-task: task "c" depends on unknown task "a zebra"`}},
		{"an unknown name in a map stands where it is written", `
tasks:
  a: {run: x}
  b:
    run: x
    depends_on:
      a: finished
      zebra: [succeeded, skipped]
`, []string{`8:7 error unknown-task: task "b" depends on unknown task "zebra"`}},
		{"an unknown name in a list of lines", `
tasks:
  a: {run: x}
  b:
    run: x
    depends_on:
      - a
      - yonder
`, []string{`8:9 error unknown-task: task "b" depends on unknown task "yonder"`}},
		{"a column counts characters, not bytes", `
tasks:
  a: {description: "é✓", run: x, depends_on: zebra}
`, []string{`3:46 error unknown-task: task "a" depends on unknown task "zebra"`}},
		{"names differ by case", `
tasks:
  Load: {run: x}
  b: {run: x, depends_on: load}
`, []string{`4:27 error unknown-task: task "b" depends on unknown task "load" (did you mean "Load"?)`}},
		{"an unknown handler of a task", `
tasks:
  notify: {run: x}
  b: {run: x, on_failure: notifi}
`, []string{`4:27 error unknown-task: on_failure of task "b" names unknown task "notifi" (did you mean "notify"?)`}},
		{"an unknown handler of the workflow", `
on_finish: [tidy, ghost]
on_success: tidi
on_failure: phantom
tasks:
  a: {run: x}
  tidy: {run: x}
`, []string{
			`2:19 error unknown-task: on_finish names unknown task "ghost"`,
			`3:13 error unknown-task: on_success names unknown task "tidi" (did you mean "tidy"?)`,
			`4:13 error unknown-task: on_failure names unknown task "phantom"`,
		}},
		{"a name given twice is a warning at the second place", `
on_finish: [h, h]
tasks:
  a: {run: x}
  b: {run: x, depends_on: [a, a], on_failure: [h, h]}
  h: {run: x}
`, []string{
			`2:16 warning duplicate-dependency: on_finish names "h" twice (remove one of them)`,
			`5:31 warning duplicate-dependency: task "b" depends on "a" twice (remove one of them)`,
			`5:51 warning duplicate-dependency: on_failure of task "b" names "h" twice (remove one of them)`,
		}},
		{"one task may depend on another and handle its failure, or handle two ends of the run", `
on_failure: h
on_success: h
tasks:
  a: {run: x, on_failure: b}
  b: {run: x, depends_on: {a: finished}}
  h: {run: x}
`, []string{}},
		{"an unknown name given twice is told once", `
tasks:
  a: {run: x, depends_on: [zebra, zebra]}
`, []string{
			`3:28 error unknown-task: task "a" depends on unknown task "zebra"`,
			`3:35 warning duplicate-dependency: task "a" depends on "zebra" twice (remove one of them)`,
		}},
		{"all mistakes are told at once, by place", `
tasks:
  b: {run: x, depends_on: [c, yak]}
  a: {run: x, depends_on: [a, zebra]}
  c: {run: x, depends_on: b}
`, []string{
			`3:28 error cycle: tasks wait for each other: b -> c -> b (drop one of these dependencies)`,
			`3:31 error unknown-task: task "b" depends on unknown task "yak"`,
			`4:28 error self-dependency: task "a" depends on itself (remove it, or name the task that must come first)`,
			`4:31 error unknown-task: task "a" depends on unknown task "zebra"`,
		}},
	})
}

func TestASchedulePlacedWhereNoneCanBeIsToldAtItsPlace(t *testing.T) {
	checkDiagnostics(t, []diagnosticCase{
		{"on a task with upstreams", `
tasks:
  a: {run: x}
  b: {run: x, depends_on: a, cron: "0 3 * * *"}
  c: {run: x, depends_on: a, every: 1h}
`, []string{
			`4:36 error bad-value: task "b" has both cron and depends_on (remove it, or remove depends_on: it is started by what it depends on)`,
			`5:37 error bad-value: task "c" has both every and depends_on (remove it, or remove depends_on: it is started by what it depends on)`,
		}},
		{"on a handler of a task", `
tasks:
  a: {run: x, on_failure: h}
  h: {run: x, cron: "0 3 * * *"}
`, []string{`4:21 error bad-value: task "h" is a handler and has cron (remove it: a handler is started by what it handles)`}},
		{"on a handler of the workflow", `
on_finish: h
tasks:
  a: {run: x}
  h: {run: x, every: 1h}
`, []string{`5:22 error bad-value: task "h" is a handler and has every (remove it: a handler is started by what it handles)`}},
	})
}

func TestRootsWithTheSameScheduleShareAnEntry(t *testing.T) {
	plan, ds := dag.Compile(parse(t, `
tasks:
  a: {run: x, cron: ["0 1 * * *", "0 2 * * *", "0 1 * * *"]}
  b: {run: x, every: 1h}
  c: {run: x, cron: "0 2 * * *"}
  d: {run: x, every: 60m}
  e: {run: x, cron: [{cron: "0 2 * * *", timezone: Asia/Shanghai}]}
  f: {run: x, cron: [{cron: "0 2 * * *", params: {region: cn}}]}
  g: {run: x, cron: "0 2 * * *", disabled: true}
  unscheduled: {run: x}
`))
	if len(ds) > 0 {
		t.Fatal(told(ds))
	}
	var got []string
	for _, e := range plan.Entries {
		s := e.Schedule
		got = append(got, fmt.Sprintf("%s %s %s %d: %s", s.Cron.V, s.Timezone.V, s.Every.V, len(s.Params), ids(plan, e.Roots)))
	}
	want := []string{
		"0 1 * * *  0s 0: a",
		"0 2 * * *  0s 0: a c",
		"  1h0m0s 0: b d",
		"0 2 * * * Asia/Shanghai 0s 0: e",
		"0 2 * * *  0s 1: f",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

func TestAPlanHasTheEdgesOfTheFile(t *testing.T) {
	plan, ds := dag.Compile(parse(t, `
on_failure: h
on_finish: [h, z]
tasks:
  c: {run: x, depends_on: {b: finished, a: [failed, skipped]}, on_failure: p}
  b: {run: x, depends_on: a, on_failure: p}
  a: {run: x}
  p: {run: x, depends_on: a}
  h: {run: x, on_failure: q}
  q: {run: x}
  z: {run: x, depends_on: h}
`))
	if len(ds) > 0 {
		t.Fatal(told(ds))
	}
	var got []string
	for _, n := range plan.Tasks {
		line := fmt.Sprintf("%s %d/%d", n.ID, n.Upstreams, n.Callers)
		if n.Handles != 0 {
			line += fmt.Sprintf(" handles %03b", n.Handles)
		}
		if n.Late {
			line += " late"
		}
		for _, e := range n.Downstream {
			line += fmt.Sprintf(" ->%s(%d: %s)", plan.Tasks[e.To].ID, e.Kind, e.On)
		}
		got = append(got, line)
	}
	want := []string{
		"c 2/0 ->p(1: failed)",
		"b 1/0 ->c(0: finished) ->p(1: failed)",
		"a 0/0 ->c(0: failed, skipped) ->b(0: succeeded) ->p(0: succeeded)",
		"p 1/2",
		"h 0/0 handles 111 late ->q(1: failed) ->z(0: succeeded)",
		"q 0/1 late",
		"z 1/0 handles 111 late",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
	if got := ids(plan, plan.Order); got != "a b c p h q z" {
		t.Errorf("order is %s", got)
	}
	if b, ok := plan.Task("b"); !ok || plan.Tasks[b].ID != "b" {
		t.Errorf("task b is %d, %v", b, ok)
	}
	if _, ok := plan.Task("B"); ok {
		t.Error("there is a task B")
	}
}

func TestMembersOfARunAreWhatItsRootsNeed(t *testing.T) {
	plan, ds := dag.Compile(parse(t, `
on_finish: fin
tasks:
  s1: {run: x, cron: "0 1 * * *"}
  s2: {run: x, cron: "0 2 * * *"}
  free: {run: x, on_failure: page}
  d1: {run: x, depends_on: [s1, free]}
  d2: {run: x, depends_on: s2}
  page: {run: x, depends_on: token}
  token: {run: x, on_failure: sms}
  sms: {run: x}
  other: {run: x, on_failure: page}
  fin: {run: x}
`))
	if len(ds) > 0 {
		t.Fatal(told(ds))
	}
	for _, c := range []struct{ root, members, downstream string }{
		{"s1", "s1 free d1 page token sms fin", "s1 d1"},
		{"s2", "s2 d2 fin", "s2 d2"},
		{"other", "page token sms other fin", "page other"},
		{"fin", "fin", "fin"},
	} {
		root, _ := plan.Task(c.root)
		if got := ids(plan, plan.Members(root)); got != c.members {
			t.Errorf("members from %s: got %s, want %s", c.root, got, c.members)
		}
		if got := ids(plan, plan.Downstream(root)); got != c.downstream {
			t.Errorf("downstream of %s: got %s, want %s", c.root, got, c.downstream)
		}
	}
	if got := plan.Downstream(); got != nil {
		t.Errorf("downstream of nothing: %v", got)
	}
}
