package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/store"
	"github.com/ax-scheduler/ax/store/sqlite"
)

// seed puts delayed runs of a workflow into the database of a folder, as `ax
// trigger --at` leaves them.
func seed(dir, text string, dues []time.Time) (err error) {
	st, err := sqlite.Open(filepath.Join(dir, ".ax", "ax.db"), sqlite.Options{Synchronous: sqlite.Normal})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	sum, now := sha256.Sum256([]byte(text)), time.Now()
	version := store.Version{Hash: hex.EncodeToString(sum[:]), Workflow: workflowName(text), Text: []byte(text), CreatedAt: now}
	ctx := context.Background()
	if err := st.Commit(ctx, &store.Batch{Versions: []store.Version{version}}); err != nil {
		return err
	}
	for part := range slices.Chunk(dues, 5000) {
		b := &store.Batch{}
		for _, due := range part {
			b.Create = append(b.Create, store.Run{
				ID: runtime.NewID(now), Workflow: version.Workflow, Version: version.Hash,
				File:  filepath.Join(dir, "workflows", version.Workflow+".yaml"),
				State: machine.RunScheduled, Trigger: store.TriggerManual, Priority: 5,
				ScheduledFor: now, IntervalFrom: now, IntervalTo: now, NotBefore: due,
				Turn: machine.Turn(due, 5), CreatedAt: now,
			})
		}
		if err := st.Commit(ctx, b); err != nil {
			return err
		}
	}
	return nil
}

// workflowName reads the first line of a text, which names the workflow.
func workflowName(text string) (name string) {
	fmt.Sscanf(text, "name: %s", &name)
	return name
}

// lateness gives how late each of n runs began, in milliseconds, the least first.
func lateness(ctx context.Context, dir string, n int) (late []float64, err error) {
	st, err := sqlite.OpenReader(filepath.Join(dir, ".ax", "ax.db"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	for before := ""; len(late) < n; {
		runs, err := st.Runs(ctx, store.RunFilter{Before: before, Limit: store.MaxLimit})
		if err != nil || len(runs) == 0 {
			return nil, cmp.Or(err, fmt.Errorf("%d of %d runs are there", len(late), n))
		}
		for _, r := range runs {
			if !r.State.Final() {
				return nil, fmt.Errorf("run %s is still %s", r.ID, r.State)
			}
			late = append(late, ms(r.StartedAt.Sub(r.NotBefore)))
		}
		before = runs[len(runs)-1].ID
	}
	slices.Sort(late)
	return late, nil
}
