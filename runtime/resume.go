package runtime

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/runtime/executor"
	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/store"
)

// Resume takes over an unfinished run whose engine has died and goes on with it.
// Attempts that were under way are adopted where their supervisor has them, and
// taken in where it has left a record of their end. The others are interrupted:
// what is left of their processes is ended first, the whole tree, so that no
// attempt runs beside another of the same task. (DESIGN.md, promise 3.)
func (e *Engine) Resume(ctx context.Context, id string) error {
	return e.resume(ctx, id, func(*loop, *live) {})
}

// ResumeToCancel takes over an unfinished run whose engine has died and cancels
// it: nothing of it starts but what handles a cancel.
func (e *Engine) ResumeToCancel(ctx context.Context, id, by string) error {
	return e.resume(ctx, id, cancelBy(by))
}

// cancelBy gives what cancels a run that has been taken over.
func cancelBy(by string) func(*loop, *live) {
	return func(lp *loop, l *live) { lp.cancel(l, by) }
}

// resume takes over an unfinished run and does something with it before it goes
// on.
func (e *Engine) resume(ctx context.Context, id string, first func(*loop, *live)) error {
	done, err := e.take(ctx)
	if err != nil {
		return err
	}
	defer done()
	if e.carriesOut(ctx, id) {
		return nil
	}
	return e.resumeTaken(ctx, id, first)
}

// resumeTaken is resume for who takes runs over at the moment.
func (e *Engine) resumeTaken(ctx context.Context, id string, first func(*loop, *live)) error {
	r, err := e.takeUnfinished(ctx, id)
	if err != nil {
		return err
	}
	return e.hand(ctx, func(lp *loop) error {
		lp.goOn(r, first)
		return nil
	})
}

// resumed is a run that has been taken over, with what has become of the
// attempts that were under way.
type resumed struct {
	l       *live
	cut     []machine.StartAttempt
	adopted []executor.Adopted // by place in cut
}

// errEnded says that a run has ended which was to be gone on with.
var errEnded = errors.New("there is nothing to go on with")

// takeUnfinished takes over an unfinished run, and looks for its processes.
func (e *Engine) takeUnfinished(ctx context.Context, id string) (*resumed, error) {
	l, err := e.takeOver(ctx, id, func(l *live) error {
		if l.rec.State.Final() {
			return fmt.Errorf("run %s is %s: %w", id, l.rec.State, errEnded)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	cut := l.underWay()
	return &resumed{l, cut, e.adopt(l, cut)}, nil
}

// adopter is an Executor that can say what has become of the attempts of an
// engine that has died.
type adopter interface {
	Adopt([]executor.Attempt) []executor.Adopted
}

// adopt looks for what has become of attempts that were under way. What only
// waits, for a condition or for another run, can go on at any time: nothing has
// become of it. Whatever else has no process was cut off with its engine.
func (e *Engine) adopt(l *live, cut []machine.StartAttempt) []executor.Adopted {
	adopted := make([]executor.Adopted, len(cut))
	var attempts []executor.Attempt
	var places []int
	for i, c := range cut {
		switch kind := l.run.Plan().Tasks[c.Task].Spec.Kind; {
		case kind.Waits():
			continue
		case kind == dsl.KindRun, kind == dsl.KindCommand:
			attempts, places = append(attempts, l.traces(c)), append(places, i)
		}
		adopted[i].Ended = &executor.Outcome{ExitCode: -1, Interrupted: true}
	}
	if x, ok := e.Executor.(adopter); ok && len(attempts) > 0 {
		for n, a := range x.Adopt(attempts) {
			adopted[places[n]] = a
		}
	}
	return adopted
}

// goOn makes a run that was taken over one of the loop's, does something with
// it, and goes on with what was under way. Whatever that has become of takes its
// slot first, and is there when the timers that were over meanwhile go off.
func (lp *loop) goOn(r *resumed, first func(*loop, *live)) {
	l := r.l
	lp.adopt(l)
	if l.run.Waits() {
		if first(lp, l); l.run.Waits() && !l.dropped {
			lp.queue(l)
		}
		return
	}
	lp.flow(l.rec.Workflow).active = append(lp.flow(l.rec.Workflow).active, l)
	open := l.run.Pending()
	for i, c := range r.cut {
		lp.takeSlot(l, c.Unit())
		switch became := r.adopted[i]; {
		case became.Await != nil:
			lp.attend(l, c, became.Await)
		case became.Ended == nil:
			lp.launch(l, c)
		}
	}
	for _, c := range open { // of a state that is stored: no commit to wait for
		if _, again := c.(machine.StartAttempt); !again {
			lp.act(l, c)
		}
	}
	first(lp, l)
	for i, c := range r.cut {
		if o := r.adopted[i].Ended; o != nil {
			lp.ended(l, c, *o, l.endOf(c, o, lp.now()))
		}
	}
}

// endOf gives when an attempt ended that ended while nobody looked.
func (l *live) endOf(c machine.StartAttempt, o *executor.Outcome, now time.Time) time.Time {
	at := timestamp(o.Finished)
	if o.Finished.IsZero() || o.Interrupted || at.After(now) || at.Before(l.run.View(c.Unit()).AttemptAt) {
		return now
	}
	return at
}

// Retry starts an ended run again from what failed, was skipped or was
// cancelled, or from the named tasks and instances ("load[3]"); what succeeded is
// kept. The run keeps its
// id and the version of the file that it began with, and attempts are counted
// on.
func (e *Engine) Retry(ctx context.Context, id string, tasks []string) error {
	return e.retry(ctx, id, tasks, nil)
}

// retry is Retry; where latest is given the run goes on in that plan.
func (e *Engine) retry(ctx context.Context, id string, tasks []string, latest *dag.Plan) error {
	done, err := e.take(ctx)
	if err != nil {
		return err
	}
	defer done()
	again := machine.RunRetried{}
	var next *live // as it goes on
	var b *store.Batch
	l, err := e.takeOver(ctx, id, func(l *live) (err error) {
		next, b = l, &store.Batch{}
		if latest != nil && l.rec.State.Final() && !l.run.StartedAt().IsZero() {
			if next, b, err = e.rebased(ctx, l, latest); err != nil {
				return err
			}
		}
		for _, name := range tasks {
			u, ok := next.run.Named(name)
			switch {
			case !ok:
				return refused{fmt.Errorf("run %s has no task %q: %s", id, name, meantTask(next.run, name))}
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
	next.rec.Owner, next.rec.Events = l.rec.Owner, l.rec.Events
	if err := e.requeue(ctx, next, again, b); err != nil {
		return err
	}
	next.toldLate = true // or it ended in time
	return e.hand(ctx, func(lp *loop) error {
		lp.admit(next)
		return nil
	})
}

// requeue has an ended run that was taken over wait for its turn among those of its
// workflow, to be gone on with; one that never started, to start. What b holds of it
// is written first.
func (e *Engine) requeue(ctx context.Context, l *live, again machine.RunRetried, b *store.Batch) error {
	again.At, again.Waits = e.now(), true
	rec := &l.rec
	rec.State, rec.Reason, rec.Error, rec.FinishedAt = machine.RunQueued, machine.ReasonNone, "", time.Time{}
	rec.Turn = machine.Turn(again.At, rec.Priority)
	var events [][]byte
	for _, a := range b.Append {
		events = a.Data
	}
	if !l.run.StartedAt().IsZero() {
		if _, err := l.run.Apply(again); err != nil {
			return err
		}
		data, err := machine.Encode(again)
		if err != nil {
			return err
		}
		events = append(events, data)
		b.Append = []store.Appended{{RunID: rec.ID, Have: rec.Events, Data: events}}
		for _, u := range l.run.TakeChanged() {
			b.Tasks = append(b.Tasks, taskRecord(l, u))
		}
	}
	b.Update, b.Changes = []store.Run{*rec}, changeFor(ctx, "retry", rec.Workflow, rec.ID)
	if err := e.commit(ctx, b); err != nil {
		return fmt.Errorf("retry run %s: %w", rec.ID, err)
	}
	settle(ctx)
	rec.Events += len(events)
	e.publish(Update{Run: *rec, Tasks: b.Tasks})
	return nil
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
	taken := machine.TakenOver{By: e.Owner, At: e.now()}
	if _, err := l.run.Apply(taken); err != nil {
		return nil, err
	}
	data, err := machine.Encode(taken)
	if err != nil {
		return nil, err
	}
	l.rec.Owner = e.Owner
	err = e.commit(ctx, &store.Batch{
		Update: []store.Run{l.rec}, Append: []store.Appended{{RunID: id, Have: l.rec.Events, Data: [][]byte{data}}},
	})
	if err != nil {
		return nil, fmt.Errorf("take over run %s: %w", id, err)
	}
	l.rec.Events++
	l.run.TakeChanged()
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

// traces gives what the processes of an attempt are known by.
func (l *live) traces(c machine.StartAttempt) executor.Attempt {
	spec := l.run.Plan().Tasks[c.Task].Spec
	return executor.Attempt{
		Origin: l.env.origin, RunID: l.rec.ID, Workflow: l.rec.Workflow, Task: l.run.Name(c.Unit()), Number: c.Attempt,
		Log:     filepath.Join(l.env.logs, filepath.Base(logPath(l, c.Unit(), c.Attempt))),
		Scratch: l.env.scratch, KillAfter: spec.KillAfter.Or(defaultKillAfter),
	}
}

// meantTask tells of a name that no task has, nor an instance, what there is.
func meantTask(r *machine.Run, name string) string {
	id, i, _ := machine.ParseName(name)
	if t, ok := r.Plan().Task(id); ok && i != 0 {
		return id + " has " + InstancesText(r.Instances(t))
	}
	return dsl.Meant(name, r.Plan().IDs())
}
