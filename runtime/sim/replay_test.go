package sim_test

import (
	"context"
	"reflect"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/store"
)

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
