package runtime_test

import (
	"context"
	"testing"
	"time"

	"github.com/ax-scheduler/ax/runtime"
)

// Of one slot of the engine and one of the pool a task in a pause has neither,
// before and after a restart, within its run and for others.
func TestAPauseBetweenAttemptsHoldsNoSlotAndOutlivesItsEngine(t *testing.T) {
	x := &script{took: map[string]time.Duration{"b": time.Minute, "c": time.Minute}, fail: map[string]int{"a": 1}}
	var id string
	other := func(name, task string) string {
		return "name: " + name + "\ntasks:\n  " + task + ": {run: x, pool: door}\n"
	}
	succession(t, x,
		func(ctx context.Context, e *runtime.Engine) {
			run := start(ctx, t, e, runtime.Request{Plan: plan(t, `
name: flow
max_parallel: 1
tasks:
  a: {run: x, pool: door, priority: 9, retry: {max: 1, delay: 1h, max_delay: 1h}}
  b: {run: x, pool: door}
`)})
			id = run.ID
			time.Sleep(10 * time.Minute)
		},
		func(ctx context.Context, e *runtime.Engine) {
			if err := e.Resume(ctx, id); err != nil {
				t.Fatal(err)
			}
			runAll(ctx, t, e, other("second", "c"))
			if _, err := e.Wait(ctx, id); err != nil {
				t.Fatal(err)
			}
			equal(t, states(reportOf(ctx, t, e, id)), []string{"a succeeded", "b succeeded"})
			equal(t, x.noted(), []string{
				"0s a#1 start", "0s a#1 end", "0s b#1 start", "1m0s b#1 end",
				"10m0s c#1 start", "11m0s c#1 end", "1h0m0s a#2 start", "1h0m0s a#2 end",
			})
		})
}

// A handler of what the run's timeout stopped runs for as long as it needs.
func TestHandlersOfARunTimeoutAreNotEndedByIt(t *testing.T) {
	x := &script{took: map[string]time.Duration{"a": time.Hour, "h": time.Hour, "tidy": 2 * time.Hour}}
	inEngine(t, x, func(ctx context.Context, e *runtime.Engine) {
		rep := runAll(ctx, t, e, `
name: flow
timeout: 1m
on_finish: tidy
tasks:
  a: {run: x, on_failure: h}
  h: {run: x}
  tidy: {run: x}
`)
		equal(t, states(rep), []string{"a failed run_timeout", "h succeeded", "tidy succeeded"})
		equal(t, x.noted(), []string{
			"0s a#1 start", "1m0s a#1 end", "1m0s h#1 start", "1h1m0s h#1 end", "1h1m0s tidy#1 start", "3h1m0s tidy#1 end",
		})
	})
}
