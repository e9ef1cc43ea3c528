package runtime

import (
	"context"
	"fmt"
	"time"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/runtime/reload"
	"github.com/ax-scheduler/ax/store"
)

// lateWindow is how far back a starting engine looks for runs that became late
// while none was there. What was told before is not told again: the outbox knows.
const lateWindow = 24 * time.Hour

// maxMissed bounds how many ticks missed in one outage are told as late.
const maxMissed = 10

// lateWatch is what the loop keeps for runs that may become late
// (`expect_within`).
type lateWatch struct {
	at      time.Time // when to look next; zero for never
	since   time.Time // of the first look
	scanned time.Time // deadlines up to it were looked for in the store
	looking bool
}

func (w *lateWatch) lookAt(at time.Time) {
	w.at = earlier(w.at, at)
}

// lateRun is one that had not ended by its deadline.
type lateRun struct {
	run      store.Run
	plan     *dag.Plan
	deadline time.Time
	note     bool // in the log as well
}

// deadline gives when a live run becomes late; zero for never.
func (l *live) deadline() time.Time {
	if l.toldLate {
		return time.Time{}
	}
	return deadlineOf(&l.rec, l.run.Plan())
}

// deadlineOf gives when a run becomes late; zero for never. Who asks by hand for
// a run of the past, or for one that waits, does not expect it earlier than it
// could be; and a backfill is late as a whole.
func deadlineOf(run *store.Run, plan *dag.Plan) time.Time {
	within := plan.Workflow.ExpectWithin
	if !within.Set() || run.Trigger == store.TriggerBackfill {
		return time.Time{}
	}
	from := run.ScheduledFor
	if run.Trigger != store.TriggerSchedule && run.Trigger != store.TriggerAfter {
		for _, t := range []time.Time{run.CreatedAt, run.NotBefore} {
			if t.After(from) {
				from = t
			}
		}
	}
	return from.Add(within.V)
}

// lookForLate has those told of that have become late: of the live runs at their
// deadlines, and in the store, now and then, of those that wait there, were
// missed, or ended late while no engine was there.
func (lp *loop) lookForLate() {
	w, now := &lp.late, lp.now()
	if w.looking || w.at.IsZero() || w.at.After(now) || lp.ctx.Err() != nil {
		return
	}
	if w.at = (time.Time{}); w.since.IsZero() {
		w.since, w.scanned = now, now.Add(-lateWindow)
	}
	var late []lateRun
	var lives []*live
	for _, l := range lp.live {
		switch d := l.deadline(); {
		case d.IsZero():
		case d.After(now):
			w.lookAt(d)
		default:
			l.toldLate = true
			if end := l.run.FinishedAt(); end.IsZero() || end.After(d) {
				late, lives = append(late, lateRun{l.rec, l.run.Plan(), d, true}), append(lives, l)
			}
		}
	}
	files := lp.expecting()
	if len(files) > 0 {
		w.lookAt(now.Add(lp.e.longest))
	}
	if len(files)+len(late) == 0 {
		return
	}
	w.looking = true
	e, ctx, from, since := lp.e, lp.ctx, w.scanned, w.since
	lp.workers.Go(func() {
		err := e.tellLate(ctx, late, files, from, now, since)
		if err != nil && ctx.Err() == nil {
			e.Log.Error("late runs cannot be told of", "error", err)
		}
		_ = e.send(ctx, func(lp *loop) { // or it is over
			w := &lp.late
			if w.looking = false; err == nil {
				w.scanned = now
				return
			}
			for _, l := range lives {
				l.toldLate = false
			}
			w.lookAt(now.Add(lp.e.longest))
		})
	})
}

// expecting gives the loaded workflows with `expect_within`, where this engine
// serves.
func (lp *loop) expecting() (files []*reload.Loaded) {
	if !lp.serving || lp.catalog == nil {
		return nil
	}
	for _, f := range lp.catalog.Workflows {
		if f.Head.ExpectWithin.Set() {
			files = append(files, f)
		}
	}
	return files
}

// tellLate tells of live runs that are late, and of those in the store whose
// deadlines lie behind from and not behind now.
func (e *Engine) tellLate(ctx context.Context, late []lateRun, files []*reload.Loaded, from, now, since time.Time) error {
	b := &store.Batch{}
	for _, f := range files {
		stored, err := e.storedLate(ctx, f, from, now)
		if err != nil {
			return err
		}
		for _, l := range stored {
			l.note = l.deadline.After(since)
			late = append(late, l)
		}
		if err := e.tellMissedIn(ctx, b, f, from, now, since); err != nil {
			return err
		}
	}
	told := map[string]bool{}
	for i := range late {
		l := &late[i]
		ends, err := e.earlierEnds(ctx, &l.run)
		if err != nil {
			return err
		}
		if told[l.run.ID] || len(ends) > 0 && !ends[0].at.After(l.deadline) {
			continue
		}
		told[l.run.ID] = true
		e.tellLateRun(b, l)
	}
	if b.Empty() {
		return nil
	}
	return e.persist(ctx, b)
}

func (e *Engine) tellLateRun(b *store.Batch, l *lateRun) {
	run := &l.run
	state := "has not ended"
	switch {
	case run.State.Final():
		state = "had not ended"
	case run.StartedAt.IsZero():
		state = "has not started"
	}
	within := dsl.FormatDuration(l.plan.Workflow.ExpectWithin.V)
	if l.note {
		e.Observer.RunLate(run.Workflow)
		e.Log.Warn("run is late", "run", run.ID, "workflow", run.Workflow, "scheduled_for", run.ScheduledFor, "state", run.State.String(), "expect_within", within)
	}
	end := runEnd{run: *run, plan: l.plan}
	n := Notice{Workflow: run.Workflow, At: l.deadline, ScheduledFor: optional(run.ScheduledFor), Run: end.report()}
	n.Summary = fmt.Sprintf("%s is late: its run for %s %s %s after it was due", run.Workflow, run.ScheduledFor.Format(time.RFC3339), state, within)
	e.tell(b, l.plan, run, n, []string{eventLate}, eventLate, run.ID)
}

// storedLate gives the scheduled runs of a workflow that had not ended by their
// deadlines. Each is held against the version that it began with.
func (e *Engine) storedLate(ctx context.Context, f *reload.Loaded, from, now time.Time) (late []lateRun, err error) {
	within := f.Head.ExpectWithin.V
	filter := store.RunFilter{
		Workflow: f.Head.Name.V, Limit: store.MaxLimit,
		From: from.Add(-within + time.Microsecond), To: now.Add(-within),
	}
	for {
		runs, err := e.Store.Runs(ctx, filter)
		if err != nil {
			return nil, err
		}
		for _, r := range runs {
			if filter.Before = r.ID; r.Trigger != store.TriggerSchedule && r.Trigger != store.TriggerAfter {
				continue
			}
			if r.State.Final() && !r.FinishedAt.After(r.ScheduledFor.Add(within)) {
				continue
			}
			plan, err := e.planOf(ctx, r, r.Version)
			if err != nil {
				return nil, err
			}
			d := deadlineOf(&r, plan)
			if d.IsZero() || d.After(now) || r.State.Final() && !r.FinishedAt.After(d) {
				continue
			}
			late = append(late, lateRun{run: r, plan: plan, deadline: d})
		}
		if len(runs) < store.MaxLimit {
			return late, nil
		}
	}
}

// tellMissedIn tells of missed ticks in the ledger whose deadlines lie behind
// from and not behind now.
func (e *Engine) tellMissedIn(ctx context.Context, b *store.Batch, f *reload.Loaded, from, now, since time.Time) error {
	within := f.Head.ExpectWithin.V
	ticks, err := e.Store.Ticks(ctx, f.Head.Name.V, from.Add(-within+time.Microsecond), now.Add(-within), 0)
	if err != nil {
		return err
	}
	told := 0
	for i := len(ticks) - 1; i >= 0 && told < maxMissed; i-- {
		if ticks[i].Outcome == store.TickMissed {
			e.tellMissedTick(b, f.Plan(), &ticks[i], ticks[i].At.Add(within).After(since))
			told++
		}
	}
	return nil
}

// tellMissed tells of ticks that turn out to be missed when they are late
// already: of the newest, for an outage may be long.
func (e *Engine) tellMissed(file *reload.Loaded, ticks []*pendingTick, now time.Time) {
	within := file.Head.ExpectWithin
	if !within.Set() {
		return
	}
	told := 0
	for i := len(ticks) - 1; i >= 0 && told < maxMissed; i-- {
		t := &ticks[i].tick
		if t.Outcome == store.TickMissed && !t.At.Add(within.V).After(now) {
			e.tellMissedTick(&ticks[i].late, file.Plan(), t, true)
			told++
		}
	}
}

func (e *Engine) tellMissedTick(b *store.Batch, plan *dag.Plan, t *store.Tick, note bool) {
	if note {
		e.Observer.RunLate(t.Workflow)
		e.Log.Warn("a missed tick is late", "workflow", t.Workflow, "schedule", t.Schedule, "scheduled_for", t.At)
	}
	within := plan.Workflow.ExpectWithin.V
	n := Notice{Workflow: t.Workflow, At: t.At.Add(within), ScheduledFor: optional(t.At)}
	n.Summary = fmt.Sprintf("%s is late: it was not run for %s: %s", t.Workflow, t.At.UTC().Format(time.RFC3339), t.Reason)
	run := store.Run{Workflow: t.Workflow, ScheduledFor: t.At, State: machine.RunScheduled}
	e.tell(b, plan, &run, n, []string{eventLate}, eventLate, t.Schedule, t.At.UTC().Format(time.RFC3339Nano))
}
