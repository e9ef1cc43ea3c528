package runtime_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/runtime/reload"
	"github.com/ax-scheduler/ax/runtime/trigger"
	"github.com/ax-scheduler/ax/store"
)

func catalog(t testing.TB, text string) *reload.Catalog {
	t.Helper()
	f := reload.Compile("flow.yaml", []byte(text))
	if f.Plan == nil {
		t.Fatal(f.Diagnostics)
	}
	return &reload.Catalog{Workflows: map[string]*reload.Loaded{f.Workflow.Name.V: f.Keep()}}
}

func load(ctx context.Context, t testing.TB, e *runtime.Engine, text string) {
	t.Helper()
	if err := e.Load(ctx, catalog(t, text)); err != nil {
		t.Fatal(err)
	}
}

// ledger gives the ticks of a workflow, by their time after the start.
func ledger(ctx context.Context, t testing.TB, e *runtime.Engine, x *script) []string {
	t.Helper()
	ticks, err := e.Store.Ticks(ctx, "flow", time.Time{}, x.t0.AddDate(10, 0, 0), 0)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, tick := range ticks {
		if tick.Outcome != store.TickLoaded {
			got = append(got, fmt.Sprintf("%s %s", tick.At.Sub(x.t0), tick.Outcome))
		}
	}
	return got
}

// runsOf gives the runs of a workflow, oldest first, by their scheduled time.
func runsOf(ctx context.Context, t testing.TB, e *runtime.Engine, x *script) []string {
	t.Helper()
	runs, err := e.Store.Runs(ctx, store.RunFilter{Workflow: "flow", Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range slices.Backward(runs) {
		got = append(got, fmt.Sprintf("%s %s", r.ScheduledFor.Sub(x.t0), r.State))
	}
	return got
}

func TestEveryTickHasItsRunAndItsRow(t *testing.T) {
	x := &script{took: map[string]time.Duration{"a": time.Minute}}
	inEngine(t, x, func(ctx context.Context, e *runtime.Engine) {
		load(ctx, t, e, "name: flow\nevery: 10m\ntasks:\n  a: {run: x}\n")
		time.Sleep(35 * time.Minute)
		equal(t, ledger(ctx, t, e, x), []string{"10m0s fired", "20m0s fired", "30m0s fired"})
		equal(t, runsOf(ctx, t, e, x), []string{"10m0s succeeded", "20m0s succeeded", "30m0s succeeded"})
		equal(t, x.noted(), []string{"10m0s a#1 start", "11m0s a#1 end", "20m0s a#1 start", "21m0s a#1 end", "30m0s a#1 start", "31m0s a#1 end"})
	})
}

func TestASchedulesTwinsAreKeptFromTheFirstLoadOn(t *testing.T) {
	x := &script{}
	inEngine(t, x, func(ctx context.Context, e *runtime.Engine) {
		load(ctx, t, e, "name: flow\nmax_active: 0\nparams: {r: x}\ncron: ['*/10 * * * *', '*/10 * * * *', {cron: '*/10 * * * *', params: {r: y}}]\ntasks:\n  a: {run: x}\n")
		time.Sleep(15 * time.Minute)
		equal(t, ledger(ctx, t, e, x), []string{"10m0s fired", "10m0s fired"})
		equal(t, runsOf(ctx, t, e, x), []string{"10m0s succeeded", "10m0s succeeded"})
	})
}

func TestARunOfAScheduleHasTheParametersOfIt(t *testing.T) {
	x := &script{}
	inEngine(t, x, func(ctx context.Context, e *runtime.Engine) {
		load(ctx, t, e, "name: flow\ntimezone: UTC\nparams: {n: 1, r: x}\ncron: [{cron: '*/10 * * * *', params: {n: 7}}]\ntasks:\n  a: {run: x}\n")
		time.Sleep(15 * time.Minute)
		for _, want := range []string{"AX_PARAM_N=7", "AX_PARAM_R=x"} {
			if !slices.Contains(x.told("a"), want) {
				t.Errorf("the task was not told %s, but %q", want, x.told("a"))
			}
		}
	})
}

func TestTheOverlapRuleDecidesOverATickWhileARunIsGoing(t *testing.T) {
	for _, c := range []struct {
		overlap string
		runs    []string
	}{
		{"skip", []string{"10m0s succeeded", "20m0s skipped", "30m0s skipped", "40m0s running", "50m0s skipped"}},
		{"buffer_one", []string{"10m0s succeeded", "20m0s skipped", "30m0s running", "40m0s skipped", "50m0s queued"}},
		{"queue", []string{"10m0s succeeded", "20m0s running", "30m0s queued", "40m0s queued", "50m0s queued"}},
		{"replace", []string{"10m0s cancelled", "20m0s cancelled", "30m0s cancelled", "40m0s cancelled", "50m0s running"}},
	} {
		x := &script{took: map[string]time.Duration{"a": 25 * time.Minute}}
		inEngine(t, x, func(ctx context.Context, e *runtime.Engine) {
			load(ctx, t, e, "name: flow\nevery: 10m\noverlap: "+c.overlap+"\ntasks:\n  a: {run: x}\n")
			time.Sleep(51 * time.Minute)
			if got := runsOf(ctx, t, e, x); !slices.Equal(got, c.runs) {
				t.Errorf("overlap: %s: got %q, want %q", c.overlap, got, c.runs)
			}
		})
	}
}

func TestATickThatReplacesWaitsForTheHandlersOfTheRunThatItCancelled(t *testing.T) {
	x := &script{
		took: map[string]time.Duration{"a": 5 * time.Hour, "tidy": 15 * time.Minute},
		deaf: map[string]time.Duration{"a": 12 * time.Minute},
	}
	inEngine(t, x, func(ctx context.Context, e *runtime.Engine) {
		load(ctx, t, e, "name: flow\nevery: 10m\noverlap: replace\non_finish: tidy\ntasks:\n  a: {run: x, kill_after: 1h}\n  tidy: {run: x}\n")
		time.Sleep(51 * time.Minute)
		equal(t, runsOf(ctx, t, e, x), []string{"10m0s cancelled", "20m0s skipped", "30m0s skipped", "40m0s running", "50m0s queued"})
		equal(t, x.noted(), []string{"10m0s a#1 start", "32m0s a#1 end", "32m0s tidy#1 start", "47m0s tidy#1 end", "47m0s a#1 start"})
	})
}

func TestAManualRunBeyondMaxActiveWaitsAndCanBeCancelled(t *testing.T) {
	x := &script{took: map[string]time.Duration{"a": time.Hour}}
	inEngine(t, x, func(ctx context.Context, e *runtime.Engine) {
		p := plan(t, "name: flow\ntasks:\n  a: {run: x}\n")
		var ids []string
		for range 3 {
			run, err := e.Start(ctx, runtime.Request{Plan: p})
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, run.ID)
			time.Sleep(time.Minute)
		}
		equal(t, runsOf(ctx, t, e, x), []string{"0s running", "1m0s queued", "2m0s queued"})
		if err := e.Cancel(ctx, ids[1], "a test"); err != nil {
			t.Fatal(err)
		}
		if _, err := e.Wait(ctx, ids[1]); err != nil {
			t.Fatal(err)
		}
		if _, err := e.Wait(ctx, ids[2]); err != nil {
			t.Fatal(err)
		}
		equal(t, runsOf(ctx, t, e, x), []string{"0s succeeded", "1m0s cancelled", "2m0s succeeded"})
		equal(t, x.noted(), []string{"0s a#1 start", "1h0m0s a#1 end", "1h0m0s a#1 start", "2h0m0s a#1 end"})
	})
}

func TestWhatWasMissedWhileNoEngineRanIsTreatedByCatchup(t *testing.T) {
	x := &script{}
	text := "name: flow\nevery: 10m\ncatchup: %s\nmax_active: 0\ntasks:\n  a: {run: x}\n"
	for _, c := range []struct {
		catchup string
		want    []string
	}{
		{"latest", []string{"10m0s fired", "20m0s missed", "30m0s missed", "40m0s fired", "50m0s fired"}},
		{"none", []string{"10m0s fired", "20m0s missed", "30m0s missed", "40m0s missed", "50m0s fired"}},
		{"all", []string{"10m0s fired", "20m0s fired", "30m0s fired", "40m0s fired", "50m0s fired"}},
		{"merge", []string{"10m0s fired", "20m0s merged", "30m0s merged", "40m0s fired", "50m0s fired"}},
	} {
		flow := fmt.Sprintf(text, c.catchup)
		succession(t, x,
			func(ctx context.Context, e *runtime.Engine) {
				load(ctx, t, e, flow)
				time.Sleep(15 * time.Minute)
			},
			func(ctx context.Context, e *runtime.Engine) { // an engine without the workflow: an outage
				time.Sleep(30 * time.Minute)
			},
			func(ctx context.Context, e *runtime.Engine) {
				load(ctx, t, e, flow)
				time.Sleep(6 * time.Minute)
				if got := ledger(ctx, t, e, x); !slices.Equal(got, c.want) {
					t.Errorf("catchup: %s: got %q, want %q", c.catchup, got, c.want)
				}
			})
	}
}

func TestAReloadNeitherLosesNorDoublesATickNorMovesThePace(t *testing.T) {
	x := &script{}
	inEngine(t, x, func(ctx context.Context, e *runtime.Engine) {
		for i := range 200 {
			load(ctx, t, e, fmt.Sprintf("name: flow\nevery: 10s\ntasks:\n  a: {run: x}\n# edit %d\n", i))
			time.Sleep(time.Second)
		}
		var want []string
		for i := 1; i <= 19; i++ {
			want = append(want, fmt.Sprintf("%s fired", time.Duration(i)*10*time.Second))
		}
		got := ledger(ctx, t, e, x)
		equal(t, got[:19], want)
		if len(got) > 20 {
			t.Errorf("there are %d ticks in 200 s", len(got))
		}
	})
}

func TestATickOfAWorkflowThatCannotRunIsAFailedRunThatSaysWhy(t *testing.T) {
	x := &script{}
	inEngine(t, x, func(ctx context.Context, e *runtime.Engine) {
		load(ctx, t, e, "name: flow\nevery: 10m\ntasks:\n  a: {workflow: {name: nobody}}\n")
		time.Sleep(11 * time.Minute)
		runs, err := e.Store.Runs(ctx, store.RunFilter{Limit: 10})
		if err != nil || len(runs) != 1 || runs[0].State != machine.RunFailed || runs[0].Reason != machine.ReasonStartError ||
			!strings.Contains(runs[0].Error, "flow.yaml:4:") {
			t.Errorf("the runs are %+v, %v", runs, err)
		}
	})
}

func TestATickOfATaskStartsThatTaskAndWhatFollowsFromIt(t *testing.T) {
	x := &script{}
	inEngine(t, x, func(ctx context.Context, e *runtime.Engine) {
		load(ctx, t, e, "name: flow\ntimezone: UTC\ntasks:\n  a: {run: x, cron: '10 * * * *'}\n  b: {run: x, cron: '20 * * * *'}\n  c: {run: x, depends_on: a}\n  d: {run: x, depends_on: b}\n")
		time.Sleep(25 * time.Minute)
		equal(t, ledger(ctx, t, e, x), []string{"10m0s fired", "20m0s fired"})
		equal(t, x.noted(), []string{
			"10m0s a#1 start", "10m0s a#1 end", "10m0s c#1 start", "10m0s c#1 end",
			"20m0s b#1 start", "20m0s b#1 end", "20m0s d#1 start", "20m0s d#1 end",
		})
	})
}

func TestARunHasTheParametersOfTheScheduleThatStartedIt(t *testing.T) {
	x := &script{}
	inEngine(t, x, func(ctx context.Context, e *runtime.Engine) {
		load(ctx, t, e, "name: flow\ntimezone: UTC\nparams: {region: eu}\ncron: ['10 * * * *', {cron: '20 * * * *', params: {region: cn}}]\ntasks:\n  a: {run: x}\n")
		for _, want := range []string{"eu", "cn"} {
			time.Sleep(11 * time.Minute)
			if !slices.Contains(x.told("a"), "AX_PARAM_REGION="+want) {
				t.Errorf("it should be told of %s, and is told %q", want, x.told("a"))
			}
		}
	})
}

func TestAMergedRunIsToldOfTheWholeIntervalThatItStandsFor(t *testing.T) {
	x := &script{}
	text := "name: flow\ncron: '*/10 * * * *'\ntimezone: UTC\ncatchup: merge\ntasks:\n  a: {run: x}\n"
	told := func(from, to time.Duration) {
		t.Helper()
		for name, at := range map[string]time.Duration{"AX_INTERVAL_START": from, "AX_INTERVAL_END": to} {
			if want := name + "=" + x.t0.Add(at).UTC().Format(time.RFC3339); !slices.Contains(x.told("a"), want) {
				t.Errorf("want %s, in %q", want, x.told("a"))
			}
		}
	}
	succession(t, x,
		func(ctx context.Context, e *runtime.Engine) {
			load(ctx, t, e, text)
			time.Sleep(15 * time.Minute)
			told(0, 10*time.Minute)
		},
		func(ctx context.Context, e *runtime.Engine) { time.Sleep(30 * time.Minute) },
		func(ctx context.Context, e *runtime.Engine) {
			load(ctx, t, e, text)
			time.Sleep(time.Minute)
			equal(t, ledger(ctx, t, e, x), []string{"10m0s fired", "20m0s merged", "30m0s merged", "40m0s fired"})
			told(10*time.Minute, 40*time.Minute)
		})
}

func TestJitterDelaysTheStartAndLeavesTheTickAsItIs(t *testing.T) {
	x := &script{}
	inEngine(t, x, func(ctx context.Context, e *runtime.Engine) {
		text := "name: flow\nevery: 10m\njitter: 5m\ntasks:\n  a: {run: x}\n"
		c := catalog(t, text)
		load(ctx, t, e, text)
		time.Sleep(26 * time.Minute)
		delay := trigger.Delay(c.Workflows["flow"].Head)
		if delay <= 0 || delay > 5*time.Minute {
			t.Fatalf("the delay is %s", delay)
		}
		equal(t, ledger(ctx, t, e, x), []string{"10m0s fired", "20m0s fired"})
		equal(t, runsOf(ctx, t, e, x), []string{"10m0s succeeded", "20m0s succeeded"})
		runs, err := e.Store.Runs(ctx, store.RunFilter{Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range runs {
			if late := r.StartedAt.Sub(r.ScheduledFor) - delay; late < 0 || late > time.Millisecond {
				t.Errorf("the run for %s began at %s, want %s later", r.ScheduledFor, r.StartedAt, delay)
			}
		}
	})
}

// Its file is deleted, is there again under another name, and deleted once more.
func TestAWorkflowThatGoesAndComesKeepsItsHistoryAndItsTicks(t *testing.T) {
	x := &script{}
	inEngine(t, x, func(ctx context.Context, e *runtime.Engine) {
		text := "name: flow\nevery: 10m\ncatchup: all\ntasks:\n  a: {run: x}\n"
		none := &reload.Catalog{Workflows: map[string]*reload.Loaded{}}
		moved := reload.Compile("moved.yaml", []byte(text))
		load(ctx, t, e, text)
		time.Sleep(15 * time.Minute)
		for _, c := range []*reload.Catalog{none, {Workflows: map[string]*reload.Loaded{"flow": moved.Keep()}}} {
			if err := e.Load(ctx, c); err != nil {
				t.Fatal(err)
			}
			time.Sleep(20 * time.Minute)
			if c == none {
				equal(t, ledger(ctx, t, e, x), []string{"10m0s fired"})
			}
		}
		equal(t, ledger(ctx, t, e, x), []string{"10m0s fired", "20m0s fired", "30m0s fired", "40m0s fired", "50m0s fired"})
		equal(t, slices.Sorted(slices.Values(runsOf(ctx, t, e, x))), []string{"10m0s succeeded", "20m0s succeeded", "30m0s succeeded", "40m0s succeeded", "50m0s succeeded"})
	})
}

// On a disk that takes ten milliseconds to confirm a transaction.
func TestAWeekOfMinutesIsCaughtUpInFiveSeconds(t *testing.T) {
	const week = 7 * 24 * 60
	for catchup, fired := range map[string]int{"none": 0, "latest": 1, "merge": 1, "all": week} {
		t.Run(catchup, func(t *testing.T) {
			x := &script{}
			synctest.Test(t, func(t *testing.T) {
				x.t0 = time.Now()
				s, data := &slowStore{pause: 10 * time.Millisecond}, t.TempDir()
				text := "name: flow\nevery: 1m\ncatchup: " + catchup + "\ncatchup_window: 30d\nmax_active: 0\ntasks:\n  a: {run: x, when: 'false'}\n"
				serve := func(owner string, do func(ctx context.Context, e *runtime.Engine)) {
					e := &runtime.Engine{Store: s, Executor: x, Data: data, Zone: time.UTC, Owner: owner}
					ctx, stop := context.WithCancel(t.Context())
					served := make(chan error, 1)
					go func() { served <- e.Serve(ctx) }()
					do(ctx, e)
					stop()
					if err := <-served; err != nil {
						t.Error(err)
					}
				}
				serve("a", func(ctx context.Context, e *runtime.Engine) { load(ctx, t, e, text) })
				time.Sleep(week*time.Minute + 30*time.Second)
				serve("b", func(ctx context.Context, e *runtime.Engine) {
					recovered(t, ctx, e, runtime.StartupRecover)
					load(ctx, t, e, text)
					time.Sleep(5 * time.Second)
					rows := ledger(ctx, t, e, x)
					started := slices.DeleteFunc(slices.Clone(rows), func(row string) bool { return !strings.HasSuffix(row, " fired") })
					open, err := s.Unfinished(ctx, "", 1)
					if len(rows) != week || len(started) != fired || len(open) > 0 || err != nil {
						t.Errorf("after five seconds %d ticks are in the ledger, %d have fired, and %d runs are open: %v", len(rows), len(started), len(open), err)
					}
				})
			})
		})
	}
}
