package runtime_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/store"
)

func TestPruneKeepsWhatRetentionSaysAndNothingElse(t *testing.T) {
	x := &script{took: map[string]time.Duration{"slow": 1000 * time.Hour}}
	inEngine(t, x, func(ctx context.Context, e *runtime.Engine) {
		load(ctx, t, e, "name: flow\nevery: 1h\ntasks:\n  a: {run: x}\n")
		slow := start(ctx, t, e, runtime.Request{Plan: plan(t, "name: slow\ntasks:\n  slow: {run: x}\n")})
		time.Sleep(100*time.Hour + time.Minute)
		before := runsOf(ctx, t, e, x)
		if len(before) != 100 {
			t.Fatalf("%d runs", len(before))
		}
		files := func() (n int) {
			for _, dir := range []string{"logs", "artifacts"} {
				found, err := filepath.Glob(filepath.Join(e.Data, dir, "*"))
				if err != nil {
					t.Fatal(err)
				}
				n += len(found)
			}
			return n
		}
		if n := files(); n != 202 {
			t.Fatalf("%d folders of 101 runs", n)
		}
		prune := func(p runtime.Prune, gone int, left ...string) {
			t.Helper()
			removed, err := e.Prune(ctx, p)
			if err != nil || len(removed) != gone {
				t.Fatalf("%+v removed %d runs, %v, want %d", p, len(removed), err, gone)
			}
			equal(t, runsOf(ctx, t, e, x), left)
		}
		prune(runtime.Prune{}, 0, before...)
		prune(runtime.Prune{Default: runtime.Retention{Runs: 10}, DryRun: true}, 90, before...)
		prune(runtime.Prune{Default: runtime.Retention{Runs: 10}, Only: []string{"slow"}}, 0, before...)
		prune(runtime.Prune{Default: runtime.Retention{Runs: 1}, Workflows: map[string]runtime.Retention{"flow": {Runs: 30}}}, 70, before[70:]...)
		prune(runtime.Prune{Default: runtime.Retention{Runs: 50, Age: 20*time.Hour + 30*time.Minute}}, 9, before[79:]...)
		if n := files(); n != 2*22 {
			t.Errorf("%d folders of 22 runs", n)
		}
		// The ticks as old as these are gone, but for the first, which says when
		// the schedule was loaded.
		ticks, err := e.Store.Ticks(ctx, "flow", time.Time{}, time.Now(), 0)
		if err != nil || len(ticks) != 22 || ticks[0].Outcome != store.TickLoaded {
			t.Errorf("%d ticks, %v", len(ticks), err)
		}
		if run, err := e.Store.Run(ctx, slow.ID); err != nil || run.State.String() != "running" {
			t.Errorf("the run under way is %s, %v", run.State, err)
		}
		if _, err := os.Stat(filepath.Join(e.Data, "logs", slow.ID)); err != nil {
			t.Error(err)
		}
	})
}
