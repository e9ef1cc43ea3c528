package runtime_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/store"
)

// succession runs one engine after another on one store, each until it is
// stopped; what each does is up to the test.
func succession(t *testing.T, x *script, engines ...func(ctx context.Context, e *runtime.Engine)) {
	synctest.Test(t, func(t *testing.T) {
		x.t0 = time.Now()
		s, data := &store.Memory{}, t.TempDir()
		for i, do := range engines {
			e := &runtime.Engine{Store: s, Executor: x, Data: data, Zone: time.UTC, Owner: string(rune('a' + i))}
			if x.sleepLong {
				e.SleepLong()
			}
			serve(t, e, do)
		}
	})
}

func reportOf(ctx context.Context, t *testing.T, e *runtime.Engine, id string) runtime.Report {
	t.Helper()
	rep, err := runtime.ReadReport(ctx, e.Store, id)
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

func TestTheNextEngineGoesOnWhereTheLastOneWasCut(t *testing.T) {
	x := &script{took: map[string]time.Duration{"a": time.Second, "b": time.Hour, "c": time.Hour}, fail: map[string]int{"d": 1}}
	var id string
	succession(t, x,
		func(ctx context.Context, e *runtime.Engine) {
			run, err := e.Start(ctx, runtime.Request{Plan: plan(t, `
name: flow
tasks:
  a: {run: x}
  b: {run: x, depends_on: a, timeout: 90m}
  c: {run: x, depends_on: a, recovery: fail}
  d: {run: x, retry: {max: 1, delay: 30m, max_delay: 30m}}
`)})
			if err != nil {
				t.Fatal(err)
			}
			id = run.ID
			time.Sleep(10 * time.Minute)
		},
		func(ctx context.Context, e *runtime.Engine) {
			if err := e.Resume(ctx, id); err != nil {
				t.Fatal(err)
			}
			if _, err := e.Wait(ctx, id); err != nil {
				t.Fatal(err)
			}
			equal(t, states(reportOf(ctx, t, e, id)), []string{"a succeeded", "b succeeded", "c failed interrupted", "d succeeded"})
			want := []string{"10m0s b#2 start", "30m0s d#2 start", "30m0s d#2 end", "1h10m0s b#2 end"}
			notes := x.noted()
			equal(t, notes[len(notes)-4:], want)
			if err := e.Resume(ctx, id); err == nil {
				t.Error("an ended run was resumed")
			}
		})
}

func TestTheThirdInterruptionInARowFailsTheTask(t *testing.T) {
	x := &script{took: map[string]time.Duration{"a": time.Hour}}
	var id string
	begin := func(ctx context.Context, e *runtime.Engine) {
		run, err := e.Start(ctx, runtime.Request{Plan: plan(t, "name: flow\ntasks:\n  a: {run: x}\n")})
		if err != nil {
			t.Fatal(err)
		}
		id = run.ID
		time.Sleep(time.Minute)
	}
	goOn := func(ctx context.Context, e *runtime.Engine) {
		if err := e.Resume(ctx, id); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
	}
	succession(t, x, begin, goOn, goOn, func(ctx context.Context, e *runtime.Engine) {
		if err := e.Resume(ctx, id); err != nil {
			t.Fatal(err)
		}
		run, err := e.Wait(ctx, id)
		if err != nil || run.State != machine.RunFailed || run.Reason != machine.ReasonInterrupted {
			t.Errorf("the run is %s (%s) %v", run.State, run.Reason, err)
		}
	})
}

func TestARetryKeepsWhatSucceededAndCountsOn(t *testing.T) {
	x := &script{fail: map[string]int{"b": 2}}
	inEngine(t, x, func(ctx context.Context, e *runtime.Engine) {
		rep := runAll(ctx, t, e, `
name: flow
tasks:
  a: {run: x}
  b: {run: x, depends_on: a, retry: {max: 1, delay: 0}, on_failure: h}
  c: {run: x, depends_on: b}
  h: {run: x}
`)
		equal(t, states(rep), []string{"a succeeded", "b failed exit", "c skipped upstream", "h succeeded"})
		if err := e.Retry(ctx, rep.ID, []string{"nope"}); err == nil {
			t.Error("a task that is not there was retried")
		}
		if err := e.Retry(ctx, rep.ID, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := e.Wait(ctx, rep.ID); err != nil {
			t.Fatal(err)
		}
		again := reportOf(ctx, t, e, rep.ID)
		equal(t, states(again), []string{"a succeeded", "b succeeded", "c succeeded", "h skipped condition"})
		if again.State != "succeeded" || again.Tasks[0].Attempts != 1 || again.Tasks[1].Attempts != 3 {
			t.Errorf("after the retry: %+v", again)
		}
	})
}

func TestARunOfALivingEngineIsLeftAlone(t *testing.T) {
	x := &script{took: map[string]time.Duration{"a": time.Hour}}
	inEngine(t, x, func(ctx context.Context, e *runtime.Engine) {
		claim, err := runtime.NewClaim(e.Data)
		if err != nil {
			t.Fatal(err)
		}
		defer claim.Release()
		p := plan(t, "name: flow\ntasks:\n  a: {run: x}\n")
		other := store.Run{ID: "r1", Workflow: "flow", File: "flow.yaml", Version: p.Workflow.Source.Hash(), State: machine.RunRunning, Owner: claim.Owner}
		if err := e.Store.Commit(ctx, &store.Batch{Create: []store.Run{other}}); err != nil {
			t.Fatal(err)
		}
		if err := e.Resume(ctx, "r1"); !errors.Is(err, store.ErrConflict) {
			t.Errorf("a run of a living engine was taken over: %v", err)
		}
	})
}

func TestARunOfADeadEngineIsCancelledWithoutStartingAnythingOfIt(t *testing.T) {
	x := &script{took: map[string]time.Duration{"a": time.Hour}}
	var id string
	succession(t, x,
		func(ctx context.Context, e *runtime.Engine) {
			run, err := e.Start(ctx, runtime.Request{Plan: plan(t, `
name: flow
on_finish: tidy
tasks:
  a: {run: x}
  b: {run: x, retry: {max: 1, delay: 0}, depends_on: a}
  tidy: {run: x}
`)})
			if err != nil {
				t.Fatal(err)
			}
			id = run.ID
			time.Sleep(time.Minute)
		},
		func(ctx context.Context, e *runtime.Engine) {
			if err := e.ResumeToCancel(ctx, id, "a test"); err != nil {
				t.Fatal(err)
			}
			if _, err := e.Wait(ctx, id); err != nil {
				t.Fatal(err)
			}
			equal(t, states(reportOf(ctx, t, e, id)), []string{"a cancelled cancelled", "b cancelled cancelled", "tidy succeeded"})
			equal(t, x.noted(), []string{"0s a#1 start", "1m0s a#1 end", "1m0s tidy#1 start", "1m0s tidy#1 end"})
		})
}

func TestADrainedEngineLeavesReadyTasksForTheNext(t *testing.T) {
	x := &script{took: map[string]time.Duration{"a": 3 * time.Minute, "long": time.Hour}}
	synctest.Test(t, func(t *testing.T) {
		x.t0 = time.Now()
		s, data := &store.Memory{}, t.TempDir()
		drained := func(owner string, do func(ctx context.Context, e *runtime.Engine)) {
			e := &runtime.Engine{Store: s, Executor: x, Data: data, Zone: time.UTC, Owner: owner, Drain: 5 * time.Minute}
			serve(t, e, do)
		}
		var id string
		drained("a", func(ctx context.Context, e *runtime.Engine) {
			run, err := e.Start(ctx, runtime.Request{Plan: plan(t, "name: flow\ntasks:\n  a: {run: x}\n  b: {run: x, depends_on: a}\n  long: {run: x}\n")})
			if err != nil {
				t.Fatal(err)
			}
			id = run.ID
			time.Sleep(time.Minute)
		})
		rep, err := runtime.ReadReport(t.Context(), s, id)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, states(rep), []string{"a succeeded", "b ready", "long ready interrupted"})
		if got := time.Since(x.t0); got != 6*time.Minute {
			t.Errorf("the engine stopped after %s, want the minute and the time for draining", got)
		}
		drained("b", func(ctx context.Context, e *runtime.Engine) {
			if err := e.Recover(ctx, runtime.StartupRecover); err != nil {
				t.Fatal(err)
			}
			if _, err := e.Wait(ctx, id); err != nil {
				t.Fatal(err)
			}
		})
		// Sorted, for the order of what starts at one moment is open.
		equal(t, slices.Sorted(slices.Values(x.noted())), []string{
			"0s a#1 start", "0s long#1 start", "1h6m0s long#2 end", "3m0s a#1 end",
			"6m0s b#1 end", "6m0s b#1 start", "6m0s long#1 end", "6m0s long#2 start",
		})
	})
}

func TestARunThatWasCancelledBeforeItStartedCanBeRetried(t *testing.T) {
	x := &script{took: map[string]time.Duration{"a": time.Hour}}
	inEngine(t, x, func(ctx context.Context, e *runtime.Engine) {
		p := plan(t, "name: flow\ntasks:\n  a: {run: x}\n")
		var ids []string
		for range 2 {
			run, err := e.Start(ctx, runtime.Request{Plan: p})
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, run.ID)
		}
		if err := e.Cancel(ctx, ids[1], "a test"); err != nil {
			t.Fatal(err)
		}
		equal(t, states(reportOf(ctx, t, e, ids[1])), []string{"a cancelled cancelled"})
		if err := e.Retry(ctx, ids[1], nil); err != nil {
			t.Fatal(err)
		}
		for _, id := range ids {
			if _, err := e.Wait(ctx, id); err != nil {
				t.Fatal(err)
			}
		}
		equal(t, runsOf(ctx, t, e, x), []string{"0s succeeded", "0s succeeded"})
		equal(t, x.noted(), []string{"0s a#1 start", "1h0m0s a#1 end", "1h0m0s a#1 start", "2h0m0s a#1 end"})
	})
}

func TestOfManyRetriesOfOneRunOneIsTaken(t *testing.T) {
	x := &script{took: map[string]time.Duration{"a": time.Hour}, fail: map[string]int{"a": 1}}
	inEngine(t, x, func(ctx context.Context, e *runtime.Engine) {
		rep := runAll(ctx, t, e, "name: flow\ntasks:\n  a: {run: x}\n")
		errs := make(chan error, 8)
		for range 8 {
			go func() { errs <- e.Retry(ctx, rep.ID, nil) }()
		}
		taken := 0
		for range 8 {
			if <-errs == nil {
				taken++
			}
		}
		if _, err := e.Wait(ctx, rep.ID); err != nil || taken != 1 {
			t.Errorf("%d of 8 retries were taken, %v", taken, err)
		}
	})
}

func TestTheHandlerOfARunTimeoutIsToldOfIt(t *testing.T) {
	x := &script{fail: map[string]int{"a": -1}}
	inEngine(t, x, func(ctx context.Context, e *runtime.Engine) {
		runAll(ctx, t, e, `
name: flow
timeout: 1m
on_failure: page
tasks:
  a: {run: x, retry: {max: 5, delay: 30m, max_delay: 1h}}
  page: {run: x}
`)
		for _, want := range []string{"AX_FAILED_TASK=", "AX_FAILED_REASON=run_timeout"} {
			if !slices.Contains(x.told("page"), want) {
				t.Errorf("the handler was not told %s", want)
			}
		}
	})
}

func TestARunThatIsTakenOverDoesNotBeginAgain(t *testing.T) {
	var begins [2]int
	counted := func(i int, do func(ctx context.Context, e *runtime.Engine)) func(context.Context, *runtime.Engine) {
		return func(ctx context.Context, e *runtime.Engine) {
			updates, stop := e.Subscribe(100)
			do(ctx, e)
			stop()
			for u := range updates {
				if u.Began {
					begins[i]++
				}
			}
		}
	}
	var id string
	succession(t, &script{took: map[string]time.Duration{"a": time.Hour}},
		counted(0, func(ctx context.Context, e *runtime.Engine) {
			run, err := e.Start(ctx, runtime.Request{Plan: plan(t, "name: flow\ntasks:\n  a: {run: x}\n")})
			if err != nil {
				t.Fatal(err)
			}
			id = run.ID
			time.Sleep(time.Minute)
		}),
		counted(1, func(ctx context.Context, e *runtime.Engine) {
			if err := e.Recover(ctx, runtime.StartupRecover); err != nil {
				t.Fatal(err)
			}
			time.Sleep(2 * time.Hour)
			if rep := reportOf(ctx, t, e, id); rep.State != "succeeded" {
				t.Errorf("the run is %s", rep.State)
			}
		}))
	if begins != [2]int{1, 0} {
		t.Errorf("it began %v times under the two engines, want once under the first", begins)
	}
}
