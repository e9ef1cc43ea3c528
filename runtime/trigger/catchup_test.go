package trigger_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/runtime/trigger"
)

func due(t *testing.T, keys, last, now string, pauses ...trigger.Pause) []string {
	t.Helper()
	wf, ds := dsl.Parse("f.yaml", []byte("name: f\ncron: \"0 * * * *\"\ntimezone: UTC\n"+keys+"tasks:\n  a: {run: x}\n"))
	if ds.Errors() {
		t.Fatal(ds)
	}
	p, _ := dag.Compile(wf)
	rs, err := trigger.Rules(p.Workflow, p.Entries, trigger.Options{Zone: time.UTC})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, tick := range rs[0].Due(wf, pauses, at(t, last), at(t, now)) {
		fate := []string{"fire", "missed", "merged", "skipped"}[tick.Fate]
		if tick.Fate == trigger.Fire {
			fate += fmt.Sprintf(" %s-%s", tick.From.Format("15:04"), tick.To.Format("15:04"))
		}
		got = append(got, tick.At.Format("15:04 ")+fate)
	}
	return got
}

func TestTicksAreTreatedByCatchup(t *testing.T) {
	for _, c := range []struct {
		name, keys, last, now string
		want                  []string
	}{
		{"on time", "", "2026-01-01T10:00:00Z", "2026-01-01T11:00:00Z", []string{"11:00 fire 10:00-11:00"}},
		{"none is due", "", "2026-01-01T10:00:00Z", "2026-01-01T10:59:59Z", nil},
		{"a late one alone is run by default", "", "2026-01-01T10:00:00Z", "2026-01-01T11:30:00Z", []string{"11:00 fire 10:00-11:00"}},
		{"of many missed the latest", "", "2026-01-01T10:00:00Z", "2026-01-01T13:30:00Z",
			[]string{"11:00 missed", "12:00 missed", "13:00 fire 12:00-13:00"}},
		{"none of them", "catchup: none\n", "2026-01-01T10:00:00Z", "2026-01-01T13:30:00Z",
			[]string{"11:00 missed", "12:00 missed", "13:00 missed"}},
		{"none, but the last is on time", "catchup: none\n", "2026-01-01T10:00:00Z", "2026-01-01T13:00:01Z",
			[]string{"11:00 missed", "12:00 missed", "13:00 fire 12:00-13:00"}},
		{"all", "catchup: all\n", "2026-01-01T10:00:00Z", "2026-01-01T12:30:00Z",
			[]string{"11:00 fire 10:00-11:00", "12:00 fire 11:00-12:00"}},
		{"merged into one interval", "catchup: merge\n", "2026-01-01T10:00:00Z", "2026-01-01T13:30:00Z",
			[]string{"11:00 merged", "12:00 merged", "13:00 fire 10:00-13:00"}},
		{"all within the window", "catchup: all\ncatchup_window: 2h\n", "2026-01-01T10:00:00Z", "2026-01-01T13:30:00Z",
			[]string{"11:00 missed", "12:00 fire 11:00-12:00", "13:00 fire 12:00-13:00"}},
		{"merged within the window", "catchup: merge\ncatchup_window: 2h\n", "2026-01-01T10:00:00Z", "2026-01-01T13:30:00Z",
			[]string{"11:00 missed", "12:00 merged", "13:00 fire 11:00-13:00"}},
	} {
		if got := due(t, c.keys, c.last, c.now); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestJitterIsAFixedShare(t *testing.T) {
	wf, _ := dsl.Parse("f.yaml", []byte("name: f\njitter: 10m\ntasks:\n  a: {run: x}\n"))
	d := trigger.Delay(wf)
	if d <= 0 || d > 10*time.Minute || d != trigger.Delay(wf) {
		t.Errorf("the delay is %s", d)
	}
}

func TestABusyMachineLosesNoTickAndAPauseMakesNoBurst(t *testing.T) {
	anchor := at(t, "2026-01-01T00:00:00Z")
	wf, _ := dsl.Parse("f.yaml", []byte("name: f\nevery: 1s\ntasks:\n  a: {run: x}\n"))
	p, _ := dag.Compile(wf)
	rs, err := trigger.Rules(p.Workflow, p.Entries, trigger.Options{Zone: time.UTC, Anchor: anchor})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ away, fired int }{{1, 1}, {4, 4}, {12, 1}, {3600, 1}} {
		fired := 0
		ticks := rs[0].Due(wf, nil, anchor, anchor.Add(time.Duration(c.away)*time.Second+time.Millisecond))
		for _, tick := range ticks {
			if tick.Fate == trigger.Fire {
				fired++
			}
		}
		if len(ticks) != c.away || fired != c.fired {
			t.Errorf("after %d s %d ticks are due and %d fire, want %d", c.away, len(ticks), fired, c.fired)
		}
	}
}

func TestAnOutageOfYearsIsDealtWithInBoundedSpace(t *testing.T) {
	wf, ds := dsl.Parse("f.yaml", []byte("name: f\nevery: 1s\ntasks:\n  a: {run: x}\n"))
	if ds.Errors() {
		t.Fatal(ds)
	}
	p, _ := dag.Compile(wf)
	last := at(t, "2020-01-01T00:00:00Z")
	rs, err := trigger.Rules(p.Workflow, p.Entries, trigger.Options{Zone: time.UTC, Anchor: last})
	if err != nil {
		t.Fatal(err)
	}
	now := last.AddDate(6, 0, 0)
	ticks := rs[0].Due(wf, nil, last, now)
	const day = 24 * 60 * 60
	if len(ticks) != 100_000+1+day+1 {
		t.Fatalf("%d ticks", len(ticks))
	}
	jump := ticks[100_000]
	if want := "older than catchup_window, as are all since 2020-01-02T03:46:41Z"; jump.Reason != want || jump.Fate != trigger.Missed {
		t.Errorf("the tick that stands for many is %+v, want the reason %q", jump, want)
	}
	if next := ticks[100_001]; !next.At.Equal(now.Add(-24*time.Hour)) || !jump.At.Equal(next.At.Add(-time.Second)) {
		t.Errorf("after the tick at %s comes %s: there is a hole", jump.At, next.At)
	}
	for i, tick := range ticks {
		if fire := i == len(ticks)-1; fire != (tick.Fate == trigger.Fire) {
			t.Fatalf("tick %d of %d at %s has fate %d", i, len(ticks), tick.At, tick.Fate)
		}
	}
}

func TestTheFirstTickStandsForAsMuchTimeAsAnyOther(t *testing.T) {
	for _, c := range []struct{ name, keys, tick, want string }{
		{"any tick: from the one before", "cron: '0 6 * * *'", "2026-03-05T06:00:00Z", "2026-03-04T06:00:00Z"},
		{"after a day that is left out: from before it", "cron: '0 6 * * *'\nexcept: [2026-03-04]", "2026-03-05T06:00:00Z", "2026-03-03T06:00:00Z"},
		{"the first after valid_from", "cron: '0 6 * * *'\nvalid_from: 2026-03-05", "2026-03-05T06:00:00Z", "2026-03-04T06:00:00Z"},
		{"the first of every: from when it began to count", "every: 20m", "2026-03-01T00:20:00Z", "2026-03-01T00:00:00Z"},
		{"the first of every after valid_from", "every: 20m\nvalid_from: 2026-03-05", "2026-03-05T00:00:00Z", "2026-03-04T23:40:00Z"},
	} {
		wf, ds := dsl.Parse("f.yaml", []byte("name: f\n"+c.keys+"\ntimezone: UTC\ntasks:\n  a: {run: x}\n"))
		if ds.Errors() {
			t.Fatalf("%s: %v", c.name, ds)
		}
		p, _ := dag.Compile(wf)
		anchor := at(t, "2026-03-01T00:00:00Z")
		rs, err := trigger.Rules(p.Workflow, p.Entries, trigger.Options{Zone: time.UTC, Anchor: anchor})
		if err != nil {
			t.Fatal(err)
		}
		tick := at(t, c.tick)
		if got := rs[0].Since(tick); !got.Equal(at(t, c.want)) {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		if due := rs[0].Due(p.Workflow, nil, tick.Add(-1), tick); len(due) != 1 || !due[0].From.Equal(at(t, c.want)) {
			t.Errorf("%s: due is %+v, want one from %s", c.name, due, c.want)
		}
	}
}
