package machine

import (
	"fmt"
	"time"

	"github.com/ax-scheduler/ax/dag"
)

// survivesCancel tells whether a task goes on after a request to cancel: the
// handlers that a cancel calls, and theirs, until a second request.
func (r *Run) survivesCancel(t dag.Task) bool {
	n := &r.plan.Tasks[t]
	return r.cancels < 2 && n.Late && (n.Handles == 0 || n.Handles&dag.RunCancelled != 0)
}

// survivesTimeout tells whether a task goes on after the run's time is over:
// handlers do, under their own timeouts.
func (r *Run) survivesTimeout(t dag.Task) bool {
	n := &r.plan.Tasks[t]
	return n.Late || n.Callers > 0
}

func (r *Run) cancel() {
	if r.state != RunRunning || r.cancels >= 2 {
		return
	}
	r.cancels++
	if r.decided {
		r.outcome, r.reason, r.err = RunCancelled, ReasonCancelled, "cancelled on request"
	}
	r.stopAll(ReasonCancelled, "cancelled on request", r.survivesCancel)
}

func (r *Run) runTimedOut() {
	switch {
	case !r.awaitsDeadline():
		return
	case r.at.Before(r.deadline):
		// The timer of an earlier course, before a retry, or a clock that went back.
		r.wakeForDeadline()
		return
	}
	r.timedOut = true
	r.stopAll(ReasonRunTimeout, "the run's time was over before it started", r.survivesTimeout)
}

func (r *Run) awaitsDeadline() bool {
	return r.state == RunRunning && !r.deadline.IsZero() && !r.timedOut && r.cancels == 0 && !r.decided
}

func (r *Run) wakeForDeadline() { r.command(WakeAt{TimerRun, dag.None, 0, r.deadline}) }

// stopAll cancels what waits and has ended what runs, but for those who
// survive. All states are set before any edge is resolved, so that nothing
// starts in between.
func (r *Run) stopAll(why Reason, waited string, survives func(dag.Task) bool) {
	for i := range r.tasks {
		t, s := dag.Task(i), &r.tasks[i]
		switch {
		case !s.member || s.state.Final() || survives(t):
		case s.state == Running:
			r.stop(t, why)
		default:
			s.err = withLastLine(waited, s.err)
			r.end(t, Cancelled, why)
		}
	}
}

// retried resets what is to run again. The handlers of what runs again are among
// it, and those of the workflow: this is a new course of the run, and what they
// handle may happen anew.
func (r *Run) retried(e RunRetried) error {
	if !r.state.Final() {
		return fmt.Errorf("run %s is %s: only a run that has ended can be retried", r.id, r.state)
	}
	for _, t := range e.Tasks {
		if err := r.has(t); err != nil {
			return err
		}
	}
	again := make([]bool, len(r.tasks))
	for _, t := range r.plan.Downstream(e.Tasks...) {
		again[t] = true
	}
	r.reason, r.err, r.cause, r.finishedAt = ReasonNone, "", dag.None, time.Time{}
	r.decided, r.timedOut, r.cancels = false, false, 0
	all := len(e.Tasks) == 0
	for i := range r.tasks {
		t, s, n := dag.Task(i), &r.tasks[i], &r.plan.Tasks[i]
		switch {
		case !s.member:
		case again[t] || n.Late || all && (s.state != Succeeded || n.Callers > 0):
			r.tasks[t] = task{member: true, root: dag.None, caller: dag.None, attempt: s.attempt, startedAt: s.startedAt}
			r.touch(t)
		case s.state == Failed && r.counts(t) &&
			(r.cause == dag.None || s.endSeq < r.tasks[r.cause].endSeq):
			r.cause = t
		}
	}
	r.begin()
	return nil
}
