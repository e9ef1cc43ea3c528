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

// Stopping tells whether the run has been cancelled and has not ended yet: its tasks are being stopped, or its handlers run.
func (r *Run) Stopping() bool { return r.state == RunRunning && r.cancels > 0 }

func (r *Run) cancel() {
	if r.Waits() { // after a retry: nothing of it has begun, so that no handler has anything to do
		r.state, r.cancels = RunRunning, 1
		r.recount()
	}
	if r.state != RunRunning || r.cancels >= 2 {
		return
	}
	r.cancels++
	if r.decided && r.reason != ReasonCancelled { // it has not ended, so that it is cancelled as well
		tasks := r.err
		if r.outcome == RunSucceeded {
			tasks = "its tasks had succeeded"
		}
		r.outcome, r.reason, r.err = RunCancelled, ReasonCancelled, "cancelled on request while its handlers ran: "+tasks
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

func (r *Run) wakeForDeadline() { r.command(WakeAt{Timer: TimerRun, Task: dag.None, At: r.deadline}) }

// stopAll cancels what waits and has ended what runs, but for those who
// survive. All states are set before any edge is resolved, so that nothing
// starts in between.
func (r *Run) stopAll(why Reason, waited string, survives func(dag.Task) bool) {
	for i := range r.tasks {
		t, s := dag.Task(i), &r.tasks[i]
		switch {
		case !s.member || s.state.Final() || survives(t):
		case s.each != nil && s.state != Pending:
			r.stopInstances(t, why, waited)
		case s.state == Running:
			r.stop(whole(t), why)
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
	if !r.state.Final() && !r.Waits() {
		return fmt.Errorf("run %s is %s: only a run that has ended can be retried", r.id, r.state)
	}
	for _, t := range e.Tasks {
		if err := r.has(t); err != nil {
			return err
		}
	}
	for _, u := range e.Instances {
		if err := r.hasItem(u); err != nil {
			return err
		}
	}
	r.reason, r.err, r.cause, r.finishedAt = ReasonNone, "", dag.None, time.Time{}
	r.decided, r.timedOut, r.cancels = false, false, 0
	fresh, again := r.named(e)
	all := len(e.Tasks)+len(e.Instances) == 0
	for i := range r.tasks {
		t, s, n := dag.Task(i), &r.tasks[i], &r.plan.Tasks[i]
		switch {
		case !s.member:
		case fresh[t] || n.Late || all && n.Callers > 0:
			r.reset(t, nil)
		case again[t] != nil:
			r.reset(t, again[t])
		case all && (s.state != Succeeded || s.each.has(unsuccessful)):
			r.reset(t, unsuccessful)
		case s.state == Failed && r.counts(t) &&
			(r.cause == dag.None || s.endSeq < r.tasks[r.cause].endSeq):
			r.cause = t
		}
	}
	if e.Waits {
		r.state = RunQueued
		return nil
	}
	r.begin()
	return nil
}

// named tells of each task what a retry of named ones does with it: what is
// downstream of them begins anew; of what is named itself, and has instances,
// some do, as the function says.
func (r *Run) named(e RunRetried) (fresh []bool, again []func(Instance, *work) bool) {
	fresh, again = make([]bool, len(r.tasks)), make([]func(Instance, *work) bool, len(r.tasks))
	var below []dag.Task
	name := func(t dag.Task, which func(Instance, *work) bool) {
		if again[t] == nil {
			for _, e := range r.plan.Tasks[t].Downstream {
				below = append(below, e.To)
			}
		}
		again[t] = which
	}
	some := map[Unit]bool{}
	for _, u := range e.Instances {
		some[u] = true
		name(u.Task, func(i Instance, _ *work) bool { return some[Unit{u.Task, i}] })
	}
	for _, t := range e.Tasks {
		name(t, func(i Instance, s *work) bool { return unsuccessful(i, s) || some[Unit{t, i}] })
	}
	for _, t := range r.plan.Downstream(below...) {
		fresh[t] = true
	}
	return fresh, again
}

// reset brings a task back to its beginning; where it has instances that again
// is true for, only these, and the others stay as they are.
func (r *Run) reset(t dag.Task, again func(Instance, *work) bool) {
	s := &r.tasks[t]
	each := s.each
	*s = task{member: true, root: dag.None, caller: dag.None, each: each, work: s.work.anew()}
	r.touch(whole(t))
	if each == nil {
		return
	}
	partly := again != nil && each.has(again)
	each.known = each.known && partly
	for i := range each.units {
		if u := (Unit{t, InstanceOf(i)}); !partly || i < len(each.items) && again(u.Instance, &each.units[i]) {
			each.units[i] = each.units[i].anew()
			r.touch(u)
		}
	}
	each.recount()
}

// anew gives a unit that begins again: it counts its attempts on, and has not
// started yet, so that the time until then is none that it took.
func (s *work) anew() work {
	return work{attempt: s.attempt, changed: s.changed}
}
