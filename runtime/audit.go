package runtime

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/ax-scheduler/ax/store"
)

// Actor is who asks for a change.
type Actor struct {
	By   string // a name to be recorded, never a token
	From string // address that the request came from; empty where it came by none
}

// asked is one request of somebody.
type asked struct {
	Actor
	at      time.Time
	settled atomic.Bool // it is recorded, or changes nothing
	looks   atomic.Bool // it only asks what would be
}

type askedKey struct{}

// WithActor says who asks for what is done in a context, from now on: each change
// that an engine makes for it is recorded, once.
func WithActor(ctx context.Context, a Actor) context.Context {
	return context.WithValue(ctx, askedKey{}, &asked{Actor: a, at: timestamp(time.Now())})
}

// withoutActor is for what an engine does by itself.
func withoutActor(ctx context.Context) context.Context {
	return context.WithValue(ctx, askedKey{}, (*asked)(nil))
}

// Done is the answer of changes that were made.
const Done = "done"

// changeFor gives the record of a change to be written with it; none where nobody
// has asked for it. Once it is written, settle is called.
func changeFor(ctx context.Context, action, workflow, run string) []store.Change {
	a, _ := ctx.Value(askedKey{}).(*asked)
	if a == nil {
		return nil
	}
	return []store.Change{{At: a.at, By: a.By, From: a.From, Action: action, Workflow: workflow, RunID: run, Answer: Done}}
}

// settle says that a request needs no record any more: it has one, or it changes
// nothing.
func settle(ctx context.Context) {
	if a, _ := ctx.Value(askedKey{}).(*asked); a != nil {
		a.settled.Store(true)
	}
}

// LookOnly says that what somebody asks for in a context changes nothing, whatever
// its answer will be.
func LookOnly(ctx context.Context) {
	if a, _ := ctx.Value(askedKey{}).(*asked); a != nil {
		a.looks.Store(true)
		a.settled.Store(true)
	}
}

// Looks tells whether LookOnly was said of a context.
func Looks(ctx context.Context) bool {
	a, _ := ctx.Value(askedKey{}).(*asked)
	return a != nil && a.looks.Load()
}

// Record writes into the store what the actor of a context has asked for, and what
// became of it: Done, or why not. It does nothing where that was written with the
// change itself.
func Record(ctx context.Context, st store.Store, action, workflow, run, answer string) error {
	changes := changeFor(ctx, action, workflow, run)
	if changes == nil || ctx.Value(askedKey{}).(*asked).settled.Swap(true) {
		return nil
	}
	changes[0].Answer = answer
	return st.Commit(context.WithoutCancel(ctx), &store.Batch{Changes: changes})
}

// keepChanges is how long it is known at least who changed what. It is longer
// where runs are kept longer.
const keepChanges = 400 * 24 * time.Hour

// forgetChanges gives the time before which changes go.
func (p *Prune) forgetChanges(now time.Time) time.Time {
	keep := max(keepChanges, p.Default.Age)
	for _, r := range p.Workflows {
		keep = max(keep, r.Age)
	}
	return now.Add(-keep)
}
