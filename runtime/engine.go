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
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
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
// fit, a secret that is not there.
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
	Supervisor  []string       // what has processes outlive the engine; see executor.Supervision, Command
	Detach      bool           // leave what the supervisor has to the next engine; see Serve
	Drain       time.Duration  // for attempts to end when the engine stops; see Serve
	Owner       string         // name of this engine in the runs it owns
	Zone        *time.Location // of workflows without `timezone`; nil for the local one
	Log         *slog.Logger   // nil to say nothing
	Mail        Mail           // how `notify` sends mails
	Observer    Observer       // nil for none

	// Clock is the clock on the wall, which may be set; nil for time.Now. Pauses
	// are measured by one that nobody sets.
	Clock func() time.Time

	// Workflows finds the workflows that tasks start with `workflow`, by name. It
	// is called by several goroutines; nil where there are none.
	Workflows func(name string) (*dag.Plan, error)

	once    sync.Once
	inbox   chan func(*loop)      // asked of the loop, in order
	taking  chan struct{}         // held by who takes a run over, one at a time
	over    chan struct{}         // closed when the loop takes nothing more
	trouble atomic.Pointer[error] // why nothing new is started; nil where all is well
	unknown atomic.Pointer[error] // of a write that may or may not be on disk; nil where there was none
	failed  error                 // why Serve ended; read after over is closed

	delivers atomic.Bool   // this engine sends the messages of all
	mailed   chan struct{} // there are new messages
	own      sync.Map      // ids of messages made here, where others send them

	longest time.Duration // sleep of the loop: maxPause but in tests, where no clock is ever set
	calls   executor.Registry
	plans   plans

	subMu sync.Mutex
	subs  map[chan *Update]struct{}
}

func (e *Engine) init() {
	e.once.Do(func() {
		e.inbox = make(chan func(*loop), 256)
		e.over = make(chan struct{})
		e.mailed = make(chan struct{}, 1)
		if e.longest == 0 {
			e.longest = maxPause
		}
		e.taking = make(chan struct{}, 1)
		e.subs = map[chan *Update]struct{}{}
		if e.Log == nil {
			e.Log = slog.New(slog.DiscardHandler)
		}
		if e.Executor == nil {
			e.Executor = &executor.Executor{Calls: &e.calls, Supervision: e.supervision()}
		}
		if e.Observer == nil {
			e.Observer = Unobserved{}
		}
		if e.MaxParallel == 0 {
			e.MaxParallel = DefaultMaxParallel
		}
	})
}

func (e *Engine) supervision() *executor.Supervision {
	return &executor.Supervision{Folder: filepath.Join(absolute(e.Data), "supervisors"), Command: e.Supervisor}
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
	NotBefore    time.Time         // at once where zero or past
	Priority     *int              // 0 to 9; the workflow's where nil
	Key          string            // a repeated request with one key gives the first run

	// IntervalFrom and IntervalTo are the slice of time that the run stands for;
	// both ScheduledFor where IntervalTo is zero.
	IntervalFrom, IntervalTo time.Time
}

// Start makes a run and has it carried out. When it returns, the run is on disk.
// It refuses what could not run: parameters that do not fit, environment files
// that cannot be read.
func (e *Engine) Start(ctx context.Context, q Request) (store.Run, error) {
	e.init()
	run, l, err := e.create(ctx, q, e.Owner)
	if err != nil || l == nil {
		return run, err
	}
	return run, e.hand(ctx, func(lp *loop) error {
		if run.State == machine.RunScheduled {
			lp.lookAt(run.NotBefore)
		} else {
			lp.admit(l)
		}
		return nil
	})
}

// create writes a new run. It gives the first run, and no life to it, where a
// request is repeated.
func (e *Engine) create(ctx context.Context, q Request, owner string) (store.Run, *live, error) {
	if err := e.refusal(q.Plan); err != nil {
		return store.Run{}, nil, refused{err}
	}
	now := e.now()
	params, err := checkParams(q.Plan.Workflow, q.Params)
	if err != nil {
		return store.Run{}, nil, refused{err}
	}
	q.Params = params
	if p := q.Priority; p != nil && (*p < 0 || *p > 9) {
		return store.Run{}, nil, refused{fmt.Errorf("priority %d: it is 0 to 9", *p)}
	}
	run := e.newRun(q, now)
	if run.State == machine.RunQueued {
		run.Owner = owner
	}
	l, err := e.newLive(q.Plan, run, q.Only)
	if err != nil {
		return store.Run{}, nil, refused{err}
	}
	err = e.commit(ctx, &store.Batch{
		Versions: []store.Version{versionOf(q.Plan, now)}, Create: []store.Run{run}, Changes: changeFor(ctx, "start", run.Workflow, run.ID),
	})
	if errors.Is(err, store.ErrConflict) && q.Key != "" {
		run, err = e.Store.RunByKey(ctx, run.Workflow, q.Key)
		return run, nil, err
	}
	if err != nil {
		return store.Run{}, nil, fmt.Errorf("start %s: %w", run.Workflow, err)
	}
	settle(ctx)
	return run, l, nil
}

// refusal tells why no run of a plan can be carried out by this engine.
func (e *Engine) refusal(p *dag.Plan) error {
	return errors.Join(e.checkCalls(p.Workflow), e.checkChildren(p.Workflow))
}

// newRun gives the record of a run that is asked for.
func (e *Engine) newRun(q Request, now time.Time) store.Run {
	run := e.recordOf(q.Plan.Workflow, q, now)
	run.Only = idsOf(q.Plan, q.Only)
	return run
}

// recordOf gives the record of a run of a workflow, of which it needs no tasks.
// Which of them the run has is still to be noted.
func (e *Engine) recordOf(wf *dsl.Workflow, q Request, now time.Time) store.Run {
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
	if !q.IntervalTo.IsZero() {
		run.IntervalFrom, run.IntervalTo = q.IntervalFrom, q.IntervalTo
	}
	if q.Priority != nil {
		run.Priority = *q.Priority
	}
	run.Turn = machine.Turn(now, run.Priority)
	if q.NotBefore.After(now) {
		run.State, run.Owner = machine.RunScheduled, ""
		run.NotBefore = timestamp(q.NotBefore)
		run.Turn = machine.Turn(run.NotBefore, run.Priority)
	}
	return run
}

func idsOf(p *dag.Plan, tasks []dag.Task) (ids []string) {
	for _, t := range tasks {
		ids = append(ids, p.Tasks[t].ID)
	}
	return ids
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

// Wait returns when a run has ended and its end is on disk. It must be one that
// this engine carries out or takes in.
func (e *Engine) Wait(ctx context.Context, id string) (store.Run, error) {
	e.init()
	ended := make(chan struct{})
	err := e.look(ctx, func(lp *loop) { lp.waiters[id] = append(lp.waiters[id], ended) })
	if err != nil {
		return store.Run{}, err
	}
	defer e.forget(id, ended)
	if run, err := e.Store.Run(ctx, id); err != nil || run.State.Final() {
		return run, err
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

// forget takes back that somebody waits for the end of a run.
func (e *Engine) forget(id string, ended chan struct{}) {
	_ = e.send(context.Background(), func(lp *loop) { // or it is over
		lp.waiters[id] = slices.DeleteFunc(lp.waiters[id], func(c chan struct{}) bool { return c == ended })
		if len(lp.waiters[id]) == 0 {
			delete(lp.waiters, id)
		}
	})
}

// troubleLooks is how often somebody who waits for the disk looks whether it is
// full, to be told instead.
const troubleLooks = 100 * time.Millisecond

// errOnceThereIsRoom goes with store.ErrFull where a cancel is on its way all the
// same: it is not to be asked for again.
var errOnceThereIsRoom = errors.New("is stopped once there is room")

// Cancel asks a run to stop, or keeps it from starting, and returns when the
// request is on disk. Where the disk is full it gives store.ErrFull; a live run is
// stopped as soon as there is room. A second request stops the handlers too that the first one
// lets run. It gives store.ErrNotFound for a run that is neither live in this
// engine nor waits in the store.
func (e *Engine) Cancel(ctx context.Context, id, by string) error {
	e.init()
	live, err := e.cancelLive(ctx, id, by)
	if live || err != nil {
		return err
	}
	done, err := e.take(ctx)
	if err != nil {
		return err
	}
	defer done()
	if live, err := e.cancelLive(ctx, id, by); live || err != nil {
		return err // its turn came meanwhile
	}
	return e.cancelWaiting(ctx, id, by)
}

func (e *Engine) cancelLive(ctx context.Context, id, by string) (live bool, err error) {
	answer := make(chan error, 1)
	err = e.send(ctx, func(lp *loop) {
		l := lp.live[id]
		if l == nil {
			answer <- store.ErrNotFound
			return
		}
		if lp.cancel(l, by); !l.touched { // it stops already
			answer <- nil
			return
		}
		lp.changes = append(lp.changes, changeFor(ctx, "cancel", l.rec.Workflow, id)...)
		settle(ctx)
		lp.after = append(lp.after, func() { answer <- nil })
	})
	if err != nil {
		return false, err
	}
	look := time.NewTicker(troubleLooks)
	defer look.Stop()
	for {
		select {
		case <-look.C:
			if full := e.trouble.Load(); full != nil {
				return true, fmt.Errorf("run %s %w: %w", id, errOnceThereIsRoom, *full)
			}
			continue
		case err = <-answer:
		case <-e.over:
			err = e.stopped()
		case <-ctx.Done():
			err = ctx.Err()
		}
		if errors.Is(err, store.ErrNotFound) {
			return false, nil
		}
		return true, err
	}
}

// Kill kills the processes of a live run without waiting for them to end by
// themselves, nor for the disk, and cancels the run, its handlers included.
func (e *Engine) Kill(ctx context.Context, id, by string) error {
	var attempts []executor.Attempt
	found := false
	err := e.look(ctx, func(lp *loop) {
		l := lp.live[id]
		if found = l != nil && !l.run.Waits(); !found {
			return
		}
		// First, so that what dies of it has been cancelled and has not failed; the
		// second request stops the handlers too.
		for range 2 {
			lp.apply(l, machine.CancelRequested{By: by, At: lp.now()})
		}
		for u, a := range l.active {
			attempts = append(attempts, l.traces(machine.StartAttempt{Task: u.Task, Instance: u.Instance, Attempt: a.number}))
			a.stop(errKilled)
		}
	})
	if err != nil {
		return err
	}
	if !found {
		return e.Cancel(ctx, id, by)
	}
	for i := range attempts {
		attempts[i].KillAfter = 0
	}
	executor.EndLeftovers(attempts)
	return nil
}

// now gives the time as a store keeps it.
func (e *Engine) now() time.Time {
	if e.Clock != nil {
		return timestamp(e.Clock())
	}
	return timestamp(time.Now())
}

// timestamp brings a time to what a store keeps.
func timestamp(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

func versionOf(p *dag.Plan, now time.Time) store.Version {
	return store.Version{Hash: p.Workflow.Source.Hash(), Workflow: p.Workflow.Name.V, Tasks: p.IDs(), Text: p.Workflow.Source.Text, CreatedAt: now}
}
