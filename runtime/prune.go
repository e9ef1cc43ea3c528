package runtime

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/runtime/reload"
	"github.com/ax-scheduler/ax/store"
)

// Retention bounds what is kept of a workflow's ended runs: what is beyond Runs
// or older than Age goes. Zero is no bound.
type Retention struct {
	Runs int
	Age  time.Duration
}

// Prune says what is kept.
type Prune struct {
	Default   Retention            // of workflows that say nothing
	Workflows map[string]Retention // of those that do
	Only      []string             // only runs of these workflows; empty for all
	DryRun    bool                 // tell what would go, and remove nothing
}

func retentionOf(wf *dsl.Workflow) (Retention, bool) {
	if wf.Retention == nil {
		return Retention{}, false
	}
	return Retention{Runs: wf.Retention.Runs.V, Age: wf.Retention.Age.V}, true
}

// Retentions gives what the workflows of a folder say of their runs, by name.
func Retentions(c *reload.Catalog) map[string]Retention {
	all := map[string]Retention{}
	for name, file := range c.Workflows {
		if r, ok := retentionOf(file.Head); ok {
			all[name] = r
		}
	}
	return all
}

func (p *Prune) of(workflow string) Retention {
	if r, ok := p.Workflows[workflow]; ok {
		return r
	}
	return p.Default
}

// pruneGroup is how many runs are removed in one transaction.
const pruneGroup = 100

// Prune removes ended runs, oldest ones first, with their logs, artifacts and
// records, and gives those that it removed. A run that is under way, or is being
// retried, stays. Ticks as old as the runs go too, and the
// records of changes made more than a year ago.
func (e *Engine) Prune(ctx context.Context, p Prune) ([]store.Run, error) {
	e.init()
	old, ticks, err := e.outdated(ctx, p)
	if p.DryRun {
		settle(ctx)
	}
	if err != nil || p.DryRun {
		return old, err
	}
	var removed []store.Run
	for group := range slices.Chunk(old, pruneGroup) {
		gone, err := e.remove(ctx, group)
		removed = append(removed, gone...)
		if err != nil {
			return removed, err
		}
	}
	rest := &store.Batch{Forget: ticks}
	if len(p.Only) == 0 {
		rest.PurgeChanges = p.forgetChanges(e.now())
	}
	return removed, e.Store.Commit(ctx, rest)
}

// outdated lists the runs that are to go, the oldest first, and from where on
// ticks are kept.
func (e *Engine) outdated(ctx context.Context, p Prune) (old []store.Run, ticks []store.Forgotten, err error) {
	now := e.now()
	seen := map[string]int{}
	f := store.RunFilter{Limit: store.MaxLimit}
	for st := machine.RunScheduled; st <= machine.RunSkipped; st++ {
		if st.Final() {
			f.States = append(f.States, st)
		}
	}
	for {
		runs, err := e.Store.Runs(ctx, f)
		if err != nil {
			return nil, nil, err
		}
		for _, r := range runs {
			f.Before = r.ID
			if len(p.Only) > 0 && !slices.Contains(p.Only, r.Workflow) {
				continue
			}
			keep := p.of(r.Workflow)
			if seen[r.Workflow] == 0 && keep.Age > 0 {
				ticks = append(ticks, store.Forgotten{Workflow: r.Workflow, Before: now.Add(-keep.Age)})
			}
			seen[r.Workflow]++
			if keep.Runs > 0 && seen[r.Workflow] > keep.Runs || keep.Age > 0 && now.Sub(r.FinishedAt) > keep.Age {
				old = append(old, r)
			}
		}
		if len(runs) < store.MaxLimit {
			slices.Reverse(old)
			return old, ticks, nil
		}
	}
}

// remove removes runs that have ended: first their files, so that what a crash
// leaves is found again by its record.
func (e *Engine) remove(ctx context.Context, runs []store.Run) ([]store.Run, error) {
	done, err := e.take(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	var gone []store.Run
	b := &store.Batch{}
	for _, r := range runs {
		now, err := e.Store.Run(ctx, r.ID)
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if !now.State.Final() {
			continue // it is being retried
		}
		for _, dir := range []string{"logs", "artifacts", "scratch"} {
			if err := os.RemoveAll(filepath.Join(e.Data, dir, filepath.Base(r.ID))); err != nil {
				return nil, fmt.Errorf("remove run %s: %w", r.ID, err)
			}
		}
		gone, b.Remove = append(gone, r), append(b.Remove, r.ID)
	}
	if err := e.Store.Commit(ctx, b); err != nil {
		return nil, fmt.Errorf("remove runs: %w", err)
	}
	return gone, nil
}
