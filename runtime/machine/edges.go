package machine

import (
	"fmt"
	"slices"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dsl"
)

// spread resolves the edges of all that has ended, as a work list, and closes
// the run once nothing is open.
func (r *Run) spread() {
	for {
		for len(r.endings) > 0 {
			t := r.endings[0]
			r.endings = r.endings[1:]
			for _, e := range r.plan.Tasks[t].Downstream {
				r.resolve(t, e)
				r.settle(e.To)
			}
		}
		if r.state != RunRunning || r.open > 0 {
			return
		}
		if !r.decided {
			r.decide()
			continue
		}
		if r.openLate == 0 {
			r.state, r.finishedAt = r.outcome, r.at
			r.command(EndRun{})
		}
		return
	}
}

// resolve counts one edge of an ended task as held or not held.
func (r *Run) resolve(t dag.Task, e dag.Edge) {
	next := &r.tasks[e.To]
	holds := e.On&r.outcomeFor(t, e.Kind) != 0
	if e.Kind == dag.Failure {
		next.callers--
		// After a retry of the run they are counted in the order of the file.
		if holds && (!next.called || r.tasks[t].endSeq < r.tasks[next.caller].endSeq) {
			next.called, next.caller = true, t
		}
		return
	}
	next.waiting--
	if holds {
		next.held = true
	} else if !next.broken {
		next.broken, next.root = true, r.rootOf(t)
	}
}

// outcomeFor says which condition the end of a task fulfils for an edge. What
// depends on a task whose failure is allowed sees a success, and so does what
// depends on a disabled one; a handler that such a failure calls is called.
func (r *Run) outcomeFor(t dag.Task, k dag.Kind) dsl.Outcomes {
	switch s := &r.tasks[t]; {
	case s.state == Succeeded,
		s.state == Skipped && s.reason == ReasonDisabled,
		s.state == Failed && k == dag.Depends && r.spec(t).AllowFailure.V:
		return dsl.OnSucceeded
	case s.state == Failed:
		return dsl.OnFailed
	case s.state == Skipped:
		return dsl.OnSkipped
	default:
		return dsl.OnCancelled
	}
}

// rootOf gives the task at the root of a skip: not the skipped one in between.
func (r *Run) rootOf(t dag.Task) dag.Task {
	if s := &r.tasks[t]; s.reason == ReasonUpstream && s.root != dag.None {
		return s.root
	}
	return t
}

// gate is what a group of edges says of the task that they lead to.
type gate uint8

const (
	undecided gate = iota
	opened
	closed
)

// settle starts or skips a pending task if its edges say so by now.
func (r *Run) settle(t dag.Task) {
	s := &r.tasks[t]
	if !s.member || s.state != Pending || s.evaluating || s.expanding {
		return
	}
	depends, call := r.dependsGate(t), r.callGate(t)
	switch {
	case depends == closed:
		r.skipUpstream(t)
	case call == closed:
		s.err = "not needed: " + r.whyNotCalled(t)
		r.end(t, Skipped, ReasonCondition)
	case depends == undecided || call == undecided:
	case r.spec(t).Disabled.V:
		s.err = "disabled in the workflow file"
		r.end(t, Skipped, ReasonDisabled)
	case r.spec(t).When.Set():
		s.evaluating = true
		r.command(Evaluate{t})
	default:
		r.enter(t)
	}
}

// enter lets a task go whose edges and condition hold.
func (r *Run) enter(t dag.Task) {
	switch s := &r.tasks[t]; {
	case r.spec(t).Foreach == nil:
		r.makeReady(whole(t))
	case s.each != nil && s.each.known:
		r.spawn(t)
	default:
		s.expanding = true
		r.command(Expand{t})
	}
}

func (r *Run) dependsGate(t dag.Task) gate {
	s := &r.tasks[t]
	if r.spec(t).Join.V == dsl.JoinAny {
		switch {
		case s.held || r.plan.Tasks[t].Upstreams == 0:
			return opened
		case s.waiting == 0:
			return closed
		}
		return undecided
	}
	switch {
	case s.broken:
		return closed
	case s.waiting == 0:
		return opened
	}
	return undecided
}

// callGate is open for all that is no handler. A handler of the workflow waits
// for the run's outcome in any case.
func (r *Run) callGate(t dag.Task) gate {
	s, n := &r.tasks[t], &r.plan.Tasks[t]
	switch {
	case n.Callers == 0 && n.Handles == 0:
		return opened
	case n.Handles != 0 && !r.decided:
		return undecided
	case s.called, n.Handles&handled(r.outcome) != 0:
		return opened
	case s.callers == 0:
		return closed
	}
	return undecided
}

func handled(s RunState) dag.RunOutcomes {
	switch s {
	case RunSucceeded:
		return dag.RunSucceeded
	case RunFailed:
		return dag.RunFailed
	}
	return dag.RunCancelled
}

func (r *Run) whyNotCalled(t dag.Task) string {
	if r.plan.Tasks[t].Handles != 0 {
		return "the run ended as " + r.outcome.String()
	}
	return "no task failed into it"
}

func (r *Run) skipUpstream(t dag.Task) {
	root := r.tasks[t].root
	r.tasks[t].err = fmt.Sprintf("upstream %q %s", r.plan.Tasks[root].ID, r.endedAs(root))
	r.end(t, Skipped, ReasonUpstream)
}

// endedAs tells the end of a task in words that fit behind its name.
func (r *Run) endedAs(t dag.Task) string {
	switch s := &r.tasks[t]; {
	case s.state == Succeeded:
		return "succeeded"
	case s.state == Failed:
		return "failed"
	case s.state == Cancelled:
		return "was cancelled"
	default:
		return fmt.Sprintf("was skipped (%s)", s.reason)
	}
}

// end brings a task into a final state. Its edges are resolved by spread.
func (r *Run) end(t dag.Task, state TaskState, reason Reason) {
	s := &r.tasks[t]
	s.state, s.reason, s.stopping, s.evaluating, s.expanding = state, reason, ReasonNone, false, false
	s.finishedAt = r.at
	r.endInstances(t)
	r.ends++
	s.endSeq = r.ends
	r.count(t, -1)
	r.endings = append(r.endings, t)
	r.touch(whole(t))
	if state == Failed && r.cause == dag.None && r.counts(t) {
		r.cause = t
	}
}

// counts tells whether the failure of a task makes the run fail.
func (r *Run) counts(t dag.Task) bool {
	return !r.plan.Tasks[t].Late && !r.spec(t).AllowFailure.V
}

// decide settles the outcome of the run, once every task that has a say in it
// has ended, and lets the handlers of the workflow go.
func (r *Run) decide() {
	r.decided = true
	switch {
	case r.cancels > 0:
		r.outcome, r.reason, r.err = RunCancelled, ReasonCancelled, "cancelled on request"
	case r.timedOut:
		r.outcome, r.reason = RunFailed, ReasonRunTimeout
		r.err = "not done within the run's timeout of " + dsl.FormatDuration(r.plan.Workflow.Timeout.V)
	case r.cause != dag.None:
		c := &r.tasks[r.cause]
		r.outcome, r.reason = RunFailed, c.reason
		r.err = fmt.Sprintf("task %q failed: %s", r.plan.Tasks[r.cause].ID, c.err)
	default:
		r.outcome = RunSucceeded
		kept := func(s task) bool { return s.state == Cancelled } // by a retry of other tasks
		if t := slices.IndexFunc(r.tasks, kept); t >= 0 {
			r.outcome, r.reason = RunCancelled, r.tasks[t].reason
			r.err = fmt.Sprintf("task %q is still cancelled", r.plan.Tasks[t].ID)
		}
	}
	for t := range r.tasks {
		if r.plan.Tasks[t].Handles != 0 {
			r.settle(dag.Task(t))
		}
	}
}
