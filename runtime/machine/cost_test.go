package machine

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dsl"
)

// shape compiles a workflow of n tasks, of which task i depends on some.
func shape(tb testing.TB, n int, on func(i int) []int) *dag.Plan {
	tb.Helper()
	wf := &dsl.Workflow{Source: dsl.NewSource("w.yaml", nil), Tasks: make([]dsl.Task, n)}
	for i := range wf.Tasks {
		wf.Tasks[i].ID = set(fmt.Sprint("t", i))
		for _, u := range on(i) {
			wf.Tasks[i].DependsOn = append(wf.Tasks[i].DependsOn, dsl.Dependency{Task: set(fmt.Sprint("t", u)), On: dsl.OnSucceeded})
		}
	}
	plan, ds := dag.Compile(wf)
	if plan == nil {
		tb.Fatal(ds)
	}
	return plan
}

func chain(tb testing.TB, n int) *dag.Plan {
	return shape(tb, n, func(i int) []int {
		if i == 0 {
			return nil
		}
		return []int{i - 1}
	})
}

// fan is a task, n-2 that depend on it, and one that depends on all of these.
func fan(tb testing.TB, n int) *dag.Plan {
	return shape(tb, n, func(i int) (on []int) {
		switch i {
		case 0:
			return nil
		case n - 1:
			for u := 1; u < n-1; u++ {
				on = append(on, u)
			}
			return on
		}
		return []int{0}
	})
}

// each is a task with a foreach, five instances at a time.
func each(tb testing.TB) *dag.Plan {
	plan := shape(tb, 1, func(int) []int { return nil })
	plan.Tasks[0].Spec.Foreach = &dsl.Foreach{Expr: set("x"), MaxParallel: set(5)}
	return plan
}

// through runs everything, with one task or instance at a time, and gives the
// events. A foreach has so many items.
func through(tb testing.TB, plan *dag.Plan, end Result, items int) (*Run, int) {
	r, events := New("r1", plan, nil), 0
	apply := func(e Event) {
		cmds, err := r.Apply(e)
		if err != nil {
			tb.Fatal(err)
		}
		r.TakeChanged()
		events++
		for _, c := range cmds {
			if c, ok := c.(Expand); ok {
				if _, err := r.Apply(Expanded{Task: c.Task, Items: make([]string, items), At: epoch}); err != nil {
					tb.Fatal(err)
				}
			}
		}
	}
	for apply(RunStarted{epoch}); ; {
		t, ok := r.Startable(nil)
		if !ok {
			return r, events
		}
		apply(AttemptStarted{t.Task, t.Instance, 1, epoch})
		apply(AttemptEnded{Task: t.Task, Instance: t.Instance, Attempt: 1, Result: end, At: epoch})
	}
}

func TestALargeRunGoesThrough(t *testing.T) {
	if testing.Short() {
		t.Skip("large")
	}
	const large = 100_000
	r, events := through(t, each(t), Result{ExitCode: 1}, large)
	if state, _, text := r.State(); state != RunFailed || events != 2*large+1 {
		t.Errorf("foreach: the run is %s after %d events: %s", state, events, text)
	}
	for name, plan := range map[string]*dag.Plan{"chain": chain(t, large), "fan": fan(t, large)} {
		r, events := through(t, plan, Result{}, 0)
		if state, _, _ := r.State(); state != RunSucceeded || events != 2*large+1 {
			t.Errorf("%s: the run is %s after %d events", name, state, events)
		}
		if err := r.check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		r, events = through(t, plan, Result{ExitCode: 1}, 0)
		if state, _, _ := r.State(); state != RunFailed || events != 3 {
			t.Errorf("%s: the run is %s after %d events, though its first task failed", name, state, events)
		}
		if root, _ := r.Root(large - 1); root != 0 {
			t.Errorf("%s: the last task was skipped for %d", name, root)
		}
	}
}

// What the end of an instance touches is the instance, the next in line, and no
// other; the task, only at its first start and its end.
func TestAnOutcomeOfAnInstanceTouchesNoOther(t *testing.T) {
	const n = 1000
	r := New("r1", each(t), nil)
	for _, e := range []Event{
		RunStarted{epoch}, Expanded{Task: 0, Items: make([]string, n), At: epoch},
		AttemptStarted{0, InstanceOf(2), 1, epoch}, AttemptStarted{0, InstanceOf(3), 1, epoch},
	} {
		if _, err := r.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	r.TakeChanged()
	before := append([]work(nil), r.tasks[0].each.units...)
	if _, err := r.Apply(AttemptEnded{Instance: InstanceOf(3), Attempt: 1, At: epoch}); err != nil {
		t.Fatal(err)
	}
	for i := range before {
		if changed := !reflect.DeepEqual(before[i], r.tasks[0].each.units[i]); changed != (i == 3 || i == 5) {
			t.Errorf("instance %d: changed %v", i, changed)
		}
	}
	if us := r.TakeChanged(); len(us) != 1 || us[0] != (Unit{0, InstanceOf(3)}) {
		t.Errorf("the records of %v have changed", us)
	}
}

// What an outcome costs does not grow with the run: neither what is allocated,
// nor how many tasks are touched.
func TestAnOutcomeCostsTheOutDegree(t *testing.T) {
	allocations := func(plan *dag.Plan) float64 {
		return testing.AllocsPerRun(2, func() { through(t, plan, Result{}, 0) }) / float64(len(plan.Tasks))
	}
	for name, of := range map[string]func(testing.TB, int) *dag.Plan{"chain": chain, "fan": fan} {
		small, large := allocations(of(t, 1000)), allocations(of(t, 30_000))
		if large > 1.1*small {
			t.Errorf("%s: %.2f allocations a task of 1,000, %.2f of 30,000", name, small, large)
		}
	}

	instances := func(n int) float64 {
		plan := each(t)
		return testing.AllocsPerRun(2, func() { through(t, plan, Result{}, n) }) / float64(n)
	}
	if small, large := instances(1000), instances(30_000); large > 1.1*small {
		t.Errorf("foreach: %.2f allocations an instance of 1,000, %.2f of 30,000", small, large)
	}

	const n = 1000
	r := New("r1", shape(t, n, func(i int) []int {
		if i >= 1 && i <= 5 {
			return []int{0} // five depend on the first, the others on nothing
		}
		return nil
	}), nil)
	for _, e := range []Event{RunStarted{epoch}, AttemptStarted{0, 0, 1, epoch}} {
		if _, err := r.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	before := append([]task(nil), r.tasks...)
	if _, err := r.Apply(AttemptEnded{Task: 0, Attempt: 1, At: epoch}); err != nil {
		t.Fatal(err)
	}
	for i := range r.tasks {
		if changed := !reflect.DeepEqual(r.tasks[i], before[i]); changed != (i <= 5) {
			t.Errorf("task %d: changed %v", i, changed)
		}
	}
}

func BenchmarkRun(b *testing.B) {
	for _, n := range []int{1000, 100_000} {
		for name, of := range map[string]func(testing.TB, int) *dag.Plan{"chain": chain, "fan": fan} {
			plan := of(b, n)
			b.Run(fmt.Sprintf("%s of %d", name, n), func(b *testing.B) {
				for b.Loop() {
					through(b, plan, Result{}, 0)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/task")
			})
		}
		plan := each(b)
		b.Run(fmt.Sprintf("foreach of %d", n), func(b *testing.B) {
			for b.Loop() {
				through(b, plan, Result{}, n)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/task")
		})
	}
}
