package runtime

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/runtime/executor"
	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/runtime/reload"
	"github.com/ax-scheduler/ax/runtime/trigger"
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
	workers *crew           // of the attempts under way

	live      map[string]*live
	flows     map[string]*flow
	schedules []*scheduled
	soonest   time.Time                   // before it no schedule is due; zero for not known
	files     map[*reload.Loaded]bool     // whose schedules these are, and stay while the file does
	followers map[string][]*reload.Loaded // workflows that are started after another, by its name
	catalog   *reload.Catalog             // what is loaded; nil for nothing yet
	pauses    map[string][]trigger.Pause  // of workflows, all that there have been
	paused    map[string]store.Pause      // those under way
	followed  time.Time                   // when ends of other processes' runs were last looked for
	woken     []*live                     // may have something to start: asked when slots are granted
	turns     turns                       // have something to start
	restless  []*live                     // changed, and may have a task that does not wait for its pool
	free      int                         // slots
	pools     *pools
	gate      gate
	timers    timers
	seen      reading

	serving bool                       // takes in what waits in the store
	due     time.Time                  // when to look for delayed runs; zero for never
	looking bool                       // for delayed runs, in the store
	waiters map[string][]chan struct{} // by run: closed at its end

	endings []ending // of the last minutes
	late    lateWatch

	touched   []*live // have something to write
	commands  []issued
	after     []func()       // called once what is touched now is on disk
	changes   []store.Change // who asked for it, where somebody did
	commits   chan *write    // to the committer; capacity 1
	committed chan *write    // from the committer
	writing   bool
	err       error // ends Serve
}

// live is one run that the loop owns.
type live struct {
	run     *machine.Run
	rec     store.Run
	written store.Run // as the store has it, or will once what is on its way is there
	env     *environment

	impatient []string           // pools with tasks that are skipped where they are full
	lists     map[dag.Task]lists // outputs of the foreach that have ended

	events   [][]byte // not yet handed to the committer
	attempts []store.Attempt
	touched  bool
	toldLate bool // or it ended in time
	toldWait bool // that it waits for runs of other processes
	dropped  bool // ended before it started: the record says it all
	woken    bool
	place    int          // in the turns, from 1; 0 for none
	next     machine.Unit // what it would start, while it has a place
	turn     time.Time
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

// Serve carries out runs until ctx is done: then it starts nothing more and
// returns nil. With Detach it lets go at once of what its supervisor has: that
// goes on, and the next engine adopts it. Otherwise it gives what runs the time
// of Drain to end; what has not ended by then is ended and recorded as
// interrupted. Without either, and where there is no supervisor, what runs is
// cut off and leaves no event, for it did not fail: the next engine that takes
// the run over starts it again. Another error means that the store could not be
// written.
func (e *Engine) Serve(ctx context.Context) error {
	e.init()
	ctx = withoutActor(ctx)
	work, cut := context.WithCancelCause(context.WithoutCancel(ctx))
	lp := &loop{
		e: e, ctx: ctx, work: work, workers: newCrew(),
		live: map[string]*live{}, flows: map[string]*flow{}, free: e.MaxParallel, pools: newPools(e.Pools),
		waiters: map[string][]chan struct{}{},
		commits: make(chan *write, 1), committed: make(chan *write, 1),
	}
	// The order of what follows is the way to stop: tell who asks that it is
	// over, cut the work, wait for it, then let the committer end.
	committer := lp.startCommitter()
	defer lp.gate.close()
	defer committer.Wait()
	defer close(lp.commits)
	defer lp.workers.wait()
	defer func() {
		if e.Detach {
			cut(executor.ErrDetach)
		}
		cut(errCut)
	}()
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
			lp.readClock()
			do(lp)
			lp.drain()
		case w := <-lp.committed:
			lp.release(w)
		case <-wake.C:
		case <-asked:
			asked, drained = nil, time.After(lp.e.Drain)
			lp.tellWhatRuns()
		case <-drained:
			lp.interruptAll()
		}
		if asked == nil && (lp.e.Detach || lp.e.Drain <= 0 || lp.free == lp.e.MaxParallel) {
			lp.finish()
			return
		}
		lp.readClock()
		lp.fireTimers()
		lp.fireSchedules()
		lp.lookForDue()
		lp.lookForLate()
		lp.knock()
		lp.grant()
		lp.flush()
		lp.leaveGate()
	}
}

// tellWhatRuns logs what is under way when the engine is told to stop.
func (lp *loop) tellWhatRuns() {
	if !lp.e.Detach && lp.e.Drain <= 0 {
		return
	}
	for _, l := range lp.live {
		for u, a := range l.active {
			what := "ax waits for a task to end"
			kind := l.run.Plan().Tasks[u.Task].Spec.Kind
			switch {
			case lp.e.Detach && len(lp.e.Supervisor) > 0 && (kind == dsl.KindRun || kind == dsl.KindCommand):
				what = "a task goes on without ax"
			case lp.e.Detach:
				what = "a task is cut off: the next start runs it again"
			}
			lp.e.Log.Info(what, "run", l.rec.ID, "workflow", l.rec.Workflow, "task", l.run.Name(u), "attempt", a.number)
		}
	}
}

// interruptAll has every attempt ended that the time for draining did not
// suffice for. It is recorded as interrupted, and runs again with the next
// engine.
func (lp *loop) interruptAll() {
	for _, l := range lp.live {
		for u, a := range l.active {
			if !l.waits(u.Task) {
				a.stop(errDrained)
			}
		}
	}
}

// pause gives how long the loop may sleep.
func (lp *loop) pause() time.Duration {
	now := lp.now()
	pause := lp.timers.pause(now, lp.e.longest)
	if lp.ctx.Err() != nil {
		return pause // nothing else happens any more
	}
	if lp.serving && !lp.due.IsZero() && !lp.looking {
		pause = min(pause, max(0, lp.due.Sub(now)))
	}
	if !lp.late.at.IsZero() && !lp.late.looking {
		pause = min(pause, max(0, lp.late.at.Sub(now)))
	}
	if g := &lp.gate; !g.again.IsZero() && !g.asking {
		pause = min(pause, max(0, time.Until(g.again)))
	}
	if len(lp.schedules) > 0 {
		pause = min(pause, max(0, lp.soonest.Sub(now)))
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

func (lp *loop) now() time.Time { return lp.e.now() }

// adopt makes a run one of those that the loop owns.
func (lp *loop) adopt(l *live) {
	l.active = map[machine.Unit]*attempt{}
	l.impatient = impatient(l.run.Plan())
	for _, name := range lp.pools.declare(l.run.Plan().Workflow) {
		lp.e.Log.Warn("pool has different slots in different places: the smallest holds", "pool", name, "workflow", l.rec.Workflow)
	}
	lp.live[l.rec.ID] = l
	lp.late.lookAt(l.deadline())
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
		if stop, ok := c.(machine.StopAttempt); ok {
			lp.act(l, stop) // at once, also while the disk is full: to end something is safe
		}
		lp.commands = append(lp.commands, issued{l, c})
	}
	lp.touch(l)
	lp.unsettle(l)
	lp.wake(l)
}

// unsettle has a run looked at for tasks that do not wait for their pool.
func (lp *loop) unsettle(l *live) {
	if len(l.impatient) > 0 && !l.restless {
		l.restless = true
		lp.restless = append(lp.restless, l)
	}
}

// touch has a run written with the next flush.
func (lp *loop) touch(l *live) {
	if !l.touched {
		l.touched = true
		lp.touched = append(lp.touched, l)
	}
}

func (lp *loop) fail(err error) {
	if lp.err == nil {
		lp.err = err
	}
}

func (lp *loop) startAttempt(l *live, u machine.Unit) {
	lp.takeSlot(l, u)
	if l.run.Plan().Tasks[u.Task].Spec.Pool != nil {
		lp.gate.starts++
	}
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
		lp.timers.push(timer{at: c.At, l: l, wake: c})
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
	job := lp.job(l, c)
	lp.attend(l, c, func(ctx context.Context) executor.Outcome { return job.carryOut(ctx, lp.e.Executor) })
}

// attend has a worker see an attempt to its end.
func (lp *loop) attend(l *live, c machine.StartAttempt, see func(context.Context) executor.Outcome) {
	ctx, stop := context.WithCancelCause(lp.work)
	l.active[c.Unit()] = &attempt{c.Attempt, stop}
	lp.workers.Go(func() {
		defer stop(nil)
		outcome := see(ctx)
		cause := context.Cause(ctx)
		cut := errors.Is(cause, errCut) || errors.Is(cause, executor.ErrDetach)
		if cut && (outcome.Stopped || outcome.Interrupted) || outcome.Detached {
			return // it leaves no event
		}
		if errors.Is(cause, errDrained) && outcome.Stopped {
			outcome.Interrupted = true
		}
		// The loop takes this, or it is over.
		_ = lp.e.send(context.WithoutCancel(ctx), func(lp *loop) { lp.ended(l, c, outcome, lp.now()) })
	})
}

// ended takes in the outcome of an attempt.
func (lp *loop) ended(l *live, c machine.StartAttempt, o executor.Outcome, at time.Time) {
	delete(l.active, c.Unit())
	lp.giveSlot(l.run.Plan().Tasks[c.Task].Spec)
	lp.givePool(l.run.Plan().Tasks[c.Task].Spec)
	result := resultOf(o)
	if warning := l.askRetryIf(c.Unit(), &result); warning != "" {
		o.Warnings = append(o.Warnings, warning)
	}
	lp.apply(l, machine.AttemptEnded{Task: c.Task, Instance: c.Instance, Attempt: c.Attempt, Result: result, At: at})
	rec := attemptRecord(l, c, o, at)
	l.attempts = append(l.attempts, rec)
	lp.e.Observer.AttemptEnded(rec.State, at.Sub(rec.StartedAt))
	if o.Settled != nil {
		lp.after = append(lp.after, o.Settled)
	}
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
