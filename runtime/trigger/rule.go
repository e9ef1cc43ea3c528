// Package trigger says when workflows start: pure functions of time over the
// schedules of a plan.
//
// It reads no clock, starts nothing and remembers nothing.
package trigger

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/dsl/cron"
)

// Rule is one schedule: of a whole workflow, or of the tasks of it that share
// the schedule. It does not change.
type Rule struct {
	// Schedule identifies the rule within its workflow: the cron expression,
	// behind its zone where it has one of its own, or "every" and the interval.
	// Its parameters follow where an earlier rule differs by these alone.
	Schedule string
	Roots    []dag.Task // the tasks that it starts; empty for the whole workflow
	Tasks    []string   // their ids
	Params   []dsl.Field

	expr   *cron.Expr // nil for every
	zone   *time.Location
	every  time.Duration
	anchor time.Time
	days   days
}

// Options are what the rules of a workflow need beside it.
type Options struct {
	Zone   *time.Location // of a workflow without `timezone`
	Anchor time.Time      // from which `every` counts: the first load of the schedule
	// Dates reads a file that `except` names; its error names the file.
	Dates func(path string) ([]dsl.Date, error)
}

// Rules gives the schedules of a workflow in file order: its own, then those of
// its tasks, which its plan has as entries. It does not look at the tasks. A
// disabled workflow has none. The error names the place of a schedule or a zone
// that cannot be used, in the workflow file.
func Rules(wf *dsl.Workflow, entries []dag.Entry, o Options) ([]Rule, error) {
	if wf.Disabled.V {
		return nil, nil
	}
	base := Rule{zone: o.Zone, anchor: o.Anchor}
	if wf.Timezone.Set() {
		zone, err := cron.LoadZone(wf.Timezone.V)
		if err != nil {
			return nil, placed(wf, wf.Timezone.Pos, err)
		}
		base.zone = zone
	}
	var err error
	if base.days, err = daysOf(wf, base.zone, o); err != nil {
		return nil, err
	}
	var rules []Rule
	for i := range wf.Schedules {
		r, err := base.with(wf, &wf.Schedules[i])
		if err != nil {
			return nil, err
		}
		rules = add(rules, r)
	}
	for _, e := range entries {
		r, err := base.with(wf, e.Schedule)
		if err != nil {
			return nil, err
		}
		r.Roots, r.Tasks = e.Roots, e.IDs
		rules = add(rules, r)
	}
	return rules, nil
}

// add appends a rule, unless it is one of those before: a schedule that is given
// twice is one. Where only the parameters differ, they tell it apart.
func add(rules []Rule, r Rule) []Rule {
	i := slices.IndexFunc(rules, r.like)
	if i >= 0 && rules[i].paramsText() != r.paramsText() {
		r.Schedule += cmp.Or(r.paramsText(), " without params")
		i = slices.IndexFunc(rules, r.like)
	}
	if i >= 0 {
		return rules
	}
	return append(rules, r)
}

func (r *Rule) like(o Rule) bool { return o.Schedule == r.Schedule && slices.Equal(o.Tasks, r.Tasks) }

func (r *Rule) paramsText() string {
	var b strings.Builder
	for _, f := range r.Params {
		fmt.Fprintf(&b, " %s=%s", f.Name.V, f.Value.V)
	}
	return b.String()
}

func placed(wf *dsl.Workflow, p dsl.Pos, err error) error {
	return fmt.Errorf("%s:%d:%d: %w", wf.Source.File, p.Line, p.Col, err)
}

// with gives the rule of one schedule.
func (r Rule) with(wf *dsl.Workflow, s *dsl.Schedule) (Rule, error) {
	r.Params = s.Params
	if s.Every.Set() {
		r.every, r.Schedule = s.Every.V, "every "+s.Every.V.String()
		return r, nil
	}
	expr, err := cron.Parse(s.Cron.V)
	if err != nil {
		return r, placed(wf, s.Cron.Pos, err)
	}
	r.expr, r.Schedule = expr, expr.String()
	if s.Timezone.Set() {
		if r.zone, err = cron.LoadZone(s.Timezone.V); err != nil {
			return r, placed(wf, s.Timezone.Pos, err)
		}
		r.Schedule = s.Timezone.V + " " + r.Schedule
	}
	r.zone = expr.Location(r.zone)
	return r, nil
}

// Anchored gives the rule with another time from which `every` counts.
func (r Rule) Anchored(at time.Time) Rule {
	r.anchor = at
	return r
}

// Next gives the first time strictly after t at which the rule fires; zero if
// there is none.
func (r *Rule) Next(t time.Time) time.Time {
	for {
		next := r.after(t)
		if next.IsZero() {
			return next
		}
		switch date := r.days.dateOf(next); {
		case r.days.until.Year != 0 && date.After(r.days.until):
			return time.Time{}
		case date.Before(r.days.from):
			t = r.days.startOf(r.days.from).Add(-1)
		case r.days.except[date]:
			t = r.days.startOf(date.Next()).Add(-1)
		default:
			return next
		}
	}
}

// Prev gives the last time at or before t at which the rule fires; zero if there
// is none.
func (r *Rule) Prev(t time.Time) time.Time {
	for {
		prev := r.before(t)
		if prev.IsZero() {
			return prev
		}
		switch date := r.days.dateOf(prev); {
		case date.Before(r.days.from):
			return time.Time{}
		case r.days.until.Year != 0 && date.After(r.days.until):
			t = r.days.startOf(r.days.until.Next()).Add(-1)
		case r.days.except[date]:
			t = r.days.startOf(date).Add(-1)
		default:
			return prev
		}
	}
}

// Since gives the beginning of the time that a tick stands for: the tick before. The
// first one after valid_from stands for as much as any other, from where it would
// have fired before, and the first one of `every` from when that began to count.
func (r *Rule) Since(at time.Time) time.Time {
	since := r.Prev(at.Add(-1))
	if since.IsZero() {
		since = r.before(at.Add(-1))
	}
	switch {
	case !since.IsZero():
		return since
	case r.expr == nil:
		return r.anchor
	}
	return at
}

// after and before leave the days aside. The first time of `every` is one
// interval after the anchor.
func (r *Rule) after(t time.Time) time.Time {
	if r.expr != nil {
		return r.expr.Next(t, r.zone)
	}
	if t.Before(r.anchor) {
		t = r.anchor
	}
	return r.anchor.Add((t.Sub(r.anchor)/r.every + 1) * r.every)
}

func (r *Rule) before(t time.Time) time.Time {
	if r.expr != nil {
		return r.expr.Prev(t, r.zone)
	}
	n := t.Sub(r.anchor) / r.every
	if t.Before(r.anchor) || n == 0 {
		return time.Time{}
	}
	return r.anchor.Add(n * r.every)
}

// days are those on which a workflow's schedules fire, by the clock of its zone.
type days struct {
	zone        *time.Location
	from, until dsl.Date // inclusive; the zero Date for no bound
	except      map[dsl.Date]bool
}

func daysOf(wf *dsl.Workflow, zone *time.Location, o Options) (days, error) {
	d := days{zone: zone, from: wf.ValidFrom.V, until: wf.ValidUntil.V, except: map[dsl.Date]bool{}}
	for _, e := range wf.Except {
		dates := []dsl.Date{}
		if date, err := dsl.ParseDate(e.V); err == nil {
			dates = append(dates, date)
		} else if dates, err = o.Dates(e.V); err != nil {
			return d, placed(wf, e.Pos, fmt.Errorf("except: %w", err))
		}
		for _, date := range dates {
			d.except[date] = true
		}
	}
	return d, nil
}

func (d *days) dateOf(t time.Time) dsl.Date { return dateIn(t, d.zone) }

func (d *days) startOf(date dsl.Date) time.Time { return StartOf(date, d.zone) }

// StartOf gives the first second of a date in a zone, also where a change of the clock
// skips midnight or repeats it. It searches, since ZoneBounds of package time
// cannot be relied on (golang/go#81583).
func StartOf(date dsl.Date, zone *time.Location) time.Time {
	const reach = 30 * time.Hour // no zone is further from UTC
	from := time.Date(date.Year, date.Month, date.Day, 0, 0, 0, 0, time.UTC).Add(-reach)
	n := sort.Search(int(2*reach/time.Second), func(i int) bool {
		return !dateIn(from.Add(time.Duration(i)*time.Second), zone).Before(date)
	})
	return from.Add(time.Duration(n) * time.Second).In(zone)
}

func dateIn(t time.Time, zone *time.Location) dsl.Date {
	y, m, day := t.In(zone).Date()
	return dsl.Date{Year: y, Month: m, Day: day}
}
