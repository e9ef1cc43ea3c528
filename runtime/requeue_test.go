package runtime_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/store"
)

// failedOnce gives a run of a single whose task has failed, and one that is going
// and will for an hour.
func failedOnce(ctx context.Context, t *testing.T, e *runtime.Engine, x *script) (failed, going string) {
	t.Helper()
	x.fail = map[string]int{"a": 1}
	failed = runAll(ctx, t, e, single).ID
	x.fail, x.took = nil, map[string]time.Duration{"a": time.Hour}
	return failed, start(ctx, t, e, runtime.Request{Plan: plan(t, single)}).ID
}

func retry(ctx context.Context, t *testing.T, e *runtime.Engine, id string) {
	t.Helper()
	if err := e.Retry(ctx, id, nil); err != nil {
		t.Fatal(err)
	}
	run, err := e.Store.Run(ctx, id)
	if err != nil || run.State != machine.RunQueued || !run.FinishedAt.IsZero() || run.StartedAt.IsZero() {
		t.Errorf("a retried run that has to wait is %s, started %s, finished %s (%v)", run.State, run.StartedAt, run.FinishedAt, err)
	}
}

func wait(ctx context.Context, t *testing.T, e *runtime.Engine, id string) store.Run {
	t.Helper()
	run, err := e.Wait(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func TestARetriedRunWaitsForItsTurnLikeAnyOther(t *testing.T) {
	x := &script{}
	serving(t, x, func(ctx context.Context, e *runtime.Engine) {
		failed, _ := failedOnce(ctx, t, e, x)
		before := start(ctx, t, e, runtime.Request{Plan: plan(t, single)})
		time.Sleep(time.Minute)
		retry(ctx, t, e, failed)
		after := start(ctx, t, e, runtime.Request{Plan: plan(t, single)})
		run := wait(ctx, t, e, failed)
		if run.State != machine.RunSucceeded || run.FinishedAt.Sub(run.WentAt()) != time.Hour || !run.StartedAt.Equal(x.t0) {
			t.Errorf("the run is %s, started at %s, went at %s, ended at %s", run.State, run.StartedAt, run.WentAt(), run.FinishedAt)
		}
		wait(ctx, t, e, after.ID)
		equal(t, x.noted(), []string{
			"0s a#1 start", "0s a#1 end", "0s a#1 start", "1h0m0s a#1 end", "1h0m0s a#1 start", "2h0m0s a#1 end",
			"2h0m0s a#2 start", "3h0m0s a#2 end", "3h0m0s a#1 start", "4h0m0s a#1 end",
		})
		if run := wait(ctx, t, e, before.ID); run.FinishedAt.Sub(x.t0) != 2*time.Hour {
			t.Errorf("the run that waited before ended at %s", run.FinishedAt)
		}
	})
}

func TestARetriedRunThatWaitsOutlivesItsEngine(t *testing.T) {
	var failed string
	x := &script{}
	succession(t, x,
		func(ctx context.Context, e *runtime.Engine) {
			failed, _ = failedOnce(ctx, t, e, x)
			retry(ctx, t, e, failed)
		},
		func(ctx context.Context, e *runtime.Engine) {
			time.Sleep(time.Minute)
			if err := e.Recover(ctx, runtime.StartupRecover); err != nil {
				t.Fatal(err)
			}
			if run := wait(ctx, t, e, failed); run.State != machine.RunSucceeded {
				t.Errorf("the run is %s: %s", run.State, run.Error)
			}
			equal(t, x.noted()[4:], []string{"1m0s a#2 start", "1h1m0s a#2 end", "1h1m0s a#2 start", "2h1m0s a#2 end"})
		})
}

func TestARetriedRunCanBeCancelledWhileItWaits(t *testing.T) {
	cancelled := func(ctx context.Context, t *testing.T, e *runtime.Engine, id string) {
		t.Helper()
		if err := e.Cancel(ctx, id, "a test"); err != nil {
			t.Fatal(err)
		}
		run := wait(ctx, t, e, id)
		if run.State != machine.RunCancelled || run.Reason != machine.ReasonCancelled {
			t.Errorf("the run is %s (%s): %s", run.State, run.Reason, run.Error)
		}
		equal(t, states(reportOf(ctx, t, e, id)), []string{"a cancelled cancelled"})
	}
	t.Run("in its engine", func(t *testing.T) {
		x := &script{}
		serving(t, x, func(ctx context.Context, e *runtime.Engine) {
			failed, going := failedOnce(ctx, t, e, x)
			retry(ctx, t, e, failed)
			cancelled(ctx, t, e, failed)
			wait(ctx, t, e, going)
			if notes := x.noted(); len(notes) != 4 {
				t.Errorf("something of it ran: %v", notes)
			}
			if err := e.Retry(ctx, failed, nil); err != nil {
				t.Fatal(err)
			}
			if run := wait(ctx, t, e, failed); run.State != machine.RunSucceeded {
				t.Errorf("retried once more it is %s", run.State)
			}
		})
	})
	t.Run("after its engine has died", func(t *testing.T) {
		x, failed := &script{}, ""
		succession(t, x,
			func(ctx context.Context, e *runtime.Engine) {
				failed, _ = failedOnce(ctx, t, e, x)
				retry(ctx, t, e, failed)
			},
			func(ctx context.Context, e *runtime.Engine) { cancelled(ctx, t, e, failed) })
		if slices.ContainsFunc(x.noted(), func(n string) bool { return strings.Contains(n, "a#2") }) {
			t.Errorf("something of it ran: %v", x.noted())
		}
	})
	t.Run("by the start of the next engine", func(t *testing.T) {
		x, failed := &script{}, ""
		succession(t, x,
			func(ctx context.Context, e *runtime.Engine) {
				failed, _ = failedOnce(ctx, t, e, x)
				retry(ctx, t, e, failed)
			},
			func(ctx context.Context, e *runtime.Engine) {
				if err := e.Recover(ctx, runtime.StartupCancel); err != nil {
					t.Fatal(err)
				}
				if run := wait(ctx, t, e, failed); run.State != machine.RunCancelled {
					t.Errorf("the run is %s", run.State)
				}
			})
	})
}

// What keepWaiting leaves to the store is taken out of it again.
func TestManyRetriedRunsWaitAndAllEnd(t *testing.T) {
	x := &script{fail: map[string]int{"a": 1}}
	serving(t, x, func(ctx context.Context, e *runtime.Engine) {
		var ids []string
		for range 150 {
			ids = append(ids, runAll(ctx, t, e, single).ID)
		}
		x.fail, x.took = nil, map[string]time.Duration{"a": time.Minute}
		start(ctx, t, e, runtime.Request{Plan: plan(t, single)})
		for _, id := range ids {
			retry(ctx, t, e, id)
		}
		time.Sleep(152 * time.Minute)
		for i, id := range ids {
			if run := wait(ctx, t, e, id); run.State != machine.RunSucceeded || !run.WentAt().Equal(x.t0.Add(time.Duration(i+1)*time.Minute)) {
				t.Errorf("run %d is %s, went at %s", i, run.State, run.WentAt().Sub(x.t0))
			}
		}
	})
}

func TestAHandlerOfTheWorkflowIsToldHowTheRunEnded(t *testing.T) {
	for _, c := range []struct {
		name, text, want string
		fail             map[string]int
		cancel           bool
	}{
		{"a success", "", "succeeded", nil, false},
		{"a failure", "", "failed", map[string]int{"a": -1}, false},
		{"a failure that is allowed", ", allow_failure: true", "succeeded", map[string]int{"a": -1}, false},
		{"the run's time is over", "", "failed", map[string]int{"late": 1}, false},
		{"a cancel", "", "cancelled", nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := &script{fail: c.fail, took: map[string]time.Duration{"a": time.Hour}}
			if c.fail["late"] == 1 {
				x.took["a"] = 3 * time.Hour
			}
			inEngine(t, x, func(ctx context.Context, e *runtime.Engine) {
				run := start(ctx, t, e, runtime.Request{Plan: plan(t, "name: flow\ntimeout: 2h\non_finish: fin\ntasks:\n  a: {run: x"+c.text+"}\n  fin: {run: x}\n")})
				time.Sleep(time.Minute)
				if c.cancel {
					if err := e.Cancel(ctx, run.ID, "a test"); err != nil {
						t.Fatal(err)
					}
				}
				if run = wait(ctx, t, e, run.ID); run.State.String() != c.want {
					t.Errorf("the run is %s, want %s", run.State, c.want)
				}
				state := func(v string) bool { return strings.HasPrefix(v, "AX_RUN_STATE=") }
				if i := slices.IndexFunc(x.told("fin"), state); i < 0 || x.told("fin")[i] != "AX_RUN_STATE="+c.want {
					t.Errorf("the handler was told %v, want %s", x.told("fin"), c.want)
				}
				if slices.ContainsFunc(x.told("a"), state) {
					t.Error("a task that is no handler was told")
				}
			})
		})
	}
}

func TestACancelWhileHandlersRunSaysWhatTheTasksCameTo(t *testing.T) {
	for _, c := range []struct {
		name, want string
		fail       map[string]int
	}{
		{"a success", "cancelled on request while its handlers ran: its tasks had succeeded", nil},
		{"a failure", `cancelled on request while its handlers ran: task "a" failed: exit code 3: no luck`, map[string]int{"a": -1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := &script{fail: c.fail, took: map[string]time.Duration{"fin": time.Hour}}
			inEngine(t, x, func(ctx context.Context, e *runtime.Engine) {
				run := start(ctx, t, e, runtime.Request{Plan: plan(t, "name: flow\non_finish: fin\ntasks:\n  a: {run: x}\n  fin: {run: x}\n")})
				time.Sleep(time.Minute)
				for range 2 {
					if err := e.Cancel(ctx, run.ID, "a test"); err != nil {
						t.Fatal(err)
					}
				}
				if run = wait(ctx, t, e, run.ID); run.State != machine.RunCancelled || run.Error != c.want {
					t.Errorf("the run is %s: %s\nwant %s", run.State, run.Error, c.want)
				}
			})
		})
	}
}
