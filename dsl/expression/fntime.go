package expression

import (
	"strings"
	"time"

	"github.com/ax-scheduler/ax/dsl"
)

// The functions work in the workflow's zone. What is given as a date stays a
// date where that makes sense.
var timeFunctions = []function{
	{Function: Function{"date", "date(value)", "the day of a time, or that a text such as 2026-01-31 stands for"},
		args: []kind{kText | kMoment}, out: kDate, call: toDate},
	{Function: Function{"time", "time(value)", "the beginning of a day, or the time that a text stands for: 2026-01-31 08:30 in the workflow's zone, or RFC 3339"},
		args: []kind{kText | kMoment}, out: kTime, call: toTime},
	{Function: Function{"duration", "duration(value)", "the duration that a text such as 1h30m stands for, or a number of seconds"},
		args: []kind{kText | kNumber | kDuration}, out: kDuration, call: toDuration},
	{Function: Function{"seconds", "seconds(duration)", "the length of a duration as a number"},
		args: []kind{kDuration}, out: kFloat, call: func(_ *machine, args []any) (any, error) {
			return args[0].(time.Duration).Seconds(), nil
		}},
	{Function: Function{"addHours", "addHours(time, hours)", "the time so many hours later, however the clocks are changed in between"},
		args: []kind{kMoment, kNumber}, out: kTime, call: addHours},
	{Function: Function{"addDays", "addDays(value, days)", "the same time of day so many days later"},
		args: []kind{kMoment, kInt}, keeps: true, call: func(m *machine, args []any) (any, error) {
			return m.moved(args[0], 0, args[1].(int))
		}},
	{Function: Function{"addMonths", "addMonths(value, months)", "the same day so many months later, or the last one of a month that is shorter"},
		args: []kind{kMoment, kInt}, keeps: true, call: func(m *machine, args []any) (any, error) {
			return m.moved(args[0], args[1].(int), 0)
		}},
	{Function: Function{"startOfDay", "startOfDay(value)", "the beginning of its day"},
		args: []kind{kMoment}, keeps: true, call: start(func(d dsl.Date) dsl.Date { return d })},
	{Function: Function{"startOfWeek", "startOfWeek(value)", "the beginning of its week, which is Monday"},
		args: []kind{kMoment}, keeps: true, call: start(func(d dsl.Date) dsl.Date {
			return dateOf(midnight(d, time.UTC).AddDate(0, 0, 1-weekday(d)))
		})},
	{Function: Function{"startOfMonth", "startOfMonth(value)", "the beginning of its month"},
		args: []kind{kMoment}, keeps: true, call: start(func(d dsl.Date) dsl.Date { return dsl.Date{Year: d.Year, Month: d.Month, Day: 1} })},
	{Function: Function{"weekday", "weekday(value)", "its day of the week, from 1 for Monday to 7 for Sunday"},
		args: []kind{kMoment}, out: kInt, only: weekdays, call: func(m *machine, args []any) (any, error) { return weekday(m.day(args[0])), nil }},
	{Function: Function{"format", "format(value, layout)", "a time as a layout of strftime says: format(run.date, \"%Y%m%d\")"},
		args: []kind{kMoment, kText}, out: kText, check: checkLayout, call: format},
}

// day gives the date of a time or date, in the workflow's zone.
func (m *machine) day(v any) dsl.Date {
	if t, ok := v.(time.Time); ok {
		return dateOf(t.In(m.zone()))
	}
	return v.(dsl.Date)
}

func toDate(m *machine, args []any) (any, error) {
	s, ok := args[0].(string)
	if !ok {
		return m.day(args[0]), nil
	}
	if d, err := dsl.ParseDate(s); err == nil {
		return d, nil
	}
	t, err := m.parseTime(s)
	if err != nil {
		return nil, &failure{message: clipped(s) + " is no date", hint: "write it like 2026-01-31"}
	}
	return m.day(t), nil
}

func toTime(m *machine, args []any) (any, error) {
	switch v := args[0].(type) {
	case string:
		t, err := m.parseTime(v)
		if err != nil {
			return nil, &failure{message: clipped(v) + " is no time", hint: "write it like 2026-01-31 08:30 or 2026-01-31T08:30:00Z"}
		}
		return t, nil
	case dsl.Date:
		return midnight(v, m.zone()), nil
	}
	return args[0].(time.Time).In(m.zone()), nil
}

// parseTime reads a time with an offset, or one of the workflow's zone.
func (m *machine) parseTime(s string) (time.Time, error) {
	s = strings.TrimSpace(s)
	t, err := time.Parse(time.RFC3339, s)
	if err == nil {
		return t.In(m.zone()), nil
	}
	for _, layout := range []string{"2006-01-02 15:04", time.DateTime, "2006-01-02T15:04", "2006-01-02T15:04:05", time.DateOnly} {
		if t, err = time.Parse(layout, s); err == nil {
			return local(t, m.zone()), nil
		}
	}
	return time.Time{}, err
}

func addHours(m *machine, args []any) (any, error) {
	hours, ok := args[1].(float64)
	if !ok {
		hours = float64(args[1].(int))
	}
	d, err := stretched(time.Hour, hours)
	if err != nil {
		return nil, err
	}
	return later(m.widened(args[0], kTime).(time.Time), d)
}

// moved goes on by months and days of the calendar.
func (m *machine) moved(v any, months, days int) (any, error) {
	d, err := moveDate(m.day(v), months, days)
	if err != nil {
		return nil, err
	}
	t, ok := v.(time.Time)
	if !ok {
		return d, nil
	}
	clock := wallClock(t.In(m.zone()))
	return local(midnight(d, time.UTC).Add(clock), m.zone()), nil
}

// start makes a function that goes back to the first instant of some day.
func start(of func(dsl.Date) dsl.Date) func(*machine, []any) (any, error) {
	return func(m *machine, args []any) (any, error) {
		d := of(m.day(args[0]))
		if d.Year < 1 {
			return nil, errEra
		}
		if _, ok := args[0].(time.Time); ok {
			return midnight(d, m.zone()), nil
		}
		return d, nil
	}
}

func format(m *machine, args []any) (any, error) {
	t := m.widened(args[0], kTime).(time.Time).In(m.zone())
	layout := args[1].(string)
	if err := m.spend(8 * len(layout)); err != nil {
		return nil, err
	}
	return strftime(t, layout)
}

// checkLayout finds a layout that cannot be meant.
func checkLayout(layout any) error {
	s := layout.(string)
	if _, err := strftime(time.Unix(0, 0).UTC(), s); err != nil {
		return err
	}
	if !strings.Contains(s, "%") {
		return &failure{message: "the layout " + clipped(s) + ` has no "%"`, hint: `it is one of strftime: "%Y-%m-%d %H:%M:%S"`}
	}
	return nil
}
