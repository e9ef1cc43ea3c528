package sim_test

import (
	"context"
	"reflect"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/store"
)

// atTheEnd: nothing is left, and what is told is what the events say.
func (o *observer) atTheEnd() {
	if n := len(o.alive); n > 0 {
		o.broken("at the end %d processes go on", n)
	}
	ctx := context.Background()
	for _, id := range o.order {
		r := o.runs[id]
		if !r.rec.State.Final() {
			o.broken("run %s of %s is %s for ever", id, r.rec.Workflow, r.rec.State)
			continue
		}
		_, fired := o.fired[id]
		if bySelf := r.rec.Trigger == store.TriggerSchedule || r.rec.Trigger == store.TriggerAfter; bySelf != fired {
			o.broken("run %s of %s was started by %s; a tick of it: %v", id, r.rec.Workflow, r.rec.Trigger, fired)
		}
		o.replayed(ctx, r)
		o.implied(r)
		o.toldLate(r)
	}
}

// replayed: the rows that lists and pages read say what the events say.
func (o *observer) replayed(ctx context.Context, r *seenRun) {
	id, m := r.rec.ID, r.machine
	if m.StartedAt().IsZero() {
		return // it was dropped before it started
	}
	if state, reason, text := m.State(); state != r.rec.State || reason != r.rec.Reason || text != r.rec.Error {
		o.broken("run %s is %s (%s: %s) by its events, and %s (%s: %s) by its row", id, state, reason, text, r.rec.State, r.rec.Reason, r.rec.Error)
	}
	if !m.StartedAt().Equal(r.rec.StartedAt) || !m.FinishedAt().Equal(r.rec.FinishedAt) {
		o.broken("run %s lasted from %s to %s by its events, and from %s to %s by its row", id, m.StartedAt(), m.FinishedAt(), r.rec.StartedAt, r.rec.FinishedAt)
	}
	attempts, err := o.w.disk.Attempts(ctx, id)
	if err != nil {
		o.broken("run %s: %v", id, err)
	}
	rows := map[machine.Unit][]store.Attempt{}
	for _, a := range attempts {
		u := machine.Unit{Task: dag.Task(a.Index), Instance: machine.InstanceOf(a.Instance)}
		rows[u] = append(rows[u], a)
	}
	for t := range m.Plan().Tasks {
		o.sameUnit(m, r, machine.Unit{Task: dag.Task(t)}, rows)
		for i := range m.Instances(dag.Task(t)) {
			o.sameUnit(m, r, machine.Unit{Task: dag.Task(t), Instance: machine.InstanceOf(i)}, rows)
		}
	}
}

// sameUnit compares the rows of a task, or an instance, with its events.
func (o *observer) sameUnit(m *machine.Run, r *seenRun, u machine.Unit, rows map[machine.Unit][]store.Attempt) {
	v, name := m.View(u), r.name(u.Task, u.Instance)
	row, there := r.tasks[m.Name(u)]
	if !v.Member || !there && v.State == machine.Pending {
		return
	}
	same := row.State == v.State && row.Reason == v.Reason && row.Attempts == v.Attempts && row.Error == v.Error &&
		reflect.DeepEqual(row.ExitCode, v.ExitCode) && row.StartedAt.Equal(v.StartedAt) && row.FinishedAt.Equal(v.FinishedAt) &&
		len(row.Outputs) == len(v.Outputs)
	if !same {
		o.broken("%s is %+v by its events, and %+v by its row", name, v, row)
	}
	if u.Instance == 0 && m.Plan().Tasks[u.Task].Spec.Foreach != nil {
		return // its attempts are those of its instances
	}
	all := rows[u]
	if r.over {
		return // it counts on, and what was before may be the attempts of instances
	}
	if len(all) != v.Attempts {
		o.broken("%s has had %d attempts by its events, and has %d rows of attempts", name, v.Attempts, len(all))
		return
	}
	for i, a := range all {
		if a.Number != i+1 || !a.State.Final() || a.FinishedAt.IsZero() {
			o.broken("%s: attempt %d has the row %+v", name, i+1, a)
		}
	}
}
