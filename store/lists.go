package store

import (
	"context"

	"github.com/ax-scheduler/ax/runtime/machine"
)

// Place is where the record of a task, or of one of its instances, stands among
// those of its run.
type Place struct {
	Index    int // in Version.Tasks
	Instance int // of a foreach, from 0; -1 for the task itself
}

// Mark is what a list of a run's tasks is made from: far less than their
// records, of which a run may have many thousands.
type Mark struct {
	Place
	State  machine.TaskState
	Reason machine.Reason
	Tried  bool // it has had an attempt
	Gave   bool // it has outputs
}

// MarkFilter selects marks.
type MarkFilter struct {
	Runs   []string            // ids
	Whole  bool                // of tasks alone, not of the instances of a foreach
	Apart  bool                // with Whole: many instances lie between the tasks, which changes nothing but how they are found
	States []machine.TaskState // empty for all
}

// Lists is what lists and pages ask for, which show a part of what there is.
type Lists interface {
	// LastRuns gives the newest runs of each of some workflows that are in some
	// states, nil for all, at most limit of each, by workflow and newest first.
	LastRuns(ctx context.Context, workflows []string, states []machine.RunState, limit int) ([]Run, error)
	// Marks gives the marks of runs, by the ids of those that have any, in the
	// order of Tasks.
	Marks(ctx context.Context, f MarkFilter) (map[string][]Mark, error)
	// TasksAt gives those of a run's records of tasks that stand in some places,
	// in the order of Tasks.
	TasksAt(ctx context.Context, runID string, places []Place) ([]Task, error)
	// AttemptsAt gives the attempts of what stands in some places, in the order
	// of Attempts.
	AttemptsAt(ctx context.Context, runID string, places []Place) ([]Attempt, error)
	// Versions gives the versions of a workflow without their texts that come
	// before one, by CreatedAt and Hash, the last first, at most limit; before
	// the zero Version come all.
	Versions(ctx context.Context, workflow string, before Version, limit int) ([]Version, error)
}
