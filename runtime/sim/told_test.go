package sim_test

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/store"
)

// runEnd is one end of a run.
type runEnd struct {
	run    *seenRun
	at     time.Time
	failed bool
}

// told: each end of a run has its messages, in the transaction that makes it
// durable, and nobody is told of what he does not want to hear.
func (o *observer) told(b *store.Batch, ended []*seenRun) {
	for i := range b.Messages {
		o.wanted(&b.Messages[i])
	}
	var ends []runEnd
	for _, r := range ended {
		if r.rec.State == machine.RunFailed || r.rec.State == machine.RunSucceeded {
			ends = append(ends, runEnd{r, r.rec.FinishedAt, r.rec.State == machine.RunFailed})
		}
	}
	slices.SortFunc(ends, func(a, b runEnd) int { return cmp.Or(a.compare(b), cmp.Compare(a.run.rec.ID, b.run.rec.ID)) })
	for _, end := range ends {
		wf := end.run.rec.Workflow
		recovered := !end.failed && o.failedBefore(end)
		for target := range end.run.plan.Workflow.Notify {
			o.toldOf(b, end.run, target, recovered)
		}
		o.ends[wf] = append(o.ends[wf], end)
	}
}

// compare: of what ends in one instant, failures are the last.
func (e runEnd) compare(f runEnd) int {
	rank := map[bool]int{true: 1}
	return cmp.Or(e.at.Compare(f.at), rank[e.failed]-rank[f.failed])
}

// failedBefore tells whether what ended last before a success was a failure.
func (o *observer) failedBefore(end runEnd) bool {
	last := runEnd{}
	for _, e := range o.ends[end.run.rec.Workflow] {
		beside := e.failed && e.at.Equal(end.at) && e.run != end.run
		if !beside && e.compare(last) > 0 {
			last = e
		}
	}
	return last.failed
}

// toldOf compares what a target is told of the end of a run with what it wants.
func (o *observer) toldOf(b *store.Batch, r *seenRun, target int, recovered bool) {
	want := ""
	switch {
	case r.rec.State == machine.RunFailed:
		want = "failed"
	case recovered && wants(r.plan, target, "recovered"):
		want = "recovered"
	default:
		want = "succeeded"
	}
	if !wants(r.plan, target, want) {
		want = ""
	}
	var got []string
	for _, m := range b.Messages {
		if m.RunID == r.rec.ID && m.Target == target && m.Event != "late" {
			got = append(got, m.Event)
		}
	}
	if want == "" && len(got) == 0 || len(got) == 1 && got[0] == want {
		return
	}
	// Of what ended last the clock may say otherwise, and only a hundred runs are looked at.
	if o.steps == 0 && len(o.runs) <= 100 || len(got) > 1 {
		o.broken("run %s of %s is %s, and target %d is told %q in place of %q", r.rec.ID, r.rec.Workflow, r.rec.State, target, got, want)
	}
}

func wants(p *dag.Plan, target int, event string) bool {
	return slices.ContainsFunc(p.Workflow.Notify[target].On, func(on dsl.Value[string]) bool { return on.V == event })
}

// wanted: a message is one that its target wants, and nothing is called late that
// is not.
func (o *observer) wanted(m *store.Message) {
	if plan := o.plans[m.Version]; plan == nil || m.Target >= len(plan.Workflow.Notify) || !wants(plan, m.Target, m.Event) {
		o.broken("target %d of %s is told %q, which it does not want", m.Target, m.Workflow, m.Event)
	}
	r := o.runs[m.RunID]
	if m.Event != "late" || r == nil {
		return
	}
	if r.late = true; o.steps == 0 && o.at.Wall.Before(r.deadline()) {
		o.broken("run %s of %s is called late, and has time until %s", m.RunID, m.Workflow, r.deadline())
	}
}

// deadline gives when a run becomes late; zero for never.
func (r *seenRun) deadline() time.Time {
	within := r.plan.Workflow.ExpectWithin
	if !within.Set() || r.rec.Trigger == store.TriggerBackfill {
		return time.Time{}
	}
	from := r.rec.ScheduledFor
	if r.rec.Trigger != store.TriggerSchedule && r.rec.Trigger != store.TriggerAfter {
		from = slices.MaxFunc([]time.Time{from, r.rec.CreatedAt, r.rec.NotBefore}, time.Time.Compare)
	}
	return from.Add(within.V)
}

// longFull is longer than a disk is ever full.
const longFull = 15 * time.Minute

// toldLate: who wants to is told of a run that goes on long after its deadline,
// with one engine there all the time.
func (o *observer) toldLate(r *seenRun) {
	by := r.deadline()
	if by.IsZero() || r.late || r.retried > 0 || o.steps > 0 || r.rec.StartedAt.IsZero() || r.rec.StartedAt.After(by) || r.rec.FinishedAt.Before(by.Add(longFull)) {
		return
	}
	for target := range r.plan.Workflow.Notify {
		for _, s := range o.spans {
			if wants(r.plan, target, "late") && !s[0].IsZero() && s[0].Before(by) && s[1].After(by.Add(longFull)) {
				o.broken("run %s of %s was to end by %s, and target %d is not told", r.rec.ID, r.rec.Workflow, by, target)
			}
		}
	}
}

// boots: an engine begins to take in what others left. With run_all it waits for
// no pauses.
func (o *observer) boots(x boots) {
	o.policy, o.inherit = x, len(o.order)
	if x.policy != runtime.StartupRunAll {
		return
	}
	for _, r := range o.open {
		r.hurried = true
		for _, u := range r.units {
			u.notBefore = time.Time{}
		}
	}
}

// inherited: promise 4.
func (o *observer) inherited() {
	defer func() { o.policy.policy = runtime.StartupRecover }()
	for _, id := range o.order[:o.inherit] {
		r := o.open[id]
		if r == nil || o.policy.policy == runtime.StartupRecover {
			continue
		}
		waits := r.rec.State != machine.RunRunning
		switch o.policy.policy {
		case runtime.StartupCancel:
			if waits || r.cancels == 0 {
				o.broken("engine %d was to cancel what it found, and run %s of %s is %s", o.policy.engine, id, r.rec.Workflow, r.rec.State)
			}
		case runtime.StartupRunAll:
			if r.rec.State == machine.RunScheduled || !waits && r.pausing() {
				o.broken("engine %d was to start all that it found, and run %s of %s waits for a time", o.policy.engine, id, r.rec.Workflow)
			}
		}
	}
}

// pausing tells whether something of a run waits to be tried again.
func (r *seenRun) pausing() bool {
	for u := range r.units {
		there := u.Instance == 0 || u.Instance.Index() < r.machine.Instances(u.Task) // or it was in another version
		if there && r.machine.View(u).State == machine.Retrying {
			return true
		}
	}
	return false
}

// pauseOf gives how long it takes at least until a task is tried again that has
// failed n times.
func pauseOf(spec *dsl.Task, n int) time.Duration {
	if spec.Retry == nil {
		return 0
	}
	delay := spec.Retry.Delay.Or(time.Second)
	pause := delay
	switch spec.Retry.Backoff.V {
	case dsl.Exponential:
		pause <<= n - 1
	case dsl.Linear:
		pause *= time.Duration(n)
	}
	return min(pause, spec.Retry.MaxDelay.Or(max(time.Minute, delay)))
}

// beginAnew takes in that an ended run goes on: what succeeded may run again where
// it is named, or lies downstream of that.
func (r *seenRun) beginAnew(e machine.RunRetried) {
	below := slices.Clone(e.Tasks)
	for _, u := range e.Instances {
		r.unit(u.Task, u.Instance).won = false
		for _, edge := range r.plan.Tasks[u.Task].Downstream {
			below = append(below, edge.To)
		}
	}
	below = r.plan.Downstream(below...)
	for k, u := range r.units {
		u.cutOff, u.charged, u.notBefore = 0, 0, time.Time{}
		n := r.plan.Tasks[k.Task]
		if n.Late || n.Callers > 0 || slices.Contains(below, k.Task) {
			u.won = false // a handler can be called anew
		}
	}
}

// goesOver has a run go on in another version of its workflow.
func (r *seenRun) goesOver(plan *dag.Plan) {
	units := map[machine.Unit]*seenUnit{}
	for k, u := range maps.All(r.units) {
		if t, there := plan.Task(r.plan.Tasks[k.Task].ID); there {
			units[machine.Unit{Task: t, Instance: k.Instance}] = u
		}
	}
	r.over = true
	r.machine, r.plan, r.units = r.machine.Rebase(plan), plan, units
}

// pauses tells whether a workflow was ever paused: its ticks then have no run to
// be skipped for.
func (o *observer) pauses(workflow string) bool {
	all, err := o.w.disk.Pauses(context.Background())
	return err != nil || slices.ContainsFunc(all, func(p store.Pause) bool { return p.Workflow == workflow })
}
