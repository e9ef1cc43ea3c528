package lint

import (
	"errors"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/dsl/cron"
)

// clockKey says which schedules are alike.
type clockKey struct{ text, zone string }

// clock is what is known of a cron expression by the clock of a zone.
type clock struct {
	expr *cron.Expr  // nil if it is malformed
	err  *cron.Error // why
	gap  cron.Gap    // the next fixed time that a change of the clock skips
	gaps bool        // there is such a time

	pace  time.Duration // the shortest time between two ticks, once paced is set
	paced bool
}

// clockOf gives what is known of a schedule. Many tasks may have the same one.
func (p *pass) clockOf(s *dsl.Schedule) *clock {
	zone := s.Timezone
	if !zone.Set() {
		zone = p.wf.Timezone
	}
	key := clockKey{s.Cron.V, zone.V}
	if c := p.clocks[key]; c != nil {
		return c
	}
	c := &clock{}
	var err error
	if c.expr, err = cron.Parse(s.Cron.V); err != nil {
		errors.As(err, &c.err)
	} else if !p.o.Now.IsZero() {
		var loc *time.Location
		if zone.Set() {
			loc, _ = cron.LoadZone(zone.V) // a bad name is reported where it stands
		}
		if loc = c.expr.Location(loc); loc != nil {
			const years = 1
			c.gap, c.gaps = c.expr.DSTGap(loc, p.o.Now, years)
		}
	}
	if p.clocks == nil {
		p.clocks = map[clockKey]*clock{}
	}
	p.clocks[key] = c
	return c
}

// schedule reports what is wrong with one cron expression or its zone:
// bad-cron, unknown-timezone, never-fires, dst-gap, day-or-weekday and
// uneven-step.
func (p *pass) schedule(s *dsl.Schedule) {
	p.zone(s.Timezone)
	if !s.Cron.Set() {
		return
	}
	c := p.clockOf(s)
	switch {
	case c.err != nil:
		p.badCron(s.Cron, c.err)
		return
	case !c.expr.Satisfiable():
		at, width := field(s.Cron.V, dayOfMonth, month)
		p.within("never-fires", s.Cron, at, width, "no month that it allows has such a day", "no date matches %q", c.expr)
		return
	case c.gaps:
		p.dstGap(s.Cron, c)
	}
	if c.expr.DayOrWeekday() {
		at, width := field(s.Cron.V, dayOfMonth, dayOfWeek)
		p.within("day-or-weekday", s.Cron, at, width,
			`to mean both, leave one of them "*" and look at the date in the task`,
			"it fires on the days of the month and, besides, on the days of the week: both are given, and either is enough")
	}
	if u, ok := c.expr.UnevenStep(); ok {
		n := slices.Index(fieldNames, u.Field)
		at, width := field(s.Cron.V, n, n)
		hint := "take a step that divides the range"
		if n <= hour {
			hint += `, or "every" for a fixed distance`
		}
		p.within("uneven-step", s.Cron, at, width, hint, "a step of %d in the %s field is not even: the last one is %d", u.Step, u.Field, u.Last)
	}
}

func (p *pass) badCron(text dsl.Value[string], err *cron.Error) {
	rule := "bad-cron"
	if err.Kind == cron.UnknownZone {
		rule = "unknown-timezone"
	}
	p.within(rule, text, err.Offset, err.Width, err.Hint, "%s", err.Message)
}

func (p *pass) dstGap(text dsl.Value[string], c *clock) {
	const clockTime = "15:04"
	day := c.gap.Fires.Format(time.DateOnly)
	if skipped := c.gap.Skipped.Format(time.DateOnly); skipped != day { // a whole day, or midnight
		day = skipped
	}
	p.within("dst-gap", text, 0, len(text.V), "a time that exists on every day needs no exception",
		"%s on %s does not exist in %s: the clocks are put forward, it fires at %s instead",
		c.gap.Skipped.Format(clockTime), day, c.gap.Fires.Location(), c.gap.Fires.Format(clockTime))
}

// zone reports a zone that does not exist.
func (p *pass) zone(name dsl.Value[string]) {
	if !name.Set() {
		return
	}
	var e *cron.Error
	if _, err := cron.LoadZone(name.V); errors.As(err, &e) {
		p.report("unknown-timezone", name.Pos, e.Hint, "%s", e.Message)
	}
}

// timezone looks at the workflow's own zone.
func (p *pass) timezone() { p.zone(p.wf.Timezone) }

// noTimezone reports, once, a time of day or a day that is nobody's: without a
// zone in the file it is that of the server.
func (p *pass) noTimezone() {
	if p.wf.Timezone.Set() || p.wf.Unread("timezone") {
		return
	}
	for s, whole := range p.schedules() {
		if whole && s.Cron.Set() && !s.Timezone.Set() && !p.mustGo(s.Cron.Pos) && dependsOnZone(p.clockOf(s).expr) {
			p.report("no-timezone", s.Cron.Pos, `add "timezone: UTC", or the zone of the people who wait for it`,
				"%q means another moment on every server: the workflow has no timezone", s.Cron.V)
			return
		}
	}
}

// mustGo tells whether the schedule at a place has to go: a handler has none,
// nor has a task that depends on another.
func (p *pass) mustGo(at dsl.Pos) bool {
	return slices.ContainsFunc(p.Diagnostics, func(d dsl.Diagnostic) bool { return d.Pos == at && d.Rule == "bad-value" })
}

// dependsOnZone tells whether an expression says more than minutes of an hour.
func dependsOnZone(e *cron.Expr) bool {
	if e == nil || e.Zone != "" {
		return false
	}
	text := e.String()
	return text != "@hourly" && !strings.HasSuffix(text, " * * * *")
}

// schedules gives all schedules of the file, those of the workflow first, and
// whether all could be read that stands beside them.
func (p *pass) schedules() iter.Seq2[*dsl.Schedule, bool] {
	return func(yield func(*dsl.Schedule, bool) bool) {
		whole := !p.wf.Unread("cron")
		for i := range p.wf.Schedules {
			if !yield(&p.wf.Schedules[i], whole) {
				return
			}
		}
		for t := range p.wf.Tasks {
			for i := range p.wf.Tasks[t].Schedules {
				if !yield(&p.wf.Tasks[t].Schedules[i], !p.wf.Tasks[t].Unread("cron")) {
					return
				}
			}
		}
	}
}

// span reports a span of validity in which nothing fires.
func (p *pass) span() {
	from, until := p.wf.ValidFrom, p.wf.ValidUntil
	if until.Set() && p.over(until.V) {
		for range p.schedules() {
			p.report("never-fires", until.Pos, "give a later day, or remove the schedule", "valid_until is in the past, so no schedule fires any more")
			return
		}
	}
	if !from.Set() || !until.Set() {
		return
	}
	if until.V.Before(from.V) {
		p.report("never-fires", until.Pos, "exchange them", "valid_until is before valid_from, so no schedule ever fires")
		return
	}
	// Days count by the clock on the wall, so that any zone will do.
	start := time.Date(from.V.Year, from.V.Month, from.V.Day, 0, 0, 0, 0, time.UTC)
	for s := range p.schedules() {
		if !s.Cron.Set() {
			continue
		}
		c := p.clockOf(s)
		if c.expr == nil || !c.expr.Satisfiable() {
			continue
		}
		y, m, d := c.expr.Next(start.Add(-1), time.UTC).Date()
		if first := (dsl.Date{Year: y, Month: m, Day: d}); first.After(until.V) {
			p.report("never-fires", s.Cron.Pos, "widen the span, or correct the expression",
				"%q does not fire from %s to %s, where the workflow is valid", s.Cron.V, from.V, until.V)
		}
	}
}

// over tells whether a day is in the past wherever on earth the clock is read.
func (p *pass) over(day dsl.Date) bool {
	if p.o.Now.IsZero() {
		return false
	}
	y, m, d := p.o.Now.In(time.FixedZone("", -12*60*60)).Date()
	return day.Before(dsl.Date{Year: y, Month: m, Day: d})
}

// The fields of a cron expression, in order.
const (
	hour = iota + 1
	dayOfMonth
	month
	dayOfWeek
)

var fieldNames = []string{"minute", "hour", "day of month", "month", "day of week"}

// field gives where some fields of a well-formed expression stand in its text,
// from one to another; all of it where it has no fields (@monthly).
func field(text string, from, to int) (at, width int) {
	begin, end, n := 0, len(text), 0
	for i := 0; i < len(text); {
		word := strings.TrimLeft(text[i:], " \t\r\n")
		start := len(text) - len(word)
		if j := strings.IndexAny(word, " \t\r\n"); j >= 0 {
			word = word[:j]
		}
		i = start + len(word)
		if word == "" || strings.Contains(word, "=") { // a zone
			continue
		}
		if n == from {
			begin = start
		}
		if n == to {
			end = i
		}
		n++
	}
	return begin, end - begin
}
