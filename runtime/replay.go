package runtime

import (
	"context"
	"fmt"
	"sync"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/runtime/reload"
	"github.com/ax-scheduler/ax/store"
)

// maxPlans bounds how many plans of stored versions an engine keeps.
const maxPlans = 256

// plans keeps the plans of stored versions by file and hash, since many runs of
// one version are taken out of the store one after another.
type plans struct {
	mu   sync.Mutex
	kept map[string]*dag.Plan
}

// Replay builds a run again from its stored events, with the text of the
// workflow that it was started with. The machine forgets nothing, so that the
// result can explain what happened.
func Replay(ctx context.Context, s store.Store, run store.Run) (*machine.Run, error) {
	plan, err := storedPlan(ctx, s, run)
	if err != nil {
		return nil, err
	}
	return replay(ctx, s, run, plan)
}

// replay is Replay with the plans that the engine has seen.
func (e *Engine) replay(ctx context.Context, run store.Run) (*machine.Run, error) {
	key := run.Version + " " + run.File
	e.plans.mu.Lock()
	plan := e.plans.kept[key]
	e.plans.mu.Unlock()
	if plan == nil {
		var err error
		if plan, err = storedPlan(ctx, e.Store, run); err != nil {
			return nil, err
		}
		e.plans.mu.Lock()
		if len(e.plans.kept) >= maxPlans || e.plans.kept == nil {
			e.plans.kept = map[string]*dag.Plan{}
		}
		e.plans.kept[key] = plan
		e.plans.mu.Unlock()
	}
	return replay(ctx, e.Store, run, plan)
}

// storedPlan compiles the version of the file that a run was started with.
func storedPlan(ctx context.Context, s store.Store, run store.Run) (*dag.Plan, error) {
	version, err := s.Version(ctx, run.Version)
	if err != nil {
		return nil, err
	}
	file := reload.Compile(run.File, version.Text)
	if file.Plan == nil {
		return nil, fmt.Errorf("run %s: its version of %s cannot be compiled by this ax: %s", run.ID, run.File, file.Diagnostics[0].Message)
	}
	return file.Plan, nil
}

func replay(ctx context.Context, s store.Store, run store.Run, plan *dag.Plan) (*machine.Run, error) {
	var only []dag.Task
	for _, id := range run.Only {
		t, ok := plan.Task(id)
		if !ok {
			return nil, fmt.Errorf("run %s: its version of %s has no task %q", run.ID, run.File, id)
		}
		only = append(only, t)
	}
	events, err := s.Events(ctx, run.ID)
	if err != nil {
		return nil, err
	}
	r := machine.New(run.ID, plan, only)
	for _, stored := range events {
		e, err := machine.Decode(stored.Data)
		if err != nil {
			return nil, fmt.Errorf("run %s, event %d: %w", run.ID, stored.Seq, err)
		}
		if _, err := r.Apply(e); err != nil {
			return nil, fmt.Errorf("event %d: %w", stored.Seq, err)
		}
	}
	return r, nil
}
