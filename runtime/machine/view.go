package machine

import (
	"time"

	"github.com/ax-scheduler/ax/dag"
)

// TaskView is what can be seen of a task or an instance. The maps and slices are
// shared and must not be changed.
//
// A task with foreach is ready once its items are known and running from the
// first start of an instance; its Attempts are all those of its instances, its
// end is summed up from theirs, and outputs have only they.
type TaskView struct {
	Member     bool // belongs to the run
	State      TaskState
	Reason     Reason
	Attempts   int
	ExitCode   *int
	Error      string
	Outputs    map[string]string
	Left       []string  // processes of the last attempt that could not be ended
	StartedAt  time.Time // of the first attempt, or of the first one after a retry of the run
	AttemptAt  time.Time // of the last attempt
	RetryAt    time.Time // of the next attempt, while Retrying
	FinishedAt time.Time
}

// Task gives what can be seen of one task.
func (r *Run) Task(t dag.Task) TaskView { return r.View(whole(t)) }

// Instances gives how many instances a task has: none while its items are not
// known, and of a task without foreach.
func (r *Run) Instances(t dag.Task) int {
	if each := r.tasks[t].each; each != nil && each.known {
		return len(each.items)
	}
	return 0
}

// Item gives the item of an instance that there is, as JSON.
func (r *Run) Item(u Unit) string { return r.tasks[u.Task].each.items[u.Instance.Index()] }

// Name gives the name by which a unit is shown: load, or load[3].
func (r *Run) Name(u Unit) string { return u.Instance.Name(r.plan.Tasks[u.Task].ID) }

// Named finds a unit of the run by its name.
func (r *Run) Named(name string) (Unit, bool) {
	id, i, ok := ParseName(name)
	t, known := r.plan.Task(id)
	u := Unit{t, i}
	return u, ok && known && r.tasks[t].member && (i == 0 || r.hasItem(u) == nil)
}

// View gives what can be seen of a unit that there is.
func (r *Run) View(u Unit) TaskView {
	s := r.work(u)
	v := TaskView{r.tasks[u.Task].member, s.state, s.reason, s.attempt, s.exit, s.err, s.outputs, s.left,
		s.startedAt, s.attemptAt, time.Time{}, s.finishedAt}
	if s.state == Retrying {
		v.RetryAt = s.retryAt
	}
	return v
}

// ReadySince gives since when a unit that is ready has been waiting for a slot.
func (r *Run) ReadySince(u Unit) time.Time { return r.work(u).readyAt }

// ID gives the run's id.
func (r *Run) ID() string { return r.id }

// Plan gives the plan that the run follows.
func (r *Run) Plan() *dag.Plan { return r.plan }

// State gives the run's state, and its reason and one line of explanation.
func (r *Run) State() (RunState, Reason, string) {
	if !r.state.Final() {
		return r.state, ReasonNone, ""
	}
	return r.state, r.reason, r.err
}

// Outcome gives how the run will end, once everything but the handlers of the
// workflow has ended; false before.
func (r *Run) Outcome() (state RunState, reason Reason, err string, decided bool) {
	return r.outcome, r.reason, r.err, r.decided
}

// Waits tells whether the run waits for RunStarted: it has not begun, or it is to be
// gone on with after a retry.
func (r *Run) Waits() bool { return r.state == RunQueued }

// StartedAt and FinishedAt give the times of the run's first start and its end;
// zero where there was none.
func (r *Run) StartedAt() time.Time { return r.startedAt }

// FinishedAt: see StartedAt.
func (r *Run) FinishedAt() time.Time { return r.finishedAt }

// Running gives the number of attempts under way that hold a slot.
func (r *Run) Running() int { return r.running }

// FailedInto gives the first task that failed into a handler: of the run where
// it handles the workflow's failure.
func (r *Run) FailedInto(t dag.Task) (dag.Task, bool) {
	if s := &r.tasks[t]; s.called {
		return s.caller, true
	}
	if r.plan.Tasks[t].Handles != 0 && r.cause != dag.None {
		return r.cause, true
	}
	return dag.None, false
}

// Root gives the task at the root of a skip with reason upstream.
func (r *Run) Root(t dag.Task) (dag.Task, bool) {
	s := &r.tasks[t]
	return s.root, s.reason == ReasonUpstream && s.root != dag.None
}

// TakeChanged gives the units whose view may have changed since the last call.
// An instance that is pending is none of the run any more, or none yet.
func (r *Run) TakeChanged() []Unit {
	us := r.changed
	r.changed = nil
	for _, u := range us {
		r.work(u).changed = false
	}
	return us
}

// Pending gives the open commands, from the state alone: what a restart has to
// carry out after it has applied the stored events. A StartAttempt among them
// may have been carried out before the crash.
func (r *Run) Pending() []Command {
	if r.Waits() {
		return nil
	}
	if r.state.Final() {
		return []Command{EndRun{}}
	}
	r.cmds = nil
	if r.awaitsDeadline() {
		r.wakeForDeadline()
	}
	for i := range r.tasks {
		t, s := dag.Task(i), &r.tasks[i]
		switch {
		case s.evaluating:
			r.command(Evaluate{t})
		case s.expanding:
			r.command(Expand{t})
		case s.each == nil:
			r.pendingOf(whole(t))
		case s.state == Running:
			for n := range s.each.items {
				r.pendingOf(Unit{t, InstanceOf(n)})
			}
		}
	}
	return r.cmds
}

func (r *Run) pendingOf(u Unit) {
	switch s := r.work(u); s.state {
	case Retrying:
		r.command(WakeAt{TimerRetry, u.Task, u.Instance, s.attempt, s.retryAt})
	case Running:
		r.command(StartAttempt{u.Task, u.Instance, s.attempt})
		r.wakeForTimeout(u)
		if s.stopping != ReasonNone {
			r.command(StopAttempt{u.Task, u.Instance, s.attempt, s.stopping})
		}
	}
}
