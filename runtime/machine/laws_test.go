package machine

import (
	"reflect"
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
		t := dag.Task(i)
		w.unitAgrees(whole(t), changed)
		w.handlerIsTold(t)
		if got, want := w.run.Instances(t), w.model.tasks[i].items; got != want {
			w.Fatalf("task %d has %d instances, want %d\n%s", i, got, want, w.history())
		}
		for k := range w.model.tasks[i].inst {
			w.unitAgrees(Unit{t, InstanceOf(k)}, changed)
		}
	}
}

// unitAgrees checks a task or an instance, and that its way to where it is now
// is one that there is and was told of.
func (w *world) unitAgrees(u Unit, changed []Unit) {
	want, got, was := w.model.at(u), w.run.View(u), w.seen[u]
	if got.State != want.state || got.Member != w.model.tasks[u.Task].member || got.Attempts != want.attempt {
		w.Fatalf("task %s is %s after %d attempts, want %s after %d\n%s",
			u, got.State, got.Attempts, want.state, want.attempt, w.history())
	}
	if got.State != was.State && !w.retried && !slices.Contains(steps[was.State], got.State) {
		w.Fatalf("task %s has gone from %s to %s\n%s", u, was.State, got.State, w.history())
	}
	if (got.State != was.State || got.Attempts != was.Attempts) && !slices.Contains(changed, u) {
		w.Fatalf("task %s has become %s, and is not among the changed %v", u, got.State, changed)
	}
	switch {
	case got.State.Final():
		w.endIsTold(u, got)
	case got.State == Retrying && !got.RetryAt.Equal(want.retryAt):
		w.Fatalf("task %s is due at %s, want %s", u, got.RetryAt, want.retryAt)
	}
	if got.State != was.State || got.Attempts != was.Attempts {
		w.strangersAreKnown(u, got)
	}
	w.seen[u] = got
}

// strangersAreKnown sends what comes too late, of attempts that are over, and
// what is of attempts that never were: a unit must not stir.
func (w *world) strangersAreKnown(u Unit, is TaskView) {
	if u.Instance == 0 && w.wf.Tasks[u.Task].Foreach != nil || !is.Member || !w.model.started {
		return
	}
	for _, n := range []int{is.Attempts - 1, is.Attempts + 1} {
		for _, e := range []Event{
			AttemptEnded{u.Task, u.Instance, n, Result{}, w.now},
			RetryDue{u.Task, u.Instance, n, w.now},
			AttemptTimedOut{u.Task, u.Instance, n, w.now},
		} {
			cmds, err := w.run.Apply(e)
			if now := w.run.View(u); err != nil || len(cmds) > 0 || !reflect.DeepEqual(now, is) {
				w.Fatalf("%T of attempt %d gives %v, %v, and task %s is %+v\n\tafter %+v\n%s", e, n, cmds, err, u, now, is, w.history())
			}
		}
	}
}

// endIsTold checks the reason of a final state, and the explanation.
func (w *world) endIsTold(u Unit, got TaskView) {
	want := w.model.at(u)
	if !slices.Contains(want.reasons, got.Reason) {
		w.Fatalf("task %s is %s for %q, want one of %q\n%s", u, got.State, got.Reason, want.reasons, w.history())
	}
	if (got.Error == "") != (got.State == Succeeded) {
		w.Fatalf("task %s is %s and says %q", u, got.State, got.Error)
	}
	if !got.FinishedAt.Equal(want.endedAt) {
		w.Fatalf("task %s ended at %s, want %s", u, got.FinishedAt, want.endedAt)
	}
	if u.Instance != 0 {
		return
	}
	root, ok := w.run.Root(u.Task)
	// A foreach may have the reason of an instance that was left out with it in
	// an earlier course.
	if ok != (got.Reason == ReasonUpstream) && (ok || w.run.Instances(u.Task) == 0) {
		w.Fatalf("task %s was skipped for %q, its root is %d, %v", u, got.Reason, root, ok)
	}
	if ok && !w.mayBeRoot(u.Task, root) {
		w.Fatalf("task %s has root %d\n%s", u, root, w.history())
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
	case !w.model.started, w.model.waits:
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
		idle := w.model.decided && c == WakeAt{TimerRun, dag.None, 0, 0, w.model.deadline}
		if !slices.Contains(pending, c) && !idle {
			w.Fatalf("%T%+v was asked for and is not pending\n%s", c, c, w.history())
		}
		switch c.(type) {
		case EndRun:
			w.ends++
		case StartAttempt, Evaluate, Expand:
			if slices.Contains(before, c) {
				w.Fatalf("%T%+v was asked for twice\n%s", c, c, w.history())
			}
		}
	}
	if (w.ends == 1) != w.model.ended || w.ends > 1 {
		w.Fatalf("the run was told %d times to end, it has ended: %v\n%s", w.ends, w.model.ended, w.history())
	}
}
