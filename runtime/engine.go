// Package runtime is the engine: one loop that owns every live run and asks
// the machine what happens next, stores it, and only then acts.
//
//	requests · outcomes · timers
//	      │ events
//	      ▼
//	loop ── machine.Apply ──▶ changes ──▶ store.Commit
//	  ▲                   └─▶ commands ─────▶ released once committed
//	  └──────── outcomes ◀── executors ◀──┘
//
// It decides nothing by itself (machine does), knows no SQL (store does) and
// starts no process (executor does).
package runtime

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/runtime/executor"
	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/store"
)

// ErrStopped is given to those who ask an engine for something after its end.
var ErrStopped = errors.New("the engine has stopped")

// ErrRefused marks requests for a run that could not be: parameters that do not
// fit, a secret that is not there, keys that do not work yet.
var ErrRefused = errors.New("refused")

// refused marks an error without changing its words.
type refused struct{ error }

func (r refused) Is(target error) bool { return target == ErrRefused }
func (r refused) Unwrap() error        { return r.error }

// DefaultMaxParallel is the number of attempts that an engine carries out at a
// time unless told otherwise: enough for tasks that mostly wait, few enough
// that a wide workflow does not drown the machine.
const DefaultMaxParallel = 64

// Executor carries out attempts. executor.Executor is the real one.
type Executor interface {
	// Execute returns when the attempt is over; cancelling ctx stops it.
	Execute(ctx context.Context, a executor.Attempt) executor.Outcome
}

// Engine runs workflows. Its fields are set before Serve is called and not
// changed afterwards; its methods may be called from several goroutines.
type Engine struct {
	Store    store.Store
	Executor Executor // nil for the real one, with the registered functions
	Data     string   // folder for logs and artifacts
	Env      []string // environment that tasks inherit, "KEY=value"

	Pools       map[string]int // slots by name; see DSL.md, pool
	MaxParallel int            // attempts at a time; 0 for DefaultMaxParallel
	Drain       time.Duration  // for attempts to end when the engine stops; see Serve
	Owner       string         // name of this engine in the runs it owns
	Zone        *time.Location // of workflows without `timezone`; nil for the local one
	Log         *slog.Logger   // nil to say nothing

	once    sync.Once
	inbox   chan func(*loop)       // asked of the loop, in order
	taking  chan struct{}          // held by who takes a run over, one at a time
	over    chan struct{}          // closed when the loop takes nothing more
	trouble atomic.Pointer[string] // why nothing new is started; nil where all is well
	failed  error                  // why Serve ended; read after over is closed

	calls executor.Registry

	subMu sync.Mutex
	subs  map[chan Update]struct{}
}

func (e *Engine) init() {
	e.once.Do(func() {
		e.inbox = make(chan func(*loop), 256)
		e.over = make(chan struct{})
		e.taking = make(chan struct{}, 1)
		e.subs = map[chan Update]struct{}{}
		if e.Log == nil {
			e.Log = slog.New(slog.DiscardHandler)
		}
		if e.Executor == nil {
			e.Executor = &executor.Executor{Calls: &e.calls}
		}
		if e.MaxParallel == 0 {
			e.MaxParallel = DefaultMaxParallel
		}
	})
}

// Register makes a Go function known to tasks with `call: name`. fn is
// func(context.Context, T) error or func(context.Context, T) (map[string]string,
// error), where the exported fields of the struct T are its parameters; see
// executor.Registry. What a workflow gives to it is checked before a run exists.
func (e *Engine) Register(name string, fn any) error { return e.calls.Register(name, fn) }

// checkCalls tells what is wrong with the calls of a workflow.
func (e *Engine) checkCalls(wf *dsl.Workflow) error {
	var errs []error
	for i := range wf.Tasks {
		t := &wf.Tasks[i]
		if t.Kind != dsl.KindCall {
			continue
		}
		for _, p := range e.calls.Check(t.Call.V, withOf(t)) {
			at, later := t.Call.Pos, false
			for _, f := range t.With {
				if f.Name.V == p.Param {
					at, later = f.Name.Pos, strings.Contains(f.Value.V, "${{")
				}
			}
			if later && p.Kind == executor.BadValue {
				continue // its value is known only when the task starts
			}
			errs = append(errs, fmt.Errorf("%s:%d:%d: task %q: %w", wf.Source.File, at.Line, at.Col, t.ID.V, p))
		}
	}
	return errors.Join(errs...)
}

// Request asks for a run.
type Request struct {
	Plan         *dag.Plan
	Params       map[string]string // of those that the workflow declares
	Only         []dag.Task        // the tasks that belong to the run; nil for all
	Trigger      store.Trigger     // TriggerManual where empty
	ScheduledFor time.Time         // now where zero
	Key          string            // a repeated request with one key gives the first run
}

// Start makes a run and has it carried out. When it returns, the run is on disk.
// It refuses what could not run: parameters that do not fit, keys that do not
// work yet, environment files that cannot be read.
func (e *Engine) Start(ctx context.Context, q Request) (store.Run, error) {
	e.init()
	if err := e.refusal(q.Plan); err != nil {
		return store.Run{}, refused{err}
	}
	now := timestamp(time.Now())
	wf := q.Plan.Workflow
	params, err := checkParams(wf, q.Params)
	if err != nil {
		return store.Run{}, refused{err}
	}
	q.Params = params
	run := e.newRun(q, now)
	l, err := e.newLive(q.Plan, run, q.Only)
	if err != nil {
		return store.Run{}, refused{err}
	}
	err = e.Store.Commit(ctx, &store.Batch{Versions: []store.Version{versionOf(q.Plan, now)}, Create: []store.Run{run}})
	if errors.Is(err, store.ErrConflict) && q.Key != "" {
		return e.Store.RunByKey(ctx, run.Workflow, q.Key)
	}
	if err != nil {
		return store.Run{}, fmt.Errorf("start %s: %w", run.Workflow, err)
	}
	return run, e.ask(ctx, func(lp *loop) error {
		lp.admit(l)
		return nil
	})
}

// refusal tells why no run of a plan can be carried out by this engine.
func (e *Engine) refusal(p *dag.Plan) error {
	if ds := Unsupported(p.Workflow); len(ds) > 0 {
		return fmt.Errorf("%s:%d:%d: %s", ds[0].File, ds[0].Pos.Line, ds[0].Pos.Col, ds[0].Message)
	}
	return e.checkCalls(p.Workflow)
}

// newRun gives the record of a run that is asked for.
func (e *Engine) newRun(q Request, now time.Time) store.Run {
	wf := q.Plan.Workflow
	run := store.Run{
		ID:           NewID(now),
		Workflow:     wf.Name.V,
		File:         absolute(wf.Source.File),
		Version:      wf.Source.Hash(),
		State:        machine.RunQueued,
		Trigger:      q.Trigger,
		Key:          q.Key,
		Params:       q.Params,
		Priority:     wf.Priority.Or(5),
		Owner:        e.Owner,
		ScheduledFor: timestamp(q.ScheduledFor),
		CreatedAt:    now,
	}
	if run.Trigger == "" {
		run.Trigger = store.TriggerManual
	}
	if q.ScheduledFor.IsZero() {
		run.ScheduledFor = now
	}
	run.IntervalFrom, run.IntervalTo = run.ScheduledFor, run.ScheduledFor
	for _, t := range q.Only {
		run.Only = append(run.Only, q.Plan.Tasks[t].ID)
	}
	return run
}

// absolute gives the path that stays right wherever the run is gone on with.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// newLive gives a run the state and the environment that it starts with.
func (e *Engine) newLive(p *dag.Plan, run store.Run, only []dag.Task) (*live, error) {
	env, err := newEnvironment(e, p, &run)
	if err != nil {
		return nil, err
	}
	return &live{run: machine.New(run.ID, p, only), rec: run, env: env}, nil
}

// Wait returns when a run has ended and its end is on disk.
func (e *Engine) Wait(ctx context.Context, id string) (store.Run, error) {
	e.init()
	ended := make(chan struct{})
	err := e.look(ctx, func(lp *loop) {
		if l := lp.live[id]; l != nil {
			l.waiters = append(l.waiters, ended)
		} else {
			close(ended)
		}
	})
	if err != nil {
		return store.Run{}, err
	}
	select {
	case <-ended:
		return e.Store.Run(ctx, id)
	case <-e.over:
		return store.Run{}, e.stopped()
	case <-ctx.Done():
		return store.Run{}, ctx.Err()
	}
}

// Cancel asks a live run to stop and returns when the request is on disk. A
// second request stops the handlers too that the first one lets run. It gives
// store.ErrNotFound for a run that is not live in this engine.
func (e *Engine) Cancel(ctx context.Context, id, by string) error {
	e.init()
	return e.ask(ctx, func(lp *loop) error {
		l := lp.live[id]
		if l == nil {
			return fmt.Errorf("run %s: %w", id, store.ErrNotFound)
		}
		if l.run.StartedAt().IsZero() {
			lp.drop(l, machine.RunCancelled, machine.ReasonCancelled, "cancelled on request before it started")
			return nil
		}
		lp.apply(l, machine.CancelRequested{By: by, At: lp.now()})
		return nil
	})
}

// Kill kills the processes of a live run without waiting for them to end by
// themselves, nor for the disk, and cancels the run, its handlers included.
func (e *Engine) Kill(ctx context.Context, id, by string) error {
	var attempts []executor.Attempt
	err := e.look(ctx, func(lp *loop) {
		if l := lp.live[id]; l != nil {
			for t, a := range l.active {
				attempts = append(attempts, l.traces(machine.StartAttempt{Task: t, Attempt: a.number}))
				a.stop(errKilled)
			}
		}
	})
	if err != nil {
		return err
	}
	for i := range attempts {
		attempts[i].KillAfter = 0
	}
	executor.EndLeftovers(attempts)
	for range 2 { // the second request stops the handlers too
		if err := e.Cancel(ctx, id, by); err != nil {
			return err
		}
	}
	return nil
}

// ask has the loop do something and waits until what follows from it is on disk.
func (e *Engine) ask(ctx context.Context, do func(*loop) error) error {
	answer := make(chan error, 1)
	return e.exchange(ctx, answer, func(lp *loop) {
		if err := do(lp); err != nil || len(lp.touched) == 0 {
			answer <- err
			return
		}
		lp.after = append(lp.after, func() { answer <- nil })
	})
}

// look has the loop tell something, whether the disk is well or not.
func (e *Engine) look(ctx context.Context, do func(*loop)) error {
	answer := make(chan error, 1)
	return e.exchange(ctx, answer, func(lp *loop) {
		do(lp)
		answer <- nil
	})
}

// exchange sends something to the loop and waits for the answer to it.
func (e *Engine) exchange(ctx context.Context, answer <-chan error, do func(*loop)) error {
	if err := e.send(ctx, do); err != nil {
		return err
	}
	select {
	case err := <-answer:
		return err
	case <-e.over:
		return e.stopped()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// send puts something into the loop's inbox.
func (e *Engine) send(ctx context.Context, do func(*loop)) error {
	select {
	case e.inbox <- do:
		return nil
	case <-e.over:
		return e.stopped()
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (e *Engine) stopped() error {
	if e.failed != nil {
		return fmt.Errorf("%w: %w", ErrStopped, e.failed)
	}
	return ErrStopped
}

// Update tells what has changed in the store.
type Update struct {
	Run   store.Run
	Tasks []store.Task // those that changed
}

// Subscribe gives the updates from now on. Who does not keep up is dropped: the
// channel is closed. The returned function ends the subscription.
func (e *Engine) Subscribe(buffer int) (<-chan Update, func()) {
	e.init()
	ch := make(chan Update, buffer)
	e.subMu.Lock()
	e.subs[ch] = struct{}{}
	e.subMu.Unlock()
	return ch, func() { e.unsubscribe(ch) }
}

func (e *Engine) unsubscribe(ch chan Update) {
	e.subMu.Lock()
	defer e.subMu.Unlock()
	if _, ok := e.subs[ch]; ok {
		delete(e.subs, ch)
		close(ch)
	}
}

func (e *Engine) publish(u Update) {
	e.subMu.Lock()
	defer e.subMu.Unlock()
	for ch := range e.subs {
		select {
		case ch <- u:
		default:
			delete(e.subs, ch)
			close(ch)
		}
	}
}

// idAlphabet is Crockford's base 32 in lower case: it sorts as the bytes do, and
// no two of its characters look alike.
var idAlphabet = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// NewID gives a new run id: 20 characters that sort by the time of creation (48
// bits of milliseconds, then 48 random bits, 32 in the alphabet of Crockford).
func NewID(now time.Time) string {
	var b [12]byte
	ms := now.UnixMilli()
	for i := range 6 {
		b[i] = byte(ms >> (8 * (5 - i)))
	}
	_, _ = rand.Read(b[6:]) // never fails (crypto/rand)
	return strings.ToLower(idAlphabet.EncodeToString(b[:]))
}

// timestamp brings a time to what a store keeps.
func timestamp(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

func versionOf(p *dag.Plan, now time.Time) store.Version {
	v := store.Version{Hash: p.Workflow.Source.Hash(), Workflow: p.Workflow.Name.V, Text: p.Workflow.Source.Text, CreatedAt: now}
	for i := range p.Tasks {
		v.Tasks = append(v.Tasks, p.Tasks[i].ID)
	}
	return v
}
