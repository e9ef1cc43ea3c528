package runtime_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/store"
)

const everyTen = "name: flow\nevery: 10m\nmax_active: 0\ncatchup: all\ntasks:\n  a: {run: x}\n"

func pause(ctx context.Context, t *testing.T, e *runtime.Engine, by string) store.Pause {
	t.Helper()
	p, err := e.Pause(ctx, "flow", by)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func unpause(ctx context.Context, t *testing.T, e *runtime.Engine, want bool) {
	t.Helper()
	if was, err := e.Unpause(ctx, "flow"); err != nil || was != want {
		t.Fatalf("it was paused: %v, %v", was, err)
	}
}

func TestWhilePausedTicksStartNothingAndAfterwardsOnlyComingOnesDo(t *testing.T) {
	x := &script{took: map[string]time.Duration{"a": 7 * time.Minute}}
	serving(t, x, func(ctx context.Context, e *runtime.Engine) {
		load(ctx, t, e, everyTen)
		time.Sleep(11 * time.Minute) // a run goes
		p := pause(ctx, t, e, "somebody")
		time.Sleep(time.Minute)
		if again := pause(ctx, t, e, "another"); again != p || p.By != "somebody" || p.Since.Sub(x.t0) != 11*time.Minute {
			t.Errorf("a second pause is %+v, the first %+v", again, p)
		}
		time.Sleep(13 * time.Minute)
		next, err := e.NextTicks(ctx)
		if err != nil || len(next) > 0 {
			t.Errorf("while it is paused it starts next at %v, %v", next, err)
		}
		if coming, err := e.Coming(ctx, x.t0, x.t0.Add(time.Hour), 9); err != nil || len(coming) > 0 {
			t.Errorf("while it is paused there are coming %v, %v", coming, err)
		}
		start(ctx, t, e, runtime.Request{Plan: plan(t, everyTen)}) // what is asked for is done
		if _, err := e.Backfill(ctx, runtime.Backfill{Plan: plan(t, everyTen), From: x.t0.Add(20 * time.Minute).Format(time.RFC3339), To: x.t0.Add(20 * time.Minute).Format(time.RFC3339)}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(6 * time.Minute)
		unpause(ctx, t, e, true)
		unpause(ctx, t, e, false)
		time.Sleep(10 * time.Minute)
		equal(t, ledger(ctx, t, e, x), []string{"10m0s fired", "20m0s skipped", "30m0s skipped", "40m0s fired"})
		got := runsOf(ctx, t, e, x)
		slices.Sort(got)
		equal(t, got, []string{"10m0s succeeded", "20m0s succeeded", "25m0s succeeded", "40m0s running"})
		ticks, err := e.Store.LastTicks(ctx, "flow", store.Tick{}, 2)
		if err != nil || ticks[1].Reason != "paused" || ticks[1].RunID != "" {
			t.Errorf("the ledger says %+v, %v", ticks, err)
		}
	})
}

func TestAPauseOutlivesEnginesReloadsAndTheFile(t *testing.T) {
	x := &script{}
	succession(t, x,
		func(ctx context.Context, e *runtime.Engine) {
			load(ctx, t, e, everyTen)
			time.Sleep(5 * time.Minute)
			pause(ctx, t, e, "somebody")
			time.Sleep(6 * time.Minute)
			load(ctx, t, e, everyTen+"# edited\n")
			time.Sleep(10 * time.Minute)
			load(ctx, t, e, "name: other\ntasks:\n  a: {run: x}\n") // its file is gone
			time.Sleep(10 * time.Minute)
			load(ctx, t, e, everyTen)
			time.Sleep(time.Minute)
			equal(t, ledger(ctx, t, e, x), []string{"10m0s skipped", "20m0s skipped", "30m0s skipped"})
		},
		func(ctx context.Context, e *runtime.Engine) { time.Sleep(20 * time.Minute) },
		func(ctx context.Context, e *runtime.Engine) {
			load(ctx, t, e, everyTen)
			time.Sleep(time.Second)
			equal(t, ledger(ctx, t, e, x), []string{"10m0s skipped", "20m0s skipped", "30m0s skipped", "40m0s skipped", "50m0s skipped"})
			if all, err := e.Paused(ctx); err != nil || all["flow"].By != "somebody" {
				t.Errorf("paused is %v, %v", all, err)
			}
		},
		func(ctx context.Context, e *runtime.Engine) { // ax resume, where none serves
			time.Sleep(13 * time.Minute)
			if was, err := runtime.UnpauseIn(ctx, e.Store, "flow"); err != nil || !was {
				t.Errorf("it was paused: %v, %v", was, err)
			}
			time.Sleep(10 * time.Minute)
		},
		func(ctx context.Context, e *runtime.Engine) { // what was missed since then is caught up
			load(ctx, t, e, everyTen)
			time.Sleep(time.Second)
			equal(t, ledger(ctx, t, e, x)[5:], []string{"1h0m0s skipped", "1h10m0s fired"})
			equal(t, runsOf(ctx, t, e, x), []string{"1h10m0s succeeded"})
		})
}

func TestAServingEngineHearsOfAPauseThatAnotherProcessLeavesInTheStore(t *testing.T) {
	x := &script{}
	serving(t, x, func(ctx context.Context, e *runtime.Engine) {
		load(ctx, t, e, everyTen)
		if _, err := runtime.PauseIn(ctx, e.Store, "flow", "the command line"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(11 * time.Minute)
		equal(t, ledger(ctx, t, e, x), []string{"10m0s skipped"})
	})
}

func TestAfterDoesNotStartAPausedWorkflowAndSaysSoInTheLedger(t *testing.T) {
	x := &script{}
	serving(t, x, func(ctx context.Context, e *runtime.Engine) {
		c := folder(t, upLoad, "name: flow\nafter: load\nmax_active: 0\ntasks:\n  report: {run: x}\n")
		if err := e.Load(ctx, c); err != nil {
			t.Fatal(err)
		}
		end := func() {
			run := start(ctx, t, e, runtime.Request{Plan: c.Workflows["load"].Plan()})
			if _, err := e.Wait(ctx, run.ID); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
		}
		pause(ctx, t, e, "somebody")
		end()
		unpause(ctx, t, e, true)
		if err := e.Load(ctx, c); err != nil { // nothing of it is caught up
			t.Fatal(err)
		}
		end()
		equal(t, ledger(ctx, t, e, x), []string{"0s skipped", "1m0s fired"})
		equal(t, runsOf(ctx, t, e, x), []string{"1m0s succeeded"})
	})
}
