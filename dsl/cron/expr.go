package cron

import (
	"math/bits"
	"time"
)

// Expr is a checked expression. It does not change once parsed, and may be used by several goroutines.
type Expr struct {
	// Zone is the name that the expression itself gives by TZ= or CRON_TZ=; empty if it gives none.
	Zone string

	loc    *time.Location // of Zone, nil if there is none
	text   string
	minute uint64 // bit n is set where the value n matches, in all masks
	hour   uint32
	dom    uint32
	month  uint16
	dow    uint8 // Sunday is 0

	dayStar bool // a star in one of the day fields: both must match
	fixed   bool
	never   bool   // no date matches
	uneven  Uneven // Step is 0 if all steps are even
}

// String returns the expression as it was written, with single blanks.
func (e *Expr) String() string { return e.text }

// Location returns the zone that the expression gives itself, or else fallback.
func (e *Expr) Location(fallback *time.Location) *time.Location {
	if e.loc != nil {
		return e.loc
	}
	return fallback
}

// Fixed reports whether the expression names fixed times of day: no star and no step in the minute and hour fields.
// Only then are times in a gap made up for, and repeated ones left out; see the package comment.
func (e *Expr) Fixed() bool { return e.fixed }

// DayOrWeekday reports whether day of month and day of week are both restricted, so that a day matches if either
// field does.
func (e *Expr) DayOrWeekday() bool { return !e.dayStar }

// Satisfiable reports whether any date matches. The 30th of February does not. The answer is exact.
func (e *Expr) Satisfiable() bool { return !e.never }

// matchesNothing needs no search: every field has a value, a day of the week is in every month, and every valid date,
// the 29th of February too, falls on each day of the week in time.
func (e *Expr) matchesNothing() bool {
	if !e.dayStar {
		return false
	}
	const leapYear = 2000
	for m := time.January; m <= time.December; m++ {
		if e.month>>m&1 != 0 && bits.TrailingZeros32(e.dom) <= daysIn(leapYear, m) {
			return false
		}
	}
	return true
}

// Uneven is a step that does not divide its range, so that the last interval of each cycle is shorter than the rest:
// minute */25 is 0, 25, 50, and 10 minutes later 0 again.
type Uneven struct {
	Field string // "minute", "hour", "day of month", "month" or "day of week"
	Step  int    // as written, in units of the field
	Last  int    // the short interval, less than Step; for days of a month, in a month of 31 days
}

// UnevenStep returns the first uneven step of the expression, false if there is none. A step within a part of the
// range (9-17/3) and one whose cycles do not follow each other (*/25 9 * * *) is not uneven.
func (e *Expr) UnevenStep() (Uneven, bool) { return e.uneven, e.uneven.Step != 0 }

func (e *Expr) findUneven(items [5][]item) Uneven {
	for i, list := range items {
		if !e.repeats(i) {
			continue
		}
		for _, it := range list {
			first, final := it.lo, it.hi-(it.hi-it.lo)%it.step
			last := fields[i].last - fields[i].min + 1 + first - final
			if 0 < last && last < it.step { // 0 where Sunday ends the range that it began
				return Uneven{Field: fields[i].name, Step: it.step, Last: last}
			}
		}
	}
	return Uneven{}
}

// repeats reports whether a cycle of the field at index i may be followed at once by the next: minutes need two hours
// in a row, hours two days, days two months.
func (e *Expr) repeats(i int) bool {
	switch i {
	case 0:
		return adjacent(uint64(e.hour), 24)
	case 1:
		return !e.dayStar || adjacent(uint64(e.dom)>>1, 31) && adjacent(uint64(e.dow), 7)
	case 2:
		return adjacent(uint64(e.month)>>1, 12)
	}
	return true
}

// adjacent reports whether a ring of n bits has two neighbours set.
func adjacent(mask uint64, n int) bool { return mask&(mask>>1|mask<<(n-1)) != 0 }
