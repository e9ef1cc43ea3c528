package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/runtime/reload"
	"github.com/ax-scheduler/ax/store"
)

// asked counts what is asked of a store about queues.
type asked struct {
	store.Store
	all    atomic.Int64 // for those of all workflows
	queues atomic.Int64 // for that of one
}

func (a *asked) Runs(ctx context.Context, f store.RunFilter) ([]store.Run, error) {
	a.all.Add(1)
	return a.Store.Runs(ctx, f)
}

func (a *asked) Queued(ctx context.Context, workflow string, limit int) ([]store.Run, error) {
	a.queues.Add(1)
	return a.Store.Queued(ctx, workflow, limit)
}

func TestAnIdleEngineAsksForTheQueuesOfAllWorkflowsAtOnce(t *testing.T) {
	c := &reload.Catalog{Workflows: map[string]*reload.Loaded{}}
	for i := range 50 {
		name := fmt.Sprintf("flow-%d", i)
		c.Workflows[name] = reload.Compile(name+".yaml", []byte("name: "+name+"\ntasks:\n  a: {run: x}\n")).Keep()
	}
	synctest.Test(t, func(t *testing.T) {
		st := &asked{Store: &store.Memory{}}
		e := &runtime.Engine{Store: st, Executor: &script{t0: time.Now()}, Data: t.TempDir(), Zone: time.UTC, Owner: "test"}
		serve(t, e, func(ctx context.Context, e *runtime.Engine) {
			if err := errors.Join(e.Recover(ctx, runtime.StartupRecover), e.Load(ctx, c)); err != nil {
				t.Fatal(err)
			}
			before := st.all.Load()
			time.Sleep(10 * time.Minute)
			if all, queues := st.all.Load()-before, st.queues.Load(); queues > 0 || all == 0 || all > 25 {
				t.Errorf("in ten idle minutes it has asked %d times for all and %d times for one", all, queues)
			}
			run, err := (&runtime.Engine{Store: e.Store, Data: e.Data, Zone: time.UTC}).Leave(ctx, runtime.Request{Plan: c.Workflows["flow-7"].Plan()})
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
			if run, err = e.Store.Run(ctx, run.ID); err != nil || run.State != machine.RunSucceeded {
				t.Errorf("a run that was left has %s, %v", run.State, err)
			}
		})
	})
}
