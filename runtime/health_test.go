package runtime_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ax-scheduler/ax/runtime"
)

func TestAFullDiskIsToldOfAndWaitedOut(t *testing.T) {
	x := &script{}
	synctest.Test(t, func(t *testing.T) {
		x.t0 = time.Now()
		s := &slowStore{}
		e := &runtime.Engine{Store: s, Executor: x, Data: t.TempDir(), Zone: time.UTC}
		ctx, stop := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- e.Serve(ctx) }()
		s.full = 10
		ended := make(chan runtime.Report, 1)
		go func() { ended <- runAll(ctx, t, e, "name: flow\ntasks:\n  a: {run: x}\n") }()

		time.Sleep(time.Second)
		h, err := e.Health(ctx)
		if err != nil || h.Trouble == "" || h.Active != 1 {
			t.Errorf("with a full disk the health is %+v, %v", h, err)
		}
		if began := x.noted(); len(began) > 0 {
			t.Errorf("with a full disk it started %q", began)
		}
		if rep := <-ended; rep.State != "succeeded" {
			t.Errorf("when there is room again the run is %s", rep.State)
		}
		h, err = e.Health(ctx)
		if err != nil || h.Trouble != "" || h.SuccessRate != 1 {
			t.Errorf("when there is room again the health is %+v, %v", h, err)
		}
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
}

func TestTheHealthCountsWhatWaitsAndWhatFailed(t *testing.T) {
	x := &script{took: map[string]time.Duration{"a": time.Minute, "b": time.Second}, fail: map[string]int{"b": -1}}
	inEngine(t, x, func(ctx context.Context, e *runtime.Engine) {
		p := plan(t, "name: flow\ntasks:\n  a: {run: x}\n")
		var last string
		for range 3 {
			run, err := e.Start(ctx, runtime.Request{Plan: p})
			if err != nil {
				t.Fatal(err)
			}
			last = run.ID
		}
		runAll(ctx, t, e, "name: bad\ntasks:\n  b: {run: x}\n")
		h, err := e.Health(ctx)
		if want := (runtime.Health{Queued: 2, Active: 1, Slots: runtime.DefaultMaxParallel}); err != nil || h != want {
			t.Errorf("the health is %+v, %v, want %+v", h, err, want)
		}
		if _, err := e.Wait(ctx, last); err != nil {
			t.Fatal(err)
		}
		if h, _ = e.Health(ctx); h.SuccessRate != 0.75 {
			t.Errorf("the success rate is %v, want three of four", h.SuccessRate)
		}
		time.Sleep(10 * time.Minute)
		if h, _ = e.Health(ctx); h.SuccessRate != 1 {
			t.Errorf("after ten minutes the success rate is %v, want 1", h.SuccessRate)
		}
	})
}
