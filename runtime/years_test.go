package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dsl/cron"
	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/runtime/trigger"
	"github.com/ax-scheduler/ax/store"
)

// nightly is a schedule at a fixed time of the day, whose ticks can be told
// without knowing how the engine finds them.
type nightly struct {
	zone         string
	hour, minute int
}

func (n nightly) workflow(i int) string {
	return fmt.Sprintf("name: w%d\ncron: '%d %d * * *'\ntimezone: %s\ncatchup: all\ncatchup_window: 30d\ntasks:\n  a: {run: x, when: 'false'}\n",
		i, n.minute, n.hour, n.zone)
}

// ticks walks through every quarter of an hour of a span, which is as fine as zones
// are, and looks at the clock of the zone:
// the first of a day that shows the time counts, and where none does, the
// first that shows a later one.
func (n nightly) ticks(t *testing.T, from, to time.Time) []time.Time {
	zone, err := cron.LoadZone(n.zone)
	if err != nil {
		t.Fatal(err)
	}
	var ticks []time.Time
	day, done := 0, false
	for at := from.AddDate(0, 0, -2); !at.After(to); at = at.Add(15 * time.Minute) {
		local := at.In(zone)
		if today := local.YearDay() + 1000*local.Year(); today != day {
			day, done = today, false
		}
		if minute := local.Hour()*60 + local.Minute(); !done && minute >= n.hour*60+n.minute {
			if done = true; at.After(from) {
				ticks = append(ticks, at)
			}
		}
	}
	return ticks
}

// Ten years of nights in zones that change their clocks in every way, under
// engines that follow each other with days between them.
func TestTenYearsOfTicksAreThoseOfTheClockOnTheWall(t *testing.T) {
	schedules := []nightly{
		{"Europe/Berlin", 2, 30}, {"America/New_York", 1, 30}, {"Australia/Lord_Howe", 1, 45}, {"Asia/Shanghai", 0, 0},
		{"Africa/Cairo", 0, 0}, {"America/Caracas", 2, 45}, {"America/Sao_Paulo", 0, 15}, {"Pacific/Chatham", 2, 45},
	}
	var texts []string
	for i, n := range schedules {
		texts = append(texts, n.workflow(i))
	}
	c := folder(t, texts...)
	x := &script{}
	var engines []func(context.Context, *runtime.Engine)
	for i := range 42 {
		engines = append(engines,
			func(ctx context.Context, e *runtime.Engine) {
				if err := errors.Join(e.Recover(ctx, runtime.StartupRecover), e.Load(ctx, c)); err != nil {
					t.Fatal(err)
				}
				time.Sleep(85*24*time.Hour + time.Duration(i)*time.Hour)
			},
			func(ctx context.Context, e *runtime.Engine) { time.Sleep(5 * 24 * time.Hour) }) // nothing is loaded: an outage
	}
	engines = append(engines, func(ctx context.Context, e *runtime.Engine) {
		if err := errors.Join(e.Recover(ctx, runtime.StartupRecover), e.Load(ctx, c)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(24 * time.Hour)
		now := time.Now()
		if now.Before(x.t0.AddDate(10, 0, 0)) {
			t.Fatalf("it is only %s", now)
		}
		for i, n := range schedules {
			want := n.ticks(t, x.t0, now)
			name := fmt.Sprintf("w%d", i)
			got := fired(ctx, t, e.Store, name)
			if !slices.EqualFunc(got, want, time.Time.Equal) {
				t.Errorf("%s at %02d:%02d: %d ticks, want %d; first difference at %s", n.zone, n.hour, n.minute, len(got), len(want), firstDifference(got, want))
			}
			if next := told(t, c.Workflows[name].Plan(), x.t0, now); !slices.EqualFunc(got, next, time.Time.Equal) {
				t.Errorf("%s at %02d:%02d: what ax next would have told differs from the ledger at %s", n.zone, n.hour, n.minute, firstDifference(got, next))
			}
		}
	})
	x.sleepLong = true
	succession(t, x, engines...)
}

// fired gives the ticks of a workflow that started a run, each of which must be
// there, once, and have succeeded.
func fired(ctx context.Context, t *testing.T, s store.Store, name string) []time.Time {
	t.Helper()
	ticks, err := s.Ticks(ctx, name, time.Time{}, time.Now(), 0)
	if err != nil {
		t.Fatal(err)
	}
	var at []time.Time
	runs := map[string]bool{}
	for _, tick := range ticks {
		if tick.Outcome == store.TickLoaded {
			continue
		}
		run, err := s.Run(ctx, tick.RunID)
		if err != nil || !run.ScheduledFor.Equal(tick.At) || run.State.String() != "succeeded" || runs[run.ID] {
			t.Fatalf("%s: the tick of %s (%s) has the run %+v, %v", name, tick.At, tick.Outcome, run, err)
		}
		runs[run.ID] = true
		at = append(at, tick.At)
	}
	return at
}

// told gives the ticks as ax next lists them.
func told(t *testing.T, p *dag.Plan, from, to time.Time) []time.Time {
	t.Helper()
	rules, err := trigger.Rules(p.Workflow, p.Entries, trigger.Options{Zone: time.UTC, Anchor: from})
	if err != nil {
		t.Fatal(err)
	}
	var all []time.Time
	for at := rules[0].Next(from); !at.After(to); at = rules[0].Next(at) {
		all = append(all, at)
	}
	return all
}

func firstDifference(a, b []time.Time) time.Time {
	for i := range min(len(a), len(b)) {
		if !a[i].Equal(b[i]) {
			if b[i].Before(a[i]) {
				return b[i]
			}
			return a[i]
		}
	}
	return time.Time{}
}
