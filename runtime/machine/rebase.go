package machine

import "github.com/ax-scheduler/ax/dag"

// Rebase gives an ended run as it stands in the plan of another version of its
// workflow, to be retried in it: what has succeeded stays so, and attempts are
// counted on, where there is still a task of that id; tasks that are new belong
// to the run where all did. It is the counterpart of the event VersionChanged,
// which Apply cannot take in, for it knows no plan but the run's own. The run
// that it is called on must not be used any more.
func (r *Run) Rebase(plan *dag.Plan) *Run {
	all := true
	for i := range r.tasks {
		all = all && r.tasks[i].member
	}
	next := New(r.id, plan, nil)
	for i := range next.tasks {
		s := &next.tasks[i]
		old, known := r.plan.Task(plan.Tasks[i].ID)
		if !known {
			s.member = all
			next.touch(whole(dag.Task(i)))
			continue
		}
		was := &r.tasks[old]
		s.member, s.work, s.endSeq = was.member, was.work, was.endSeq
		s.changed = false
		if plan.Tasks[i].Spec.Foreach != nil {
			s.each = was.each
		}
		next.touch(whole(dag.Task(i)))
		if s.each == nil {
			continue
		}
		for k := range s.each.units {
			s.each.units[k].changed = false
			next.touch(Unit{dag.Task(i), InstanceOf(k)})
		}
	}
	next.state, next.reason, next.err, next.ends = r.state, r.reason, r.err, r.ends
	next.startedAt, next.finishedAt = r.startedAt, r.finishedAt
	return next
}
