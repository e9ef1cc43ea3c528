package trigger

import (
	"cmp"
	"hash/fnv"
	"time"

	"github.com/ax-scheduler/ax/dsl"
)

// Tick is one due time of a rule with what is to become of it.
type Tick struct {
	At     time.Time // nominal
	Fate   Fate
	Reason string // why it is not run; empty where it is
	// From and To are the slice of time that the run of a fired tick stands for:
	// from the tick before, or from before the gap where it stands for all that
	// was missed.
	From, To time.Time
}

// Fate says what is to become of a due tick.
type Fate uint8

// The fates of ticks.
const (
	Fire    Fate = iota
	Missed       // dropped by catchup or its window
	Merged       // part of the run of the last one
	Skipped      // fell into a pause
)

// lateness is how late a tick may be noticed and still count as on time: an
// engine on a busy machine is late, one that is later has been away.
const lateness = 5 * time.Second

// DefaultWindow is how old a missed tick may be and still be run (DSL.md).
const DefaultWindow = 24 * time.Hour

// maxMissed is how many ticks before the window have a row each. An outage of
// years would else fill the disk with ticks that nobody wants.
const maxMissed = 100_000

// Due gives every tick of a rule after last and up to now, oldest first, and
// what is to become of each. While none is later than a busy machine may be, all
// fire. Else the engine has been away, and they are treated by the workflow's
// catchup: with `latest` one run and then the normal pace. After more than a
// hundred thousand ticks that are older than catchup_window, the last of these
// stands for the rest of them. Ticks that fall into pauses are skipped, and take
// no part in catching up.
func (r *Rule) Due(wf *dsl.Workflow, pauses []Pause, last, now time.Time) []Tick {
	var ticks []Tick
	open := now.Add(-wf.CatchupWindow.Or(DefaultWindow)) // the window's beginning
	for at := r.Next(last); !at.IsZero() && !at.After(now); at = r.Next(at) {
		if len(ticks) == maxMissed && at.Before(open) {
			first := at
			if at = r.Prev(open.Add(-1)); at.After(first) {
				ticks = append(ticks, Tick{At: at, Fate: Missed, Reason: tooOld + ", as are all since " + first.UTC().Format(time.RFC3339), From: first, To: at})
				continue
			}
			at = first
		}
		from := r.Since(at)
		if len(ticks) > 0 {
			from = ticks[len(ticks)-1].At
		}
		ticks = append(ticks, Tick{At: at, From: from, To: at})
	}
	decide(ticks, wf, pauses, now)
	return ticks
}

const tooOld = "older than catchup_window"

// catchUp decides over the ticks of a time in which the engine was away.
func catchUp(ticks []*Tick, wf *dsl.Workflow, now time.Time) {
	if len(ticks) == 0 || now.Sub(ticks[0].At) <= lateness {
		return
	}
	window := wf.CatchupWindow.Or(DefaultWindow)
	merged := -1 // the first of those that the last one stands for
	for i, t := range ticks {
		last := i == len(ticks)-1
		switch {
		case now.Sub(t.At) > window:
			t.Fate, t.Reason = Missed, cmp.Or(t.Reason, tooOld)
		case wf.Catchup.V == dsl.CatchupNone && now.Sub(t.At) > lateness:
			t.Fate, t.Reason = Missed, "missed while the engine was down, and catchup is none"
		case wf.Catchup.V == dsl.CatchupLatest && !last:
			t.Fate, t.Reason = Missed, "missed while the engine was down, and catchup is latest"
		case wf.Catchup.V == dsl.CatchupMerge && !last:
			t.Fate, t.Reason = Merged, "its interval is part of the run of the last tick that was missed"
			if merged < 0 {
				merged = i
			}
		case wf.Catchup.V == dsl.CatchupMerge && merged >= 0:
			t.From = ticks[merged].From
		}
	}
}

// Delay gives how much later than its nominal time a workflow's ticks start: a
// fixed share of jitter, by its name.
func Delay(wf *dsl.Workflow) time.Duration {
	if wf.Jitter.V <= 0 {
		return 0
	}
	h := fnv.New64a()
	h.Write([]byte(wf.Name.V))
	return time.Duration(float64(h.Sum64()>>11) / (1 << 53) * float64(wf.Jitter.V))
}
