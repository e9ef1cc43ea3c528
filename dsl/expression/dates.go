package expression

import (
	"cmp"
	"time"

	"github.com/ax-scheduler/ax/dsl"
)

// errEra is for times that no notation has a form for.
var errEra = &failure{message: "the time is not in the years 1 to 9999"}

func dateOf(t time.Time) dsl.Date {
	year, month, day := t.Date()
	return dsl.Date{Year: year, Month: month, Day: day}
}

func compareDates(a, b dsl.Date) int {
	return cmp.Or(cmp.Compare(a.Year, b.Year), cmp.Compare(a.Month, b.Month), cmp.Compare(a.Day, b.Day))
}

// midnight gives the first instant of a day in a zone.
func midnight(d dsl.Date, zone *time.Location) time.Time {
	return local(time.Date(d.Year, d.Month, d.Day, 0, 0, 0, 0, time.UTC), zone)
}

// wallClock gives the time of day that a clock shows.
func wallClock(t time.Time) time.Duration {
	h, m, s := t.Clock()
	return time.Duration(h)*time.Hour + time.Duration(m)*time.Minute + time.Duration(s)*time.Second + time.Duration(t.Nanosecond())
}

// weekday counts as ISO 8601 does: 1 is Monday, 7 is Sunday.
func weekday(d dsl.Date) int {
	return (int(midnight(d, time.UTC).Weekday())+6)%7 + 1
}

// later adds elapsed time.
func later(t time.Time, d time.Duration) (time.Time, error) {
	t = t.Add(d)
	if y := t.Year(); y < 1 || y > 9999 {
		return t, errEra
	}
	return t, nil
}

// between gives the elapsed time from one time to another.
func between(from, to time.Time) (time.Duration, error) {
	d := to.Sub(from)
	if !from.Add(d).Equal(to) { // more than 292 years
		return 0, errTooLarge
	}
	return d, nil
}

// moveDate goes on by months, where a day that the month does not have becomes
// its last, and then by days.
func moveDate(d dsl.Date, months, days int) (dsl.Date, error) {
	const most = 10000 * 366
	if months < -most || months > most || days < -most || days > most {
		return d, errEra
	}
	first := time.Date(d.Year, d.Month+time.Month(months), 1, 0, 0, 0, 0, time.UTC)
	last := first.AddDate(0, 1, -1).Day()
	moved := dateOf(first.AddDate(0, 0, min(d.Day, last)-1+days))
	if moved.Year < 1 || moved.Year > 9999 {
		return d, errEra
	}
	return moved, nil
}

// local gives the instant at which clocks of a zone show what the given time
// in UTC shows: the first one where they show it twice, and the first one
// behind the gap where they skip it, as schedules do.
func local(wall time.Time, zone *time.Location) time.Time {
	y, mo, d := wall.Date()
	h, mi, s := wall.Clock()
	t := time.Date(y, mo, d, h, mi, s, wall.Nanosecond(), zone)
	start, end := t.ZoneBounds()
	switch shown := reading(t); {
	case shown.After(wall):
		return start
	case shown.Before(wall):
		return end
	}
	if !start.IsZero() {
		_, before := start.Add(-1).Zone()
		_, after := t.Zone()
		earlier := t.Add(time.Duration(after-before) * time.Second)
		if earlier.Before(start) && reading(earlier).Equal(wall) {
			return earlier
		}
	}
	return t
}

// reading gives what a clock shows as if it stood in UTC.
func reading(t time.Time) time.Time {
	_, offset := t.Zone()
	return t.UTC().Add(time.Duration(offset) * time.Second)
}
