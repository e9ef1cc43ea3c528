package dag_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dsl"
)

func TestASketchMarksTheTasksThatMayLackAnEdge(t *testing.T) {
	for _, c := range []struct{ name, text, cut, uncalled string }{
		{"an unknown upstream", "tasks: {a: {run: x}, b: {run: x, depends_on: [a, zzzz]}, c: {run: x, depends_on: b}}", "b", ""},
		{"a task that names itself", "tasks: {a: {run: x, depends_on: a}, b: {run: x, depends_on: a}}", "a", ""},
		{"all that wait for each other, and none behind them",
			"tasks: {a: {run: x, depends_on: c}, b: {run: x, depends_on: a}, c: {run: x, depends_on: b}, d: {run: x, depends_on: c}}", "a b c", ""},
		{"what waits for a handler of the workflow", "on_finish: h\ntasks: {h: {run: x}, a: {run: x, depends_on: h}}", "a", ""},
		{"an unknown handler that is nearly another", "tasks: {a: {run: x, on_failure: pagr}, page: {run: x}, b: {run: x}}", "", "page"},
		{"one that is like no other, but comes after its caller",
			"tasks: {z: {run: x}, a: {run: x, depends_on: z, on_failure: qwertz}, page: {run: x}, b: {run: x, depends_on: a}}", "", "page"},
		{"of the workflow", "on_failure: qwertz\ntasks: {a: {run: x}, b: {run: x, depends_on: a}}", "", "a"},
		{"a handler that is the task itself", "tasks: {a: {run: x, on_failure: a}, b: {run: x}}", "", "b"},
		{"nothing in a file that is right", "tasks: {a: {run: x, on_failure: b}, b: {run: x}, c: {run: x, depends_on: a}}", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			plan, _, whole := dag.Sketch(parse(t, c.text))
			var cut, uncalled []dag.Task
			for i, n := range plan.Tasks {
				if n.Cut {
					cut = append(cut, dag.Task(i))
				}
				if n.Uncalled {
					uncalled = append(uncalled, dag.Task(i))
				}
			}
			if got := ids(plan, cut); got != c.cut {
				t.Errorf("cut are %q, want %q", got, c.cut)
			}
			if got := ids(plan, uncalled); got != c.uncalled {
				t.Errorf("uncalled are %q, want %q", got, c.uncalled)
			}
			if wrong := c.cut+c.uncalled != ""; whole == wrong {
				t.Errorf("whole is %v", whole)
			}
		})
	}
}

func TestASketchHasAllTasksInAnOrderOfTheEdgesThatAreLeft(t *testing.T) {
	many(t, 300, func(r *rapid.T) {
		wf := drawWorkflow(r)
		plan, ds, whole := dag.Sketch(wf)
		if whole == ds.Errors() || len(plan.Order) != len(wf.Tasks) {
			r.Fatalf("whole is %v, %d of %d tasks are in order", whole, len(plan.Order), len(wf.Tasks))
		}
		for i, n := range plan.Tasks {
			for _, e := range n.Downstream {
				if slices.Index(plan.Order, dag.Task(i)) > slices.Index(plan.Order, e.To) {
					r.Errorf("%s comes after %s", n.ID, plan.Tasks[e.To].ID)
				}
			}
		}
	})
}

func TestANameThatManyTasksShareIsToldOnce(t *testing.T) {
	checkDiagnostics(t, []diagnosticCase{{"by an alias", `x-up: &up [zzzz]
tasks:
  a: {run: x, depends_on: *up}
  b: {run: x, depends_on: *up}
`, []string{`1:12 error unknown-task: task "a" depends on unknown task "zzzz"`}}})
}

func TestATaskThatMayBeAmongThoseThatCouldNotBeReadIsNotUnknown(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       int
	}{
		{"the other one of two with one id", "tasks: {a: {run: x}, a: {run: x}, c: {run: x, depends_on: qwertz}}", 0},
		{"a name that is nearly another is a slip", "tasks: {load: {run: x}, load: {run: x}, c: {run: x, depends_on: laod}}", 1},
		{"no tasks could be read", "on_finish: qwertz\ntasks: []", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			wf, _ := dsl.Parse("w.yaml", []byte(c.text))
			plan, ds := dag.Compile(wf)
			if len(ds) != c.want || plan != nil {
				t.Errorf("got %v, and a plan: %v", told(ds), plan != nil)
			}
		})
	}
}
