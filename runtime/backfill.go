package runtime

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
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

// Filling is what a backfill does, or would do.
type Filling struct {
	Ticks   []Filled // by time, then in file order
	LeftOut int      // ticks of the span that are not due yet: the schedules start them
}

// Filled is one tick of a backfill.
type Filled struct {
	At       time.Time
	Schedule string            // as written, with what tells it from others of its workflow
	Tasks    []string          // that it starts with; empty for the whole workflow
	Params   map[string]string // those that the schedule gives, as the run has them
	Run      store.Run         // the one that is made, or, where Left, the one that is there; zero where it is only planned
	Left     bool
}

// backfillYield is how far behind all else of its workflow the run of a backfill
// takes its turn: what is due tonight does not wait for the last three years.
const backfillYield = 100 * 365 * 24 * time.Hour

// maxBackfill bounds the ticks of one backfill: a slip in a year must not ask
// for millions of runs.
const maxBackfill = 100_000

// Backfill makes the runs of a span, oldest first, and has them carried out. A
// tick that has had its run is left alone unless Redo says otherwise, so that a
// backfill that is asked for again only does the rest; one that is not due yet is
// left to its schedule. When it returns, the runs are on disk.
func (e *Engine) Backfill(ctx context.Context, b Backfill) (Filling, error) {
	e.init()
	all, err := e.planBackfill(ctx, b)
	if err != nil {
		return Filling{}, err
	}
	wf := b.Plan.Workflow
	var made []store.Run
	for _, f := range all.Ticks {
		if !f.Left {
			made = append(made, f.Run)
		}
	}
	changes := changeFor(ctx, "backfill", wf.Name.V, "")
	for group := range slices.Chunk(made, tickGroup) {
		batch := &store.Batch{Versions: []store.Version{versionOf(b.Plan, e.now())}, Create: group, Changes: changes}
		if err := e.commit(ctx, batch); errors.Is(err, store.ErrConflict) {
			return Filling{}, fmt.Errorf("another backfill of %s is making the same runs: %w", wf.Name.V, err)
		} else if err != nil {
			return Filling{}, fmt.Errorf("backfill %s: %w", wf.Name.V, err)
		}
		settle(ctx)
		changes = nil // the first group has it
		err := e.look(ctx, func(lp *loop) {
			lp.flow(wf.Name.V).leave(len(group))
			lp.next(wf.Name.V)
		})
		if err != nil {
			return Filling{}, err
		}
	}
	return all, nil
}

// PlanBackfill tells what Backfill would do, and does nothing. It refuses what
// could not run.
func (e *Engine) PlanBackfill(ctx context.Context, b Backfill) (Filling, error) {
	e.init()
	LookOnly(ctx)
	all, err := e.planBackfill(ctx, b)
	for i := range all.Ticks {
		if f := &all.Ticks[i]; !f.Left {
			f.Run = store.Run{}
		}
	}
	return all, err
}

func (e *Engine) planBackfill(ctx context.Context, b Backfill) (Filling, error) {
	wf := b.Plan.Workflow
	if err := e.refusal(b.Plan); err != nil {
		return Filling{}, refused{err}
	}
	now := e.now()
	from, to, err := e.span(b, now)
	if err != nil {
		return Filling{}, refused{err}
	}
	if b.MaxParallel < 0 {
		return Filling{}, refused{fmt.Errorf("at most %d runs at a time: it is at least 1, or 0 for no limit", b.MaxParallel)}
	}
	rs, err := e.rulesOf(ctx, wf, b.Plan.Entries, from)
	switch {
	case err != nil:
		return Filling{}, refused{err}
	case wf.Disabled.V:
		return Filling{}, refused{fmt.Errorf("%s is disabled: its schedules have no ticks", wf.Name.V)}
	case len(rs.rules) == 0:
		return Filling{}, refused{fmt.Errorf("%s has no schedule whose ticks could be filled", wf.Name.V)}
	}
	ticks, err := ticksBetween(rs.rules, from, to)
	if err != nil {
		return Filling{}, refused{err}
	}
	all := Filling{LeftOut: len(ticks)}
	ticks = dueBy(ticks, now.Add(-trigger.Delay(wf)))
	all.LeftOut -= len(ticks)
	there, err := e.runsBetween(ctx, wf.Name.V, from, to)
	if err != nil {
		return Filling{}, err
	}
	there.rules = rs.rules
	group := NewID(now)
	for len(ticks) > 0 {
		n := 1
		for n < len(ticks) && ticks[n].at.Equal(ticks[0].at) {
			n++
		}
		filled, err := e.fill(b, ticks[:n], there, now, group)
		if err != nil {
			return Filling{}, refused{err}
		}
		all.Ticks, ticks = append(all.Ticks, filled...), ticks[n:]
	}
	return all, nil
}

// fill gives what becomes of the ticks of one instant.
func (e *Engine) fill(b Backfill, ticks []ruleTick, there *present, now time.Time, group string) ([]Filled, error) {
	filled := make([]Filled, len(ticks))
	want := make([]spot, len(ticks))
	for i, t := range ticks {
		run, given, err := e.backfillRun(b, t, now)
		if err != nil {
			return nil, err
		}
		run.Group, run.GroupMax = group, b.MaxParallel
		filled[i] = Filled{At: t.at, Schedule: t.rule.Schedule, Tasks: t.rule.Tasks, Run: run}
		want[i] = spot{rule: t.rule, only: run.Only, given: given}
	}
	for i, old := range there.shared(b.Plan.Workflow, ticks[0].at, want) {
		f := &filled[i]
		if f.Run.Key = nextKey(ticks[i], old); len(old) > 0 && !b.Redo.wants(old) {
			f.Run, f.Left = old[len(old)-1], true
		}
		f.Params = make(map[string]string, len(ticks[i].rule.Params))
		for _, p := range ticks[i].rule.Params {
			f.Params[p.Name.V] = f.Run.Params[p.Name.V]
		}
	}
	return filled, nil
}

// span reads the two ends of a backfill, which begins in the past.
func (e *Engine) span(b Backfill, now time.Time) (from, to time.Time, err error) {
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
	if from.After(now) {
		return from, to, fmt.Errorf("the backfill would begin at %s, which is still to come, and the schedules start what is due then: begin it before %s",
			from.Format(time.RFC3339), now.In(from.Location()).Format(time.RFC3339))
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
			ticks = append(ticks, ruleTick{at, r.Since(at), r})
		}
	}
	slices.SortStableFunc(ticks, func(a, b ruleTick) int { return a.at.Compare(b.at) })
	return ticks, nil
}

// dueBy gives those of the ticks, which are in the order of time, that are due.
func dueBy(ticks []ruleTick, now time.Time) []ruleTick {
	n, _ := slices.BinarySearchFunc(ticks, now, func(t ruleTick, now time.Time) int {
		if t.at.After(now) {
			return 1
		}
		return -1
	})
	return ticks[:n]
}

// backfillRun gives the record of the run of one tick, and the parameters that
// its schedule gives.
func (e *Engine) backfillRun(b Backfill, t ruleTick, now time.Time) (run store.Run, given map[string]string, err error) {
	q := Request{Plan: b.Plan, Trigger: store.TriggerBackfill, ScheduledFor: t.at}
	if len(t.rule.Roots) > 0 {
		q.Only = b.Plan.Members(t.rule.Roots...)
	}
	run = e.newRun(q, now)
	if len(t.rule.Params) > 0 {
		if given, err = e.scheduleParams(&pendingTick{run: run, plan: b.Plan, params: t.rule.Params}); err != nil {
			return run, nil, err
		}
	}
	params := make(map[string]string, len(given)+len(b.Params))
	maps.Copy(params, given)
	maps.Copy(params, b.Params)
	if run.Params, err = checkParams(b.Plan.Workflow, params); err != nil {
		return run, nil, err
	}
	run.IntervalFrom, run.IntervalTo = timestamp(t.from), timestamp(t.at)
	run.Turn = run.Turn.Add(backfillYield)
	return run, given, nil
}
