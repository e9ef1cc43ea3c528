package runtime_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/store"
)

func TestABackfillKeepsItsOwnLimitAndLetsAllElseGoFirst(t *testing.T) {
	x := &script{took: map[string]time.Duration{"a": 10 * time.Minute}}
	serving(t, x, func(ctx context.Context, e *runtime.Engine) {
		text := "name: flow\ncron: '0 * * * *'\ntimezone: UTC\ncatchup: none\nmax_active: 3\ntasks:\n  a: {run: x}\n"
		load(ctx, t, e, text)
		day := x.t0.Add(-24 * time.Hour).Format(time.DateOnly)
		filled, err := e.Backfill(ctx, runtime.Backfill{Plan: plan(t, text), From: day, To: day, MaxParallel: 2})
		if err != nil || len(filled.Ticks) != 24 {
			t.Fatalf("%d ticks, %v", len(filled.Ticks), err)
		}
		time.Sleep(15 * time.Minute)
		manual := start(ctx, t, e, runtime.Request{Plan: plan(t, text)})
		time.Sleep(time.Minute)
		if run, err := e.Store.Run(ctx, manual.ID); err != nil || run.State.String() != "running" {
			t.Errorf("beside the backfill a manual run is %s, %v", run.State, err)
		}
		time.Sleep(3 * time.Hour)
		if most := x.peak(); most != 3 {
			t.Errorf("%d attempts went at a time, want two of the backfill and one other", most)
		}
		last := time.Time{}
		for i, f := range filled.Ticks {
			run, err := e.Store.Run(ctx, f.Run.ID)
			if err != nil || run.State.String() != "succeeded" || run.StartedAt.Before(last) {
				t.Fatalf("run %d is %s, started %s after %s, %v", i, run.State, run.StartedAt, last, err)
			}
			if want := x.t0.Add(time.Duration(i-24) * time.Hour); !run.ScheduledFor.Equal(want) || !run.IntervalFrom.Equal(want.Add(-time.Hour)) {
				t.Errorf("run %d stands for %s from %s", i, run.ScheduledFor, run.IntervalFrom)
			}
			last = run.StartedAt
		}
		equal(t, ledger(ctx, t, e, x), []string{"1h0m0s fired", "2h0m0s fired", "3h0m0s fired"})
	})
}

func TestABackfillOfWhatCannotRunMakesNoRun(t *testing.T) {
	x := &script{}
	serving(t, x, func(ctx context.Context, e *runtime.Engine) {
		for text, b := range map[string]runtime.Backfill{
			"name: flow\ncron: '0 * * * *'\nparams: {p: {required: true}}\ntasks:\n  a: {run: x}\n":           {From: "2026-01-01", To: "2026-01-02"},
			"name: flow\ncron: '0 * * * *'\ntasks:\n  a: {run: 'true'}\n":                                     {From: "2026-01-01", To: "2026-01-02", Params: map[string]string{"q": "1"}},
			"name: flow\ncron: '0 * * * *'\ndisabled: true\ntasks:\n  a: {run: x}\n":                          {From: "2026-01-01", To: "2026-01-02"},
			"name: flow\ncron: '0 * * * *'\nexcept: [no/such/file.txt]\ntasks:\n  a: {run: x}\n":              {From: "2026-01-01", To: "2026-01-02"},
			"name: flow\ncron: '0 * * * *'\nmax_active: 7\ntasks:\n  a: {run: x}\n":                           {From: "2026-01-01", To: "soon"},
			"name: flow\ncron: '0 * * * *'\nmax_active: 8\ntasks:\n  a: {run: x}\n":                           {From: "2026-01-01", To: "2026-01-02", MaxParallel: -1},
			"name: flow\ncron: '0 * * * *'\nmax_active: 9\ntasks:\n  a: {run: x}\n":                           {From: "2026-01-02T00:00:00Z", To: "2026-01-01T23:59:59Z"},
			"name: flow\ncron: '* * * * *'\nmax_active: 10\ntasks:\n  a: {run: x}\n# as many as in 190 years": {From: "1900-01-01", To: "2100-01-01"},
		} {
			b.Plan = plan(t, text)
			if filled, err := e.Backfill(ctx, b); !errors.Is(err, runtime.ErrRefused) {
				t.Errorf("%s\ngave %d ticks, %v", text, len(filled.Ticks), err)
			}
		}
		if runs, err := e.Store.Runs(ctx, store.RunFilter{}); err != nil || len(runs) > 0 {
			t.Errorf("there are %d runs, %v", len(runs), err)
		}
	})
}
