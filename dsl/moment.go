package dsl

import (
	"errors"
	"time"
)

// momentRule says how a moment is written.
const momentRule = "write a time of day as 08:00, a day as 2026-01-31, both as 2026-01-31 08:00, or RFC 3339"

// ParseMoment reads a point in time as `until` has it: RFC 3339; a day with or
// without a time of day, by the clock of the zone; or a time of day alone, which
// is the first at or after from. A time that a change of the clock skips is the
// first instant after the gap, one that it repeats the first of the two.
func ParseMoment(text string, zone *time.Location, from time.Time) (time.Time, error) {
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, nil
	}
	for _, layout := range []string{time.DateOnly, "2006-01-02 15:04", time.DateTime, "2006-01-02T15:04", "2006-01-02T15:04:05"} {
		if t, err := time.Parse(layout, text); err == nil {
			return onClock(t, zone), nil
		}
	}
	for _, layout := range []string{"15:04", "15:04:05"} {
		clock, err := time.Parse(layout, text)
		if err != nil {
			continue
		}
		y, m, d := from.In(zone).Date()
		for days := 0; ; days++ {
			t := onClock(time.Date(y, m, d+days, clock.Hour(), clock.Minute(), clock.Second(), 0, time.UTC), zone)
			if !t.Before(from) {
				return t, nil
			}
		}
	}
	return time.Time{}, errors.New("it is no time: " + momentRule)
}

// onClock gives the instant at which a clock of a zone shows what the given time
// shows in UTC.
func onClock(wall time.Time, zone *time.Location) time.Time {
	y, m, d := wall.Date()
	t := time.Date(y, m, d, wall.Hour(), wall.Minute(), wall.Second(), 0, zone)
	shown := asUTC(t)
	begin, end := t.ZoneBounds()
	switch {
	case shown.After(wall): // within a gap, from its other side
		return begin
	case shown.Before(wall):
		return end
	case begin.IsZero():
		return t
	}
	_, now := t.Zone()
	_, before := begin.Add(-time.Nanosecond).Zone()
	if first := t.Add(time.Duration(now-before) * time.Second); first.Before(begin) && asUTC(first).Equal(wall) {
		return first
	}
	return t
}

// asUTC gives the time at which a clock in UTC shows what a time's own does.
func asUTC(t time.Time) time.Time {
	_, offset := t.Zone()
	return t.UTC().Add(time.Duration(offset) * time.Second)
}
