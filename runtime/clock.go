package runtime

import "time"

// setBack is by how much the clock on the wall must have fallen behind for it to
// have been set back; less is the slewing of a time service.
const setBack = time.Second

// reading is what the loop last saw of its two clocks: the one on the wall,
// which can be set, and the one that only goes on.
type reading struct{ wall, steady time.Time }

// readClock notices that the clock was set back. Ticks and delayed runs are at
// times on the wall, and so wait for these to come again; but pauses before
// retries and timeouts are lengths of time, and go on as they were. When it is
// set forward, or the machine was suspended, nothing is to be done: what has
// become due meanwhile is due.
func (lp *loop) readClock() {
	was := lp.seen
	lp.seen = reading{lp.now(), time.Now()}
	if was.steady.IsZero() {
		return
	}
	step := lp.seen.wall.Sub(was.wall) - lp.seen.steady.Sub(was.steady)
	if step > -setBack {
		return
	}
	lp.e.Log.Warn("the clock was set back", "by", -step)
	lp.timers.shift(step)
	lp.followed = time.Time{}
	if !lp.due.IsZero() {
		lp.due = lp.seen.wall // and not when the old time has come again
	}
}

// shift moves all that waits for a time, which leaves its order as it is.
func (ts *timers) shift(by time.Duration) {
	for i := range ts.heap {
		ts.heap[i].at = ts.heap[i].at.Add(by)
	}
}
