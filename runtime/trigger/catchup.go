package trigger

import (
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
	Fire   Fate = iota
	Missed      // dropped by catchup or its window
	Merged      // part of the run of the last one
)

// lateness is how late a tick may be noticed and still count as on time: the
// longest sleep of an engine, twice.
const lateness = time.Minute

// defaultWindow is how old a missed tick may be and still be run (DSL.md).
const defaultWindow = 24 * time.Hour

// Due gives every tick of a rule after last and up to now, oldest first, and
// what is to become of each by the workflow's catchup: the last one fires if it
// is on time; those before it, and it too if it is late, were missed.
func (r *Rule) Due(wf *dsl.Workflow, last, now time.Time) []Tick {
	var ticks []Tick
	for at := r.Next(last); !at.IsZero() && !at.After(now); at = r.Next(at) {
		from := last
		if len(ticks) > 0 {
			from = ticks[len(ticks)-1].At
		} else if p := r.Prev(at.Add(-1)); !p.IsZero() {
			from = p
		}
		ticks = append(ticks, Tick{At: at, From: from, To: at})
	}
	late := len(ticks) > 1 || len(ticks) == 1 && now.Sub(ticks[0].At) > lateness
	if late {
		catchUp(ticks, wf, now)
	}
	return ticks
}

func catchUp(ticks []Tick, wf *dsl.Workflow, now time.Time) {
	window := wf.CatchupWindow.Or(defaultWindow)
	newest := len(ticks) - 1
	for i := range ticks {
		t := &ticks[i]
		switch {
		case i == newest && now.Sub(t.At) <= lateness && wf.Catchup.V != dsl.CatchupMerge:
			// on time, whatever came before
		case now.Sub(t.At) > window:
			t.Fate, t.Reason = Missed, "older than catchup_window"
		case wf.Catchup.V == dsl.CatchupNone:
			t.Fate, t.Reason = Missed, "missed while the engine was down, and catchup is none"
		case wf.Catchup.V == dsl.CatchupLatest && i < newest:
			t.Fate, t.Reason = Missed, "missed while the engine was down, and catchup is latest"
		case wf.Catchup.V == dsl.CatchupMerge && i < newest:
			t.Fate, t.Reason = Merged, "its interval is part of the run of the last tick that was missed"
		}
	}
	if wf.Catchup.V == dsl.CatchupMerge && ticks[newest].Fate == Fire {
		for i := range ticks {
			if ticks[i].Fate == Merged {
				ticks[newest].From = ticks[i].From
				return
			}
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
