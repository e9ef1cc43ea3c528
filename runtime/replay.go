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
// workflow that it was started with, and of those that it was retried in. The
// machine forgets nothing, so that the result can explain what happened.
func Replay(ctx context.Context, s store.Store, run store.Run) (*machine.Run, error) {
	return replay(ctx, s, run, func(version string) (*dag.Plan, error) { return storedPlan(ctx, s, run, version) },
		func(*machine.Run, machine.Event) {})
}

// replay is Replay with the plans that the engine has seen.
func (e *Engine) replay(ctx context.Context, run store.Run) (*machine.Run, error) {
	return e.replayEach(ctx, run, func(*machine.Run, machine.Event) {})
}

// replayEach is replay, and shows the run before each of its events.
func (e *Engine) replayEach(ctx context.Context, run store.Run, before func(*machine.Run, machine.Event)) (*machine.Run, error) {
	return replay(ctx, e.Store, run, func(version string) (*dag.Plan, error) { return e.planOf(ctx, run, version) }, before)
}

// planOf gives the plan of a version of the file that a run was started from.
func (e *Engine) planOf(ctx context.Context, run store.Run, version string) (*dag.Plan, error) {
	key := version + " " + run.File
	e.plans.mu.Lock()
	plan := e.plans.kept[key]
	e.plans.mu.Unlock()
	if plan != nil {
		return plan, nil
	}
	plan, err := storedPlan(ctx, e.Store, run, version)
	if err != nil {
		return nil, err
	}
	e.plans.mu.Lock()
	defer e.plans.mu.Unlock()
	if len(e.plans.kept) >= maxPlans || e.plans.kept == nil {
		e.plans.kept = map[string]*dag.Plan{}
	}
	e.plans.kept[key] = plan
	return plan, nil
}

// storedPlan compiles a version of the file that a run was started from.
func storedPlan(ctx context.Context, s store.Store, run store.Run, hash string) (*dag.Plan, error) {
	version, err := s.Version(ctx, hash)
	if err != nil {
		return nil, err
	}
	file := reload.Compile(run.File, version.Text)
	if file.Plan == nil {
		return nil, fmt.Errorf("run %s: its version of %s cannot be compiled by this ax: %s", run.ID, run.File, file.Diagnostics[0].Message)
	}
	return file.Plan, nil
}

func replay(ctx context.Context, s store.Store, run store.Run, planOf func(version string) (*dag.Plan, error), before func(*machine.Run, machine.Event)) (*machine.Run, error) {
	stored, err := s.Events(ctx, run.ID)
	if err != nil {
		return nil, err
	}
	first := run.Version
	events := make([]machine.Event, len(stored))
	for i := len(stored) - 1; i >= 0; i-- {
		if events[i], err = machine.Decode(stored[i].Data); err != nil {
			return nil, fmt.Errorf("run %s, event %d: %w", run.ID, stored[i].Seq, err)
		}
		if changed, ok := events[i].(machine.VersionChanged); ok {
			first = changed.From
		}
	}
	plan, err := planOf(first)
	if err != nil {
		return nil, err
	}
	r, err := begun(run, plan)
	if err != nil {
		return nil, err
	}
	for i, e := range events {
		before(r, e)
		if changed, ok := e.(machine.VersionChanged); ok {
			if plan, err = planOf(changed.To); err != nil {
				return nil, err
			}
			r = r.Rebase(plan)
		} else if _, err := r.Apply(e); err != nil {
			return nil, fmt.Errorf("event %d: %w", i+1, err)
		}
	}
	return r, nil
}

// begun gives a run as it was before its first event.
func begun(run store.Run, plan *dag.Plan) (*machine.Run, error) {
	var only []dag.Task
	for _, id := range run.Only {
		t, ok := plan.Task(id)
		if !ok {
			return nil, fmt.Errorf("run %s: its version of %s has no task %q", run.ID, run.File, id)
		}
		only = append(only, t)
	}
	return machine.New(run.ID, plan, only), nil
}
