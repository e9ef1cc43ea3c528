package trigger

import (
	"slices"
	"strings"
	"time"

	"github.com/ax-scheduler/ax/dsl"
)

// Paused is the reason of ticks that fell into a pause.
const Paused = "paused"

// Pause is a time in which the schedules of a workflow start nothing: from Since
// up to Until and without it, or without end where that is zero.
type Pause struct{ Since, Until time.Time }

// Lasting tells whether one of the pauses has no end yet.
func Lasting(pauses []Pause) bool {
	return slices.ContainsFunc(pauses, func(p Pause) bool { return p.Until.IsZero() })
}

// Covered tells whether something that is due at a time falls into one of the
// pauses.
func Covered(pauses []Pause, at time.Time) bool {
	return slices.ContainsFunc(pauses, func(p Pause) bool {
		return !at.Before(p.Since) && (p.Until.IsZero() || at.Before(p.Until))
	})
}

// decide says what is to become of due ticks. While a pause lasts nothing is
// run, not what was due before it either.
func decide(ticks []Tick, wf *dsl.Workflow, pauses []Pause, now time.Time) {
	delay := Delay(wf)
	var rest []*Tick
	for i := range ticks {
		if t := &ticks[i]; Covered(pauses, t.At.Add(delay)) {
			t.pause()
		} else {
			rest = append(rest, t)
		}
	}
	catchUp(rest, wf, now)
	if !Lasting(pauses) {
		return
	}
	for _, t := range rest {
		if t.Fate != Missed {
			t.pause()
		}
	}
}

// pause has a tick skipped; one that stands for others says so.
func (t *Tick) pause() {
	t.Fate, t.Reason = Skipped, Paused+strings.TrimPrefix(t.Reason, tooOld)
}
