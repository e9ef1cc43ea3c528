package runtime_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/store"
)

// What the store says this engine has, it has: whatever befalls between the
// write and the loop.

// A client that goes away is such a context.
func TestAStartWhoseContextEndsOnceItIsOnDiskIsCarriedOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asking, leave := context.WithCancel(t.Context())
		d := &badDisk{after: func(b *store.Batch) error {
			if len(b.Create) > 0 {
				leave()
			}
			return nil
		}}
		err := serveOn(t, d, &script{}, "one", func(ctx context.Context, e *runtime.Engine) {
			run, err := e.Start(asking, runtime.Request{Plan: plan(t, single)})
			if err != nil {
				t.Errorf("the run is on disk, and Start gave %v", err)
			}
			time.Sleep(time.Minute)
			if run, err = d.Run(ctx, run.ID); err != nil || run.State != machine.RunSucceeded {
				t.Errorf("the run is %s, %v", run.State, err)
			}
		})
		if err != nil {
			t.Error(err)
		}
	})
}

func TestARetryWhoseContextEndsOnceItIsOnDiskIsCarriedOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asking, leave := context.WithCancel(t.Context())
		d, x := &badDisk{}, &script{fail: map[string]int{"a": 1}}
		err := serveOn(t, d, x, "one", func(ctx context.Context, e *runtime.Engine) {
			id := runAll(ctx, t, e, single).ID
			d.becomes(func() {
				d.after = func(b *store.Batch) error {
					if len(b.Update) > 0 && b.Update[0].State == machine.RunQueued {
						leave()
					}
					return nil
				}
			})
			if err := e.Retry(asking, id, nil); err != nil {
				t.Errorf("the retry is on disk, and Retry gave %v", err)
			}
			time.Sleep(time.Minute)
			if run, err := d.Run(ctx, id); err != nil || run.State != machine.RunSucceeded {
				t.Errorf("the retried run is %s, %v", run.State, err)
			}
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// Of two runs, one is claimed; then the disk is full for a while.
func TestRunsOfWhichOneCouldNotBeClaimedAtOnceAreAllCarriedOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &badDisk{}
		var ids []string
		for range 2 {
			run, err := (&runtime.Engine{Store: d, Data: t.TempDir(), Zone: time.UTC}).Leave(t.Context(), runtime.Request{Plan: plan(t, single)})
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, run.ID)
		}
		claims := 0
		d.before = func(b *store.Batch) error {
			if len(b.Update) == 0 || b.Update[0].State != machine.RunQueued {
				return nil
			}
			switch claims++; claims {
			case 1:
				return store.ErrConflict
			case 3:
				return store.ErrFull
			}
			return nil
		}
		err := serveOn(t, d, &script{}, "one", func(ctx context.Context, e *runtime.Engine) {
			if err := e.Recover(ctx, runtime.StartupRecover); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Hour)
			for _, id := range ids {
				if run, err := d.Run(ctx, id); err != nil || run.State != machine.RunSucceeded {
					t.Errorf("run %s is %s, %v", id, run.State, err)
				}
			}
		})
		if err != nil || claims < 4 {
			t.Errorf("after %d claims: %v", claims, err)
		}
	})
}

const (
	parental = "name: parent\ntimeout: 5m\ntasks:\n  p: {workflow: {name: child}}\n"
	childish = "name: child\ntasks:\n  a: {run: x}\n"
)

// endsWithItsParent checks that no run of the child outlives that of the parent.
func endsWithItsParent(t *testing.T, s store.Store, id string) {
	t.Helper()
	parent, err := s.Run(t.Context(), id)
	children, err2 := s.Runs(t.Context(), store.RunFilter{Workflow: "child", Limit: 10})
	if err := errors.Join(err, err2); err != nil || len(children) != 1 {
		t.Fatalf("%d children, %v", len(children), err)
	}
	if c := children[0]; c.State != machine.RunCancelled || !parent.State.Final() || c.FinishedAt.After(parent.FinishedAt) {
		t.Errorf("the child is %s at %s, the parent %s at %s", c.State, c.FinishedAt, parent.State, parent.FinishedAt)
	}
}

func TestAChildThatIsBeingStartedWhenItsParentIsCancelledIsCancelledToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := &mixed{}
		x.took = map[string]time.Duration{"a": time.Hour}
		d := &badDisk{}
		e := &runtime.Engine{Store: d, Executor: x, Data: t.TempDir(), Zone: time.UTC, Owner: "one",
			Workflows: library(t, map[string]string{"child": childish})}
		ctx, stop := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- e.Serve(ctx) }()
		started := make(chan string, 1)
		d.becomes(func() {
			d.after = func(b *store.Batch) error {
				if len(b.Create) > 0 && b.Create[0].Workflow == "child" {
					return e.Cancel(ctx, <-started, "an operator")
				}
				return nil
			}
		})
		run, err := e.Start(ctx, runtime.Request{Plan: plan(t, parental)})
		if err != nil {
			t.Fatal(err)
		}
		started <- run.ID
		time.Sleep(2 * time.Minute)
		endsWithItsParent(t, d, run.ID)
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
}
