package runtime

import (
	"context"
	"errors"
	"time"

	"github.com/ax-scheduler/ax/runtime/trigger"
	"github.com/ax-scheduler/ax/store"
)

// FindPause gives the pause of a workflow that is under way; false where its
// schedules are not paused.
func FindPause(ctx context.Context, st store.Store, workflow string) (store.Pause, bool, error) {
	all, err := st.Pauses(ctx)
	for _, p := range all {
		if p.Workflow == workflow && p.Until.IsZero() {
			return p, true, err
		}
	}
	return store.Pause{}, false, err
}

// PauseIn writes into a store that nobody serves that the schedules of a workflow
// are paused, and gives the pause. One that is under way goes on.
func PauseIn(ctx context.Context, st store.Store, workflow, by string) (store.Pause, error) {
	if p, paused, err := FindPause(ctx, st, workflow); err != nil || paused {
		return p, err
	}
	p := store.Pause{Workflow: workflow, By: by, Since: timestamp(time.Now())}
	err := st.Commit(ctx, &store.Batch{Pause: []store.Pause{p}, Changes: changeFor(ctx, "pause", workflow, "")})
	if errors.Is(err, store.ErrConflict) { // somebody was quicker
		p, _, err = FindPause(ctx, st, workflow)
	} else if err == nil {
		settle(ctx)
	}
	return p, err
}

// UnpauseIn ends the pause of a workflow in a store that nobody serves, and tells
// whether there was one.
func UnpauseIn(ctx context.Context, st store.Store, workflow string) (was bool, err error) {
	p, was, err := FindPause(ctx, st, workflow)
	if err != nil || !was {
		return was, err
	}
	if p.Until = timestamp(time.Now()); !p.Until.After(p.Since) {
		p.Until = p.Since.Add(time.Microsecond) // the clock was set back
	}
	if err := st.Commit(ctx, &store.Batch{Pause: []store.Pause{p}, Changes: changeFor(ctx, "resume", workflow, "")}); err != nil {
		return true, err
	}
	settle(ctx)
	return true, nil
}

// Pause keeps the schedules and the `after` of a workflow from starting it, until
// Unpause, and gives the pause. Once it returns no tick starts a run, and each that
// is due has its row in the ledger. Runs that are there, and those that are asked
// for, go on. A pause that is under way stays as it is.
func (e *Engine) Pause(ctx context.Context, workflow, by string) (p store.Pause, err error) {
	err = e.changePauses(ctx, func() (err error) {
		p, err = PauseIn(ctx, e.Store, workflow, by)
		return err
	})
	return p, err
}

// Unpause lets the schedules of a workflow start it again, with the next tick, and
// tells whether they were paused.
func (e *Engine) Unpause(ctx context.Context, workflow string) (was bool, err error) {
	err = e.changePauses(ctx, func() (err error) {
		was, err = UnpauseIn(ctx, e.Store, workflow)
		return err
	})
	return was, err
}

func (e *Engine) changePauses(ctx context.Context, change func() error) error {
	done, err := e.take(ctx)
	if err != nil {
		return err
	}
	defer done()
	if err := change(); err != nil {
		return err
	}
	return e.readPauses(ctx)
}

// readPauses has the loop go by the pauses that are in the store. Whoever calls it
// has taken (see take), so that no older ones come later.
func (e *Engine) readPauses(ctx context.Context) error {
	all, err := e.Store.Pauses(ctx)
	if err != nil {
		return err
	}
	return e.look(ctx, func(lp *loop) {
		lp.pauses, lp.paused = map[string][]trigger.Pause{}, map[string]store.Pause{}
		for _, p := range all {
			lp.pauses[p.Workflow] = append(lp.pauses[p.Workflow], trigger.Pause{Since: p.Since, Until: p.Until})
			if p.Until.IsZero() {
				lp.paused[p.Workflow] = p
			}
		}
	})
}

// Paused gives the pauses that are under way, by workflow.
func (e *Engine) Paused(ctx context.Context) (map[string]store.Pause, error) {
	e.init()
	return lookFor(ctx, e, func(lp *loop) map[string]store.Pause { return lp.paused }) // replaced as a whole, never changed
}
