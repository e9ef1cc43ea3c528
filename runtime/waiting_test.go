package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/runtime/reload"
	"github.com/ax-scheduler/ax/store"
)

const single = "name: flow\nmax_active: 1\ntasks:\n  a: {run: x}\n"

// serving runs do beside an engine that takes in what waits in the store.
func serving(t *testing.T, x *script, do func(ctx context.Context, e *runtime.Engine)) {
	inEngine(t, x, func(ctx context.Context, e *runtime.Engine) {
		if err := e.Recover(ctx, runtime.StartupRecover); err != nil {
			t.Fatal(err)
		}
		do(ctx, e)
	})
}

func start(ctx context.Context, t *testing.T, e *runtime.Engine, q runtime.Request) store.Run {
	t.Helper()
	run, err := e.Start(ctx, q)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func TestADelayedRunStartsAtItsTimeAndNotBefore(t *testing.T) {
	x := &script{}
	serving(t, x, func(ctx context.Context, e *runtime.Engine) {
		p := plan(t, "name: flow\nmax_active: 0\ntasks:\n  a: {run: x}\n")
		for _, delay := range []time.Duration{90 * time.Minute, 10 * time.Second, 24 * time.Hour, 10*time.Second + time.Millisecond} {
			run := start(ctx, t, e, runtime.Request{Plan: p, NotBefore: time.Now().Add(delay)})
			if run.State != machine.RunScheduled || run.Owner != "" {
				t.Errorf("a delayed run is %s and belongs to %q", run.State, run.Owner)
			}
		}
		time.Sleep(25 * time.Hour)
		equal(t, x.noted(), []string{
			"10s a#1 start", "10s a#1 end", "10.001s a#1 start", "10.001s a#1 end",
			"1h30m0s a#1 start", "1h30m0s a#1 end", "24h0m0s a#1 start", "24h0m0s a#1 end",
		})
	})
}

func TestADelayedRunCanBeCancelledAndAskedForTwice(t *testing.T) {
	x := &script{}
	serving(t, x, func(ctx context.Context, e *runtime.Engine) {
		q := runtime.Request{Plan: plan(t, single), NotBefore: time.Now().Add(time.Hour), Key: "once"}
		first, second := start(ctx, t, e, q), start(ctx, t, e, q)
		if first.ID != second.ID {
			t.Errorf("one key gave two runs")
		}
		if err := e.Cancel(ctx, first.ID, "a test"); err != nil {
			t.Fatal(err)
		}
		if err := e.Cancel(ctx, first.ID, "a test"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("a second cancel gave %v", err)
		}
		time.Sleep(2 * time.Hour)
		equal(t, x.noted(), nil)
		run, err := e.Wait(ctx, first.ID)
		if err != nil || run.State != machine.RunCancelled || run.Reason != machine.ReasonCancelled {
			t.Errorf("the run is %s (%s), %v", run.State, run.Reason, err)
		}
		if err := e.Retry(ctx, first.ID, nil); err != nil {
			t.Fatal(err)
		}
		if run, err = e.Wait(ctx, first.ID); err != nil || run.State != machine.RunSucceeded {
			t.Errorf("after a retry the run is %s, %v", run.State, err)
		}
	})
}

func TestWhatAnotherProcessLeavesInTheStoreIsNoticed(t *testing.T) {
	x := &script{}
	serving(t, x, func(ctx context.Context, e *runtime.Engine) {
		now := time.Now()
		other := &runtime.Engine{Store: e.Store, Data: t.TempDir()}
		run, err := other.Leave(ctx, runtime.Request{Plan: plan(t, single), NotBefore: now.Add(time.Minute)})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		if run, err = e.Store.Run(ctx, run.ID); err != nil || run.State != machine.RunSucceeded || run.Owner != "test" {
			t.Errorf("the run is %s of %q, %v", run.State, run.Owner, err)
		}
		equal(t, x.noted(), []string{"1m0s a#1 start", "1m0s a#1 end"})
	})
}

// Until its API can be reached, others leave their runs in the store.
func TestARunThatWasLeftWhileTheEngineCameUpStarts(t *testing.T) {
	x := &script{}
	serving(t, x, func(ctx context.Context, e *runtime.Engine) {
		p := plan(t, single)
		c := &reload.Catalog{Workflows: map[string]*reload.Loaded{"flow": (&reload.File{Source: p.Workflow.Source, Workflow: p.Workflow, Plan: p}).Keep()}}
		if err := e.Load(ctx, c); err != nil {
			t.Fatal(err)
		}
		leave := func() string {
			run, err := (&runtime.Engine{Store: e.Store, Data: e.Data, Zone: time.UTC}).Leave(ctx, runtime.Request{Plan: p})
			if err != nil {
				t.Fatal(err)
			}
			return run.ID
		}
		first := leave()
		if err := e.LookAgain(ctx); err != nil {
			t.Fatal(err)
		}
		equal(t, states(ended(t, ctx, e, first)), []string{"a succeeded"})
		if got := time.Since(x.t0); got != 0 {
			t.Errorf("the first began after %s", got)
		}
		second := leave() // by one who looked for the API a moment too early
		equal(t, states(ended(t, ctx, e, second)), []string{"a succeeded"})
		if got := time.Since(x.t0); got > time.Minute {
			t.Errorf("the second ended after %s", got)
		}
	})
}

func TestWhatIsQueuedStaysInTheStoreAndRunsInItsTurn(t *testing.T) {
	x := &script{took: map[string]time.Duration{"a": time.Minute}}
	serving(t, x, func(ctx context.Context, e *runtime.Engine) {
		p := plan(t, single)
		var ids []string
		for range 300 {
			ids = append(ids, start(ctx, t, e, runtime.Request{Plan: p}).ID)
		}
		high := 9
		urgent := start(ctx, t, e, runtime.Request{Plan: p, Priority: &high}).ID
		if h, err := e.Health(ctx); err != nil || h.Queued != 300 || h.Active != 1 {
			t.Errorf("the health is %+v, %v", h, err)
		}
		if n, err := e.Held(ctx); err != nil || n > 1+64 {
			t.Errorf("of 301 runs %d are in memory, %v", n, err)
		}
		if err := e.Cancel(ctx, ids[250], "a test"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(301 * time.Minute)
		order := append([]string{ids[0], urgent}, ids[1:]...)
		at := time.Time{}
		for _, id := range order {
			run, err := e.Store.Run(ctx, id)
			if err != nil {
				t.Fatal(err)
			}
			if id == ids[250] {
				if run.State != machine.RunCancelled {
					t.Errorf("the cancelled run is %s", run.State)
				}
				continue
			}
			if run.State != machine.RunSucceeded || run.StartedAt.Before(at) {
				t.Fatalf("run %s is %s, started %s, want after %s", id, run.State, run.StartedAt, at)
			}
			at = run.StartedAt
		}
	})
}

func TestQueuedAndDelayedRunsOutliveTheirEngine(t *testing.T) {
	x := &script{took: map[string]time.Duration{"a": time.Minute}}
	var ids []string
	succession(t, x,
		func(ctx context.Context, e *runtime.Engine) {
			p := plan(t, single)
			for range 100 {
				ids = append(ids, start(ctx, t, e, runtime.Request{Plan: p}).ID)
			}
			ids = append(ids, start(ctx, t, e, runtime.Request{Plan: p, NotBefore: time.Now().Add(time.Hour)}).ID)
			time.Sleep(150 * time.Second)
		},
		func(ctx context.Context, e *runtime.Engine) {
			if err := e.Recover(ctx, runtime.StartupRecover); err != nil {
				t.Fatal(err)
			}
			time.Sleep(3 * time.Hour)
			for i, id := range ids {
				if run, err := e.Store.Run(ctx, id); err != nil || run.State != machine.RunSucceeded {
					t.Errorf("run %d is %s, %v", i, run.State, err)
				}
			}
		})
}

func TestAStartWithCancelKeepsWhatWaitsFromStarting(t *testing.T) {
	x := &script{took: map[string]time.Duration{"a": time.Hour}}
	var ids []string
	succession(t, x,
		func(ctx context.Context, e *runtime.Engine) {
			p := plan(t, single)
			for range 3 {
				ids = append(ids, start(ctx, t, e, runtime.Request{Plan: p}).ID)
			}
			ids = append(ids, start(ctx, t, e, runtime.Request{Plan: p, NotBefore: time.Now().Add(time.Hour)}).ID)
			time.Sleep(time.Second)
		},
		func(ctx context.Context, e *runtime.Engine) {
			if err := e.Recover(ctx, runtime.StartupCancel); err != nil {
				t.Fatal(err)
			}
			time.Sleep(2 * time.Hour)
			for i, id := range ids {
				if run, err := e.Store.Run(ctx, id); err != nil || run.State != machine.RunCancelled {
					t.Errorf("run %d is %s, %v", i, run.State, err)
				}
			}
		})
}

func TestALongOutageLosesNoRowOfTheLedger(t *testing.T) {
	for _, c := range []struct {
		catchup string
		outage  time.Duration
		fired   int
	}{
		{"all", 10 * time.Hour, 600},
		{"latest", 7 * 24 * time.Hour, 1},
		{"none", 7 * 24 * time.Hour, 0},
	} {
		x := &script{}
		text := "name: flow\nevery: 1m\ncatchup: " + c.catchup + "\nmax_active: 0\ntasks:\n  a: {run: x}\n"
		succession(t, x,
			func(ctx context.Context, e *runtime.Engine) { load(ctx, t, e, text) },
			func(ctx context.Context, e *runtime.Engine) { time.Sleep(c.outage + 30*time.Second) },
			func(ctx context.Context, e *runtime.Engine) {
				load(ctx, t, e, text)
				time.Sleep(20 * time.Second)
				minutes := int(c.outage / time.Minute)
				rows := ledger(ctx, t, e, x)
				if len(rows) != minutes {
					t.Fatalf("catchup: %s: %d rows, want %d", c.catchup, len(rows), minutes)
				}
				for i, row := range rows {
					outcome := store.TickMissed
					if i >= minutes-c.fired {
						outcome = store.TickFired
					}
					if want := fmt.Sprintf("%s %s", time.Duration(i+1)*time.Minute, outcome); row != want {
						t.Fatalf("catchup: %s: row %d is %q, want %q", c.catchup, i, row, want)
					}
				}
				if n := len(x.noted()); n != 2*c.fired {
					t.Errorf("catchup: %s: %d starts and ends, want %d", c.catchup, n, 2*c.fired)
				}
			})
	}
}

func TestAThousandRunsThatAreDueAtOnceAllStart(t *testing.T) {
	x := &script{}
	serving(t, x, func(ctx context.Context, e *runtime.Engine) {
		p := plan(t, "name: flow\nmax_active: 0\ntasks:\n  a: {run: x}\n")
		at := time.Now().Add(time.Minute)
		for range 1000 {
			start(ctx, t, e, runtime.Request{Plan: p, NotBefore: at})
		}
		if n, err := e.Held(ctx); err != nil || n > 0 {
			t.Errorf("before their time %d of them are in memory, %v", n, err)
		}
		time.Sleep(2 * time.Minute)
		if n := len(x.noted()); n != 2000 {
			t.Errorf("%d starts and ends, want 2000", n)
		}
	})
}
