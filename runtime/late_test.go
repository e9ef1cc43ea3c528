package runtime_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/ax-scheduler/ax/runtime"
)

const lateFlow = "name: flow\nexpect_within: 30m\nnotify: [{url: http://127.0.0.1:1, on: late}]\ntasks:\n  a: {run: x}\n"

// shown leaves the dates of virtual time out of a message.
func shown(messages []string) []string {
	for i, m := range messages {
		messages[i] = strings.ReplaceAll(m, "2000-01-01T", "")
	}
	return messages
}

func TestARunThatHasNotEndedInTimeIsLateAtItsDeadline(t *testing.T) {
	x := &script{took: map[string]time.Duration{"a": time.Hour}}
	inEngine(t, x, func(ctx context.Context, e *runtime.Engine) {
		runAll(ctx, t, e, lateFlow)
		equal(t, shown(outbox(ctx, t, e, x)), []string{"30m0s late: flow is late: its run for 00:00:00Z has not ended 30m after it was due"})
		x.took["a"] = 30*time.Minute - 1 // just in time
		runAll(ctx, t, e, lateFlow)
		time.Sleep(2 * time.Hour)
		if all := outbox(ctx, t, e, x); len(all) != 1 {
			t.Errorf("a run in time is late: %q", all)
		}
	})
}

func TestARunThatWaitsBehindOthersIsLateToo(t *testing.T) {
	x := &script{took: map[string]time.Duration{"a": 100 * time.Minute}}
	inEngine(t, x, func(ctx context.Context, e *runtime.Engine) {
		load(ctx, t, e, "every: 1h\noverlap: queue\n"+lateFlow)
		time.Sleep(170 * time.Minute)
		equal(t, shown(outbox(ctx, t, e, x)), []string{
			"1h30m0s late: flow is late: its run for 01:00:00Z has not ended 30m after it was due",
			"2h30m0s late: flow is late: its run for 02:00:00Z has not started 30m after it was due",
		})
	})
}

// An engine that was not there tells what it finds late, once for each tick, and
// a third one does not tell it again.
func TestWhatBecameLateWhileNobodyServedIsToldOnce(t *testing.T) {
	x := &script{took: map[string]time.Duration{"a": 20 * time.Minute}}
	text := "every: 1h\ncatchup: latest\n" + lateFlow
	serve := func(ctx context.Context, e *runtime.Engine) {
		if err := e.Recover(ctx, runtime.StartupRecover); err != nil {
			t.Fatal(err)
		}
		load(ctx, t, e, text)
	}
	want := []string{
		"4h45m0s late: flow is late: its run for 01:00:00Z has not ended 30m after it was due",
		"4h45m0s late: flow is late: its run for 04:00:00Z has not started 30m after it was due",
		"4h45m0s late: flow is late: it was not run for 02:00:00Z: missed while the engine was down, and catchup is latest",
		"4h45m0s late: flow is late: it was not run for 03:00:00Z: missed while the engine was down, and catchup is latest",
	}
	succession(t, x,
		func(ctx context.Context, e *runtime.Engine) {
			serve(ctx, e)
			time.Sleep(70 * time.Minute) // the run of 01:00 is cut off
		},
		func(ctx context.Context, e *runtime.Engine) {
			time.Sleep(215 * time.Minute) // of nobody serving
			serve(ctx, e)
			time.Sleep(10 * time.Minute)
			sameSet(t, shown(outbox(ctx, t, e, x)), want)
		},
		func(ctx context.Context, e *runtime.Engine) {
			serve(ctx, e)
			time.Sleep(2 * time.Minute)
			sameSet(t, shown(outbox(ctx, t, e, x)), want)
		})
}

func sameSet(t *testing.T, got, want []string) {
	t.Helper()
	seen := map[string]int{}
	for _, g := range got {
		seen[g]++
	}
	for _, w := range want {
		seen[w]--
	}
	for text, n := range seen {
		if n != 0 {
			t.Errorf("%+d of %q", n, text)
		}
	}
}

func TestABackfillIsNotLate(t *testing.T) {
	x := &script{took: map[string]time.Duration{"a": time.Hour}}
	inEngine(t, x, func(ctx context.Context, e *runtime.Engine) {
		wait(ctx, t, e, start(ctx, t, e, runtime.Request{Plan: plan(t, lateFlow), Trigger: "backfill", ScheduledFor: x.t0.Add(-time.Hour)}).ID)
		if all := outbox(ctx, t, e, x); len(all) > 0 {
			t.Errorf("told was %q", all)
		}
	})
}

func TestARunForThePastIsExpectedFromWhenItWasAskedFor(t *testing.T) {
	x := &script{took: map[string]time.Duration{"a": 20 * time.Minute}}
	inEngine(t, x, func(ctx context.Context, e *runtime.Engine) {
		wait(ctx, t, e, start(ctx, t, e, runtime.Request{Plan: plan(t, lateFlow), ScheduledFor: x.t0.Add(-time.Hour)}).ID)
		if all := outbox(ctx, t, e, x); len(all) > 0 {
			t.Errorf("told was %q", all)
		}
	})
}

func TestARunThatEndedInTimeIsNotLateWhenItIsRetried(t *testing.T) {
	x := &script{took: map[string]time.Duration{"a": 20 * time.Minute}, fail: map[string]int{"a": 1}}
	var id string
	succession(t, x,
		func(ctx context.Context, e *runtime.Engine) {
			id = runAll(ctx, t, e, lateFlow).ID
			time.Sleep(time.Hour)
			if err := e.Retry(ctx, id, nil); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
		},
		func(ctx context.Context, e *runtime.Engine) {
			if err := e.Resume(ctx, id); err != nil {
				t.Fatal(err)
			}
			if run, err := e.Wait(ctx, id); err != nil || run.State.String() != "succeeded" {
				t.Errorf("the run is %s (%v)", run.State, err)
			}
			if all := outbox(ctx, t, e, x); len(all) > 0 {
				t.Errorf("told was %q", all)
			}
		})
}
