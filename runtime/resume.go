package runtime

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/ax-scheduler/ax/runtime/executor"
	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/store"
)

// Resume takes over an unfinished run whose engine has died and goes on with it.
// Attempts that were under way are interrupted: what is left of their processes
// is ended first, the whole tree, so that no attempt runs beside another of the
// same task. (DESIGN.md, promise 3.)
func (e *Engine) Resume(ctx context.Context, id string) error {
	return e.resume(ctx, id, func(*loop, *live) {})
}

// ResumeToCancel takes over an unfinished run whose engine has died and cancels
// it: nothing of it starts but what handles a cancel.
func (e *Engine) ResumeToCancel(ctx context.Context, id, by string) error {
	return e.resume(ctx, id, func(lp *loop, l *live) {
		if l.run.StartedAt().IsZero() {
			lp.drop(l, machine.RunCancelled, machine.ReasonCancelled, cancelledBeforeStart)
			return
		}
		lp.apply(l, machine.CancelRequested{By: by, At: lp.now()})
	})
}

// resume takes over an unfinished run and does something with it before it goes
// on.
func (e *Engine) resume(ctx context.Context, id string, first func(*loop, *live)) error {
	done, err := e.take(ctx)
	if err != nil {
		return err
	}
	defer done()
	l, err := e.takeOver(ctx, id, func(l *live) error {
		if l.rec.State.Final() {
			return fmt.Errorf("run %s is %s: there is nothing to go on with", id, l.rec.State)
		}
		return nil
	})
	if err != nil {
		return err
	}
	cut := l.underWay()
	left := e.endLeftovers(l, cut)
	return e.ask(ctx, func(lp *loop) error {
		if l.run.StartedAt().IsZero() {
			lp.admit(l)
		} else {
			lp.adopt(l)
			lp.flow(l.rec.Workflow).active = append(lp.flow(l.rec.Workflow).active, l)
		}
		for _, c := range l.run.Pending() { // of a state that is stored: no commit to wait for
			if _, again := c.(machine.StartAttempt); !again {
				lp.act(l, c)
			}
		}
		first(lp, l)
		for i, c := range cut {
			at := lp.now()
			o := executor.Outcome{ExitCode: -1, Leftovers: left[i]}
			lp.apply(l, machine.AttemptEnded{Task: c.Task, Instance: c.Instance, Attempt: c.Attempt, Result: machine.Result{Interrupted: true, Left: left[i]}, At: at})
			l.attempts = append(l.attempts, attemptRecord(l, c, o, at))
		}
		return nil
	})
}

// Retry starts an ended run again from what failed, was skipped or was
// cancelled, or from the named tasks and instances ("load[3]"); what succeeded is
// kept. The run keeps its
// id and the version of the file that it began with, and attempts are counted
// on.
func (e *Engine) Retry(ctx context.Context, id string, tasks []string) error {
	done, err := e.take(ctx)
	if err != nil {
		return err
	}
	defer done()
	again := machine.RunRetried{}
	l, err := e.takeOver(ctx, id, func(l *live) error {
		for _, name := range tasks {
			u, ok := l.run.Named(name)
			switch {
			case !ok:
				return refused{fmt.Errorf("run %s has no task %q", id, name)}
			case u.Instance != 0:
				again.Instances = append(again.Instances, u)
			default:
				again.Tasks = append(again.Tasks, u.Task)
			}
		}
		switch {
		case !l.rec.State.Final():
			return fmt.Errorf("run %s is %s: only a run that has ended can be retried (%w)", id, l.rec.State, store.ErrConflict)
		case l.rec.State == machine.RunSucceeded && len(tasks) == 0:
			return refused{fmt.Errorf("run %s has succeeded: nothing of it is to be run again, unless tasks are named", id)}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return e.ask(ctx, func(lp *loop) error {
		if l.run.StartedAt().IsZero() { // it was dropped or cancelled before it started
			l.rec.FinishedAt = time.Time{}
			lp.admit(l)
			lp.touch(l)
			return nil
		}
		lp.adopt(l)
		lp.flow(l.rec.Workflow).active = append(lp.flow(l.rec.Workflow).active, l)
		again.At = lp.now()
		lp.apply(l, again)
		return nil
	})
}

// take lets one at a time take a run over, so that of two requests for one run
// the second sees what the first has done.
func (e *Engine) take(ctx context.Context) (done func(), err error) {
	e.init()
	select {
	case e.taking <- struct{}{}:
		return func() { <-e.taking }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// takeOver brings a stored run back to life and, if check has nothing against
// it, writes this engine's name into it. It fails with store.ErrConflict where
// the run has gone on meanwhile.
func (e *Engine) takeOver(ctx context.Context, id string, check func(*live) error) (*live, error) {
	e.init()
	rec, err := e.Store.Run(ctx, id)
	if err != nil {
		return nil, err
	}
	if rec.Owner != "" && rec.Owner != e.Owner && !rec.State.Final() && Alive(e.Data, rec.Owner) {
		return nil, fmt.Errorf("run %s is going on in another process (%w): wait for its end, or ax cancel it", id, store.ErrConflict)
	}
	r, err := e.replay(ctx, rec)
	if err != nil {
		return nil, err
	}
	env, err := newEnvironment(e, r.Plan(), &rec)
	if err != nil {
		return nil, err
	}
	l := &live{run: r, rec: rec, env: env}
	if err := check(l); err != nil {
		return nil, err
	}
	taken := machine.TakenOver{By: e.Owner, At: timestamp(time.Now())}
	if _, err := r.Apply(taken); err != nil {
		return nil, err
	}
	data, err := machine.Encode(taken)
	if err != nil {
		return nil, err
	}
	l.rec.Owner = e.Owner
	err = e.Store.Commit(ctx, &store.Batch{
		Update: []store.Run{l.rec}, Append: []store.Appended{{RunID: id, Have: l.rec.Events, Data: [][]byte{data}}},
	})
	if err != nil {
		return nil, fmt.Errorf("take over run %s: %w", id, err)
	}
	l.rec.Events++
	r.TakeChanged()
	return l, nil
}

// underWay lists the attempts that are running by the record.
func (l *live) underWay() []machine.StartAttempt {
	var cut []machine.StartAttempt
	for _, c := range l.run.Pending() {
		if start, ok := c.(machine.StartAttempt); ok {
			cut = append(cut, start)
		}
	}
	return cut
}

// endLeftovers ends what is left of attempts and tells for each what could not
// be ended.
func (e *Engine) endLeftovers(l *live, cut []machine.StartAttempt) [][]string {
	if len(cut) == 0 {
		return nil
	}
	attempts := make([]executor.Attempt, len(cut))
	for i, c := range cut {
		attempts[i] = l.traces(c)
	}
	return executor.EndLeftovers(attempts)
}

// traces gives what the processes of an attempt are known by.
func (l *live) traces(c machine.StartAttempt) executor.Attempt {
	spec := l.run.Plan().Tasks[c.Task].Spec
	return executor.Attempt{
		RunID: l.rec.ID, Workflow: l.rec.Workflow, Task: l.run.Name(c.Unit()), Number: c.Attempt,
		Log:       filepath.Join(l.env.logs, filepath.Base(logPath(l, c.Unit(), c.Attempt))),
		KillAfter: spec.KillAfter.Or(defaultKillAfter),
	}
}
