package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/runtime/reload"
	"github.com/ax-scheduler/ax/store"
)

// workflowNames lists the workflows of the folder; without a folder there are
// none.
func (g *globals) workflowNames() ([]string, error) {
	names, err := reload.Names(g.workflows)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return names, err
}

// tellUnknown says of a workflow of which nothing was found that it is neither
// in the folder nor has runs in the store, since its name may be a slip. Where
// that cannot be found out it says nothing.
func (g *globals) tellUnknown(ctx context.Context, name string) {
	names, err := g.workflowNames()
	if err != nil || slices.Contains(names, name) {
		return
	}
	if runs, err := g.readRuns(ctx, store.RunFilter{Workflow: name, Limit: 1}); err != nil || len(runs) > 0 {
		return
	}
	fmt.Fprintf(g.stderr, "ax: there is neither a run of %q nor a workflow of that name in %q: %s\n", name, g.workflows, dsl.Meant(name, names))
}
