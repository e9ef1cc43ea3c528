package runtime

import (
	"context"
	"fmt"

	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/store"
)

// Startup says what a starting engine does with the unfinished runs of dead ones.
type Startup string

// The policies (DESIGN.md, promise 4).
const (
	StartupRecover Startup = "recover" // go on with them
	StartupCancel  Startup = "cancel"  // cancel all of them
)

// Recover makes this engine one that serves: it takes over every run that is
// going and whose engine has died, and from now on the delayed and queued runs
// that wait in the store. Runs of engines that live are left to them; one that
// cannot be taken over is told of in the log and left as it is.
func (e *Engine) Recover(ctx context.Context, policy Startup) error {
	e.init()
	if err := e.look(ctx, func(lp *loop) { lp.serving = true }); err != nil {
		return err
	}
	queued := map[string]int{}
	for after := ""; ; {
		runs, err := e.Store.Unfinished(ctx, after, store.MaxLimit)
		if err != nil {
			return fmt.Errorf("look for unfinished runs: %w", err)
		}
		for _, run := range runs {
			after = run.ID
			switch {
			case run.Owner == e.Owner || run.Owner != "" && Alive(e.Data, run.Owner):
			case run.State == machine.RunQueued && policy == StartupRecover:
				queued[run.Workflow]++
			default:
				e.recoverOne(ctx, run, policy)
			}
		}
		if len(runs) < store.MaxLimit {
			break
		}
	}
	if policy == StartupCancel {
		if err := e.cancelDelayed(ctx); err != nil {
			return err
		}
	}
	return e.look(ctx, func(lp *loop) {
		lp.lookAt(lp.now())
		for name, n := range queued {
			lp.flow(name).beyond += n
			lp.next(name)
		}
	})
}

func (e *Engine) recoverOne(ctx context.Context, run store.Run, policy Startup) {
	do := e.Resume
	if policy == StartupCancel {
		do = func(ctx context.Context, id string) error { return e.ResumeToCancel(ctx, id, "--startup cancel") }
	}
	if err := do(ctx, run.ID); err != nil {
		e.Log.Error("a run of a dead engine cannot be gone on with", "run", run.ID, "workflow", run.Workflow, "error", err)
		return
	}
	e.Log.Info("a run of a dead engine was taken over", "run", run.ID, "workflow", run.Workflow)
}

// cancelDelayed cancels every delayed run.
func (e *Engine) cancelDelayed(ctx context.Context) error {
	for {
		runs, err := e.Store.Scheduled(ctx, store.MaxLimit)
		if err != nil || len(runs) == 0 {
			return err
		}
		for _, run := range runs {
			if err := e.cancelWaiting(ctx, run.ID); err != nil {
				return err
			}
		}
	}
}
