package machine

import (
	"fmt"

	"github.com/ax-scheduler/ax/dag"
)

// instances is the state of a foreach. As for a task, what an end of an instance
// costs does not depend on how many there are.
type instances struct {
	known  bool     // the items hold; not, after a retry for which they are had anew
	items  []string // JSON
	units  []work   // one an item; what lies beyond is of an earlier course of the run
	open   int      // instances that have not ended
	placed int      // have a place of max_parallel: they may start, or have started
	line   []Instance

	ended [len(taskStates)]int      // instances, by their final state
	first [len(taskStates)]Instance // of these, in the order of the items
}

// expanded takes in the items of a foreach.
func (r *Run) expanded(e Expanded, s *task) {
	if !s.expanding {
		return
	}
	s.expanding = false
	if e.Error != "" {
		s.err = "foreach: " + e.Error
		r.end(e.Task, Failed, ReasonStartError)
		return
	}
	if s.each == nil {
		s.each = &instances{}
	}
	each := s.each
	each.known, each.items = true, e.Items
	for len(each.units) < len(each.items) {
		each.units = append(each.units, work{})
	}
	each.recount()
	r.spawn(e.Task)
}

// spawn makes the instances ready that have not ended.
func (r *Run) spawn(t dag.Task) {
	s := &r.tasks[t]
	if s.each.open == 0 {
		r.sumUp(t)
		return
	}
	s.state = Ready
	r.touch(whole(t))
	for i := range s.each.items {
		if !s.each.units[i].state.Final() {
			r.makeReady(Unit{t, InstanceOf(i)})
		}
	}
}

// admit puts instances that stand in line into the ready queue, as many as may
// run side by side.
func (r *Run) admit(t dag.Task) {
	each, limit := r.tasks[t].each, r.spec(t).Foreach.MaxParallel.V
	for len(each.line) > 0 && (limit == 0 || each.placed < limit) {
		u := Unit{t, each.line[0]}
		each.line = each.line[1:]
		r.work(u).placed = true
		each.placed++
		r.queueUp(u)
	}
}

// leave frees the place of an instance that does not run any more.
func (each *instances) leave(s *work) {
	if s.placed {
		s.placed = false
		each.placed--
	}
}

// instanceStarted tells a task of an attempt of one of its instances.
func (r *Run) instanceStarted(t dag.Task) {
	s := &r.tasks[t]
	s.attempt++
	s.attemptAt = r.at
	if s.state = Running; s.startedAt.IsZero() {
		s.startedAt = r.at
	}
	r.touch(whole(t))
}

func (r *Run) endInstance(u Unit, state TaskState, reason Reason) {
	each, s := r.tasks[u.Task].each, r.work(u)
	s.state, s.reason, s.stopping, s.finishedAt = state, reason, ReasonNone, r.at
	each.leave(s)
	each.open--
	each.count(u.Instance, state)
	r.touch(u)
}

func (each *instances) count(i Instance, state TaskState) {
	each.ended[state]++
	if first := &each.first[state]; *first == 0 || i < *first {
		*first = i
	}
}

// recount computes the counters from the states, none of which is running.
func (each *instances) recount() {
	*each = instances{known: each.known, items: each.items, units: each.units}
	if !each.known {
		each.items = nil
	}
	for i := range each.items {
		if s := each.units[i].state; s.Final() {
			each.count(InstanceOf(i), s)
		} else {
			each.open++
		}
	}
}

// sumUp ends a task all of whose instances have ended.
func (r *Run) sumUp(t dag.Task) {
	s, each := &r.tasks[t], r.tasks[t].each
	cancelled, failed, skipped := each.ended[Cancelled], each.ended[Failed], each.ended[Skipped]
	switch {
	case cancelled > 0 && (failed == 0 || r.cancels > 0 && !r.survivesCancel(t)):
		r.endAs(t, Cancelled, "were cancelled")
	case failed > 0:
		r.endAs(t, Failed, "failed")
	case skipped > 0 && skipped == len(each.items):
		r.endAs(t, Skipped, "were skipped")
	default:
		s.err, s.exit = "", new(int)
		r.end(t, Succeeded, ReasonNone)
	}
}

// endAs ends a task as the first of its instances that ended so.
func (r *Run) endAs(t dag.Task, state TaskState, how string) {
	s, each := &r.tasks[t], r.tasks[t].each
	first := Unit{t, each.first[state]}
	of := r.work(first)
	s.exit = of.exit
	s.err = fmt.Sprintf("%d of %d instances %s, first %s: %s", each.ended[state], len(each.items), how, r.Name(first), of.err)
	r.end(t, state, of.reason)
}

// endInstances ends, as their task has ended, those of its instances that have
// not: they were to run again, and will not.
func (r *Run) endInstances(t dag.Task) {
	s := &r.tasks[t]
	if s.each == nil || s.each.open == 0 {
		return
	}
	for i := range s.each.items {
		if u := (Unit{t, InstanceOf(i)}); !r.work(u).state.Final() {
			r.work(u).err = s.err
			r.endInstance(u, s.state, s.reason)
		}
	}
}

// stopInstances cancels the instances that wait and has ended those that run.
func (r *Run) stopInstances(t dag.Task, why Reason, waited string) {
	each := r.tasks[t].each
	each.line = nil
	for i := range each.items {
		u := Unit{t, InstanceOf(i)}
		switch s := r.work(u); {
		case s.state.Final():
		case s.state == Running:
			r.stop(u, why)
		default:
			s.err = withLastLine(waited, s.err)
			r.finish(u, Cancelled, why)
		}
	}
}

// hasItem refuses what is no instance of the run.
func (r *Run) hasItem(u Unit) error {
	if err := r.has(u.Task); err != nil {
		return err
	}
	if u.Instance < 1 || int(u.Instance) > r.Instances(u.Task) {
		return fmt.Errorf("run %s: task %d has no instance %d", r.id, u.Task, u.Instance.Index())
	}
	return nil
}

// has tells whether there is an instance of some sort.
func (each *instances) has(some func(Instance, *work) bool) bool {
	if each == nil || !each.known {
		return false
	}
	for i := range each.items {
		if some(InstanceOf(i), &each.units[i]) {
			return true
		}
	}
	return false
}

// unsuccessful picks the instances that are retried unless others are named.
func unsuccessful(_ Instance, s *work) bool { return s.state != Succeeded }
