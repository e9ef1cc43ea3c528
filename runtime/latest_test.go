package runtime_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/ax-scheduler/ax/runtime"
)

func TestARetryInTheLatestFileKeepsWhatSucceededWhereverItStandsNow(t *testing.T) {
	x := &script{took: map[string]time.Duration{"keep": time.Minute, "broken": time.Second, "new": time.Hour}, fail: map[string]int{"broken": 1}}
	inEngine(t, x, func(ctx context.Context, e *runtime.Engine) {
		run, err := e.Start(ctx, runtime.Request{Params: map[string]string{"day": "7"}, Plan: plan(t, `
name: flow
params: {day: 1}
tasks:
  gone: {run: x}
  keep: {run: x}
  broken: {run: x, depends_on: keep}
`)})
		if err != nil {
			t.Fatal(err)
		}
		first := wait(ctx, t, e, run.ID)
		latest := plan(t, `
name: flow
params: {day: 1}
tasks:
  broken: {run: y, depends_on: [keep, new]}
  new: {run: y}
  keep: {run: y}
`)
		if err := e.RetryLatest(ctx, run.ID, nil, latest); err != nil {
			t.Fatal(err)
		}
		second := wait(ctx, t, e, run.ID)
		equal(t, states(reportOf(ctx, t, e, run.ID)), []string{"broken succeeded", "new succeeded", "keep succeeded"})
		equal(t, x.noted()[len(x.noted())-4:], []string{
			"1m1s new#1 start", "1h1m1s new#1 end", "1h1m1s broken#2 start", "1h1m2s broken#2 end",
		})
		if !slices.Contains(x.told("broken"), "AX_PARAM_DAY=7") || !second.ScheduledFor.Equal(first.ScheduledFor) {
			t.Errorf("the inputs are others: %s, %q", second.ScheduledFor, x.told("broken"))
		}
	})
}

func TestARetryInTheLatestFileThatIsRefusedLeavesTheRunAsItWas(t *testing.T) {
	x := &script{took: map[string]time.Duration{"a": time.Second}, fail: map[string]int{"a": 1}}
	inEngine(t, x, func(ctx context.Context, e *runtime.Engine) {
		run, err := e.Start(ctx, runtime.Request{Plan: plan(t, "name: flow\ntasks: {a: {run: x}}\n")})
		if err != nil {
			t.Fatal(err)
		}
		first := wait(ctx, t, e, run.ID)
		latest := plan(t, "name: flow\ntasks: {a: {run: y}, b: {run: y}}\n")
		if err := e.RetryLatest(ctx, run.ID, []string{"c"}, latest); err == nil {
			t.Error("a task that is in no version can be retried")
		}
		after, err := e.Store.Run(ctx, run.ID)
		if err != nil || after.Version != first.Version || !after.State.Final() {
			t.Errorf("it is %s in version %s, and was %s in version %s (%v)", after.State, after.Version, first.State, first.Version, err)
		}
		equal(t, states(reportOf(ctx, t, e, run.ID)), []string{"a failed exit"})
	})
}
