package runtime

import (
	"cmp"
	"container/heap"
	"time"

	"github.com/ax-scheduler/ax/runtime/machine"
)

// fairShare is what each attempt that a run has going counts in the order of
// turns: like so much less waiting. Of two runs that both have much to do, none
// takes all slots for itself.
const fairShare = time.Second

// turns are the runs that have something to start, by whose turn it is.
type turns []*live

func (ts turns) Len() int { return len(ts) }
func (ts turns) Less(i, j int) bool {
	return cmp.Or(ts[i].turn.Compare(ts[j].turn), cmp.Compare(ts[i].rec.ID, ts[j].rec.ID)) < 0
}
func (ts turns) Swap(i, j int) {
	ts[i], ts[j] = ts[j], ts[i]
	ts[i].place, ts[j].place = i+1, j+1
}
func (ts *turns) Push(x any) {
	l := x.(*live)
	*ts = append(*ts, l)
	l.place = len(*ts)
}
func (ts *turns) Pop() any {
	old := *ts
	l := old[len(old)-1]
	old[len(old)-1] = nil
	*ts, l.place = old[:len(old)-1], 0
	return l
}

// wake has a run asked again for what it would start.
func (lp *loop) wake(l *live) {
	if !l.woken {
		l.woken = true
		lp.woken = append(lp.woken, l)
	}
}

// line puts the runs that have been woken where they stand now.
func (lp *loop) line() {
	for _, l := range lp.woken {
		l.woken = false
		u, ok := l.run.Startable(lp.closed)
		if ok {
			l.next, l.turn = u, l.turnOf(u)
		}
		switch {
		case ok && l.place == 0:
			heap.Push(&lp.turns, l)
		case ok:
			heap.Fix(&lp.turns, l.place-1)
		case l.place > 0:
			heap.Remove(&lp.turns, l.place-1)
		}
	}
	clear(lp.woken)
	lp.woken = lp.woken[:0]
}

// turnOf gives the place of a unit among those of all runs.
func (l *live) turnOf(u machine.Unit) time.Time {
	priority := l.run.Plan().Tasks[u.Task].Spec.Priority.Or(l.rec.Priority)
	return machine.Turn(l.run.ReadySince(u), priority).Add(time.Duration(l.run.Running()) * fairShare)
}

// grant gives free slots to ready tasks, and skips those that do not want to
// wait for their pool.
func (lp *loop) grant() {
	for again := true; again; again = lp.skipBusy() {
		lp.startWaits()
		lp.grantSlots()
	}
}

// grantSlots gives each free slot to the run whose turn it is.
func (lp *loop) grantSlots() {
	for lp.line(); lp.free > 0 && len(lp.turns) > 0 && lp.ctx.Err() == nil; lp.line() {
		l := lp.turns[0]
		if u, ok := l.run.Startable(lp.closed); ok && u == l.next {
			lp.startAttempt(l, u)
		} else {
			lp.wake(l) // a pool has filled up meanwhile
		}
	}
}
