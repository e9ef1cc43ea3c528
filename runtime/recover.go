package runtime

import (
	"context"
	"fmt"

	"github.com/ax-scheduler/ax/store"
)

// Startup says what a starting engine does with the unfinished runs of dead ones.
type Startup string

// The policies (DESIGN.md, promise 4).
const (
	StartupRecover Startup = "recover" // go on with them
	StartupCancel  Startup = "cancel"  // cancel all of them
)

// Recover takes over every unfinished run whose engine has died. Runs of engines
// that live are left to them; one that cannot be taken over is told of in the
// log and left as it is.
func (e *Engine) Recover(ctx context.Context, policy Startup) error {
	e.init()
	runs, err := e.Store.Unfinished(ctx, "", store.MaxLimit)
	if err != nil {
		return fmt.Errorf("look for unfinished runs: %w", err)
	}
	for _, run := range runs {
		if run.Owner == e.Owner || run.Owner != "" && Alive(e.Data, run.Owner) {
			continue
		}
		if err := e.recoverOne(ctx, run, policy); err != nil {
			e.Log.Error("a run of a dead engine cannot be gone on with", "run", run.ID, "workflow", run.Workflow, "error", err)
			continue
		}
		e.Log.Info("a run of a dead engine was taken over", "run", run.ID, "workflow", run.Workflow)
	}
	return nil
}

func (e *Engine) recoverOne(ctx context.Context, run store.Run, policy Startup) error {
	if policy == StartupCancel {
		return e.ResumeToCancel(ctx, run.ID, "--startup cancel")
	}
	return e.Resume(ctx, run.ID)
}
