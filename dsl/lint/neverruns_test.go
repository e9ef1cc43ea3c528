package lint

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dsl"
)

func TestNeverRuns(t *testing.T) {
	runCases(t, Options{}, []ruleCase{
		{"a handler that depends on what it handles", `
tasks:
  load: {run: "true", on_failure: undo}
  undo: {run: "true", depends_on: load}
`, []string{"4:35 never-runs"}},
		{"a handler that depends on it in any case", `
tasks:
  load: {run: "true", on_failure: undo}
  undo: {run: "true", depends_on: {load: finished}}
`, nil},
		{"a failure and a success far apart", `
tasks:
  a: {run: "true"}
  b: {run: "true", depends_on: {a: failed}}
  c: {run: "true", depends_on: a}
  d: {run: "true", depends_on: c}
  e: {run: "true", depends_on: [b, d]}
  f: {run: "true", depends_on: e}
`, []string{"7:36 never-runs"}},
		{"either is enough", `
tasks:
  a: {run: "true"}
  b: {run: "true", depends_on: {a: failed}}
  c: {run: "true", depends_on: a}
  d: {run: "true", depends_on: [b, c], join: any}
`, nil},
		{"a skipped branch may have ended any way", `
tasks:
  a: {run: "true"}
  b: {run: "true", depends_on: {a: failed}}
  c: {run: "true", depends_on: a}
  d: {run: "true", depends_on: {b: [succeeded, skipped], c: [succeeded, skipped]}}
`, nil},
		{"a handler of two tasks needs only one of them to fail", `
tasks:
  a: {run: "true", on_failure: page}
  b: {run: "true", on_failure: page, depends_on: a}
  page: {run: "true", depends_on: {a: succeeded}}
`, nil},
		{"nothing skips a root", `
tasks:
  a: {run: "true"}
  b: {run: "true", depends_on: {a: skipped}}
`, []string{"4:33 never-runs"}},
		{"a condition may skip it", `
tasks:
  a: {run: "true", when: run.trigger == "manual"}
  b: {run: "true", depends_on: {a: skipped}}
  c: {run: "true", skip_codes: [3]}
  d: {run: "true", depends_on: {c: skipped}}
  e: {run: "true", depends_on: a}
  f: {run: "true", depends_on: {e: skipped}}
`, nil},
		{"what waits in any case is not skipped", `
tasks:
  a: {run: "true"}
  b: {run: "true", depends_on: {a: finished}}
  c: {run: "true", depends_on: {b: skipped}}
`, []string{"5:33 never-runs"}},
		{"an allowed failure is no failure for what depends on it", `
tasks:
  a: {run: "true", allow_failure: true}
  b: {run: "true", depends_on: {a: failed}}
`, []string{"4:33 never-runs"}},
		{"but its handler is called", `
tasks:
  a: {run: "true", allow_failure: true, on_failure: b}
  b: {run: "true"}
`, nil},
		{"and a task that depends on both runs after such a failure", `
tasks:
  a: {run: "true", allow_failure: true, on_failure: b}
  b: {run: "true", depends_on: a}
`, nil},
		{"a disabled task is one that may be enabled again", `
tasks:
  a: {run: "true", disabled: true, on_failure: page}
  b: {run: "true", depends_on: {a: skipped}}
  page: {run: "true"}
`, nil},
		{"what is behind is not reported as well", `
tasks:
  a: {run: "true"}
  b: {run: "true", depends_on: {a: skipped}}
  c: {run: "true", depends_on: b}
  d: {run: "true", depends_on: {c: succeeded, b: succeeded}}
`, []string{"4:33 never-runs", "6:47 redundant-dependency"}},
		{"a handler of the workflow may start without a call", `
on_finish: tidy
tasks:
  a: {run: "true", on_failure: tidy}
  tidy: {run: "true", depends_on: {a: succeeded}}
`, nil},
	})
}

// drawWorkflow gives a workflow of a few tasks with conditions, joins and handlers.
func drawWorkflow(t *rapid.T, most int) *File {
	n := rapid.IntRange(2, most).Draw(t, "tasks")
	text := "tasks:\n"
	for i := range n {
		text += fmt.Sprintf("  t%d:\n    run: \"true\"\n", i)
		if rapid.IntRange(0, 3).Draw(t, "allow") == 0 {
			text += "    allow_failure: true\n"
		}
		deps := ""
		for u := range i {
			if on := rapid.SampledFrom([]string{"", "", "succeeded", "succeeded", "failed", "skipped", "finished"}).Draw(t, "edge"); on != "" {
				deps += fmt.Sprintf("      t%d: %s\n", u, on)
			}
		}
		if deps != "" {
			text += "    depends_on:\n" + deps
			text += "    join: " + rapid.SampledFrom([]string{"all", "all", "any"}).Draw(t, "join") + "\n"
		}
		if i < n-1 && rapid.IntRange(0, 2).Draw(t, "handled") == 0 {
			text += fmt.Sprintf("    on_failure: t%d\n", rapid.IntRange(i+1, n-1).Draw(t, "handler"))
		}
	}
	f := Parse("nightly.yaml", []byte(text), "", "")
	if f.Plan == nil {
		t.Fatalf("no plan:\n%s", text)
	}
	return f
}

// A task that is said never to run must not run in any outcome: the edges of
// small random workflows are tried out with all ends of all tasks.
func TestNeverRunsIsNeverWrong(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawWorkflow(t, 6)
		possible := tasksThatRun(f.Plan)
		for _, d := range Check([]*File{f}, Options{}) {
			if d.Rule != "never-runs" {
				continue
			}
			id := strings.Split(d.Message, `"`)[1]
			if i, _ := f.Plan.Task(id); possible[i] {
				t.Fatalf("%s\nbut it can run:\n%s", d.Message, f.Source.Text)
			}
		}
	})
}

// tasksThatRun tries out every combination of success and failure.
func tasksThatRun(plan *dag.Plan) []bool {
	n := len(plan.Tasks)
	runs := make([]bool, n)
	for outcome := range 1 << n {
		ends := make([]dsl.Outcomes, n)
		for _, t := range plan.Order {
			if !starts(plan, t, ends) {
				ends[t] = dsl.OnSkipped
				continue
			}
			runs[t] = true
			ends[t] = dsl.OnSucceeded
			if outcome>>t&1 != 0 {
				ends[t] = dsl.OnFailed
			}
		}
	}
	return runs
}

func starts(plan *dag.Plan, t dag.Task, ends []dsl.Outcomes) bool {
	called, callers, held := false, 0, 0
	for u := range plan.Tasks {
		for _, e := range plan.Tasks[u].Downstream {
			if e.To == t && e.Kind == dag.Failure {
				callers++
				called = called || ends[u] == dsl.OnFailed
			}
		}
	}
	spec := plan.Tasks[t].Spec
	for _, d := range spec.DependsOn {
		u, _ := plan.Task(d.Task.V)
		end := ends[u]
		if end == dsl.OnFailed && plan.Tasks[u].Spec.AllowFailure.V {
			end = dsl.OnSucceeded
		}
		if d.On&end != 0 {
			held++
		}
	}
	edges := held == len(spec.DependsOn) || spec.Join.V == dsl.JoinAny && held > 0
	return edges && (callers == 0 || called)
}
