package trigger_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/runtime/trigger"
)

func TestTicksThatFallIntoAPauseAreSkippedAndTheRestIsCaughtUp(t *testing.T) {
	pause := func(since, until string) trigger.Pause {
		p := trigger.Pause{Since: at(t, "2026-01-01T"+since+":00Z")}
		if until != "" {
			p.Until = at(t, "2026-01-01T"+until+":00Z")
		}
		return p
	}
	for _, c := range []struct {
		name, keys, now string
		pauses          []trigger.Pause
		want            []string
	}{
		{"while it lasts", "", "11:00", []trigger.Pause{pause("10:30", "")}, []string{"11:00 skipped"}},
		{"it begins at the very moment of a tick", "", "11:00", []trigger.Pause{pause("11:00", "")}, []string{"11:00 skipped"}},
		{"it ends at the very moment of a tick", "", "11:00", []trigger.Pause{pause("10:30", "11:00")}, []string{"11:00 fire 10:00-11:00"}},
		{"it began after a tick that nobody has dealt with", "", "11:00", []trigger.Pause{{Since: at(t, "2026-01-01T11:00:00.5Z")}}, []string{"11:00 skipped"}},
		{"an outage before it, and it lasts", "catchup: all\n", "13:30", []trigger.Pause{pause("12:30", "")},
			[]string{"11:00 skipped", "12:00 skipped", "13:00 skipped"}},
		{"what is missed anyway stays missed", "catchup: none\n", "13:30", []trigger.Pause{pause("12:30", "")},
			[]string{"11:00 missed", "12:00 missed", "13:00 skipped"}},
		{"it began and ended in an outage", "catchup: all\n", "14:30", []trigger.Pause{pause("10:30", "12:30")},
			[]string{"11:00 skipped", "12:00 skipped", "13:00 fire 12:00-13:00", "14:00 fire 13:00-14:00"}},
		{"nothing is caught up of it", "", "12:45", []trigger.Pause{pause("10:30", "12:30")}, []string{"11:00 skipped", "12:00 skipped"}},
		{"of what was missed beside it the latest is run", "", "14:30", []trigger.Pause{pause("12:30", "13:30")},
			[]string{"11:00 missed", "12:00 missed", "13:00 skipped", "14:00 fire 13:00-14:00"}},
		{"what was missed on both sides is merged", "catchup: merge\n", "14:30", []trigger.Pause{pause("12:30", "13:30")},
			[]string{"11:00 merged", "12:00 merged", "13:00 skipped", "14:00 fire 10:00-14:00"}},
		{"two of them", "catchup: all\n", "14:30", []trigger.Pause{pause("10:30", "11:30"), pause("12:30", "13:30")},
			[]string{"11:00 skipped", "12:00 fire 11:00-12:00", "13:00 skipped", "14:00 fire 13:00-14:00"}},
	} {
		if got := due(t, c.keys, "2026-01-01T10:00:00Z", "2026-01-01T"+c.now+":00Z", c.pauses...); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestAPauseCountsFromWhenATickWouldStartNotFromItsNominalTime(t *testing.T) {
	// The jitter of this workflow is some minutes: a pause within them keeps the tick.
	got := due(t, "jitter: 50m\n", "2026-01-01T10:00:00Z", "2026-01-01T11:00:00Z", trigger.Pause{
		Since: at(t, "2026-01-01T11:00:00.001Z"), Until: at(t, "2026-01-01T12:00:00Z"),
	})
	if !slices.Equal(got, []string{"11:00 skipped"}) {
		t.Errorf("got %q", got)
	}
}

func TestATickThatStandsForYearsOfPauseSaysSo(t *testing.T) {
	start := at(t, "2026-01-01T00:00:00Z")
	got := dueOf(t, "every: 1s\n", start, []trigger.Pause{{Since: start}}, start, start.AddDate(0, 1, 0))
	for _, tick := range got {
		if tick.Fate != trigger.Skipped || !strings.HasPrefix(tick.Reason, trigger.Paused) {
			t.Fatalf("the tick of %s is %+v", tick.At, tick)
		}
	}
	if standing := got[100_000]; standing.Reason != "paused, as are all since 2026-01-02T03:46:41Z" || len(got) > 200_000 {
		t.Errorf("of %d ticks the one that stands for others says %q", len(got), standing.Reason)
	}
}

// dueOf gives the ticks of a workflow with a schedule.
func dueOf(t *testing.T, schedule string, anchor time.Time, pauses []trigger.Pause, last, now time.Time) []trigger.Tick {
	t.Helper()
	wf, ds := dsl.Parse("f.yaml", []byte("name: f\n"+schedule+"tasks:\n  a: {run: x}\n"))
	if ds.Errors() {
		t.Fatal(ds)
	}
	p, _ := dag.Compile(wf)
	rs, err := trigger.Rules(p.Workflow, p.Entries, trigger.Options{Zone: time.UTC, Anchor: anchor})
	if err != nil {
		t.Fatal(err)
	}
	return rs[0].Due(wf, pauses, last, now)
}
