package machine

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
)

// check looks for counters that do not count what they should.
func (r *Run) check() error {
	open, openLate, running, evaluating := 0, 0, 0, 0
	for t := range r.tasks {
		s, n := &r.tasks[t], &r.plan.Tasks[t]
		switch {
		case s.waiting < 0 || s.waiting > n.Upstreams:
			return fmt.Errorf("task %s waits for %d of %d edges", n.ID, s.waiting, n.Upstreams)
		case s.callers < 0 || s.callers > n.Callers:
			return fmt.Errorf("task %s waits for %d of %d callers", n.ID, s.callers, n.Callers)
		case s.tries < 0 || s.tries > s.attempt || s.cutOff < 0:
			return fmt.Errorf("task %s: %d tries in %d attempts, %d cut off", n.ID, s.tries, s.attempt, s.cutOff)
		case s.stopping != ReasonNone && s.state != Running:
			return fmt.Errorf("task %s is being stopped and is %s", n.ID, s.state)
		case s.evaluating && s.state != Pending:
			return fmt.Errorf("task %s is being evaluated and is %s", n.ID, s.state)
		case !s.member && s.state != Pending:
			return fmt.Errorf("task %s does not belong to the run and is %s", n.ID, s.state)
		}
		if s.evaluating {
			evaluating++
		}
		if s.state == Running {
			running++
		}
		if s.member && !s.state.Final() {
			if n.Late {
				openLate++
			} else {
				open++
			}
		}
	}
	switch {
	case r.startedAt.IsZero():
		return nil
	case r.open != open || r.openLate != openLate || r.running != running:
		return fmt.Errorf("open %d, late %d, running %d; counted %d, %d, %d", r.open, r.openLate, r.running, open, openLate, running)
	case r.state.Final() && open+openLate > 0:
		return fmt.Errorf("the run has ended with %d tasks open", open+openLate)
	case !r.state.Final() && open+openLate == 0:
		return fmt.Errorf("no task is open and the run goes on")
	case len(r.endings) > 0:
		return fmt.Errorf("the edges of %v are not resolved", r.endings)
	case !r.state.Final() && running == 0 && evaluating == 0 && !r.moves():
		return fmt.Errorf("nothing will ever happen again")
	}
	return nil
}

// moves tells whether something is ready or waits for a time.
func (r *Run) moves() bool {
	for t := range r.tasks {
		if s := r.tasks[t].state; s == Ready || s == Retrying {
			return true
		}
	}
	return false
}

// stateOf is a run without what is only used while an event is applied or a
// choice is made: what must be the same after a replay.
func stateOf(r *Run) *Run {
	c := *r
	c.endings, c.cmds, c.changed, c.dirty = nil, nil, nil, nil
	c.at = c.startedAt
	c.ready = readyQueue{seq: r.ready.seq}
	return &c
}

// sameRun tells whether two runs are in one state, and would go on alike.
func sameRun(a, b *Run) error {
	if !reflect.DeepEqual(stateOf(a), stateOf(b)) {
		return fmt.Errorf("two runs that should be the same:\n%s\n%s", a.describe(), b.describe())
	}
	if !reflect.DeepEqual(a.queue(), b.queue()) {
		return fmt.Errorf("two runs that should be the same would start %v and %v", a.queue(), b.queue())
	}
	return nil
}

// queue gives the ready tasks in the order in which they would start.
func (r *Run) queue() []readyTask {
	var all []readyTask
	for _, p := range r.ready.pools {
		for _, e := range p.heap {
			if s := &r.tasks[e.task]; s.state == Ready && s.readySeq == e.seq {
				all = append(all, e)
			}
		}
	}
	slices.SortFunc(all, func(a, b readyTask) int {
		return cmp.Or(b.priority-a.priority, a.seq-b.seq)
	})
	return all
}

func (r *Run) describe() string {
	text := fmt.Sprintf("run %s cause %d open %d/%d decided %v cancels %d", r.state, r.cause, r.open, r.openLate, r.decided, r.cancels)
	for t := range r.tasks {
		text += fmt.Sprintf("\n\t%s %+v", r.plan.Tasks[t].ID, r.tasks[t])
	}
	return text
}
