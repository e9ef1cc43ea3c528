package dsl

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// units are those of durations, from the largest: a duration gives each at
// most once, in this order.
var units = []struct {
	name string
	size time.Duration
}{
	{"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}, {"ms", time.Millisecond},
}

// MaxDuration is the longest duration of the language, a hundred years: two of
// them can be added without overflow.
const MaxDuration = 36500 * 24 * time.Hour

// ParseDuration reads a duration of the language: numbers with the units d, h,
// m, s and ms, the larger before the smaller, such as 500ms, 10s, 1h30m, 1.5h
// or 2d; a bare number is seconds. A day is 24 hours. The error says in a few
// words what is wrong.
func ParseDuration(text string) (time.Duration, error) {
	if text == "" {
		return 0, errDuration("it is empty")
	}
	if text[0] == '-' {
		return 0, errDuration("it is negative")
	}
	sum, rest, next := 0.0, text, 0
	for rest != "" {
		n := len(rest) - len(strings.TrimLeft(rest, "0123456789."))
		number, err := strconv.ParseFloat(rest[:n], 64)
		if err != nil && !math.IsInf(number, 0) || strings.HasPrefix(rest, ".") || strings.HasSuffix(rest[:n], ".") {
			return 0, errDuration("it is no number with a unit")
		}
		rest = rest[n:]
		n = len(rest) - len(strings.TrimLeft(rest, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZµ "))
		unit := rest[:n]
		rest = rest[n:]
		switch {
		case unit == "" && rest != "":
			return 0, errDuration("it is no number with a unit")
		case unit == "" && next == 0:
			unit = "s"
		}
		i := next
		for i < len(units) && units[i].name != unit {
			i++
		}
		if i == len(units) {
			return 0, errDuration(unitProblem(unit))
		}
		sum += number * float64(units[i].size)
		next = i + 1
	}
	if sum > float64(MaxDuration) {
		return 0, errDuration("the longest is 36500d")
	}
	return time.Duration(math.Round(sum)), nil
}

// errDuration is what is wrong with a duration.
type errDuration string

func (e errDuration) Error() string { return string(e) }

func unitProblem(unit string) string {
	if unit == "" {
		return "a number has no unit"
	}
	for _, u := range units {
		if u.name == strings.TrimSpace(unit) && u.name != unit {
			return "there is a blank in it"
		}
		if u.name == unit {
			return fmt.Sprintf("unit %q comes too late", unit)
		}
	}
	return "unknown unit " + quote(strings.TrimSpace(unit))
}

// FormatDuration writes a duration without the units that are zero: 2h, not
// 2h0m0s.
func FormatDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// spelled turns units as people write them into those of the language.
var spelled = strings.NewReplacer(" ", "", "_", "", "milliseconds", "ms", "millisecond", "ms", "msec", "ms",
	"seconds", "s", "second", "s", "secs", "s", "sec", "s", "minutes", "m", "minute", "m", "mins", "m", "min", "m",
	"hours", "h", "hour", "h", "hrs", "h", "hr", "h", "days", "d", "day", "d", "weeks", "w", "week", "w")

// durationHint says how to write a duration, if possible the one that was meant.
func durationHint(text string) string {
	meant := spelled.Replace(strings.ToLower(text))
	if _, err := ParseDuration(meant); err == nil {
		return DidYouMean(meant)
	}
	if weeks, ok := strings.CutSuffix(meant, "w"); ok {
		if n, err := strconv.Atoi(weeks); err == nil && n > 0 && n < 5000 {
			return DidYouMean(strconv.Itoa(7*n) + "d")
		}
	}
	return durationRule
}

const durationRule = "write it like 500ms, 10s, 5m, 1h30m or 2d; a bare number is seconds"

// duration reads a duration of at least least. Quotes around it mean nothing.
func (v val) duration(least time.Duration) Value[time.Duration] {
	s, ok := v.scalar("a duration")
	if !ok {
		return Value[time.Duration]{}
	}
	d, err := ParseDuration(s.V)
	switch {
	case err != nil:
		v.bad(fmt.Sprintf("%s is %s, which is no duration: %v", v.label(), quote(s.V), err), durationHint(s.V))
	case d < least && least == 1:
		v.bad(fmt.Sprintf("%s is %s, but must be longer than 0", v.label(), quote(s.V)), "")
	case d < least:
		v.bad(fmt.Sprintf("%s is %s, but must be at least %v", v.label(), quote(s.V), least), "")
	default:
		return Value[time.Duration]{d, s.Pos}
	}
	return Value[time.Duration]{}
}

// String gives the day as it is written: 2026-01-31.
func (d Date) String() string { return fmt.Sprintf("%04d-%02d-%02d", d.Year, d.Month, d.Day) }

// ParseDate reads a day written as 2026-01-31.
func ParseDate(text string) (Date, error) {
	t, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return Date{}, fmt.Errorf("%s is no day", quote(text))
	}
	return Date{t.Year(), t.Month(), t.Day()}, nil
}

// dateForm is what is meant to be a date, if not always one of the calendar.
var dateForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\d{4}-\d{1,2}-\d{1,2}$`) })

const dateRule = "write it like 2026-01-31"

// date reads a day.
func (v val) date() Value[Date] {
	s, ok := v.scalar("a date")
	if !ok {
		return Value[Date]{}
	}
	d, err := ParseDate(s.V)
	switch {
	case err != nil:
		v.bad(fmt.Sprintf("%s is %s, which is no date", v.label(), quote(s.V)), dateRule)
	default:
		return Value[Date]{d, s.Pos}
	}
	return Value[Date]{}
}
