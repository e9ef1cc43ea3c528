package store

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/ax-scheduler/ax/runtime/machine"
)

// LastRuns gives the newest runs of each of some workflows.
func (m *Memory) LastRuns(ctx context.Context, workflows []string, states []machine.RunState, limit int) ([]Run, error) {
	var all []Run
	for _, w := range slices.Compact(slices.Sorted(slices.Values(workflows))) {
		if w == "" { // for Runs that means all
			continue
		}
		runs, err := m.Runs(ctx, RunFilter{Workflow: w, States: states, Limit: limit})
		if err != nil {
			return nil, err
		}
		all = append(all, runs...)
	}
	return all, ctx.Err()
}

// Marks gives the marks of runs.
func (m *Memory) Marks(ctx context.Context, f MarkFilter) (map[string][]Mark, error) {
	if err := m.lock(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	all := map[string][]Mark{}
	for _, id := range slices.Compact(slices.Sorted(slices.Values(f.Runs))) {
		r, ok := m.runs[id]
		if !ok {
			continue
		}
		for _, t := range r.tasks {
			if f.Whole && t.Instance >= 0 || len(f.States) > 0 && !slices.Contains(f.States, t.State) {
				continue
			}
			all[id] = append(all[id], Mark{Place{t.Index, t.Instance}, t.State, t.Reason, t.Attempts > 0, len(t.Outputs) > 0})
		}
		SortMarks(all[id])
	}
	return all, nil
}

// SortMarks puts marks in the order of Tasks.
func SortMarks(all []Mark) {
	slices.SortFunc(all, func(a, b Mark) int { return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(a.Instance, b.Instance)) })
}

// TasksAt gives those of a run's records of tasks that stand in some places.
func (m *Memory) TasksAt(ctx context.Context, runID string, places []Place) ([]Task, error) {
	all, err := m.Tasks(ctx, runID)
	in := setOf(places)
	return slices.DeleteFunc(all, func(t Task) bool { return !in[Place{t.Index, t.Instance}] }), err
}

// AttemptsAt gives the attempts of what stands in some places.
func (m *Memory) AttemptsAt(ctx context.Context, runID string, places []Place) ([]Attempt, error) {
	all, err := m.Attempts(ctx, runID)
	in := setOf(places)
	return slices.DeleteFunc(all, func(a Attempt) bool { return !in[Place{a.Index, a.Instance}] }), err
}

func setOf(places []Place) map[Place]bool {
	in := make(map[Place]bool, len(places))
	for _, p := range places {
		in[p] = true
	}
	return in
}

// Versions gives the versions of a workflow without their texts, the last first.
func (m *Memory) Versions(ctx context.Context, workflow string, before Version, limit int) ([]Version, error) {
	if err := m.lock(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	order := func(a, b Version) int { return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(b.Hash, a.Hash)) }
	all := before.Hash == "" && before.CreatedAt.IsZero()
	var found []Version
	for v := range maps.Values(m.versions) {
		if v.Workflow == workflow && (all || order(before, v) < 0) {
			v.Text = nil
			found = append(found, copyVersion(v))
		}
	}
	slices.SortFunc(found, order)
	return found[:min(len(found), bounded(limit))], nil
}
