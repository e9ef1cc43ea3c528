package runtime

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/runtime/executor"
	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/store"
)

// Holding is a run that is going, with the slots of pools that its attempts have.
type Holding struct {
	Run   store.Run
	Slots []Slot
}

// Slot is the slot of a pool that an attempt has.
type Slot struct {
	Pool string
	Task string // or instance, as "load[3]"
}

// Holdings lists the runs of a store that are going, newest first, with the
// slots that they have.
func Holdings(ctx context.Context, s store.Store) ([]Holding, error) {
	return holdings(ctx, s, func(store.Run) bool { return true },
		func(r store.Run) (*dag.Plan, error) { return storedPlan(ctx, s, r, r.Version) })
}

func holdings(ctx context.Context, s store.Store, wanted func(store.Run) bool, planOf func(store.Run) (*dag.Plan, error)) (all []Holding, err error) {
	filter := store.RunFilter{States: []machine.RunState{machine.RunRunning}, Limit: store.MaxLimit}
	for {
		runs, err := s.Runs(ctx, filter)
		if err != nil {
			return nil, fmt.Errorf("look for what is going: %w", err)
		}
		for _, r := range runs {
			filter.Before = r.ID
			if !wanted(r) {
				continue
			}
			plan, err := planOf(r)
			if err != nil {
				return nil, err
			}
			slots, err := slotsOf(ctx, s, r, plan)
			if err != nil {
				return nil, err
			}
			all = append(all, Holding{r, slots})
		}
		if len(runs) < store.MaxLimit {
			return all, nil
		}
	}
}

// slotsOf lists the slots of pools that the attempts of a run have.
func slotsOf(ctx context.Context, s store.Store, r store.Run, plan *dag.Plan) (slots []Slot, err error) {
	if !usesPools(plan) {
		return nil, nil
	}
	tasks, err := s.TasksIn(ctx, r.ID, []machine.TaskState{machine.Running}, store.MaxLimit)
	if err != nil {
		return nil, err
	}
	for _, t := range tasks {
		spec := plan.Tasks[t.Index].Spec
		ofForeach := spec.Foreach != nil && t.Instance < 0 // its instances have the slots
		if spec.Pool != nil && !ofForeach {
			slots = append(slots, Slot{spec.Pool.Name.V, t.ID})
		}
	}
	return slots, nil
}

func usesPools(p *dag.Plan) bool {
	for i := range p.Tasks {
		if p.Tasks[i].Spec.Pool != nil {
			return true
		}
	}
	return false
}

// others is what the runs of other processes have.
type others struct {
	runs  map[string][]string // ids of those that are going, by workflow
	slots map[string]int      // by pool
}

// othersHave counts what other living processes have, and what has been left by
// those that have ended but goes on. It is to be called with the gate held.
func (e *Engine) othersHave(ctx context.Context) (others, error) {
	o := others{map[string][]string{}, map[string]int{}}
	alive, left := map[string]bool{}, map[string][]string{} // by owner; by run, its tasks
	var failed error
	all, err := holdings(ctx, e.Store, func(r store.Run) bool {
		if r.Owner == "" || r.Owner == e.Owner {
			return false
		}
		if _, known := alive[r.Owner]; !known {
			alive[r.Owner] = Alive(e.Data, r.Owner)
		}
		if !alive[r.Owner] {
			going, err := e.goesOn(ctx, r)
			left[r.ID], failed = going, errors.Join(failed, err)
			return len(going) > 0
		}
		return true
	}, func(r store.Run) (*dag.Plan, error) { return e.planOf(ctx, r, r.Version) })
	for _, h := range all {
		o.runs[h.Run.Workflow] = append(o.runs[h.Run.Workflow], h.Run.ID)
		for _, s := range h.Slots {
			if alive[h.Run.Owner] || slices.Contains(left[h.Run.ID], s.Task) {
				o.slots[s.Pool]++
			}
		}
	}
	return o, errors.Join(err, failed)
}

// witness is an Executor that can tell of the tasks of engines that are gone.
type witness interface {
	Abandoned() bool
	GoOn([]executor.Attempt) []bool
}

// goesOn names the tasks of a run whose processes go on though its engine is gone.
func (e *Engine) goesOn(ctx context.Context, r store.Run) (names []string, err error) {
	x, ok := e.Executor.(witness)
	if !ok {
		return nil, nil
	}
	tasks, err := e.Store.TasksIn(ctx, r.ID, []machine.TaskState{machine.Running}, store.MaxLimit)
	if err != nil {
		return nil, err
	}
	origin, err := originOf(absolute(e.Data))
	if err != nil {
		return nil, err
	}
	attempts := make([]executor.Attempt, len(tasks))
	for i, t := range tasks {
		attempts[i] = executor.Attempt{Origin: origin, RunID: r.ID, Workflow: r.Workflow, Task: t.ID, Number: t.Attempts}
	}
	for i, going := range x.GoOn(attempts) {
		if going {
			names = append(names, tasks[i].ID)
		}
	}
	return names, nil
}

// alone tells whether no other process lives that could start runs, and none that has
// ended has left its tasks to a supervisor.
func (e *Engine) alone() bool {
	owners, err := claims(e.Data)
	for _, owner := range owners {
		if owner != e.Owner && Alive(e.Data, owner) {
			return false
		}
	}
	x, ok := e.Executor.(witness)
	return err == nil && !(ok && x.Abandoned())
}

// yield skips the ticks of workflows with `overlap: skip` that meet runs of
// other processes.
func (e *Engine) yield(ctx context.Context, ticks []*pendingTick) error {
	var all *others
	for _, p := range ticks {
		if p.file == nil || !p.yields || p.run.State.Final() {
			continue
		}
		if all == nil {
			if e.Owner == "" || e.alone() {
				return nil
			}
			o, err := e.othersHave(ctx)
			if err != nil {
				return errors.Join(errors.New("count the runs of other processes"), err)
			}
			all = &o
		}
		theirs := all.runs[p.run.Workflow]
		if len(theirs) > 0 && p.beside+len(theirs) >= p.file.Head.MaxActive.Or(1) {
			p.skip(theirs[0])
		}
	}
	return nil
}
