package cron

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// The oracle says when an expression fires by looking at every minute, and shares no code with the package: it has
// its own sets of values, calendar rule and idea of a change of the clock.

var exhaustive = flag.Bool("exhaustive", false, "check the transitions of every zone against the oracle, which takes minutes")

const hour = 60 * 60

// moment is an instant at which a zone's clock begins a minute; both are Unix seconds.
type moment struct{ at, wall int64 }

// skip is a gap: at the instant at, the clock jumps from the wall time from to the wall time to.
type skip struct{ at, from, to int64 }

func offsetAt(at int64, loc *time.Location) int64 {
	_, offset := time.Unix(at, 0).In(loc).Zone()
	return int64(offset)
}

// walk looks at a clock from lo to hi, minute by minute, and second by second where its offset is about to change.
func walk(loc *time.Location, lo, hi int64) (moments []moment, skips []skip) {
	before := offsetAt(lo-1, loc)
	for at := lo; at < hi; {
		now := offsetAt(at, loc)
		if now > before {
			skips = append(skips, skip{at, at + before, at + now})
		}
		before = now
		into := ((at+now)%60 + 60) % 60
		if into == 0 {
			moments = append(moments, moment{at, at + now})
		}
		if offsetAt(at+60-into, loc) == now {
			at += 60 - into
		} else {
			at++
		}
	}
	return moments, skips
}

// fires lists the instants at which the spec fires, given what a clock showed.
func (s *spec) fires(moments []moment, skips []skip) (list []int64) {
	shown := map[int64][]int64{}
	lo, hi := moments[0].wall, moments[0].wall
	for _, m := range moments {
		shown[m.wall] = append(shown[m.wall], m.at)
		lo, hi = min(lo, m.wall), max(hi, m.wall)
	}
	for wall := lo; wall <= hi; wall += 60 {
		if !s.matches(time.Unix(wall, 0).UTC()) {
			continue
		}
		times := shown[wall]
		if s.fixed() && len(times) > 1 {
			times = times[:1]
		}
		list = append(list, times...)
		for _, k := range skips {
			if s.fixed() && len(times) == 0 && k.from <= wall && wall < k.to {
				list = append(list, k.at)
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// column is one field of a spec.
type column struct {
	text          string
	has           [64]bool
	star, stepped bool
}

type spec [5]column

func (s *spec) fixed() bool {
	return !s[0].star && !s[0].stepped && !s[1].star && !s[1].stepped
}

func (s *spec) matchesDay(day time.Time) bool {
	date, weekday := s[2].has[day.Day()], s[4].has[day.Weekday()]
	if !s[3].has[day.Month()] {
		return false
	}
	if s[2].star || s[4].star {
		return date && weekday
	}
	return date || weekday
}

func (s *spec) matches(wall time.Time) bool {
	return s[0].has[wall.Minute()] && s[1].has[wall.Hour()] && s.matchesDay(wall)
}

func (s *spec) String() string {
	texts := make([]string, len(s))
	for i := range s {
		texts[i] = s[i].text
	}
	return strings.Join(texts, " ")
}

// pick chooses a number from 0 to n-1.
type pick func(n int) int

// randomColumn makes a field of one to three items. Single values are drawn from near, if there are any.
func randomColumn(pick pick, i int, near ...int) column {
	lo, hi, last := [5]int{0, 0, 1, 1, 0}[i], [5]int{59, 23, 31, 12, 7}[i], [5]int{59, 23, 31, 12, 6}[i]
	var c column
	var items []string
	for range 1 + pick(3)*pick(2) {
		items = append(items, randomItem(pick, i, lo, hi, last, near, &c))
	}
	c.text = strings.Join(items, ",")
	return c
}

func randomItem(pick pick, i, lo, hi, last int, near []int, c *column) string {
	from, to, step, text := lo, last, 1, "*"
	switch kind := pick(6); {
	case kind == 0:
		c.star = true
	case kind == 1:
		from = lo + pick(hi-lo+1)
		to = from + pick(hi-from+1)
		text = name(pick, i, from) + "-" + name(pick, i, to)
		if i == 4 && to == 7 && from > 0 && pick(2) == 0 {
			text = name(pick, i, from) + "-sun"
		}
	default:
		from = lo + pick(hi-lo+1)
		if len(near) > 0 {
			from = near[pick(len(near))]
		}
		to, text = from, name(pick, i, from)
	}
	if pick(5) == 0 {
		if !strings.ContainsAny(text, "-*") {
			to = max(from, last)
		}
		step = 1 + pick(to-from+1)
		text += "/" + digits(step)
		c.stepped = true
	}
	for v := from; v <= to; v += step {
		if i == 4 && v == 7 {
			c.has[0] = true
		}
		c.has[v] = true
	}
	return text
}

// name writes a value as a number or, where it has one, a name.
func name(pick pick, i, value int) string {
	const months, days = "JanFebMarAprMayJunJulAugSepOctNovDec", "sunmontuewedthufrisat"
	switch {
	case i == 3 && pick(2) == 0:
		return months[3*value-3:][:3]
	case i == 4 && value < 7 && value > 0 && pick(2) == 0:
		return days[3*value:][:3]
	}
	return digits(value)
}

func digits(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return digits(n/10) + digits(n%10)
}

// randomSpec makes an expression that often fires around the wall time.
func randomSpec(pick pick, wall time.Time) *spec {
	h, m := wall.Hour(), wall.Minute()
	s := &spec{
		randomColumn(pick, 0, m, m, 0, 15, 30, 45, 59, pick(60)),
		randomColumn(pick, 1, h, h, (h+1)%24, (h+23)%24, pick(24)),
		star(1, 31), star(1, 12), star(0, 6),
	}
	switch pick(6) {
	case 0:
		s[2] = randomColumn(pick, 2, wall.Day(), wall.AddDate(0, 0, 1).Day(), 29, 31)
	case 1:
		s[4] = randomColumn(pick, 4, int(wall.Weekday()))
	case 2:
		s[2], s[4] = randomColumn(pick, 2, wall.Day()), randomColumn(pick, 4, int(wall.Weekday()))
	case 3:
		s[3] = randomColumn(pick, 3, int(wall.Month()))
	}
	return s
}

func star(lo, hi int) column {
	c := column{text: "*", star: true}
	for v := lo; v <= hi; v++ {
		c.has[v] = true
	}
	return c
}

// transition is an instant at which a zone's offset changes.
type transition struct {
	zone string
	at   int64
	by   int64 // seconds, positive for a gap
}

// transitionsOf finds the changes of a zone between two years by looking once a day; what is undone within a day it
// does not see.
func transitionsOf(t testing.TB, zone string, from, to int) (list []transition) {
	loc := mustZone(t, zone)
	at := time.Date(from, time.January, 1, 0, 0, 0, 0, time.UTC).Unix()
	end := time.Date(to, time.January, 1, 0, 0, 0, 0, time.UTC).Unix()
	for offset := offsetAt(at, loc); at < end; {
		next := at + 24*hour
		if offsetAt(next, loc) == offset {
			at = next
			continue
		}
		lo, hi := at, next // the offset is still the old one at lo, and changed at hi
		for hi-lo > 1 {
			if mid := lo + (hi-lo)/2; offsetAt(mid, loc) == offset {
				lo = mid
			} else {
				hi = mid
			}
		}
		list = append(list, transition{zone, hi, offsetAt(hi, loc) - offset})
		at, offset = hi, offsetAt(hi, loc)
	}
	return list
}

// checkTransition compares all fires around a transition, forwards and backwards, with what the oracle says.
func checkTransition(t *testing.T, tr transition, specs int, pick pick) {
	t.Helper()
	loc := mustZone(t, tr.zone)
	reach := int64(12 * hour)
	if tr.by > 3*hour || tr.by < -3*hour {
		reach = 30 * hour // a day that is missing or comes twice
	}
	moments, skips := walk(loc, tr.at-2*reach, tr.at+2*reach)
	wall := time.Unix(tr.at+offsetAt(tr.at-1, loc), 0).UTC()
	for range specs {
		s := randomSpec(pick, wall.Add(time.Duration(pick(5)-2)*time.Duration(tr.by)*time.Second/2))
		e := mustParse(t, s.String())
		want := slices.DeleteFunc(s.fires(moments, skips), func(at int64) bool { return at <= tr.at-reach || at > tr.at+reach })
		if got := forwards(e, loc, tr.at-reach, tr.at+reach); !slices.Equal(got, want) {
			t.Errorf("%q in %s at %v: fires at %v, want %v", s, tr.zone, time.Unix(tr.at, 0).UTC(), readable(got), readable(want))
		}
		if got := backwards(e, loc, tr.at-reach, tr.at+reach); !slices.Equal(got, want) {
			t.Errorf("%q in %s at %v: backwards, fires at %v, want %v", s, tr.zone, time.Unix(tr.at, 0).UTC(), readable(got), readable(want))
		}
		for range 3 {
			checkBetween(t, e, loc, want, tr.at-reach+int64(pick(int(2*reach))))
		}
	}
}

// checkBetween asks for the fires around an instant that need not be one.
func checkBetween(t *testing.T, e *Expr, loc *time.Location, fires []int64, at int64) {
	t.Helper()
	i, found := slices.BinarySearch(fires, at)
	if found {
		i++
	}
	if i < len(fires) {
		if got := e.Next(time.Unix(at, 0), loc).Unix(); got != fires[i] {
			t.Errorf("%q in %v: after %v comes %v, want %v", e, loc, time.Unix(at, 0).UTC(), readable([]int64{got}), readable(fires[i:i+1]))
		}
	}
	if i > 0 {
		if got := e.Prev(time.Unix(at, 0), loc).Unix(); got != fires[i-1] {
			t.Errorf("%q in %v: before %v comes %v, want %v", e, loc, time.Unix(at, 0).UTC(), readable([]int64{got}), readable(fires[i-1:i]))
		}
	}
}

// forwards lists the fires after lo and up to hi by Next.
func forwards(e *Expr, loc *time.Location, lo, hi int64) (list []int64) {
	for at := e.Next(time.Unix(lo, 0), loc); !at.IsZero() && at.Unix() <= hi; at = e.Next(at, loc) {
		list = append(list, at.Unix())
	}
	return list
}

// backwards lists the same by Prev.
func backwards(e *Expr, loc *time.Location, lo, hi int64) (list []int64) {
	for at := e.Prev(time.Unix(hi, 0), loc); !at.IsZero() && at.Unix() > lo; at = e.Prev(at.Add(-time.Nanosecond), loc) {
		list = append(list, at.Unix())
	}
	slices.Reverse(list)
	return list
}

func readable(list []int64) (texts []string) {
	for _, at := range list {
		texts = append(texts, shown(time.Unix(at, 0)))
	}
	return texts
}

func TestFiresAroundTransitionsAreThoseOfTheOracle(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	names := strings.Fields(zoneNames)
	if *exhaustive {
		seen := map[string]bool{} // many names are other names of the same zone
		for i, zone := range names {
			list := transitionsOf(t, zone, 1840, 2045)
			key := strings.ReplaceAll(fmt.Sprint(list), zone, "")
			if seen[key] {
				continue
			}
			seen[key] = true
			t.Run(zone, func(t *testing.T) {
				t.Parallel()
				rng := rand.New(rand.NewPCG(1, uint64(i)))
				for _, tr := range list {
					checkTransition(t, tr, 6, rng.IntN)
				}
			})
		}
		return
	}
	for range 15 {
		zone := names[rng.IntN(len(names))]
		from := 1900 + rng.IntN(20)*10
		for _, tr := range transitionsOf(t, zone, from, from+10) {
			checkTransition(t, tr, 4, rng.IntN)
		}
	}
	for _, c := range []struct {
		zone     string
		from, to int
	}{
		{"Pacific/Apia", 2009, 2013}, {"Pacific/Kwajalein", 1993, 1994}, {"Asia/Manila", 1844, 1846}, {"America/Juneau", 1867, 1868},
		{"Australia/Lord_Howe", 1980, 1990}, {"America/St_Johns", 2000, 2012}, {"America/Caracas", 2007, 2017},
		{"Asia/Pyongyang", 2015, 2019}, {"Asia/Gaza", 2010, 2013}, {"Africa/Cairo", 2023, 2026}, {"America/Santiago", 2020, 2026},
		{"Antarctica/Troll", 2020, 2023}, {"Africa/Casablanca", 2020, 2030}, {"Europe/Amsterdam", 1937, 1941}, {"Africa/Monrovia", 1919, 1973},
		{"Europe/Dublin", 1968, 1973}, {"America/Nuuk", 2023, 2025}, {"America/Havana", 2010, 2014}, {"Europe/Warsaw", 2038, 2042},
		{"America/Ciudad_Juarez", 2022, 2024},
	} {
		list := transitionsOf(t, c.zone, c.from, c.to)
		if len(list) == 0 {
			t.Errorf("%s has no transition from %d to %d", c.zone, c.from, c.to)
		}
		for _, tr := range list {
			checkTransition(t, tr, 8, rng.IntN)
		}
	}
}

// Every zone's changes of the clock from 2026 to 2036, of zones that change
// alike one.
func TestTenYearsOfEveryZoneAreThoseOfTheOracle(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	alike, steady := map[string]bool{}, 0
	for _, zone := range strings.Fields(zoneNames) {
		list := transitionsOf(t, zone, 2026, 2036)
		if len(list) == 0 {
			steady++
			checkTransition(t, transition{zone, time.Date(2030, time.March, 31, 1, 0, 0, 0, time.UTC).Unix(), 0}, 1, rng.IntN)
			continue
		}
		key := strings.ReplaceAll(fmt.Sprint(list), zone, "")
		if alike[key] {
			continue
		}
		alike[key] = true
		for _, tr := range list {
			checkTransition(t, tr, 2, rng.IntN)
		}
	}
	t.Logf("%d zones that change, %d that do not", len(alike), steady)
}
