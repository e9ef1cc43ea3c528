package runtime_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/runtime/reload"
	"github.com/ax-scheduler/ax/store"
)

// folder compiles workflows by name.
func folder(t *testing.T, texts ...string) *reload.Catalog {
	t.Helper()
	c := &reload.Catalog{Workflows: map[string]*reload.Loaded{}}
	for i, text := range texts {
		f := reload.Compile(fmt.Sprintf("%d.yaml", i), []byte(text))
		if f.Plan == nil {
			t.Fatal(f.Diagnostics)
		}
		c.Workflows[f.Workflow.Name.V] = f.Keep()
	}
	return c
}

const (
	upLoad   = "name: load\nmax_active: 0\ntasks:\n  load: {run: x}\n"
	upPrices = "name: prices\nmax_active: 0\ntasks:\n  prices: {run: x}\n"
	follower = "name: flow\nmax_active: 0\nafter: {load: succeeded, prices: finished}\ntasks:\n  report: {run: x}\n"
)

func TestAWorkflowStartsOnceAfterAllThatItFollowsHasEndedAsItShould(t *testing.T) {
	x := &script{took: map[string]time.Duration{"prices": time.Minute}, fail: map[string]int{"load": 1, "prices": -1}}
	serving(t, x, func(ctx context.Context, e *runtime.Engine) {
		c := folder(t, upLoad, upPrices, follower)
		if err := e.Load(ctx, c); err != nil {
			t.Fatal(err)
		}
		at := x.t0.Add(-time.Hour)
		begin := func(name string) store.Run {
			return start(ctx, t, e, runtime.Request{Plan: c.Workflows[name].Plan(), ScheduledFor: at})
		}
		load := begin("load") // it fails
		begin("prices")       // it fails too, which is an end
		time.Sleep(2 * time.Minute)
		equal(t, runsOf(ctx, t, e, x), nil)
		if err := e.Retry(ctx, load.ID, nil); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		equal(t, runsOf(ctx, t, e, x), []string{"-1h0m0s succeeded"})
		delete(x.fail, "load")
		begin("load") // for the same time: it has had its run
		begin("prices")
		time.Sleep(2 * time.Minute)
		equal(t, runsOf(ctx, t, e, x), []string{"-1h0m0s succeeded"})
		at = at.Add(time.Hour)
		begin("prices")
		time.Sleep(2 * time.Minute)
		equal(t, runsOf(ctx, t, e, x), []string{"-1h0m0s succeeded"})
		begin("load")
		time.Sleep(time.Minute)
		equal(t, runsOf(ctx, t, e, x), []string{"-1h0m0s succeeded", "0s succeeded"})
		runs, err := e.Store.Runs(ctx, store.RunFilter{Workflow: "flow"})
		if err != nil || runs[0].Trigger != store.TriggerAfter {
			t.Errorf("the trigger is %q, %v", runs[0].Trigger, err)
		}
	})
}

func TestWhatEndedWhileNobodyLookedIsCaughtUp(t *testing.T) {
	x := &script{}
	c := folder(t, upLoad, "name: flow\nafter: load\nmax_active: 0\ncatchup_window: 2h\ntasks:\n  report: {run: x}\n")
	run := func(ctx context.Context, e *runtime.Engine) {
		if _, err := e.Wait(ctx, start(ctx, t, e, runtime.Request{Plan: c.Workflows["load"].Plan()}).ID); err != nil {
			t.Fatal(err)
		}
	}
	succession(t, x,
		run, // before the workflow was there
		func(ctx context.Context, e *runtime.Engine) {
			time.Sleep(time.Minute)
			if err := e.Load(ctx, c); err != nil {
				t.Fatal(err)
			}
		},
		func(ctx context.Context, e *runtime.Engine) { // the engines of ax run: they load nothing
			time.Sleep(time.Minute)
			run(ctx, e) // too long ago
			time.Sleep(3 * time.Hour)
			run(ctx, e)
			time.Sleep(time.Minute)
			run(ctx, e)
		},
		func(ctx context.Context, e *runtime.Engine) {
			if err := e.Recover(ctx, runtime.StartupRecover); err != nil {
				t.Fatal(err)
			}
			for range 2 { // a reload doubles nothing
				if err := e.Load(ctx, c); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Second)
			}
			equal(t, runsOf(ctx, t, e, x), []string{"3h2m0s succeeded", "3h3m0s succeeded"})
			other := &runtime.Engine{Store: e.Store, Executor: x, Data: e.Data, Owner: "another"}
			beside, stop := context.WithCancel(ctx)
			served := make(chan error, 1)
			go func() { served <- other.Serve(beside) }()
			run(ctx, other)
			stop()
			if err := <-served; err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
			equal(t, runsOf(ctx, t, e, x), []string{"3h2m0s succeeded", "3h3m0s succeeded", "3h3m2s succeeded"})
		})
}
