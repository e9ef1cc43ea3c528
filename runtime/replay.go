package runtime

import (
	"context"
	"fmt"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/runtime/reload"
	"github.com/ax-scheduler/ax/store"
)

// Replay builds a run again from its stored events, with the text of the
// workflow that it was started with. The machine forgets nothing, so that the
// result can explain what happened.
func Replay(ctx context.Context, s store.Store, run store.Run) (*machine.Run, error) {
	version, err := s.Version(ctx, run.Version)
	if err != nil {
		return nil, err
	}
	file := reload.Compile(run.File, version.Text)
	plan := file.Plan
	if plan == nil {
		return nil, fmt.Errorf("run %s: its version of %s cannot be compiled by this ax: %s", run.ID, run.File, file.Diagnostics[0].Message)
	}
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
