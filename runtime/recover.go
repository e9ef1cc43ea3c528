package runtime

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/store"
)

// Startup says what a starting engine does with the unfinished runs of dead ones.
type Startup string

// The policies (DESIGN.md, promise 4).
const (
	StartupRecover Startup = "recover" // go on with them, with what remains of their pauses
	StartupRunAll  Startup = "run_all" // go on with them, without the pauses
	StartupCancel  Startup = "cancel"  // cancel all of them
)

// Startups are all policies.
var Startups = []Startup{StartupRecover, StartupRunAll, StartupCancel}

// lookForDead is how often an engine that serves looks for others that have died.
const lookForDead = 2 * time.Second

// Recover makes this engine one that serves: it takes over every run that is
// going and whose engine has died, and from now on the delayed and queued runs
// that wait in the store. Runs of engines that live are left to them; one that
// cannot be taken over is told of in the log and left as it is. What is going is
// taken in before anything starts, so that nothing new gets a slot that an
// adopted attempt has.
func (e *Engine) Recover(ctx context.Context, policy Startup) error {
	e.init()
	done, err := e.take(ctx)
	if err != nil {
		return err
	}
	defer done()
	going, queued, err := e.takeDead(ctx, policy)
	if err != nil {
		return err
	}
	switch policy {
	case StartupCancel:
		err = e.cancelDelayed(ctx)
	case StartupRunAll:
		err = e.queueDelayed(ctx, queued)
	}
	if err != nil {
		return err
	}
	return e.hand(ctx, func(lp *loop) error {
		lp.serving = true
		for _, r := range going {
			policy.goOn(lp, r)
		}
		lp.lookAt(lp.now())
		for name, n := range queued {
			lp.flow(name).leave(n)
			lp.next(name)
		}
		return nil
	})
}

// takeDead takes over the runs of dead engines that are going, and counts the
// queued ones by workflow. With StartupCancel it takes over these too.
func (e *Engine) takeDead(ctx context.Context, policy Startup) (going []*resumed, queued map[string]int, err error) {
	queued = map[string]int{}
	for after := ""; ; {
		runs, err := e.Store.Unfinished(ctx, after, store.MaxLimit)
		if err != nil {
			return nil, nil, fmt.Errorf("look for unfinished runs: %w", err)
		}
		for _, run := range runs {
			after = run.ID
			if run.Owner == e.Owner || run.Owner != "" && Alive(e.Data, run.Owner) {
				continue
			}
			if run.State == machine.RunQueued && policy != StartupCancel {
				queued[run.Workflow]++
				continue
			}
			var r *resumed
			err := e.patiently(ctx, func() (err error) {
				r, err = e.takeUnfinished(ctx, run.ID)
				return err
			})
			if err != nil {
				e.Log.Error("a run of a dead engine cannot be gone on with", "run", run.ID, "workflow", run.Workflow, "error", err)
				continue
			}
			going = append(going, r)
			e.Log.Info("a run of a dead engine was taken over", "run", run.ID, "workflow", run.Workflow, "adopted", r.alive())
		}
		if len(runs) < store.MaxLimit {
			return going, queued, nil
		}
	}
}

// queueDelayed has every delayed run wait for nothing but its turn.
func (e *Engine) queueDelayed(ctx context.Context, queued map[string]int) error {
	for {
		runs, err := e.Store.Scheduled(ctx, store.MaxLimit)
		if err != nil || len(runs) == 0 {
			return err
		}
		for i := range runs {
			runs[i].State = machine.RunQueued
			queued[runs[i].Workflow]++
		}
		if _, err := e.claim(ctx, runs); err != nil {
			return err
		}
	}
}

// cancelDelayed cancels every delayed run.
func (e *Engine) cancelDelayed(ctx context.Context) error {
	for {
		runs, err := e.Store.Scheduled(ctx, store.MaxLimit)
		if err != nil || len(runs) == 0 {
			return err
		}
		for _, run := range runs {
			if err := e.cancelWaiting(ctx, run.ID, "--startup cancel"); err != nil {
				return err
			}
		}
	}
}

// alive counts the attempts that go on.
func (r *resumed) alive() (n int) {
	for _, a := range r.adopted {
		if a.Await != nil {
			n++
		}
	}
	return n
}

// goOn goes on with a run that was taken over as the policy says. What has failed
// meanwhile would begin its pause now: that is not waited for either.
func (p Startup) goOn(lp *loop, r *resumed) {
	first := func(*loop, *live) {}
	if p == StartupCancel {
		first = cancelBy("--startup cancel")
	}
	lp.goOn(r, first)
	if p != StartupRunAll {
		return
	}
	for _, c := range r.l.run.Pending() {
		if w, ok := c.(machine.WakeAt); ok && w.Timer == machine.TimerRetry {
			lp.apply(r.l, machine.RetryDue{Task: w.Task, Instance: w.Instance, Attempt: w.Attempt, At: lp.now()})
		}
	}
}

// Succeed takes over the runs of engines that die, until ctx is done. A few
// seconds pass before it is noticed.
func (e *Engine) Succeed(ctx context.Context) {
	e.init()
	for tick := time.NewTicker(lookForDead); ; {
		select {
		case <-ctx.Done():
			tick.Stop()
			return
		case <-tick.C:
		}
		dead, err := e.deadClaims()
		if err == nil && len(dead) > 0 {
			err = e.Recover(ctx, StartupRecover)
		}
		if err != nil {
			if ctx.Err() == nil {
				e.Log.Error("the runs of a dead engine cannot be looked for", "error", err)
			}
			continue
		}
		for _, owner := range dead {
			removeClaim(e.Data, owner)
		}
	}
}

// Tidy removes what dead engines have left that nobody needs: their claims, and
// the scratch files of runs that have ended. It is for the engine that serves,
// after Recover.
func (e *Engine) Tidy(ctx context.Context) error {
	dead, err := e.deadClaims()
	if err != nil {
		return err
	}
	for _, owner := range dead {
		removeClaim(e.Data, owner)
	}
	scratch := filepath.Join(e.Data, "scratch")
	entries, err := os.ReadDir(scratch)
	if os.IsNotExist(err) {
		return nil
	}
	for _, entry := range entries {
		run, notThere := e.Store.Run(ctx, entry.Name())
		if notThere == nil && run.State.Final() {
			_ = os.RemoveAll(filepath.Join(scratch, entry.Name())) // or the next start does
		}
	}
	return err
}
