package runtime

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/runtime/reload"
	"github.com/ax-scheduler/ax/runtime/trigger"
	"github.com/ax-scheduler/ax/store"
)

// scheduled is one rule that the loop waits for.
type scheduled struct {
	file  *reload.Loaded
	rule  trigger.Rule
	last  time.Time // the last tick that is in the ledger, or when the schedule was loaded
	wake  time.Time // when the next tick is due, behind its jitter
	delay time.Duration
	busy  *bool // ticks of it are being stored: its next ones wait, so that the ledger has no holes
}

// Load sets the workflows whose schedules the engine keeps from now on. A
// schedule that it had before goes on from its last tick.
func (e *Engine) Load(ctx context.Context, c *reload.Catalog) error {
	e.init()
	if err := e.changePauses(ctx, func() error { return nil }); err != nil { // before the first tick
		return err
	}
	var before *reload.Catalog
	var had map[*reload.Loaded][]*scheduled
	if err := e.ask(ctx, func(lp *loop) error {
		before, had = lp.catalog, lp.kept()
		return nil
	}); err != nil {
		return err
	}
	next := keeping{files: make(map[*reload.Loaded]bool, len(c.Workflows)), same: make(map[*reload.Loaded]bool, len(c.Workflows))}
	for _, file := range c.Workflows {
		ss, unchanged := had[file]
		if unchanged {
			next.same[file] = true
			next.add(file, ss)
			continue
		}
		if err := e.keep(ctx, &next, file); err != nil {
			// The file has changed since it was checked, or a file it names has.
			e.Log.Error("the schedules of a workflow cannot be kept", "workflow", file.Head.Name.V, "error", err)
		}
	}
	for group := range slices.Chunk(next.loaded, tickGroup) {
		if err := e.persist(ctx, &store.Batch{Ticks: group}); err != nil {
			return err
		}
	}
	if err := e.ask(ctx, func(lp *loop) error {
		lp.load(&next)
		lp.followers, lp.catalog = followersOf(c), c
		lp.late.lookAt(lp.now())
		return nil
	}); err != nil {
		return err
	}
	if err := e.tellBroken(ctx, c, before); err != nil {
		return err
	}
	return e.catchUpAfter(ctx, c)
}

// keeping is what Load makes of a catalog.
type keeping struct {
	all    []*scheduled
	files  map[*reload.Loaded]bool // whose schedules stay as they are while the file does
	same   map[*reload.Loaded]bool // of these, those that were loaded before
	loaded []store.Tick            // for schedules that the ledger does not know
}

func (k *keeping) add(file *reload.Loaded, ss []*scheduled) {
	k.files[file] = true
	k.all = append(k.all, ss...)
}

// kept gives the schedules by file of the files whose schedules need not be made
// again while they stay the same.
func (lp *loop) kept() map[*reload.Loaded][]*scheduled {
	all := make(map[*reload.Loaded][]*scheduled, len(lp.files))
	for file := range lp.files {
		all[file] = nil
	}
	for _, s := range lp.schedules {
		if lp.files[s.file] {
			all[s.file] = append(all[s.file], s)
		}
	}
	return all
}

// keep adds the schedules of one workflow with where each stands in the ledger.
// One that the ledger does not know is to be written into it, so that what is
// missed from now on can be caught up, and so that `every` keeps its pace.
func (e *Engine) keep(ctx context.Context, k *keeping, file *reload.Loaded) error {
	wf, now := file.Head, e.now()
	rs, err := e.rulesOf(ctx, file.Head, file.Entries, now)
	if err != nil {
		return err
	}
	var ss []*scheduled
	for _, r := range rs.rules {
		s := &scheduled{file: file, rule: r, last: now, delay: trigger.Delay(wf), busy: new(bool)}
		if span, ok := rs.known[s.id()]; ok {
			s.last = span.Last
		} else {
			k.loaded = append(k.loaded, store.Tick{
				Workflow: wf.Name.V, Schedule: s.id(), At: now, Outcome: store.TickLoaded, Reason: "the schedule was loaded for the first time",
			})
		}
		ss = append(ss, s)
	}
	k.add(file, ss)
	if rs.readsFiles { // which may have changed by the next time
		delete(k.files, file)
	}
	return nil
}

// ruleSet are the schedules of a workflow.
type ruleSet struct {
	rules      []trigger.Rule
	known      map[string]store.Span // of each that has ticks in the ledger
	readsFiles bool                  // of dates
}

// rulesOf gives the schedules of a workflow. `every` counts from the first tick
// in the ledger, or else from anchor.
func (e *Engine) rulesOf(ctx context.Context, wf *dsl.Workflow, entries []dag.Entry, anchor time.Time) (rs ruleSet, err error) {
	zone := e.Zone
	if zone == nil {
		zone = time.Local
	}
	rs.rules, err = trigger.Rules(wf, entries, trigger.Options{Zone: zone, Anchor: anchor, Dates: func(path string) ([]dsl.Date, error) {
		rs.readsFiles = true
		return trigger.ReadDates(filepath.Join(filepath.Dir(wf.Source.File), path))
	}})
	if err != nil {
		return rs, err
	}
	spans, err := e.Store.Schedules(ctx, wf.Name.V)
	if err != nil {
		return rs, err
	}
	rs.known = make(map[string]store.Span, len(spans))
	for _, s := range spans {
		rs.known[s.Schedule] = s
	}
	for i := range rs.rules {
		if k, ok := rs.known[scheduleID(&rs.rules[i])]; ok {
			rs.rules[i] = rs.rules[i].Anchored(k.First)
		}
	}
	return rs, nil
}

func (s *scheduled) id() string { return scheduleID(&s.rule) }

// scheduleID identifies a schedule within its workflow: as written, and for
// which tasks.
func scheduleID(r *trigger.Rule) string {
	id := r.Schedule
	for i, t := range r.Tasks {
		if i == 0 {
			id += " of "
		} else {
			id += ","
		}
		id += t
	}
	return id
}

// load replaces the schedules. One that is there already keeps its place: its
// last tick may not be in the ledger yet.
func (lp *loop) load(k *keeping) {
	before := map[string]*scheduled{}
	for _, s := range lp.schedules {
		if !k.same[s.file] {
			before[s.file.Head.Name.V+"\x00"+s.id()] = s
		}
	}
	for _, s := range k.all {
		if k.same[s.file] {
			continue
		}
		if b := before[s.file.Head.Name.V+"\x00"+s.id()]; b != nil {
			s.busy = b.busy
			if b.last.After(s.last) {
				s.last = b.last
			}
		}
		s.arm()
	}
	lp.schedules, lp.files, lp.soonest = k.all, k.files, time.Time{}
}

// arm computes when the schedule is due next.
func (s *scheduled) arm() {
	s.wake = s.rule.Next(s.last)
	if !s.wake.IsZero() {
		s.wake = s.wake.Add(s.delay)
	}
}

// fireSchedules deals with every tick that is due, and notes when the next one is:
// most events come in between, and there may be thousands of schedules.
func (lp *loop) fireSchedules() {
	now := lp.now()
	if lp.ctx.Err() != nil || lp.soonest.After(now) {
		return
	}
	lp.soonest = now.Add(lp.e.longest)
	for _, s := range lp.schedules {
		if s.wake.IsZero() || *s.busy { // the end of that asks again
			continue
		}
		if s.wake.After(now) {
			lp.soonest = earlier(lp.soonest, s.wake)
			continue
		}
		ticks := s.rule.Due(s.file.Head, lp.pauses[s.file.Head.Name.V], s.last, now.Add(-s.delay))
		if len(ticks) > 0 {
			s.last = ticks[len(ticks)-1].At
			lp.settleTicks(s, ticks)
		}
		if s.arm(); !s.wake.IsZero() && !*s.busy { // the clock was set back
			lp.soonest = earlier(lp.soonest, s.wake)
		}
	}
}

// settleTicks writes what becomes of due ticks, oldest first, each fired one in
// one transaction with its run, and then takes the runs in.
func (lp *loop) settleTicks(s *scheduled, ticks []trigger.Tick) {
	now := lp.now()
	pending := make([]*pendingTick, 0, len(ticks))
	for _, t := range ticks {
		tick := store.Tick{Workflow: s.file.Head.Name.V, Schedule: s.id(), At: t.At, Reason: t.Reason}
		switch t.Fate {
		case trigger.Missed:
			tick.Outcome = store.TickMissed
		case trigger.Skipped:
			tick.Outcome = store.TickSkipped
		case trigger.Merged:
			tick.Outcome = store.TickMerged
		case trigger.Fire:
			pending = append(pending, lp.fire(s.file, &s.rule, store.TriggerSchedule, t, tick, now))
			continue
		}
		pending = append(pending, &pendingTick{tick: tick})
	}
	e := lp.e
	e.tellMissed(s.file, pending, now)
	*s.busy = true
	ctx := lp.ctx
	lp.workers.Go(func() {
		for group := range slices.Chunk(pending, tickGroup) {
			if err := e.storeTicks(ctx, group); err != nil {
				e.Log.Error("ticks could not be stored", "workflow", s.file.Head.Name.V, "from", group[0].tick.At, "error", err)
				break
			}
		}
		_ = e.send(ctx, func(lp *loop) { // or it is over
			*s.busy, lp.soonest = false, time.Time{}
		})
	})
}

// tickGroup is how many ticks are stored in one transaction: few enough that
// others are not held up, many enough that a long outage is soon dealt with.
const tickGroup = 256

// pendingTick is a tick that is not stored yet, with its run.
type pendingTick struct {
	tick  store.Tick
	run   store.Run
	file  *reload.Loaded // nil where it has no run
	plan  *dag.Plan      // from when its run is prepared, which is not in the loop
	roots []dag.Task     // with which it starts; none for the whole workflow
	only  []dag.Task

	params []dsl.Field // as the schedule gives them
	late   store.Batch // what is told where it was missed
	yields bool        // it is skipped where runs of other processes are in its way
	beside int         // runs of its workflow that were going in this one
}

// fire makes the run of a tick, by the overlap rule of its workflow.
func (lp *loop) fire(file *reload.Loaded, r *trigger.Rule, by store.Trigger, t trigger.Tick, tick store.Tick, now time.Time) *pendingTick {
	wf := file.Head
	p := &pendingTick{tick: tick, file: file, roots: r.Roots, params: r.Params}
	given := map[string]string{} // evaluated only if the tick fires
	for _, f := range p.params {
		given[f.Name.V] = f.Value.V
	}
	p.run = lp.e.recordOf(wf, Request{Params: given, Trigger: by, ScheduledFor: t.At}, now)
	p.run.IntervalFrom, p.run.IntervalTo = t.From, t.To
	p.tick.Outcome, p.tick.RunID = store.TickFired, p.run.ID
	f := lp.flow(wf.Name.V)
	p.yields, p.beside = wf.Overlap.V == dsl.OverlapSkip && wf.MaxActive.Or(1) > 0, len(f.active)
	if !f.full(wf) && !lp.gate.workflows[wf.Name.V] {
		return p
	}
	switch wf.Overlap.V {
	case dsl.OverlapSkip:
		if f.full(wf) {
			p.skip(f.active[0].rec.ID)
		}
	case dsl.OverlapBufferOne:
		lp.replaceWaiting(f)
	case dsl.OverlapReplace:
		lp.replaceWaiting(f)
		// A run of another process is waited for, and so is one that is being stopped: asked once more, it would give
		// up its handlers.
		if f.full(wf) && !slices.ContainsFunc(f.active, (*live).stopping) {
			lp.apply(f.active[0], machine.CancelRequested{By: "overlap: replace", At: now})
		}
	}
	return p
}

// replaceWaiting drops the ticks that wait, for a newer one.
func (lp *loop) replaceWaiting(f *flow) {
	for _, l := range slices.Clone(f.waiting) {
		if l.replaceable() {
			lp.drop(l, machine.RunSkipped, machine.ReasonOverlap, "a newer tick took its place while it waited")
		}
	}
}

// skip drops the run of a tick for the one that is in its way.
func (p *pendingTick) skip(other string) {
	p.run.State, p.run.Reason, p.run.FinishedAt = machine.RunSkipped, machine.ReasonOverlap, p.run.CreatedAt
	p.run.Error = "run " + other + " was still going"
	p.tick.Outcome, p.tick.Reason = store.TickSkipped, p.run.Error
}

// compile has the plan of the workflow made, and what depends on it.
func (p *pendingTick) compile() {
	if p.plan = p.file.Plan(); len(p.roots) == 0 {
		return
	}
	p.only = p.plan.Members(p.roots...)
	p.run.Only = idsOf(p.plan, p.only)
}

// prepare brings the run of a tick to life. One that could not run has failed.
func (e *Engine) prepare(p *pendingTick) *live {
	if p.run.State.Final() {
		return nil
	}
	l, err := e.liveOf(p)
	if err != nil {
		p.run.State, p.run.Reason, p.run.Error = machine.RunFailed, machine.ReasonStartError, err.Error()
		p.run.FinishedAt = p.run.CreatedAt
	}
	return l
}

func (e *Engine) liveOf(p *pendingTick) (*live, error) {
	if err := e.refusal(p.plan); err != nil {
		return nil, err
	}
	given, err := e.scheduleParams(p)
	if err != nil {
		return nil, err
	}
	params, err := checkParams(p.plan.Workflow, given)
	if err != nil {
		return nil, err
	}
	p.run.Params = params
	return e.newLive(p.plan, p.run, p.only)
}

// storeTicks stores ticks with their runs, and hands the runs to the loop. Ticks
// that are in the ledger already have had their runs.
func (e *Engine) storeTicks(ctx context.Context, ticks []*pendingTick) error {
	if err := e.yield(ctx, ticks); err != nil {
		return err
	}
	b := &store.Batch{}
	var lives []*live
	var finished []store.Run
	var ends []runEnd
	for _, p := range ticks {
		b.Ticks = append(b.Ticks, p.tick)
		b.Versions = append(b.Versions, p.late.Versions...)
		b.Messages = append(b.Messages, p.late.Messages...)
		if p.file == nil {
			continue
		}
		p.compile()
		if len(b.Create) == 0 {
			b.Versions = append(b.Versions, versionOf(p.plan, p.run.CreatedAt))
		}
		l := e.prepare(p)
		b.Create = append(b.Create, p.run)
		if p.run.State.Final() {
			finished = append(finished, p.run)
			if p.run.State == machine.RunFailed {
				ends = append(ends, runEnd{run: p.run, plan: p.plan})
			}
		} else {
			lives = append(lives, l)
		}
	}
	e.tellEnds(ctx, b, ends)
	err := e.persist(ctx, b)
	if errors.Is(err, store.ErrConflict) && len(ticks) > 1 {
		for i := range ticks {
			if err := e.storeTicks(ctx, ticks[i:i+1]); err != nil {
				return err
			}
		}
		return nil
	}
	if errors.Is(err, store.ErrConflict) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, p := range ticks {
		e.Observer.TickSettled(p.tick.Workflow, p.tick.Outcome)
	}
	for _, run := range finished {
		e.publish(Update{Run: run})
	}
	_ = e.send(context.WithoutCancel(ctx), func(lp *loop) { // if it is over, the next engine takes them up
		for _, l := range lives {
			lp.admit(l)
		}
	})
	return nil
}
