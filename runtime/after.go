package runtime

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/runtime/reload"
	"github.com/ax-scheduler/ax/runtime/trigger"
	"github.com/ax-scheduler/ax/store"
)

// afterSchedule names what `after` starts in the ledger: a time has one run of
// it, however often the runs that it follows end.
const afterSchedule = "after"

// followersOf gives the workflows that start after another, by its name.
func followersOf(c *reload.Catalog) map[string][]*reload.Loaded {
	all := map[string][]*reload.Loaded{}
	for _, file := range c.Workflows {
		if file.Head.Disabled.V {
			continue
		}
		for _, a := range file.Head.After {
			all[a.Workflow.V] = append(all[a.Workflow.V], file)
		}
	}
	return all
}

// startFollowers starts what follows on the end of a run.
func (lp *loop) startFollowers(run store.Run) {
	e, ctx := lp.e, lp.ctx
	for _, file := range lp.followers[run.Workflow] {
		lp.workers.Go(func() { e.tryFollow(ctx, file, run.ScheduledFor) })
	}
}

// longestRun is how long a run may have taken whose end is still looked for.
const longestRun = 7 * 24 * time.Hour

// catchUpAfter starts what follows on runs that ended while nobody looked: in
// another process, or just before an engine died. It looks as far back as
// catchup_window, and not beyond the time at which the workflow was first loaded.
func (e *Engine) catchUpAfter(ctx context.Context, c *reload.Catalog) error {
	for _, file := range c.Workflows {
		wf := file.Head
		if len(wf.After) == 0 || wf.Disabled.V {
			continue
		}
		since, err := e.followsSince(ctx, wf)
		if err != nil {
			return err
		}
		times, err := e.endedSince(ctx, wf.After[0].Workflow.V, since)
		if err != nil {
			return err
		}
		for _, at := range times {
			e.tryFollow(ctx, file, at)
		}
	}
	return nil
}

// endedSince gives what the runs of a workflow stood for that ended after a
// time, in the order of their creation.
func (e *Engine) endedSince(ctx context.Context, workflow string, since time.Time) (times []time.Time, err error) {
	f := store.RunFilter{Workflow: workflow, Limit: store.MaxLimit}
	for {
		runs, err := e.Store.Runs(ctx, f)
		if err != nil {
			return nil, err
		}
		for _, r := range runs {
			if f.Before = r.ID; r.State.Final() && r.FinishedAt.After(since) {
				times = append(times, r.ScheduledFor)
			}
		}
		if len(runs) < store.MaxLimit || runs[len(runs)-1].CreatedAt.Before(since.Add(-longestRun)) {
			slices.Reverse(times)
			return times, nil
		}
	}
}

// followsSince gives the time from which on ends of other runs count. It is in
// the ledger from the first load on.
func (e *Engine) followsSince(ctx context.Context, wf *dsl.Workflow) (time.Time, error) {
	now := e.now()
	window := now.Add(-wf.CatchupWindow.Or(trigger.DefaultWindow))
	spans, err := e.Store.Schedules(ctx, wf.Name.V)
	if err != nil {
		return window, err
	}
	for _, s := range spans {
		if s.Schedule == afterLoaded && s.First.After(window) {
			return s.First, nil
		} else if s.Schedule == afterLoaded {
			return window, nil
		}
	}
	return now, e.persist(ctx, &store.Batch{Ticks: []store.Tick{{
		Workflow: wf.Name.V, Schedule: afterLoaded, At: now, Outcome: store.TickLoaded, Reason: "`after` was loaded for the first time",
	}}})
}

// afterLoaded marks the first load in the ledger. It is no schedule.
const afterLoaded = "after (loaded)"

// tryFollow starts a workflow for a time, if all that it follows has ended as it
// should for that time, and if it was not started for it before.
func (e *Engine) tryFollow(ctx context.Context, file *reload.Loaded, at time.Time) {
	name := file.Head.Name.V
	err := e.follow(ctx, file, at)
	if err != nil && ctx.Err() == nil {
		e.Log.Error("a workflow cannot be started after another", "workflow", name, "scheduled_for", at, "error", err)
	}
}

func (e *Engine) follow(ctx context.Context, file *reload.Loaded, at time.Time) error {
	name := file.Head.Name.V
	ticks, err := e.Store.Ticks(ctx, name, at, at, 0)
	if err != nil {
		return err
	}
	for _, t := range ticks {
		if t.Schedule == afterSchedule {
			return nil
		}
	}
	var ended []string
	t := trigger.Tick{At: at, From: at, To: at}
	var due time.Time
	for i, a := range file.Head.After {
		last, ok, err := e.lastFor(ctx, a.Workflow.V, at)
		if err != nil || !ok || !endedSo(last.State, a.On) {
			return err
		}
		if i == 0 {
			t.From, t.To = last.IntervalFrom, last.IntervalTo
		}
		if last.FinishedAt.After(due) {
			due = last.FinishedAt
		}
		ended = append(ended, fmt.Sprintf("run %s of %s %s", last.ID, a.Workflow.V, last.State))
	}
	var p *pendingTick
	tick := store.Tick{Workflow: name, Schedule: afterSchedule, At: at, Reason: strings.Join(ended, ", ")}
	if err := e.look(ctx, func(lp *loop) {
		if pauses := lp.pauses[name]; trigger.Lasting(pauses) || trigger.Covered(pauses, due) {
			tick.Outcome, tick.Reason = store.TickSkipped, trigger.Paused
			p = &pendingTick{tick: tick}
			return
		}
		p = lp.fire(file, &trigger.Rule{}, store.TriggerAfter, t, tick, lp.now())
	}); err != nil {
		return err
	}
	return e.storeTicks(ctx, []*pendingTick{p})
}

// lastFor gives the newest run of a workflow that stands for a time. One that an
// overlap rule dropped does not count.
func (e *Engine) lastFor(ctx context.Context, workflow string, at time.Time) (run store.Run, ok bool, err error) {
	runs, err := e.Store.Runs(ctx, store.RunFilter{Workflow: workflow, From: at, To: at, Limit: store.MaxLimit})
	for _, r := range runs {
		if r.State != machine.RunSkipped {
			return r, true, err
		}
	}
	return run, false, err
}

// endedSo tells whether a run has ended as `after` wants it.
func endedSo(state machine.RunState, on dsl.AfterOutcome) bool {
	switch on {
	case dsl.AfterSucceeded:
		return state == machine.RunSucceeded
	case dsl.AfterFailed:
		return state == machine.RunFailed
	}
	return state.Final()
}
