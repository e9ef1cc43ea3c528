package machine

import (
	"slices"

	"github.com/ax-scheduler/ax/dag"
)

// laws checks what must hold after every event: the machine agrees with the
// model in the state of every task and of the run, its counters count, what it
// asks for is what is open, and what it tells is true.
func (w *world) laws(before, cmds []Command) {
	if err := w.run.check(); err != nil {
		w.Fatalf("%v\n%s", err, w.history())
	}
	w.tasksAgree()
	w.runAgrees()
	w.commandsAgree(before, cmds)
}

func (w *world) tasksAgree() {
	changed := w.run.TakeChanged()
	for i := range w.model.tasks {
		want, t := &w.model.tasks[i], dag.Task(i)
		got := w.run.Task(t)
		if got.State != want.state || got.Member != want.member || got.Attempts != want.attempt {
			w.Fatalf("task %d is %s after %d attempts, want %s after %d\n%s",
				i, got.State, got.Attempts, want.state, want.attempt, w.history())
		}
		if len(w.seen) > 0 && !w.retried && got.State != w.seen[i].State && !slices.Contains(steps[w.seen[i].State], got.State) {
			w.Fatalf("task %d has gone from %s to %s\n%s", i, w.seen[i].State, got.State, w.history())
		}
		if len(w.seen) > 0 && !slices.Contains(changed, t) && (got.State != w.seen[i].State || got.Attempts != w.seen[i].Attempts) {
			w.Fatalf("task %d has become %s, and is not among the changed %v", i, got.State, changed)
		}
		switch {
		case got.State.Final():
			w.endIsTold(t, got)
		case got.State == Retrying && !got.RetryAt.Equal(want.retryAt):
			w.Fatalf("task %d is due at %s, want %s", i, got.RetryAt, want.retryAt)
		}
		w.handlerIsTold(t)
	}
	w.seen = w.seen[:0]
	for i := range w.model.tasks {
		w.seen = append(w.seen, w.run.Task(dag.Task(i)))
	}
}

// endIsTold checks the reason of a final state, and the explanation.
func (w *world) endIsTold(t dag.Task, got TaskView) {
	want := &w.model.tasks[t]
	if !slices.Contains(want.reasons, got.Reason) {
		w.Fatalf("task %d is %s for %q, want one of %q\n%s", t, got.State, got.Reason, want.reasons, w.history())
	}
	if (got.Error == "") != (got.State == Succeeded) {
		w.Fatalf("task %d is %s and says %q", t, got.State, got.Error)
	}
	if !got.FinishedAt.Equal(want.endedAt) {
		w.Fatalf("task %d ended at %s, want %s", t, got.FinishedAt, want.endedAt)
	}
	root, ok := w.run.Root(t)
	if ok != (got.Reason == ReasonUpstream) {
		w.Fatalf("task %d was skipped for %q, its root is %d, %v", t, got.Reason, root, ok)
	}
	if ok && !w.mayBeRoot(t, root) {
		w.Fatalf("task %d has root %d\n%s", t, root, w.history())
	}
}

// mayBeRoot tells whether a skip may go back to a task: by an edge that did not
// hold, and not to a task that was itself skipped for such an edge.
func (w *world) mayBeRoot(t, root dag.Task) bool {
	for _, d := range w.wf.Tasks[t].DependsOn {
		u := w.model.number(d.Task)
		if s := &w.model.tasks[u]; !s.member || !s.state.Final() || w.model.holds(u, d.On) {
			continue
		}
		from := dag.Task(u)
		if up, skipped := w.run.Root(from); skipped {
			from = up
		}
		if from == root {
			return true
		}
	}
	return false
}

// handlerIsTold checks of whom a handler hears: a caller that failed, or the
// first cause of the run's failure.
func (w *world) handlerIsTold(t dag.Task) {
	of, ok := w.run.FailedInto(t)
	if !ok || !w.model.tasks[t].member {
		return
	}
	called := slices.Contains(w.model.callers(int(t)), int(of))
	if w.model.tasks[of].state != Failed || !called && int(of) != w.model.cause {
		w.Fatalf("handler %d is told of %d\n%s", t, of, w.history())
	}
	for _, c := range w.model.callers(int(t)) {
		if s := &w.model.tasks[c]; called && s.state == Failed && s.endedIn < w.model.tasks[of].endedIn {
			w.Fatalf("handler %d is told of %d, but %d failed before", t, of, c)
		}
	}
}

func (w *world) runAgrees() {
	state, reason, says := w.run.State()
	switch {
	case !w.model.started:
		if state != RunQueued {
			w.Fatalf("the run is %s before its start", state)
		}
	case !w.model.ended:
		if state != RunRunning || !w.run.FinishedAt().IsZero() {
			w.Fatalf("the run is %s, finished at %s, with tasks open\n%s", state, w.run.FinishedAt(), w.history())
		}
	default:
		if state != w.model.outcome || !slices.Contains(w.model.reasons, reason) {
			w.Fatalf("the run is %s for %q, want %s for one of %q\n%s", state, reason, w.model.outcome, w.model.reasons, w.history())
		}
		if (says == "") != (state == RunSucceeded) {
			w.Fatalf("the run is %s and says %q", state, says)
		}
	}
}

// commandsAgree checks that what is pending is what the model wants, that each
// command is pending, and that nothing became pending without a command.
func (w *world) commandsAgree(before, cmds []Command) {
	pending, want := w.run.Pending(), w.model.pending()
	for _, c := range want {
		if !slices.Contains(pending, c) {
			w.Fatalf("%T%+v is not pending\n%s", c, c, w.history())
		}
	}
	for _, c := range pending {
		if !slices.Contains(want, c) {
			w.Fatalf("%T%+v is pending and should not be\n%s", c, c, w.history())
		}
		if !slices.Contains(before, c) && !slices.Contains(cmds, c) {
			w.Fatalf("%T%+v is pending and was not asked for\n%s", c, c, w.history())
		}
	}
	for _, c := range cmds {
		// The timer of a run that was over as soon as it had begun is idle.
		idle := w.model.decided && c == WakeAt{TimerRun, dag.None, 0, w.model.deadline}
		if !slices.Contains(pending, c) && !idle {
			w.Fatalf("%T%+v was asked for and is not pending\n%s", c, c, w.history())
		}
		switch c.(type) {
		case EndRun:
			w.ends++
		case StartAttempt, Evaluate:
			if slices.Contains(before, c) {
				w.Fatalf("%T%+v was asked for twice\n%s", c, c, w.history())
			}
		}
	}
	if (w.ends == 1) != w.model.ended || w.ends > 1 {
		w.Fatalf("the run was told %d times to end, it has ended: %v\n%s", w.ends, w.model.ended, w.history())
	}
}
