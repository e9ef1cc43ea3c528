package lint

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dsl"
)

// What is said to have surely ended when a task starts has ended, in whatever
// order the tasks end and however.
func TestWhatHasSurelyEndedHasEnded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawWorkflow(t, 6)
		l := newLineage(newGraph(f.Plan))
		w := &world{graph: l.graph, end: make([]dsl.Outcomes, len(f.Plan.Tasks))}
		w.start = func(started dag.Task) {
			for v := range f.Plan.Tasks {
				if l.surelyBefore(dag.Task(v), started) && w.end[v] == 0 {
					t.Fatalf("task %d had not ended when %d started:\n%s", v, started, f.Source.Text)
				}
			}
		}
		for w.settle(); len(w.running) > 0; w.settle() {
			i := rapid.IntRange(0, len(w.running)-1).Draw(t, "next")
			next := w.running[i]
			w.running = slices.Delete(w.running, i, i+1)
			w.end[next] = rapid.SampledFrom([]dsl.Outcomes{dsl.OnSucceeded, dsl.OnFailed}).Draw(t, "end")
		}
	})
}

// world is a run that is played by the rules of the manual, without handlers of
// the workflow.
type world struct {
	*graph
	end     []dsl.Outcomes // of the tasks that have ended
	begun   []dag.Task
	running []dag.Task
	start   func(dag.Task)
}

// settle starts and skips what can be, until nothing changes.
func (w *world) settle() {
	for changed := true; changed; {
		changed = false
		for _, t := range w.Order {
			if w.end[t] != 0 || slices.Contains(w.begun, t) {
				continue
			}
			switch ready, skipped := w.judge(t); {
			case skipped:
				w.end[t], changed = dsl.OnSkipped, true
			case ready:
				w.start(t)
				w.begun, w.running, changed = append(w.begun, t), append(w.running, t), true
			}
		}
	}
}

// judge looks at the edges into a task that are resolved by now.
func (w *world) judge(t dag.Task) (ready, skipped bool) {
	spec := w.Tasks[t].Spec
	open, held, broken := 0, 0, 0
	for i, u := range w.upstreams[t] {
		end := w.end[u]
		if end == dsl.OnFailed && w.Tasks[u].Spec.AllowFailure.V {
			end = dsl.OnSucceeded
		}
		switch {
		case end == 0:
			open++
		case end&spec.DependsOn[i].On != 0:
			held++
		default:
			broken++
		}
	}
	ready = open == 0 && broken == 0
	skipped = broken > 0
	if spec.Join.V == dsl.JoinAny && len(w.upstreams[t]) > 0 {
		ready, skipped = held > 0, open == 0 && held == 0
	}
	called, waiting := false, 0
	for _, c := range w.callers[t] {
		if w.end[c] == 0 {
			waiting++
		}
		called = called || w.end[c] == dsl.OnFailed
	}
	if len(w.callers[t]) > 0 {
		ready, skipped = ready && called, skipped || waiting == 0 && !called
	}
	return ready, skipped
}
