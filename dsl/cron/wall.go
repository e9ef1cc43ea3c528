package cron

import (
	"math/bits"
	"time"
)

// This file knows no zones. A wall time is what a clock on a wall shows, written as the Unix time at which a clock in
// UTC would show it; wall times are thus a calendar without gaps.

const lastYear = 9999

var (
	eraStart = time.Date(1, time.January, 1, 0, 0, 0, 0, time.UTC).Unix()
	eraEnd   = time.Date(lastYear+1, time.January, 1, 0, 0, 0, 0, time.UTC).Unix()
)

// nextWall returns the first matching wall time at or after w, eraEnd if there is none in the era.
func (e *Expr) nextWall(w int64) int64 {
	if e.never || w >= eraEnd {
		return eraEnd
	}
	t := time.Unix(max(w, eraStart)+59, 0).UTC() // a time within a minute is past its beginning
	year, month, day := t.Date()
	if h, m, ok := e.clockFrom(t.Hour(), t.Minute()); ok && e.days(year, month)>>day&1 != 0 {
		return wall(year, month, day, h, m)
	}
	h, m := bits.TrailingZeros32(e.hour), bits.TrailingZeros64(e.minute)
	day++
	for year <= lastYear {
		if set := e.days(year, month) >> day << day; set != 0 {
			return wall(year, month, bits.TrailingZeros32(set), h, m)
		}
		rest := e.month >> (month + 1) << (month + 1)
		if rest == 0 {
			year, rest = year+1, e.month
		}
		month, day = time.Month(bits.TrailingZeros16(rest)), 1
	}
	return eraEnd
}

// prevWall returns the last matching wall time at or before w, one before eraStart if there is none in the era.
func (e *Expr) prevWall(w int64) int64 {
	if e.never || w < eraStart {
		return eraStart - 1
	}
	t := time.Unix(min(w, eraEnd-1), 0).UTC()
	year, month, day := t.Date()
	if h, m, ok := e.clockUntil(t.Hour(), t.Minute()); ok && e.days(year, month)>>day&1 != 0 {
		return wall(year, month, day, h, m)
	}
	h, m := bits.Len32(e.hour)-1, bits.Len64(e.minute)-1
	day--
	for year >= 1 {
		if set := e.days(year, month) & (2<<day - 1); set != 0 {
			return wall(year, month, bits.Len32(set)-1, h, m)
		}
		rest := e.month & (1<<month - 1)
		if rest == 0 {
			year, rest = year-1, e.month
		}
		month, day = time.Month(bits.Len16(rest)-1), 31
	}
	return eraStart - 1
}

func wall(year int, month time.Month, day, hour, minute int) int64 {
	return time.Date(year, month, day, hour, minute, 0, 0, time.UTC).Unix()
}

// days returns the matching days of a month; bit n is day n.
func (e *Expr) days(year int, month time.Month) uint32 {
	if e.month>>month&1 == 0 {
		return 0
	}
	first := int(time.Date(year, month, 1, 0, 0, 0, 0, time.UTC).Weekday())
	week := uint64(e.dow)>>first | uint64(e.dow)<<(7-first)&0x7f // bit 0 is the weekday of the first
	const fiveWeeks = 1 | 1<<7 | 1<<14 | 1<<21 | 1<<28
	weekdays := uint32(week * fiveWeeks << 1)
	set := e.dom | weekdays
	if e.dayStar {
		set = e.dom & weekdays
	}
	return set & (2<<daysIn(year, month) - 2)
}

func daysIn(year int, month time.Month) int {
	switch month {
	case time.April, time.June, time.September, time.November:
		return 30
	case time.February:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

// clockFrom returns the first matching time of a day at or after hour:minute.
func (e *Expr) clockFrom(hour, minute int) (h, m int, ok bool) {
	if e.hour>>hour&1 != 0 {
		if rest := e.minute >> minute << minute; rest != 0 {
			return hour, bits.TrailingZeros64(rest), true
		}
	}
	rest := e.hour >> (hour + 1) << (hour + 1)
	return bits.TrailingZeros32(rest), bits.TrailingZeros64(e.minute), rest != 0
}

// clockUntil returns the last matching time of a day at or before hour:minute.
func (e *Expr) clockUntil(hour, minute int) (h, m int, ok bool) {
	if e.hour>>hour&1 != 0 {
		if rest := e.minute & (2<<minute - 1); rest != 0 {
			return hour, bits.Len64(rest) - 1, true
		}
	}
	rest := e.hour & (1<<hour - 1)
	return bits.Len32(rest) - 1, bits.Len64(e.minute) - 1, rest != 0
}
