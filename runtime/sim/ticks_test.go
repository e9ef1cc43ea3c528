package sim_test

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/dsl/cron"
	"github.com/ax-scheduler/ax/store"
)

// ledger: promise 5, as a whole. From the first load of a schedule on, each due
// time has its row up to the last that is there, and up to now where it is still
// kept.
func (o *observer) ledger() {
	rows := map[[2]string]map[int64]store.Tick{}
	for id, t := range o.ticks {
		key := [2]string{id.workflow, id.schedule}
		if rows[key] == nil {
			rows[key] = map[int64]store.Tick{}
		}
		rows[key][id.at] = t
	}
	kept := o.kept()
	for key := range kept {
		if rows[key] == nil {
			o.broken("%s: the schedule %q was never begun to be kept", key[0], key[1])
		}
	}
	keys := slices.SortedFunc(maps.Keys(rows), func(a, b [2]string) int {
		return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]))
	})
	for _, key := range keys {
		if !strings.HasPrefix(key[1], "after") {
			o.ledgerOf(key, rows[key], kept[key])
		}
	}
}

// kept gives the schedules that were loaded last, each with the time up to which
// its ticks must be dealt with.
func (o *observer) kept() map[[2]string]time.Time {
	kept := map[[2]string]time.Time{}
	if o.calmSet == nil {
		return kept
	}
	for name, f := range o.calmSet.catalog.Workflows {
		wf := f.Plan().Workflow
		if wf.Disabled.V {
			continue
		}
		for _, s := range wf.Schedules {
			kept[[2]string{name, nameOf(s)}] = o.calmAt.Add(-wf.Jitter.V - 10*time.Second)
		}
		for i := range wf.Tasks {
			if wf.Tasks[i].Disabled.V {
				continue
			}
			for _, s := range wf.Tasks[i].Schedules {
				kept[[2]string{name, nameOf(s) + " of " + wf.Tasks[i].ID.V}] = o.calmAt.Add(-wf.Jitter.V - 10*time.Second)
			}
		}
	}
	return kept
}

func nameOf(s dsl.Schedule) string {
	if s.Every.Set() {
		return "every " + s.Every.V.String()
	}
	return s.Cron.V
}

func (o *observer) ledgerOf(key [2]string, rows map[int64]store.Tick, until time.Time) {
	at := slices.Sorted(maps.Keys(rows))
	first, last := time.UnixMicro(at[0]), time.UnixMicro(at[len(at)-1])
	if rows[at[0]].Outcome != store.TickLoaded {
		o.broken("%s: the ledger of %q does not begin with its first load", key[0], key[1])
		return
	}
	if until.Before(last) {
		until = last
	}
	want := map[int64]bool{}
	for _, t := range o.dueTimes(key, first, until) {
		want[t.UnixMicro()] = true
		if row, there := rows[t.UnixMicro()]; !there || row.Outcome == store.TickLoaded {
			o.broken("%s: the tick of %q at %s is not in the ledger", key[0], key[1], t.UTC())
		}
	}
	for i, t := range at[1:] {
		if !want[t] {
			o.broken("%s: the tick of %q at %s is in the ledger, and was never due", key[0], key[1], time.UnixMicro(t).UTC())
		}
		if rows[t].Outcome == store.TickFired {
			o.interval(rows[t], rows, at[:i+1])
		}
	}
}

// interval: the run of a tick stands for the time since the tick before, or since
// the one before those that were merged into it.
func (o *observer) interval(t store.Tick, rows map[int64]store.Tick, before []int64) {
	r := o.runs[t.RunID]
	for len(before) > 0 && rows[before[len(before)-1]].Outcome == store.TickMerged {
		before = before[:len(before)-1]
	}
	if r == nil || len(before) < 2 || o.steps > 0 || o.pauses(t.Workflow) { // since before it was loaded, or beside ticks in a pause
		return
	}
	from := time.UnixMicro(before[len(before)-1])
	if !r.rec.IntervalFrom.Equal(from) || !r.rec.IntervalTo.Equal(t.At) {
		o.broken("run %s of %s stands for the time from %s to %s, and it is from %s to %s", r.rec.ID, r.rec.Workflow,
			r.rec.IntervalFrom.UTC(), r.rec.IntervalTo.UTC(), from.UTC(), t.At.UTC())
	}
}

// dueTimes tells when a schedule is due, by looking at the clock on the wall
// minute by minute.
func (o *observer) dueTimes(key [2]string, after, until time.Time) (due []time.Time) {
	what, _, _ := strings.Cut(key[1], " of ")
	var of *flow
	zone := time.UTC
	for _, f := range o.w.sc.flows {
		if f.name == key[0] {
			of = f
			zone, _ = cron.LoadZone(f.zone)
		}
	}
	defer func() {
		due = slices.DeleteFunc(due, func(at time.Time) bool { return !of.days.has(at.In(zone).Format(time.DateOnly)) })
	}()
	if text, is := strings.CutPrefix(what, "every "); is {
		every, _ := time.ParseDuration(text)
		for at := after.Add(every); !at.After(until); at = at.Add(every) {
			due = append(due, at)
		}
		return due
	}
	fields := strings.Fields(what)
	fixed := !strings.Contains(fields[0]+fields[1], "*") // at a time of the day
	day, done := 0, false
	for at := after.Add(-48 * time.Hour).Truncate(time.Minute); !at.After(until); at = at.Add(time.Minute) {
		local := at.In(zone)
		hit := matches(fields[0], local.Minute()) && matches(fields[1], local.Hour())
		if fixed {
			if today := local.YearDay() + 1000*local.Year(); today != day {
				day, done = today, false
			}
			m, _ := strconv.Atoi(fields[0])
			h, _ := strconv.Atoi(fields[1])
			hit = !done && local.Hour()*60+local.Minute() >= h*60+m
			done = done || hit
		}
		if hit && at.After(after) {
			due = append(due, at)
		}
	}
	return due
}

// matches tells whether a field of an expression means a number.
func matches(field string, n int) bool {
	if field == "*" {
		return true
	}
	if step, is := strings.CutPrefix(field, "*/"); is {
		k, _ := strconv.Atoi(step)
		return n%k == 0
	}
	k, _ := strconv.Atoi(field)
	return n == k
}
