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
	waits := 0 // of those that run
	for t := range r.tasks {
		s, n := &r.tasks[t], &r.plan.Tasks[t]
		switch {
		case s.waiting < 0 || s.waiting > n.Upstreams:
			return fmt.Errorf("task %s waits for %d of %d edges", n.ID, s.waiting, n.Upstreams)
		case s.callers < 0 || s.callers > n.Callers:
			return fmt.Errorf("task %s waits for %d of %d callers", n.ID, s.callers, n.Callers)
		case s.work.check() != nil:
			return fmt.Errorf("task %s: %w", n.ID, s.work.check())
		case s.evaluating && s.state != Pending:
			return fmt.Errorf("task %s is being evaluated and is %s", n.ID, s.state)
		case !s.member && s.state != Pending:
			return fmt.Errorf("task %s does not belong to the run and is %s", n.ID, s.state)
		case s.expanding && (s.state != Pending || s.evaluating):
			return fmt.Errorf("the items of task %s are being evaluated and it is %s", n.ID, s.state)
		}
		if s.evaluating || s.expanding {
			evaluating++
		}
		before := running
		switch {
		case n.Spec.Foreach != nil:
			under, err := s.each.check(s, n.Spec.Foreach.MaxParallel.V)
			if err != nil {
				return fmt.Errorf("task %s: %w", n.ID, err)
			}
			running += under
		case s.state == Running:
			running++
		}
		if n.Spec.Kind.Waits() {
			waits += running - before
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
	case r.Waits():
		return nil
	case r.open != open || r.openLate != openLate || r.running != running-waits:
		return fmt.Errorf("open %d, late %d, running %d; counted %d, %d, %d", r.open, r.openLate, r.running, open, openLate, running-waits)
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

func (s *work) check() error {
	switch {
	case s.tries < 0 || s.tries > s.attempt || s.cutOff < 0:
		return fmt.Errorf("%d tries in %d attempts, %d cut off", s.tries, s.attempt, s.cutOff)
	case s.stopping != ReasonNone && s.state != Running:
		return fmt.Errorf("it is being stopped and is %s", s.state)
	}
	return nil
}

// check looks at the instances of a task and gives how many are running.
func (each *instances) check(of *task, limit int) (running int, err error) {
	if each == nil {
		return 0, nil
	}
	open, placed, waiting := 0, 0, 0
	var ended [len(taskStates)]int
	for i := range each.units {
		s := &each.units[i]
		if err := s.check(); err != nil {
			return 0, fmt.Errorf("instance %d: %w", i, err)
		}
		if i >= len(each.items) && s.state != Pending {
			return 0, fmt.Errorf("instance %d of %d is %s", i, len(each.items), s.state)
		}
		if s.placed != (s.state == Running || s.state == Ready && !slices.Contains(each.line, InstanceOf(i))) {
			return 0, fmt.Errorf("instance %d is %s, has a place: %v", i, s.state, s.placed)
		}
		if s.placed {
			placed++
		}
		switch {
		case i >= len(each.items):
		case s.state.Final():
			ended[s.state]++
		default:
			open++
		}
		if s.state == Running {
			running++
		}
		if s.state == Ready {
			waiting++
		}
	}
	switch {
	case each.open != open || each.placed != placed || each.ended != ended:
		return 0, fmt.Errorf("open %d, placed %d, ended %v; counted %d, %d, %v", each.open, each.placed, each.ended, open, placed, ended)
	case limit > 0 && placed > limit:
		return 0, fmt.Errorf("%d of at most %d have a place", placed, limit)
	case len(each.line) > 0 && (limit == 0 || placed < limit):
		return 0, fmt.Errorf("%d wait for a place, of which %d of %d are taken", len(each.line), placed, limit)
	case len(each.line) > waiting:
		return 0, fmt.Errorf("%d wait for a place, %d are ready", len(each.line), waiting)
	case of.state.Final() && open > 0, each.known && open == 0 && !of.state.Final():
		return 0, fmt.Errorf("%d instances are open, and the task is %s", open, of.state)
	case each.known != (len(each.items) > 0) && len(each.items) > 0:
		return 0, fmt.Errorf("%d items are not known", len(each.items))
	}
	return running, nil
}

// moves tells whether something is ready or waits for a time.
func (r *Run) moves() bool {
	waits := func(s work) bool { return s.state == Ready || s.state == Retrying }
	for t := range r.tasks {
		s := &r.tasks[t]
		if r.plan.Tasks[t].Spec.Foreach == nil && waits(s.work) || s.each != nil && slices.ContainsFunc(s.each.units, waits) {
			return true
		}
	}
	return false
}

// stateOf is a run without what is only used while an event is applied or a
// choice is made: what must be the same after a replay.
func stateOf(r *Run) *Run {
	c := *r
	c.endings, c.cmds, c.changed = nil, nil, nil
	c.tasks = slices.Clone(c.tasks)
	for t := range c.tasks {
		c.tasks[t].changed = false
		if c.tasks[t].each == nil {
			continue
		}
		each := *c.tasks[t].each
		each.units = slices.Clone(each.units)
		for i := range each.units {
			each.units[i].changed = false
		}
		c.tasks[t].each = &each
	}
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
func (r *Run) queue() []readyUnit {
	var all []readyUnit
	for _, p := range r.ready.pools {
		for _, e := range p.heap {
			if r.stands(e) {
				all = append(all, e)
			}
		}
	}
	slices.SortFunc(all, func(a, b readyUnit) int {
		return cmp.Or(a.turn.Compare(b.turn), a.seq-b.seq)
	})
	return all
}

func (r *Run) describe() string {
	text := fmt.Sprintf("run %s cause %d open %d/%d decided %v cancels %d", r.state, r.cause, r.open, r.openLate, r.decided, r.cancels)
	for t := range r.tasks {
		text += fmt.Sprintf("\n\t%s %+v", r.plan.Tasks[t].ID, r.tasks[t])
		if each := r.tasks[t].each; each != nil {
			text += fmt.Sprintf(" each %+v", *each)
		}
	}
	return text
}
