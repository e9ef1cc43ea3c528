package runtime_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/store"
)

// countedReads counts how often queued runs are read. Whoever reads them without
// end would keep virtual time from passing: beyond enough it ends the engine.
type countedReads struct {
	store.Store
	reads  atomic.Int64
	until  time.Time     // none can be read
	pause  time.Duration // of a write
	slow   time.Duration // an answer comes so late
	tooFar func()
}

func (c *countedReads) Commit(ctx context.Context, b *store.Batch) error {
	time.Sleep(c.pause)
	return c.Store.Commit(ctx, b)
}

const enough = 1000

func (c *countedReads) Queued(ctx context.Context, workflow string, limit int) ([]store.Run, error) {
	if c.reads.Add(1) == enough {
		c.tooFar()
	}
	if time.Now().Before(c.until) {
		return nil, errDisk
	}
	runs, err := c.Store.Queued(ctx, workflow, limit)
	time.Sleep(c.slow)
	return runs, err
}

// over serves on the store until do is over, and gives how often it was read.
func (c *countedReads) over(ctx context.Context, t *testing.T, e *runtime.Engine, do func(ctx context.Context)) int64 {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	e.Store, c.tooFar = c, stop
	served := make(chan error, 1)
	go func() { served <- e.Serve(ctx) }()
	if err := e.Recover(ctx, runtime.StartupRecover); err != nil {
		t.Fatal(err)
	}
	do(ctx)
	stop()
	if err := <-served; err != nil {
		t.Error(err)
	}
	return c.reads.Load()
}

const unbounded = "name: flow\nmax_active: 0\ntasks:\n  a: {run: x}\n"

// leave makes runs that wait in a store for an engine.
func leave(t *testing.T, s store.Store, text string, n int) {
	t.Helper()
	other := &runtime.Engine{Store: s, Executor: &script{}, Data: t.TempDir(), Zone: time.UTC}
	for range n {
		if _, err := other.Leave(t.Context(), runtime.Request{Plan: plan(t, text)}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWhatHasStartedButIsNotOnDiskYetIsNotReadAsQueuedAgainAndAgain(t *testing.T) {
	for name, full := range map[string]time.Duration{"a slow disk": 0, "a full disk": 20 * time.Minute} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const runs = 200
				d := &badDisk{}
				x := &script{t0: time.Now(), took: map[string]time.Duration{"a": time.Minute}}
				c := &countedReads{Store: d, pause: time.Second}
				e := &runtime.Engine{Executor: x, Data: t.TempDir(), Zone: time.UTC, Owner: "test", MaxParallel: 50}
				reads := c.over(t.Context(), t, e, func(ctx context.Context) {
					load(ctx, t, e, unbounded)
					var asking sync.WaitGroup
					for range runs {
						asking.Go(func() { start(ctx, t, e, runtime.Request{Plan: plan(t, unbounded)}) })
					}
					time.Sleep(2500 * time.Millisecond) // all have started, the last of which is being written
					d.becomes(func() { d.full = time.Now().Add(full) })
					if err := e.LookAgain(ctx); err != nil {
						t.Error(err)
					}
					time.Sleep(time.Hour)
					asking.Wait()
				})
				if reads > 100 {
					t.Errorf("%d runs took %d reads", runs, reads)
				}
				got, err := d.Runs(t.Context(), store.RunFilter{States: []machine.RunState{machine.RunSucceeded}, Limit: store.MaxLimit})
				if err != nil || len(got) != runs {
					t.Errorf("%d of %d runs succeeded, %v", len(got), runs, err)
				}
			})
		})
	}
}

func TestQueuedRunsThatCannotBeReadAreTriedForNowAndThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &store.Memory{}
		leave(t, s, single, 3)
		x := &script{t0: time.Now()}
		c := &countedReads{Store: s, until: time.Now().Add(time.Hour)}
		e := &runtime.Engine{Executor: x, Data: t.TempDir(), Zone: time.UTC, Owner: "test"}
		if reads := c.over(t.Context(), t, e, func(ctx context.Context) {
			load(ctx, t, e, single)
			time.Sleep(10 * time.Minute)
		}); reads < 10 || reads > 100 {
			t.Errorf("in ten minutes there were %d reads", reads)
		}
	})
}

func TestWhatAllWaitsForAnotherEngineIsLookedAtNowAndThen(t *testing.T) {
	beside(t, &script{took: map[string]time.Duration{"a": time.Hour}}, 1, func(ctx context.Context, es []*runtime.Engine, die []func()) {
		for range store.MaxLimit + 100 {
			start(ctx, t, es[0], runtime.Request{Plan: plan(t, single)})
		}
		c := &countedReads{Store: es[0].Store}
		claim, err := runtime.NewClaim(es[0].Data)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := claim.Release(); err != nil {
				t.Error(err)
			}
		}()
		e := &runtime.Engine{Executor: es[0].Executor, Data: es[0].Data, Zone: time.UTC, Owner: claim.Owner}
		if reads := c.over(ctx, t, e, func(ctx context.Context) {
			load(ctx, t, e, single)
			time.Sleep(10 * time.Minute)
		}); reads > 200 {
			t.Errorf("in ten minutes there were %d reads", reads)
		}
	})
}

// What is left to the store while it is being read is not forgotten.
func TestRunsThatAreMadeWhileQueuedOnesAreReadAreTakenInToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const text = "name: flow\ntimezone: UTC\ncron: '@hourly'\nmax_active: 0\ntasks:\n  a: {run: x}\n"
		x := &script{t0: time.Now()}
		c := &countedReads{Store: &store.Memory{}, slow: time.Second}
		e := &runtime.Engine{Executor: x, Data: t.TempDir(), Zone: time.UTC, Owner: "test"}
		c.over(t.Context(), t, e, func(ctx context.Context) {
			time.Sleep(3 * time.Hour)
			for hour := range 3 { // each while the store is read for the one before
				at := x.t0.Add(time.Duration(hour) * time.Hour).UTC().Format(time.RFC3339)
				if _, err := e.Backfill(ctx, runtime.Backfill{Plan: plan(t, text), From: at, To: at}); err != nil {
					t.Fatal(err)
				}
				time.Sleep(300 * time.Millisecond)
			}
			time.Sleep(time.Minute)
		})
		runs, err := c.Runs(t.Context(), store.RunFilter{States: []machine.RunState{machine.RunSucceeded}, Limit: 10})
		if err != nil || len(runs) != 3 {
			t.Errorf("of three runs %d have succeeded, %v", len(runs), err)
		}
	})
}

// What could not be read once is read again.
func TestQueuedRunsThatCannotBeReadForAWhileAreTakenInThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &store.Memory{}
		leave(t, s, single, 3)
		x := &script{t0: time.Now()}
		c := &countedReads{Store: s, until: time.Now().Add(5 * time.Minute)}
		e := &runtime.Engine{Executor: x, Data: t.TempDir(), Zone: time.UTC, Owner: "test"}
		c.over(t.Context(), t, e, func(context.Context) { time.Sleep(10 * time.Minute) })
		runs, err := s.Runs(t.Context(), store.RunFilter{States: []machine.RunState{machine.RunSucceeded}, Limit: 10})
		if err != nil || len(runs) != 3 {
			t.Errorf("of three runs %d have succeeded, %v", len(runs), err)
		}
	})
}
