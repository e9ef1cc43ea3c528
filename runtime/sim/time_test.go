package sim_test

import (
	"reflect"
	"strings"
	"time"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/runtime/sim"
	"github.com/ax-scheduler/ax/store"
)

// slack is how late an engine may be: it notices only after a while that the
// clock was set.
func (o *observer) slack() time.Duration {
	if o.steps > 0 {
		return 35 * time.Second
	}
	return time.Second
}

// inTime: promise 6. A process that goes on after its time, after that of its run,
// or after its run was cancelled, with an engine there, was to be told to stop.
func (o *observer) inTime(p *sim.Process) {
	r := o.runs[p.Attempt.RunID]
	if r == nil || o.upSince.IsZero() {
		return
	}
	id, instance, _ := machine.ParseName(p.Attempt.Task)
	t, _ := r.plan.Task(id)
	u := r.unit(t, instance)
	if u.number != p.Attempt.Number {
		return
	}
	by, why := r.stopBy(t, u)
	if by.IsZero() {
		return
	}
	for _, t := range []time.Time{o.upSince, u.begun} { // what the disk held up may begin when its time is over
		if by.Before(t) {
			by = t
		}
	}
	if late := o.at.Wall.Sub(by); late > o.slack() {
		o.broken("%s: attempt %d was not stopped until %s after %s", r.name(t, instance), p.Attempt.Number, late, why)
	}
}

// stopBy gives when the attempt that is under way was to be told to stop, and why;
// zero for never. Of handlers it knows their own time alone.
func (r *seenRun) stopBy(t dag.Task, u *seenUnit) (by time.Time, why string) {
	sooner := func(is bool, at time.Time, what string) {
		if is && (by.IsZero() || at.Before(by)) {
			by, why = at, what
		}
	}
	n := &r.plan.Tasks[t]
	sooner(n.Spec.Timeout.Set(), u.started.Add(n.Spec.Timeout.V), "its time was over")
	if !n.Late && n.Callers == 0 {
		limit := r.plan.Workflow.Timeout
		sooner(limit.Set(), r.begun.Add(limit.V), "the time of its run was over")
		sooner(r.cancels > 0, r.cancelAt, "its run was cancelled")
	}
	return by, why
}

// waitInTime: what waits for a time is let go as processes are.
func (o *observer) waitInTime(r *seenRun, t dag.Task, u *seenUnit) {
	by, why := r.stopBy(t, u)
	if r.plan.Tasks[t].Spec.WaitFor == nil || by.IsZero() {
		return
	}
	if late := o.behind(by); late > soon {
		o.broken("%s: attempt %d waited until %s after %s", r.name(t, 0), u.number, late, why)
	}
}

// childInTime: what a task has started is cancelled when the task is to be stopped.
// It may be about to be, or have come to its end.
func (o *observer) childInTime(r *seenRun) {
	parent, t, i := o.parent(&r.rec)
	if parent == nil || r.retried > 0 {
		return
	}
	u := parent.unit(t, i)
	by, why := parent.stopBy(t, u)
	if !u.open || by.IsZero() {
		return
	}
	if by.Before(r.created) {
		by = r.created
	}
	if late := o.behind(by); late > soon {
		o.broken("%s: run %s of %s was left alone until %s after %s", parent.name(t, i), r.rec.ID, r.rec.Workflow, late, why)
	}
}

// soon is how long it may take an engine to come to what is due: some writes.
const soon = 10 * time.Second

// behind gives by how much something happens later than it could. It says nothing
// where the clock was set, or the disk was full a moment ago.
func (o *observer) behind(due time.Time) time.Duration {
	if o.upSince.IsZero() || o.steps > 0 || o.at.At.Before(o.fullUntil.Add(time.Minute)) {
		return 0
	}
	for _, t := range []time.Time{o.upSince, o.fullUntil} {
		if due.Before(t) {
			due = t
		}
	}
	return o.at.Wall.Sub(due)
}

// dueInTime: a run that waits for a time is in line from then on. Of those that are
// left in the store an engine hears within half a minute.
func (o *observer) dueInTime(r *seenRun) {
	due, most := r.rec.NotBefore, soon
	if r.left {
		most += 30 * time.Second
	}
	if late := o.behind(due); late > most {
		o.broken("run %s of %s was due at %s, and is in line %s later", r.rec.ID, r.rec.Workflow, due.UTC(), late)
	}
}

// lines: promise 8. Runs that are in line while none of their workflow goes do not
// stay there: it is the turn of one of them.
func (o *observer) lines(active map[string]int, queued map[string]bool) {
	for name, since := range o.held {
		if active[name] == 0 && queued[name] {
			continue
		}
		if late := o.behind(since); late > soon+30*time.Second { // for those that are left in the store
			o.broken("runs of %s were in line for %s, and none went", name, late)
		}
		delete(o.held, name)
	}
	for name, is := range queued {
		if _, known := o.held[name]; is && !known && active[name] == 0 {
			o.held[name] = o.at.Wall
		}
	}
}

// heldUp tells of runs that are in line for a long time.
func (o *observer) heldUp(most time.Duration) {
	for name, since := range o.held {
		if late := o.behind(since); late > most {
			o.broken("runs of %s are in line for %s, and none goes", name, late)
		}
	}
}

// tickInTime: promise 5. What becomes of a tick is settled when it is due.
func (o *observer) tickInTime(t *store.Tick) {
	if t.Outcome == store.TickLoaded || strings.HasPrefix(t.Schedule, "after") || o.loaded == nil || o.loaded.catalog.Workflows[t.Workflow] == nil {
		return
	}
	due := t.At.Add(o.loaded.catalog.Workflows[t.Workflow].Plan().Workflow.Jitter.V)
	if due.Before(o.loadedAt) {
		due = o.loadedAt
	}
	if late := o.behind(due); late > soon {
		o.broken("the tick of %s (%s) at %s is settled %s later than it could be", t.Workflow, t.Schedule, t.At.UTC(), late)
	}
}

// together: promise 2. What follows from an event is written with it.
func (o *observer) together(r *seenRun) {
	for _, u := range r.machine.TakeChanged() {
		v, row := r.machine.View(u), r.tasks[r.machine.Name(u)]
		if v.State != row.State || v.Reason != row.Reason || v.Attempts != row.Attempts || !reflect.DeepEqual(v.ExitCode, row.ExitCode) {
			o.broken("%s is %s (%s) after %d attempts by what is written now, and its row still says %s (%s) after %d",
				r.name(u.Task, u.Instance), v.State, v.Reason, v.Attempts, row.State, row.Reason, row.Attempts)
		}
	}
}
