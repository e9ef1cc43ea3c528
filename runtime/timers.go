package runtime

import (
	"cmp"
	"container/heap"
	"slices"
	"time"

	"github.com/ax-scheduler/ax/runtime/machine"
)

// timer is a WakeAt of one run.
type timer struct {
	at   time.Time
	l    *live
	wake machine.WakeAt
	seq  int // orders what is due at one instant
}

// wanted tells whether anything can still come of the timer.
func (t timer) wanted() bool {
	if state, _, _ := t.l.run.State(); state.Final() {
		return false
	}
	if t.wake.Timer == machine.TimerRun {
		return true
	}
	v := t.l.run.View(t.wake.Unit())
	return v.Attempts == t.wake.Attempt && !v.State.Final()
}

// timers is a heap of all that waits for a time, the earliest on top. What is due
// at one instant comes in the order in which it was asked for.
type timers struct {
	heap  timerHeap
	seq   int
	sweep int // size at which those that are no longer wanted are thrown out
}

func (ts *timers) push(t timer) {
	ts.seq++
	t.seq = ts.seq
	heap.Push(&ts.heap, t)
	if len(ts.heap) <= ts.sweep {
		return
	}
	ts.heap = slices.DeleteFunc(ts.heap, func(t timer) bool { return !t.wanted() })
	heap.Init(&ts.heap)
	ts.sweep = max(1024, 2*len(ts.heap))
}

// due takes out the first timer whose time has come.
func (ts *timers) due(now time.Time) (timer, bool) {
	if len(ts.heap) == 0 || ts.heap[0].at.After(now) {
		return timer{}, false
	}
	return heap.Pop(&ts.heap).(timer), true
}

// pause gives how long to sleep until the first is due, at most longest.
func (ts *timers) pause(now time.Time, longest time.Duration) time.Duration {
	if len(ts.heap) == 0 {
		return longest
	}
	return max(0, min(ts.heap[0].at.Sub(now), longest))
}

// earlier gives the earlier of two times; zero stands for never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// due splits what waits, in order of its times, at now: it gives how many of it
// are due, and the time of the next, or otherwise if that is earlier.
func due[T any](waiting []T, at func(*T) time.Time, now, otherwise time.Time) (n int, next time.Time) {
	for n < len(waiting) && !at(&waiting[n]).After(now) {
		n++
	}
	if n < len(waiting) {
		otherwise = earlier(otherwise, at(&waiting[n]))
	}
	return n, otherwise
}

type timerHeap []timer

func (h timerHeap) Len() int { return len(h) }
func (h timerHeap) Less(i, j int) bool {
	return cmp.Or(h[i].at.Compare(h[j].at), cmp.Compare(h[i].seq, h[j].seq)) < 0
}
func (h timerHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *timerHeap) Push(x any)   { *h = append(*h, x.(timer)) }
func (h *timerHeap) Pop() any {
	old := *h
	t := old[len(old)-1]
	old[len(old)-1] = timer{}
	*h = old[:len(old)-1]
	return t
}
