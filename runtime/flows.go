package runtime

import (
	"slices"

	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/store"
)

// flow is what the loop knows of the runs of one workflow: how many are going,
// and which wait behind max_active.
type flow struct {
	active   []*live // the oldest first
	waiting  []*live // in the order of their turns
	beyond   int     // queued ones that are in the store alone, or a guess at it; 0 for none
	fetching bool    // some of them are being taken in
	grown    bool    // there are more since the store was last read for them
}

// leave notes that n more queued runs are in the store alone.
func (f *flow) leave(n int) {
	f.beyond += n
	f.grown = true
}

func (lp *loop) flow(name string) *flow {
	f := lp.flows[name]
	if f == nil {
		f = &flow{}
		lp.flows[name] = f
	}
	return f
}

// full tells whether max_active runs of a workflow are going.
func (f *flow) full(wf *dsl.Workflow) bool {
	limit := wf.MaxActive.Or(1)
	return limit > 0 && len(f.active) >= limit
}

// startable gives the place of the first waiting run that may start: max_active
// has room for it, and its group. -1 for none.
func (f *flow) startable() int {
	var crowded []string // groups
	for i, l := range f.waiting {
		if f.full(l.run.Plan().Workflow) || slices.Contains(crowded, l.rec.Group) {
			continue
		}
		if l.rec.Group == "" || l.rec.GroupMax == 0 || f.going(l.rec.Group) < l.rec.GroupMax {
			return i
		}
		crowded = append(crowded, l.rec.Group)
	}
	return -1
}

// going counts the runs of a group that are going.
func (f *flow) going(group string) (n int) {
	for _, l := range f.active {
		if l.rec.Group == group {
			n++
		}
	}
	return n
}

// admit takes in a run that is stored as queued: it starts, or waits for its
// turn behind max_active. Between the write of a new run and this, a look at what
// is queued in the store may have found it: whoever comes first with it counts.
func (lp *loop) admit(l *live) {
	if had := lp.live[l.rec.ID]; had != nil && !had.rec.State.Final() {
		return
	}
	lp.adopt(l)
	lp.queue(l)
}

func (lp *loop) queue(l *live) {
	lp.wait(lp.flow(l.rec.Workflow), l)
	lp.next(l.rec.Workflow)
}

// next lets the runs start that an ended or dropped one was in the way of.
func (lp *loop) next(name string) {
	f := lp.flow(name)
	for i := f.startable(); i >= 0 && lp.ctx.Err() == nil; i = f.startable() {
		l := f.waiting[i]
		if !lp.admits(l) {
			break
		}
		f.waiting = slices.Delete(f.waiting, i, i+1)
		f.active = append(f.active, l)
		at := lp.now()
		l.rec.Turn = machine.Turn(at, l.rec.Priority)
		lp.apply(l, machine.RunStarted{At: at})
	}
	if len(f.waiting) == 0 {
		lp.fetch(name)
	}
	if len(f.active)+len(f.waiting)+f.beyond == 0 && !f.fetching {
		delete(lp.flows, name)
	}
}

// leave takes a run that has ended out of its workflow.
func (lp *loop) leave(l *live) {
	f := lp.flow(l.rec.Workflow)
	f.active = slices.DeleteFunc(f.active, func(o *live) bool { return o == l })
	lp.next(l.rec.Workflow)
}

// replaceable tells whether a newer tick takes the place of a run that waits: not
// of one that was retried by hand.
func (l *live) replaceable() bool {
	bySelf := l.rec.Trigger == store.TriggerSchedule || l.rec.Trigger == store.TriggerAfter
	rule := l.run.Plan().Workflow.Overlap.V
	return bySelf && l.run.StartedAt().IsZero() && (rule == dsl.OverlapBufferOne || rule == dsl.OverlapReplace)
}

// stopping tells whether a run that is going has been cancelled.
func (l *live) stopping() bool { return l.run.Stopping() }

// cancel asks a run to stop, or keeps it from starting.
func (lp *loop) cancel(l *live, by string) {
	switch {
	case !l.run.Waits():
	case l.run.StartedAt().IsZero():
		lp.drop(l, machine.RunCancelled, machine.ReasonCancelled, cancelledBeforeStart)
		return
	default:
		lp.unqueue(l)
	}
	lp.apply(l, machine.CancelRequested{By: by, At: lp.now()})
}

// unqueue takes a run out of those that wait.
func (lp *loop) unqueue(l *live) {
	f := lp.flow(l.rec.Workflow)
	f.waiting = slices.DeleteFunc(f.waiting, func(o *live) bool { return o == l })
}

// drop ends a run that has not started. It has no events, so that its record
// alone says what became of it.
func (lp *loop) drop(l *live, state machine.RunState, reason machine.Reason, why string) {
	lp.unqueue(l)
	l.rec.State, l.rec.Reason, l.rec.Error, l.rec.FinishedAt = state, reason, why, lp.now()
	l.dropped = true
	lp.touch(l)
	lp.commands = append(lp.commands, issued{l, machine.EndRun{}})
}
