package machine

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ax-scheduler/ax/dag"
)

// fate is what becomes of a task, whenever it runs: the truth of its condition
// and the ends of its attempts, over and over.
type fate struct {
	holds   bool
	items   []string
	results []Result // an instance begins with the one of its number
}

// TestTheOrderOfEventsDoesNotMatter plays one run twice, in two orders, where
// each task ends as is its fate. All states must be the same at the end.
func TestTheOrderOfEventsDoesNotMatter(t *testing.T) {
	many(t, 10, func(t *rapid.T) {
		_, plan := drawFlow(t)
		only := drawOnly(t, plan)
		fates := make([]fate, len(plan.Tasks))
		for i := range fates {
			fates[i].holds = !chance(t, 4, "when is false")
			fates[i].items = drawItems(t)
			for range 3 {
				fates[i].results = append(fates[i].results, drawResult(t, false))
			}
		}
		one, two := toTheEnd(t, plan, only, fates), toTheEnd(t, plan, only, fates)
		for i, n := range plan.Tasks {
			a, b := one.Task(dag.Task(i)), two.Task(dag.Task(i))
			if a.State != b.State || a.Attempts != b.Attempts {
				t.Fatalf("task %s is %s after %d attempts in one order and %s after %d in another\n%s\n%s",
					n.ID, a.State, a.Attempts, b.State, b.Attempts, one.describe(), two.describe())
			}
		}
		a, _, _ := one.State()
		b, _, _ := two.State()
		if a != b {
			t.Fatalf("the run is %s in one order and %s in another", a, b)
		}
	})
}

// toTheEnd plays a run without trouble, in any order.
func toTheEnd(t *rapid.T, plan *dag.Plan, only []dag.Task, fates []fate) *Run {
	r := New("r1", plan, only)
	now := epoch
	apply := func(e Event) {
		if _, err := r.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	for apply(RunStarted{now}); !r.state.Final(); {
		now = now.Add(time.Second)
		var moves []Event
		if s, ok := r.Startable(nil); ok {
			moves = append(moves, AttemptStarted{s.Task, s.Instance, r.View(s).Attempts + 1, now})
		}
		for _, c := range r.Pending() {
			switch c := c.(type) {
			case Evaluate:
				moves = append(moves, Evaluated{Task: c.Task, Holds: fates[c.Task].holds, At: now})
			case Expand:
				moves = append(moves, Expanded{Task: c.Task, Items: fates[c.Task].items, At: now})
			case StartAttempt:
				results := fates[c.Task].results
				end := results[(c.Attempt+int(c.Instance))%len(results)]
				moves = append(moves, AttemptEnded{c.Task, c.Instance, c.Attempt, end, now})
			case WakeAt:
				if c.Timer == TimerRetry {
					moves = append(moves, RetryDue{c.Task, c.Instance, c.Attempt, now})
				}
			}
		}
		apply(moves[rapid.IntRange(0, len(moves)-1).Draw(t, "move")])
	}
	return r
}
