package runtime

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/runtime/executor"
	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/runtime/reload"
	"github.com/ax-scheduler/ax/store"
)

// errCut is the cause of attempts that are cut off because the engine stops.
var errCut = errors.New("the engine stops")

// errDrained is the cause of attempts that are ended because they did not end
// in the time for draining.
var errDrained = errors.New("the time for draining is over")

// loop owns all live runs. Only the goroutine of Serve touches it.
type loop struct {
	e       *Engine
	ctx     context.Context // done: no new work
	work    context.Context // done: running attempts are cut
	workers sync.WaitGroup  // attempts under way

	live      map[string]*live
	flows     map[string]*flow
	schedules []*scheduled
	followers map[string][]*reload.File // workflows that are started after another, by its name
	catalog   *reload.Catalog           // what is loaded; nil for nothing yet
	followed  time.Time                 // when ends of other processes' runs were last looked for
	hungry    []*live                   // may have a task to start, in the order of their turns
	restless  []*live                   // changed, and may have a task that does not wait for its pool
	free      int                       // slots
	pools     *pools
	timers    timers

	serving bool                       // takes in what waits in the store
	due     time.Time                  // when to look for delayed runs; zero for never
	looking bool                       // for delayed runs, in the store
	waiters map[string][]chan struct{} // by run: closed at its end

	endings []ending // of the last minutes

	touched   []*live // have something to write
	commands  []issued
	after     []func()    // called once what is touched now is on disk
	commits   chan *write // to the committer; capacity 1
	committed chan *write // from the committer
	writing   bool
	err       error // ends Serve
}

// live is one run that the loop owns.
type live struct {
	run *machine.Run
	rec store.Run
	env *environment

	impatient []string           // pools with tasks that are skipped where they are full
	lists     map[dag.Task]lists // outputs of the foreach that have ended

	events   [][]byte // not yet handed to the committer
	attempts []store.Attempt
	touched  bool
	dropped  bool // ended before it started: the record says it all
	hungry   bool
	restless bool
	active   map[machine.Unit]*attempt
}

// attempt is one that is under way.
type attempt struct {
	number int
	stop   context.CancelCauseFunc
}

// issued is a command with its run.
type issued struct {
	l *live
	c machine.Command
}

// errKilled is the cause of attempts that are killed on request.
var errKilled = errors.New("killed on request")

// maxPause bounds how long the loop sleeps, so that steps of the clock and a
// suspended machine are noticed.
const maxPause = 30 * time.Second

// Serve carries out runs until ctx is done: then it starts nothing more, gives
// what runs the time of Drain to end, and returns nil. What has not ended by
// then is ended and recorded as interrupted; without Drain it is cut off at
// once and leaves no event, for it did not fail. The next engine that takes the
// run over starts it again. Another error means that the store could not be
// written.
func (e *Engine) Serve(ctx context.Context) error {
	e.init()
	work, cut := context.WithCancelCause(context.WithoutCancel(ctx))
	lp := &loop{
		e: e, ctx: ctx, work: work,
		live: map[string]*live{}, flows: map[string]*flow{}, free: e.MaxParallel, pools: newPools(e.Pools),
		waiters: map[string][]chan struct{}{},
		commits: make(chan *write, 1), committed: make(chan *write, 1),
	}
	// The order of what follows is the way to stop: tell who asks that it is
	// over, cut the work, wait for it, then let the committer end.
	committer := lp.startCommitter()
	defer committer.Wait()
	defer close(lp.commits)
	defer lp.workers.Wait()
	defer cut(errCut)
	defer func() { e.failed = lp.err; close(e.over) }()

	lp.serve()
	return lp.err
}

func (lp *loop) serve() {
	wake := time.NewTimer(lp.e.longest)
	defer wake.Stop()
	asked := lp.ctx.Done()
	var drained <-chan time.Time
	for lp.err == nil {
		wake.Reset(lp.pause())
		select {
		case do := <-lp.e.inbox:
			do(lp)
			lp.drain()
		case w := <-lp.committed:
			lp.release(w)
		case <-wake.C:
		case <-asked:
			asked, drained = nil, time.After(lp.e.Drain)
		case <-drained:
			lp.interruptAll()
		}
		if asked == nil && (lp.e.Drain <= 0 || lp.free == lp.e.MaxParallel) {
			lp.finish()
			return
		}
		lp.fireTimers()
		lp.fireSchedules()
		lp.lookForDue()
		lp.grant()
		lp.flush()
	}
}

// interruptAll has every attempt ended that the time for draining did not
// suffice for. It is recorded as interrupted, and runs again with the next
// engine.
func (lp *loop) interruptAll() {
	for _, l := range lp.live {
		for _, a := range l.active {
			a.stop(errDrained)
		}
	}
}

// pause gives how long the loop may sleep.
func (lp *loop) pause() time.Duration {
	now := time.Now()
	pause := lp.timers.pause(now, lp.e.longest)
	if !lp.due.IsZero() && !lp.looking {
		pause = min(pause, max(0, lp.due.Sub(now)))
	}
	for _, s := range lp.schedules {
		if !s.wake.IsZero() {
			pause = min(pause, max(0, s.wake.Sub(now)))
		}
	}
	return pause
}

// drain takes what else waits in the inbox, so that it is committed together.
func (lp *loop) drain() {
	for range cap(lp.e.inbox) {
		select {
		case do := <-lp.e.inbox:
			do(lp)
		default:
			return
		}
	}
}

func (lp *loop) now() time.Time { return timestamp(time.Now()) }

// adopt makes a run one of those that the loop owns.
func (lp *loop) adopt(l *live) {
	l.active = map[machine.Unit]*attempt{}
	l.impatient = impatient(l.run.Plan())
	for _, name := range lp.pools.declare(l.run.Plan().Workflow) {
		lp.e.Log.Warn("pool has different slots in different places: the smallest holds", "pool", name, "workflow", l.rec.Workflow)
	}
	lp.live[l.rec.ID] = l
	lp.wake(l) // it may have come with ready tasks
}

// apply feeds one event to a run. What follows is written with the next flush.
func (lp *loop) apply(l *live, ev machine.Event) {
	cmds, err := l.run.Apply(ev)
	if err != nil {
		lp.fail(err)
		return
	}
	data, err := machine.Encode(ev)
	if err != nil {
		lp.fail(err)
		return
	}
	l.events = append(l.events, data)
	for _, c := range cmds {
		lp.commands = append(lp.commands, issued{l, c})
	}
	lp.touch(l)
	if len(l.impatient) > 0 && !l.restless {
		l.restless = true
		lp.restless = append(lp.restless, l)
	}
	lp.wake(l)
}

// touch has a run written with the next flush.
func (lp *loop) touch(l *live) {
	if !l.touched {
		l.touched = true
		lp.touched = append(lp.touched, l)
	}
}

// wake has a run asked for a task to start.
func (lp *loop) wake(l *live) {
	if !l.hungry {
		l.hungry = true
		lp.hungry = append(lp.hungry, l)
	}
}

func (lp *loop) fail(err error) {
	if lp.err == nil {
		lp.err = err
	}
}

// grant gives free slots to ready tasks, and skips those that do not want to
// wait for their pool.
func (lp *loop) grant() {
	for again := true; again; again = lp.skipBusy() {
		lp.grantSlots()
	}
}

// grantSlots gives each free slot to the run of the highest priority, in turn
// among equals.
func (lp *loop) grantSlots() {
	for lp.free > 0 && lp.ctx.Err() == nil {
		next, unit := -1, machine.Unit{}
		keep := lp.hungry[:0]
		for _, l := range lp.hungry {
			u, ok := l.run.Startable(lp.pools.full)
			if !ok {
				l.hungry = false
				continue
			}
			keep = append(keep, l)
			if next < 0 || l.rec.Priority > keep[next].rec.Priority {
				next, unit = len(keep)-1, u
			}
		}
		clear(lp.hungry[len(keep):])
		lp.hungry = keep
		if next < 0 {
			return
		}
		l := lp.hungry[next]
		lp.hungry = append(append(lp.hungry[:next], lp.hungry[next+1:]...), l)
		lp.startAttempt(l, unit)
	}
}

func (lp *loop) startAttempt(l *live, u machine.Unit) {
	lp.free--
	lp.pools.take(l.run.Plan().Tasks[u.Task].Spec)
	number := l.run.View(u).Attempts + 1
	at := lp.now()
	l.attempts = append(l.attempts, store.Attempt{
		RunID: l.rec.ID, Index: int(u.Task), Instance: u.Instance.Index(), Number: number,
		State: machine.Running, Log: logPath(l, u, number), StartedAt: at,
	})
	lp.apply(l, machine.AttemptStarted{Task: u.Task, Instance: u.Instance, Attempt: number, At: at})
}

// act carries out a command whose changes are committed.
func (lp *loop) act(l *live, c machine.Command) {
	switch c := c.(type) {
	case machine.StartAttempt:
		lp.launch(l, c)
	case machine.StopAttempt:
		if a := l.active[c.Unit()]; a != nil && a.number == c.Attempt {
			a.stop(fmt.Errorf("%s", c.Reason))
		}
	case machine.WakeAt:
		lp.timers.push(timer{c.At, l, c})
	case machine.Evaluate:
		lp.apply(l, l.evaluate(c.Task, lp.now()))
	case machine.Expand:
		lp.apply(l, l.expand(c.Task, lp.now()))
	case machine.EndRun:
		lp.leave(l)
		lp.noteEnd(l)
		lp.startFollowers(l.rec)
		if lp.live[l.rec.ID] == l { // else it was retried meanwhile
			delete(lp.live, l.rec.ID)
		}
		lp.tellWaiters(l.rec.ID)
		lp.workers.Go(l.env.cleanUp)
	default:
		lp.fail(fmt.Errorf("unknown command %T", c))
	}
}

// launch starts the worker of one attempt.
func (lp *loop) launch(l *live, c machine.StartAttempt) {
	ctx, stop := context.WithCancelCause(lp.work)
	l.active[c.Unit()] = &attempt{c.Attempt, stop}
	job := lp.job(l, c)
	lp.workers.Go(func() {
		defer stop(nil)
		outcome := job.carryOut(ctx, lp.e.Executor)
		if errors.Is(context.Cause(ctx), errCut) && outcome.Stopped {
			return // it leaves no event
		}
		// The loop takes this, or it is over.
		drained := errors.Is(context.Cause(ctx), errDrained) && outcome.Stopped
		_ = lp.e.send(context.WithoutCancel(ctx), func(lp *loop) { lp.ended(l, c, outcome, drained) })
	})
}

// ended takes in the outcome of an attempt.
func (lp *loop) ended(l *live, c machine.StartAttempt, o executor.Outcome, drained bool) {
	delete(l.active, c.Unit())
	lp.free++
	lp.givePool(l.run.Plan().Tasks[c.Task].Spec)
	result := resultOf(o)
	result.Interrupted = drained
	if warning := l.askRetryIf(c.Unit(), &result); warning != "" {
		o.Warnings = append(o.Warnings, warning)
	}
	at := lp.now()
	lp.apply(l, machine.AttemptEnded{Task: c.Task, Instance: c.Instance, Attempt: c.Attempt, Result: result, At: at})
	l.attempts = append(l.attempts, attemptRecord(l, c, o, at))
}

// fireTimers applies what is due.
func (lp *loop) fireTimers() {
	for now := lp.now(); ; {
		t, ok := lp.timers.due(now)
		if !ok {
			return
		}
		if !t.wanted() {
			continue
		}
		switch w := t.wake; w.Timer {
		case machine.TimerRetry:
			lp.apply(t.l, machine.RetryDue{Task: w.Task, Instance: w.Instance, Attempt: w.Attempt, At: now})
		case machine.TimerAttempt:
			lp.apply(t.l, machine.AttemptTimedOut{Task: w.Task, Instance: w.Instance, Attempt: w.Attempt, At: now})
		case machine.TimerRun:
			lp.apply(t.l, machine.RunTimedOut{At: now})
		}
	}
}
