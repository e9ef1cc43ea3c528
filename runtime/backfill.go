package runtime

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/runtime/trigger"
	"github.com/ax-scheduler/ax/store"
)

// Redo says which of the dates that have had their runs a backfill does again.
type Redo string

// What a backfill does again.
const (
	RedoNone   Redo = ""
	RedoFailed Redo = "failed" // dates whose last run did not succeed and is over
	RedoAll    Redo = "all"    // every date that has no run under way
)

// Backfill asks for one run for every tick of a workflow's schedules in a span.
type Backfill struct {
	Plan        *dag.Plan
	Params      map[string]string // beside those of the schedules
	From, To    string            // both inclusive: a time (RFC 3339), or a date for the whole day in the workflow's zone
	MaxParallel int               // of its runs at a time; 0 for no limit but max_active
	Redo        Redo
}

// Filled is one tick of a backfill.
type Filled struct {
	At    time.Time
	Tasks []string  // that it starts with; empty for the whole workflow
	Run   store.Run // the one that is made; or, where Left, the one that is there
	Left  bool
}

// backfillYield is how far behind all else of its workflow the run of a backfill
// takes its turn: what is due tonight does not wait for the last three years.
const backfillYield = 100 * 365 * 24 * time.Hour

// maxBackfill bounds the ticks of one backfill: a slip in a year must not ask
// for millions of runs.
const maxBackfill = 100_000

// Backfill makes the runs of a span, oldest first, and has them carried out. A
// tick that has had its run is left alone unless Redo says otherwise, so that a
// backfill that is asked for again only does the rest. When it returns, the runs
// are on disk.
func (e *Engine) Backfill(ctx context.Context, b Backfill) ([]Filled, error) {
	e.init()
	all, err := e.planBackfill(ctx, b)
	if err != nil {
		return nil, err
	}
	wf := b.Plan.Workflow
	var made []store.Run
	for _, f := range all {
		if !f.Left {
			made = append(made, f.Run)
		}
	}
	changes := changeFor(ctx, "backfill", wf.Name.V, "")
	for group := range slices.Chunk(made, tickGroup) {
		batch := &store.Batch{Versions: []store.Version{versionOf(b.Plan, e.now())}, Create: group, Changes: changes}
		if err := e.commit(ctx, batch); errors.Is(err, store.ErrConflict) {
			return nil, fmt.Errorf("another backfill of %s is making the same runs: %w", wf.Name.V, err)
		} else if err != nil {
			return nil, fmt.Errorf("backfill %s: %w", wf.Name.V, err)
		}
		settle(ctx)
		changes = nil // the first group has it
		err := e.look(ctx, func(lp *loop) {
			lp.flow(wf.Name.V).beyond += len(group)
			lp.next(wf.Name.V)
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// PlanBackfill tells what Backfill would do, and does nothing. It refuses what
// could not run.
func (e *Engine) PlanBackfill(ctx context.Context, b Backfill) ([]Filled, error) {
	e.init()
	settle(ctx)
	return e.planBackfill(ctx, b)
}

func (e *Engine) planBackfill(ctx context.Context, b Backfill) ([]Filled, error) {
	wf := b.Plan.Workflow
	if err := e.refusal(b.Plan); err != nil {
		return nil, refused{err}
	}
	from, to, err := e.span(b)
	if err != nil {
		return nil, refused{err}
	}
	if b.MaxParallel < 0 {
		return nil, refused{fmt.Errorf("at most %d runs at a time: it is at least 1, or 0 for no limit", b.MaxParallel)}
	}
	rs, err := e.rulesOf(ctx, wf, b.Plan.Entries, from)
	switch {
	case err != nil:
		return nil, refused{err}
	case wf.Disabled.V:
		return nil, refused{fmt.Errorf("%s is disabled: its schedules have no ticks", wf.Name.V)}
	case len(rs.rules) == 0:
		return nil, refused{fmt.Errorf("%s has no schedule whose ticks could be filled", wf.Name.V)}
	}
	there, err := e.runsBetween(ctx, wf.Name.V, from, to)
	if err != nil {
		return nil, err
	}
	ticks, err := ticksBetween(rs.rules, from, to)
	if err != nil {
		return nil, refused{err}
	}
	now := e.now()
	group := NewID(now)
	all := make([]Filled, 0, len(ticks))
	for _, t := range ticks {
		f := Filled{At: t.at, Tasks: t.rule.Tasks}
		run, err := e.backfillRun(b, t, now)
		if err != nil {
			return nil, refused{err}
		}
		old := there[runAt{t.at.UnixMicro(), strings.Join(run.Only, ",")}]
		run.Group, run.GroupMax = group, b.MaxParallel
		run.Key = fmt.Sprintf("backfill %s %s #%d", t.at.UTC().Format(time.RFC3339), strings.Join(t.rule.Tasks, ","), len(old)+1)
		if f.Run = run; len(old) > 0 && !b.Redo.wants(old) {
			f.Run, f.Left = old[len(old)-1], true
		}
		all = append(all, f)
	}
	return all, nil
}

// span reads the two ends of a backfill.
func (e *Engine) span(b Backfill) (from, to time.Time, err error) {
	zone, err := e.zoneOf(b.Plan.Workflow)
	if err != nil {
		return from, to, err
	}
	if from, _, err = moment(b.From, zone); err != nil {
		return from, to, fmt.Errorf("from %w", err)
	}
	if _, to, err = moment(b.To, zone); err != nil {
		return from, to, fmt.Errorf("to %w", err)
	}
	if to.Before(from) {
		return from, to, fmt.Errorf("the backfill would end at %s, before it begins at %s", to.Format(time.RFC3339), from.Format(time.RFC3339))
	}
	return from, to, nil
}

// moment gives the first and the last instant that a text names.
func moment(text string, zone *time.Location) (first, last time.Time, err error) {
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, at, nil
	}
	date, err := dsl.ParseDate(text)
	if err != nil {
		return first, last, fmt.Errorf("%q is neither a date like 2026-03-01 nor a time like 2026-03-01T02:30:00Z", text)
	}
	return trigger.StartOf(date, zone), trigger.StartOf(date.Next(), zone).Add(-time.Microsecond), nil
}

// wants tells whether a date with these runs, oldest first, is to be done again.
func (r Redo) wants(old []store.Run) bool {
	for _, run := range old {
		if !run.State.Final() {
			return false
		}
	}
	last := old[len(old)-1].State
	return r == RedoAll || r == RedoFailed && last != machine.RunSucceeded
}

// runAt is what a run of a tick is known by: its time, and its tasks.
type runAt struct {
	at   int64 // microseconds
	only string
}

// runsBetween gives the runs of a workflow that stand for a time in a span,
// oldest first. One that an overlap rule dropped has not done anything.
func (e *Engine) runsBetween(ctx context.Context, workflow string, from, to time.Time) (map[runAt][]store.Run, error) {
	there := map[runAt][]store.Run{}
	f := store.RunFilter{Workflow: workflow, From: from, To: to, Limit: store.MaxLimit}
	for {
		runs, err := e.Store.Runs(ctx, f)
		if err != nil {
			return nil, err
		}
		for _, r := range runs {
			if f.Before = r.ID; r.State != machine.RunSkipped {
				k := runAt{r.ScheduledFor.UnixMicro(), strings.Join(r.Only, ",")}
				there[k] = append([]store.Run{r}, there[k]...)
			}
		}
		if len(runs) < store.MaxLimit {
			return there, nil
		}
	}
}

// ruleTick is one time at which a rule fires.
type ruleTick struct {
	at, from time.Time
	rule     *trigger.Rule
}

// ticksBetween gives the ticks of all rules in a span, both ends included, by
// time and then in file order.
func ticksBetween(rules []trigger.Rule, from, to time.Time) ([]ruleTick, error) {
	var ticks []ruleTick
	for i := range rules {
		r := &rules[i]
		for at := r.Next(from.Add(-1)); !at.IsZero() && !at.After(to); at = r.Next(at) {
			if len(ticks) == maxBackfill {
				return nil, fmt.Errorf("the backfill has more than %d ticks: ask for a shorter span", maxBackfill)
			}
			before := r.Prev(at.Add(-1))
			if before.IsZero() {
				before = at
			}
			ticks = append(ticks, ruleTick{at, before, r})
		}
	}
	slices.SortStableFunc(ticks, func(a, b ruleTick) int { return a.at.Compare(b.at) })
	return ticks, nil
}

// backfillRun gives the record of the run of one tick.
func (e *Engine) backfillRun(b Backfill, t ruleTick, now time.Time) (store.Run, error) {
	q := Request{Plan: b.Plan, Params: map[string]string{}, Trigger: store.TriggerBackfill, ScheduledFor: t.at}
	for _, f := range t.rule.Params {
		q.Params[f.Name.V] = f.Value.V
	}
	for name, value := range b.Params {
		q.Params[name] = value
	}
	var err error
	if q.Params, err = checkParams(b.Plan.Workflow, q.Params); err != nil {
		return store.Run{}, err
	}
	if len(t.rule.Roots) > 0 {
		q.Only = b.Plan.Members(t.rule.Roots...)
	}
	run := e.newRun(q, now)
	run.IntervalFrom, run.IntervalTo = timestamp(t.from), timestamp(t.at)
	run.Turn = run.Turn.Add(backfillYield)
	return run, nil
}
