package runtime

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/runtime/reload"
	"github.com/ax-scheduler/ax/store"
)

// What waits stays in the store: delayed runs until their time, queued ones
// until their workflow has room. The loop holds only those whose turn is next.

const cancelledBeforeStart = "cancelled on request before it started"

// keepWaiting is how many of the queued runs of one workflow the loop holds.
const keepWaiting = 64

// lookLimit is how many delayed runs are taken out of the store at a time.
const lookLimit = 256

// Leave makes a run for the engine that serves the data folder to carry out, now
// or when there is one. This engine need not serve.
func (e *Engine) Leave(ctx context.Context, q Request) (store.Run, error) {
	e.init()
	run, _, err := e.create(ctx, q, "")
	return run, err
}

// lookAt has the loop look for delayed runs at some time.
func (lp *loop) lookAt(at time.Time) {
	lp.due = earlier(lp.due, at)
}

// lookForDue takes the delayed runs out of the store whose time has come.
func (lp *loop) lookForDue() {
	if !lp.serving || lp.looking || lp.ctx.Err() != nil || lp.due.IsZero() || lp.due.After(lp.now()) {
		return
	}
	lp.looking, lp.due = true, time.Time{}
	e, ctx, catalog := lp.e, lp.ctx, lp.catalog
	var unqueued []string
	if now := lp.now(); now.Sub(lp.followed) < e.longest || catalog == nil {
		catalog = nil
	} else {
		lp.followed, unqueued = now, lp.unqueued(catalog)
	}
	lp.workers.Go(func() {
		next, err := e.startDue(ctx)
		if err == nil && catalog != nil {
			err = e.catchUpAfter(ctx, catalog)
		}
		var more []string
		if err == nil && len(unqueued) > 0 {
			more, err = e.takeLeft(ctx, unqueued)
		}
		if err != nil && ctx.Err() == nil {
			e.Log.Error("what waits in the store cannot be started", "error", err)
		}
		_ = e.send(ctx, func(lp *loop) { // or it is over
			lp.looking = false
			if latest := lp.now().Add(e.longest); next.After(latest) { // the clock was set back meanwhile
				next = latest
			}
			lp.lookAt(next)
			for _, name := range more {
				lp.flow(name).leave(1)
				lp.next(name)
			}
		})
	})
}

// unqueued gives the workflows that have no queued runs in the store, as far as
// the loop knows.
func (lp *loop) unqueued(c *reload.Catalog) (names []string) {
	for name := range c.Workflows {
		if f := lp.flows[name]; f == nil || f.beyond == 0 && !f.fetching {
			names = append(names, name)
		}
	}
	return names
}

// takeLeft takes in the queued runs of some workflows that another process has
// left in the store. It gives the workflows of which there may be more.
func (e *Engine) takeLeft(ctx context.Context, names []string) (more []string, err error) {
	done, err := e.take(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	if names, err = e.withQueued(ctx, names); err != nil {
		return nil, err
	}
	for _, name := range names {
		runs, err := e.Store.Queued(ctx, name, keepWaiting)
		if err != nil {
			return more, err
		}
		if len(runs) == keepWaiting {
			more = append(more, name)
		}
		// Its own are on their way to the loop.
		runs = slices.DeleteFunc(runs, func(r store.Run) bool { return r.Owner != "" })
		if len(runs) > 0 {
			err = e.takeIn(ctx, runs)
		}
		if err != nil {
			return more, err
		}
	}
	return more, nil
}

// withQueued leaves of some workflows those that have queued runs in the store, as
// far as one look can tell: of thousands hardly any do.
func (e *Engine) withQueued(ctx context.Context, names []string) ([]string, error) {
	runs, err := e.Store.Runs(ctx, store.RunFilter{States: []machine.RunState{machine.RunQueued}, Limit: store.MaxLimit})
	if err != nil || len(runs) == store.MaxLimit {
		return names, err
	}
	have := make(map[string]bool, len(runs))
	for _, r := range runs {
		have[r.Workflow] = true
	}
	return slices.DeleteFunc(names, func(name string) bool { return !have[name] }), nil
}

// LookAgain has the engine look at once for runs that others left in the store,
// which it otherwise does twice a minute. Who serves calls it when others can
// reach it, for until then they leave theirs.
func (e *Engine) LookAgain(ctx context.Context) error {
	e.init()
	return e.look(ctx, func(lp *loop) {
		lp.followed = time.Time{}
		lp.lookAt(lp.now())
	})
}

// startDue starts the delayed runs whose time has come and gives the time at
// which to look for more. Those that another process leaves in the store it does
// not hear of, so it looks even where none waits.
func (e *Engine) startDue(ctx context.Context) (next time.Time, err error) {
	now := e.now()
	next = now.Add(e.longest)
	done, err := e.take(ctx)
	if err != nil {
		return next, err
	}
	defer done()
	if err := e.readPauses(ctx); err != nil {
		return next, err
	}
	runs, err := e.Store.Scheduled(ctx, lookLimit)
	if err != nil {
		return next, err
	}
	now = e.now()
	n, next := due(runs, func(r *store.Run) time.Time { return r.NotBefore }, now, next)
	if n == lookLimit {
		next = now
	}
	for i := range runs[:n] {
		runs[i].State = machine.RunQueued
	}
	return next, e.takeIn(ctx, runs[:n])
}

// fetch fills up the queued runs of a workflow that the loop holds. It reads them
// once those that have started are on disk: until then the store has them as queued,
// and a look at it would find nothing but them, again and again.
func (lp *loop) fetch(name string) {
	f := lp.flow(name)
	if f.fetching || f.beyond == 0 || lp.ctx.Err() != nil {
		return
	}
	f.fetching = true
	lp.after = append(lp.after, func() { lp.fetchNow(name) })
}

func (lp *loop) fetchNow(name string) {
	e, ctx := lp.e, lp.ctx
	if ctx.Err() != nil {
		return
	}
	lp.flow(name).grown = false
	lp.workers.Go(func() {
		taken, all, err := e.takeQueued(ctx, name)
		if err != nil && ctx.Err() == nil {
			e.Log.Error("queued runs cannot be started", "workflow", name, "error", err)
		}
		_ = e.send(ctx, func(lp *loop) {
			f := lp.flow(name)
			f.beyond = max(1, f.beyond-taken)
			switch {
			case f.grown:
			case all:
				f.beyond = 0
			case taken == 0: // they cannot be read, or those of others are before them
				lp.fetchLater(name)
				return
			}
			f.fetching = false
			lp.next(name)
		})
	})
}

func (lp *loop) fetchLater(name string) {
	e, ctx := lp.e, lp.ctx
	lp.workers.Go(func() {
		select {
		case <-time.After(e.longest):
		case <-ctx.Done():
			return
		}
		_ = e.send(ctx, func(lp *loop) { // or it is over
			lp.flow(name).fetching = false
			lp.next(name)
		})
	})
}

// takeQueued takes in the queued runs of a workflow whose turns are next. It
// tells how many they are, and whether none is left in the store. None are taken
// where those that the store gives at a time are all those of other engines.
func (e *Engine) takeQueued(ctx context.Context, name string) (taken int, all bool, err error) {
	done, err := e.take(ctx)
	if err != nil {
		return 0, false, err
	}
	defer done()
	for limit := keepWaiting; ; limit *= 2 {
		runs, err := e.Store.Queued(ctx, name, limit)
		if err != nil {
			return 0, false, err
		}
		all := len(runs) < min(limit, store.MaxLimit)
		runs = slices.DeleteFunc(runs, func(r store.Run) bool {
			return r.Owner != "" && r.Owner != e.Owner && Alive(e.Data, r.Owner)
		})
		if len(runs) == 0 && !all && limit < store.MaxLimit {
			continue // all of these belong to others
		}
		// What is not taken in now is not looked for again.
		return len(runs), all, e.patiently(ctx, func() error { return e.takeIn(ctx, runs) })
	}
}

// takeIn makes queued runs of the store those of this engine and hands them to
// the loop. One that cannot be carried out fails.
func (e *Engine) takeIn(ctx context.Context, runs []store.Run) error {
	if len(runs) == 0 {
		return nil
	}
	known := map[string]bool{}
	if err := e.look(ctx, func(lp *loop) {
		for _, r := range runs {
			known[r.ID] = lp.live[r.ID] != nil
		}
	}); err != nil {
		return err
	}
	var lives []*live
	var claims []store.Run
	for _, rec := range runs {
		if known[rec.ID] {
			continue
		}
		l, err := e.revive(ctx, rec)
		if err != nil {
			rec.State, rec.Reason, rec.Error = machine.RunFailed, machine.ReasonStartError, err.Error()
			rec.FinishedAt = e.now()
			l = nil
		} else if !l.run.Waits() {
			continue // it has started since it was read
		}
		if rec.Owner != e.Owner || l == nil {
			rec.Owner = e.Owner
			claims = append(claims, rec)
			rec.Events++ // of the claim
		}
		if l != nil {
			l.rec = rec
			lives = append(lives, l)
		}
	}
	lost, err := e.claim(ctx, claims)
	return errors.Join(err, e.hand(ctx, func(lp *loop) error {
		for _, r := range claims {
			if r.State.Final() && !lost[r.ID] {
				lp.tellWaiters(r.ID)
			}
		}
		for _, l := range lives {
			if !lost[l.rec.ID] {
				lp.admit(l)
			}
		}
		return nil
	}))
}

// revive brings a stored run to life.
func (e *Engine) revive(ctx context.Context, rec store.Run) (*live, error) {
	r, err := e.replay(ctx, rec)
	if err != nil {
		return nil, err
	}
	if err := e.refusal(r.Plan()); err != nil {
		return nil, err
	}
	env, err := newEnvironment(e, r.Plan(), &rec)
	if err != nil {
		return nil, err
	}
	return &live{run: r, rec: rec, env: env}, nil
}

// claim writes the new records of runs that have not started. It gives those
// that another engine, or a cancel, was quicker with; with an error, also those
// that it did not come to.
func (e *Engine) claim(ctx context.Context, runs []store.Run) (lost map[string]bool, err error) {
	lost = map[string]bool{}
	if len(runs) == 0 {
		return lost, nil
	}
	err = e.writeClaims(ctx, runs)
	quicker := errors.Is(err, store.ErrConflict) || errors.Is(err, store.ErrNotFound)
	switch {
	case quicker && len(runs) > 1:
		err = nil
		for i := range runs {
			one := map[string]bool{runs[i].ID: true}
			if err == nil {
				one, err = e.claim(ctx, runs[i:i+1])
			}
			maps.Copy(lost, one)
		}
		return lost, err
	case quicker:
		return map[string]bool{runs[0].ID: true}, nil
	case err != nil:
		for i := range runs {
			lost[runs[i].ID] = true
		}
		return lost, err
	}
	for _, r := range runs {
		e.publish(Update{Run: r})
	}
	return lost, nil
}

func (e *Engine) writeClaims(ctx context.Context, runs []store.Run) error {
	b := &store.Batch{Update: runs}
	e.tellEnds(ctx, b, e.startFailures(ctx, runs))
	for _, r := range runs {
		data, err := machine.Encode(machine.TakenOver{By: e.Owner, At: e.now()})
		if err != nil {
			return err
		}
		b.Append = append(b.Append, store.Appended{RunID: r.ID, Have: r.Events, Data: [][]byte{data}})
	}
	return e.commit(ctx, b)
}

// cancelWaiting keeps a run from starting, or from going on after a retry, that
// waits in the store alone.
func (e *Engine) cancelWaiting(ctx context.Context, id, by string) error {
	rec, err := e.Store.Run(ctx, id)
	if err != nil {
		return err
	}
	waits := rec.State == machine.RunScheduled || rec.State == machine.RunQueued
	if !waits || rec.Owner != "" && rec.Owner != e.Owner && Alive(e.Data, rec.Owner) {
		return fmt.Errorf("run %s: %w", id, store.ErrNotFound)
	}
	if !rec.StartedAt.IsZero() {
		return e.resumeTaken(ctx, id, cancelBy(by))
	}
	rec.State, rec.Reason, rec.Error = machine.RunCancelled, machine.ReasonCancelled, cancelledBeforeStart
	rec.FinishedAt = e.now()
	lost, err := e.claim(ctx, []store.Run{rec})
	if err != nil {
		return err
	}
	if lost[id] {
		return fmt.Errorf("run %s has gone on meanwhile: %w", id, store.ErrConflict)
	}
	return e.look(ctx, func(lp *loop) { lp.tellWaiters(id) })
}

// tellWaiters lets go of those who wait for the end of a run.
func (lp *loop) tellWaiters(id string) {
	for _, w := range lp.waiters[id] {
		close(w)
	}
	delete(lp.waiters, id)
}

// wait puts a run behind those of its workflow whose turns are earlier. Beyond
// keepWaiting the last are left to the store again.
func (lp *loop) wait(f *flow, l *live) {
	at, _ := slices.BinarySearchFunc(f.waiting, l, byTurn)
	f.waiting = slices.Insert(f.waiting, at, l)
	for i := len(f.waiting) - 1; i >= 0 && len(f.waiting) > keepWaiting; i-- {
		if last := f.waiting[i]; !lp.held(last) {
			f.waiting = slices.Delete(f.waiting, i, i+1)
			f.leave(1)
			delete(lp.live, last.rec.ID)
		}
	}
}

func byTurn(a, b *live) int {
	return cmp.Or(a.rec.Turn.Compare(b.rec.Turn), cmp.Compare(a.rec.ID, b.rec.ID))
}

// held tells whether a queued run has to stay with the loop: somebody waits for
// its end, a newer tick may take its place, or it has something to write. An
// engine that does not serve takes nothing out of the store again.
func (lp *loop) held(l *live) bool {
	return !lp.serving || len(lp.waiters[l.rec.ID]) > 0 || l.touched || l.replaceable()
}
