package cron

import (
	"math"
	"time"
)

// farthest bounds how far, in seconds, a zone's clock can be from UTC (RFC 8536, section 3.2).
const farthest = 26 * 60 * 60

// Next returns the first instant strictly after the given one at which the expression fires by the clock of loc, in
// loc; the zero time if there is none up to the year 9999. A nil loc is UTC, as inside package time.
func (e *Expr) Next(after time.Time, loc *time.Location) time.Time {
	t := max(after.Unix(), eraStart)
	if t >= eraEnd {
		return time.Time{}
	}
	u := eraEnd
	if !e.fixed {
		u = e.nextShown(t+1, loc)
	} else if w := e.nextWall(highest(t, loc) + 1); w < eraEnd {
		u = reached(w, loc)
	}
	if u >= eraEnd {
		return time.Time{}
	}
	return at(u, loc)
}

// Prev returns the last instant at or before the given one at which the expression fires by the clock of loc, in loc;
// the zero time if there is none back to the year 1. For every fire f, Prev(f) is f.
func (e *Expr) Prev(atOrBefore time.Time, loc *time.Location) time.Time {
	t := min(atOrBefore.Unix(), eraEnd-1)
	if t < eraStart {
		return time.Time{}
	}
	u := eraStart - 1
	if !e.fixed {
		u = e.prevShown(t, loc)
	} else if w := e.prevWall(highest(t, loc)); w >= eraStart {
		u = reached(w, loc)
	}
	if u < eraStart {
		return time.Time{}
	}
	return at(u, loc)
}

// Gap is a fixed local time that a change of the clock skips.
type Gap struct {
	Skipped time.Time // the date and time of day that do not exist, written as if in UTC
	Fires   time.Time // the first instant after the gap, when the expression fires instead, in the zone
}

// DSTGap returns the first gap later than from, and within so many years of it, that swallows a fixed time of the
// expression; false if there is none, and for expressions that are not [Expr.Fixed].
func (e *Expr) DSTGap(loc *time.Location, from time.Time, years int) (Gap, bool) {
	if !e.fixed {
		return Gap{}, false
	}
	until := min(from.AddDate(years, 0, 0).Unix(), eraEnd)
	old := periodAt(max(from.Unix(), eraStart), loc)
	for old.end <= until {
		change := old.end
		now := periodAt(change, loc)
		w := e.nextWall(change + old.offset)
		if w < change+now.offset {
			return Gap{Skipped: at(w, time.UTC), Fires: at(change, loc)}, true
		}
		old = now
	}
	return Gap{}, false
}

// nextShown returns the first instant at or after u at which the clock shows a matching minute, eraEnd if there is
// none.
func (e *Expr) nextShown(u int64, loc *time.Location) int64 {
	for u < eraEnd {
		p := periodAt(u, loc)
		w := e.nextWall(u + p.offset)
		if w == eraEnd {
			break
		}
		found := w - p.offset
		if found < p.end {
			return found
		}
		// Nothing matches in the wall times from here to the one found. A clock set back may show them once more,
		// but not when more time has passed than any zone can be set back by.
		if p.end > u+2*farthest {
			u = max(p.end, w-farthest)
		} else {
			u = p.end
		}
	}
	return eraEnd
}

// prevShown returns the last instant at or before u at which the clock shows a matching minute, one before eraStart
// if there is none.
func (e *Expr) prevShown(u int64, loc *time.Location) int64 {
	for u >= eraStart {
		first := u - 2*farthest
		found, w := eraStart-1, int64(0)
		for from := first; from <= u; {
			p := periodAt(from, loc)
			w = e.prevWall(min(p.end-1, u) + p.offset)
			if w >= eraStart && w-p.offset >= from {
				found = w - p.offset
			}
			from = p.end
		}
		if found >= eraStart {
			return found
		}
		// As in nextShown: before first the clock cannot have shown what lies between w and the wall time at u.
		u = min(first-1, w+farthest)
	}
	return eraStart - 1
}

// highest returns the latest wall time that the clock has shown up to the instant u, u included. Where the clock was
// set back, that is later than what it shows at u.
func highest(u int64, loc *time.Location) int64 {
	w := int64(math.MinInt64)
	for from := u - 2*farthest; from <= u; {
		p := periodAt(from, loc)
		w = max(w, min(p.end-1, u)+p.offset)
		from = p.end
	}
	return w
}

// reached returns the first instant at which the clock shows the wall time w or a later one. It grows with w, which
// is why fixed times keep their order and several in one gap become one.
func reached(w int64, loc *time.Location) int64 {
	from := w - farthest // the clock cannot have reached w by then
	for {
		p := periodAt(from, loc)
		if u := max(w-p.offset, from); u < p.end {
			return u
		}
		from = p.end
	}
}

// period is a span of time, end excluded, in which a zone has one offset, in seconds east of UTC. The next may have
// the same offset.
//
// It has no start, because that of [time.Time.ZoneBounds] can lie too early: where a zone's general rule takes over,
// it is that rule's last change of the year, even if the zone's table has a later one (America/Ciudad_Juarez, 2022).
type period struct{ end, offset int64 }

// periodAt returns the period that u is in.
func periodAt(u int64, loc *time.Location) period {
	if loc == time.UTC || loc == nil {
		return period{end: math.MaxInt64} // known without a search
	}
	t := at(u, loc)
	_, offset := t.Zone()
	p := period{math.MaxInt64, int64(offset)}
	if _, end := t.ZoneBounds(); !end.IsZero() {
		p.end = end.Unix()
	}
	if p.end <= u {
		// It is a day early on the last day of a leap year that only a zone's general rule covers
		// (golang/go#81583); it should be the end of that day in UTC.
		const day = 24 * 60 * 60
		p.end = u - (u%day+day)%day + day
	}
	return p
}

func at(u int64, loc *time.Location) time.Time {
	if loc == nil {
		loc = time.UTC
	}
	return time.Unix(u, 0).In(loc)
}
