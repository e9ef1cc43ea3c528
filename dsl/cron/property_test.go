package cron

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// drawn is a random expression, a zone and an instant, near a transition of the zone where it has one then.
func drawn(t *rapid.T, tb testing.TB) (*spec, *Expr, *time.Location, int64) {
	pick := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "n") }
	zone := rapid.SampledFrom(strings.Fields(zoneNames)).Draw(t, "zone")
	year := rapid.IntRange(1880, 2200).Draw(t, "year")
	loc := mustZone(tb, zone)
	at := time.Date(year, time.January, 1, 0, 0, 0, 0, time.UTC).Unix() + rapid.Int64Range(0, 365*24*hour).Draw(t, "second")
	if list := transitionsOf(tb, zone, year, year+1); len(list) > 0 && pick(3) > 0 {
		at = rapid.SampledFrom(list).Draw(t, "transition").at + rapid.Int64Range(-3*hour, 3*hour).Draw(t, "away")
	}
	s := randomSpec(pick, time.Unix(at+offsetAt(at, loc), 0).UTC())
	e, err := Parse(s.String())
	if err != nil {
		t.Fatalf("Parse(%q): %v", s, err)
	}
	return s, e, loc, at
}

func TestNextRisesAndPrevFindsTheWayBack(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		_, e, loc, start := drawn(r, t)
		at := time.Unix(start, 0).Add(time.Duration(rapid.IntRange(0, 999).Draw(r, "ms")) * time.Millisecond)
		before := e.Prev(at, loc)
		if !before.IsZero() && before.After(at) {
			t.Fatalf("%q in %v: Prev(%v) is %v", e, loc, at, before)
		}
		for range 20 {
			next := e.Next(at, loc)
			if next.IsZero() {
				if e.Satisfiable() {
					t.Fatalf("%q in %v: nothing after %v", e, loc, at)
				}
				return
			}
			if !next.After(at) {
				t.Fatalf("%q in %v: Next(%v) is %v", e, loc, at, next)
			}
			if got := e.Prev(next, loc); !got.Equal(next) {
				t.Fatalf("%q in %v: Prev(%v) is %v", e, loc, next, got)
			}
			if got := e.Prev(next.Add(-time.Nanosecond), loc); !got.Equal(before) {
				t.Fatalf("%q in %v: before %v comes %v, want %v", e, loc, next, got, before)
			}
			at, before = next, next
		}
	})
}

func TestNextIsWhatTheOracleSays(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s, e, loc, at := drawn(r, t)
		const reach = 36 * hour
		moments, skips := walk(loc, at-reach, at+reach)
		fires := s.fires(moments, skips)
		fires = slices.DeleteFunc(fires, func(f int64) bool { return f <= at-4*hour || f > at+4*hour })
		if got := forwards(e, loc, at-4*hour, at+4*hour); !slices.Equal(got, fires) {
			t.Fatalf("%q in %v from %v: fires at %v, want %v", e, loc, time.Unix(at-4*hour, 0).UTC(), readable(got), readable(fires))
		}
		checkBetween(t, e, loc, fires, at)
	})
}

func TestParseSetsTheMasksOfTheSpec(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s, e, _, _ := drawn(r, t)
		for i, mask := range masks(e) {
			for v, want := range s[i].has {
				if v == 7 && i == 4 {
					want = false // Sunday is 0 in the mask
				}
				if got := mask>>v&1 != 0; got != want {
					t.Fatalf("%q: %s %d is set: %t, want %t", s, fields[i].name, v, got, want)
				}
			}
		}
		if e.Fixed() != s.fixed() || e.DayOrWeekday() == (s[2].star || s[4].star) {
			t.Fatalf("%q: fixed %t, either day %t", s, e.Fixed(), e.DayOrWeekday())
		}
	})
}

// Days are enough here, and a calendar of 400 years repeats itself, weekdays included.
func TestSatisfiableAndFarDatesAreThoseOfTheWholeCalendar(t *testing.T) {
	const day = 24 * time.Hour
	rapid.Check(t, func(r *rapid.T) {
		pick := func(n int) int { return rapid.IntRange(0, n-1).Draw(r, "n") }
		s := &spec{randomColumn(pick, 0), randomColumn(pick, 1), randomColumn(pick, 2, 29, 30, 31), randomColumn(pick, 3, 2, 2, 4, 6), star(0, 6)}
		if pick(3) == 0 {
			s[4] = randomColumn(pick, 4)
		}
		e := mustParse(t, s.String())
		from := time.Date(2+pick(9000), // in year 1 lies the zero time, which says that there is none
			time.January, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, pick(366))
		want := from
		for range 146097 {
			if s.matchesDay(want) {
				break
			}
			want = want.Add(day)
		}
		if !s.matchesDay(want) {
			want = time.Time{}
		}
		got := e.Next(from.Add(-time.Nanosecond), time.UTC)
		if e.Satisfiable() == want.IsZero() || got.Truncate(day) != want {
			t.Fatalf("%q is satisfiable: %t; from %v fires on %v, want %v", s, e.Satisfiable(), from, got, want)
		}
	})
}
