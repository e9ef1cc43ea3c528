package runtime

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/runtime/executor"
	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/store"
)

// maxDepth is how many runs may have started one another. The linter finds
// circles; files may change in between.
const maxDepth = 16

// childPause is how often a child is looked at that another engine carries out.
const childPause = time.Second

// checkChildren tells which workflows are not there that tasks are to start.
func (e *Engine) checkChildren(wf *dsl.Workflow) error {
	var errs []error
	for i := range wf.Tasks {
		t := &wf.Tasks[i]
		if t.Kind != dsl.KindWorkflow {
			continue
		}
		if _, err := e.workflow(t.Workflow.Name.V); err != nil {
			at := t.Workflow.Name.Pos
			errs = append(errs, fmt.Errorf("%s:%d:%d: task %q: %w", wf.Source.File, at.Line, at.Col, t.ID.V, err))
		}
	}
	return errors.Join(errs...)
}

func (e *Engine) workflow(name string) (*dag.Plan, error) {
	if e.Workflows == nil {
		return nil, fmt.Errorf("there is no workflow %q: this engine knows no workflows by name", name)
	}
	return e.Workflows(name)
}

// child gives the action that runs another workflow and ends as that does. Its
// key names the attempt: whoever goes on with the attempt finds the same run.
func (j *job) child(params map[string]string) (executor.Action, error) {
	for name, value := range params {
		if j.env.mask.Text(value) != value {
			return nil, fmt.Errorf("%s: parameter %q of workflow %q holds a secret: parameters are stored and shown; let the workflow read the secret itself",
				j.at(j.spec.Workflow.Name.Pos), name, j.spec.Workflow.Name.V)
		}
	}
	return executor.Func{Do: func(ctx context.Context, log io.Writer) (map[string]string, error) {
		run, err := j.startChild(ctx, params)
		if err != nil {
			return nil, err
		}
		outputs := map[string]string{"run_id": run.ID}
		fmt.Fprintf(log, "run %s of %s\n", run.ID, run.Workflow)
		run, err = j.engine.attend(ctx, run.ID)
		if err != nil {
			return outputs, err
		}
		fmt.Fprintf(log, "run %s %s\n", run.ID, run.State)
		if run.State == machine.RunSucceeded {
			return outputs, nil
		}
		text := fmt.Sprintf("run %s of workflow %q %s", run.ID, run.Workflow, ended(run.State))
		if run.Error != "" {
			text += ": " + run.Error
		}
		return outputs, errors.New(text)
	}}, nil
}

// carryOutChild has an attempt looked after that was stopped before this engine
// came to it: an earlier one may have started its run, which is to be ended, or
// has ended by itself.
func carryOutChild(ctx context.Context, x Executor, a executor.Attempt, child executor.Func) executor.Outcome {
	a.Action = executor.Func{Do: func(_ context.Context, log io.Writer) (map[string]string, error) { return child.Do(ctx, log) }}
	o := x.Execute(context.WithoutCancel(ctx), a)
	if o.CallError != "" && ctx.Err() != nil {
		o.Stopped, o.CallError = true, ""
	}
	return o
}

// ended says how a run did that has not succeeded.
func ended(s machine.RunState) string {
	if s == machine.RunFailed {
		return "failed"
	}
	return "was " + s.String()
}

// startChild starts the run, or finds the one that an earlier engine started for
// this attempt.
func (j *job) startChild(ctx context.Context, params map[string]string) (store.Run, error) {
	e, name := j.engine, j.spec.Workflow.Name.V
	key := j.run + "/" + j.unit + "/" + strconv.Itoa(j.number)
	run, err := e.Store.RunByKey(context.WithoutCancel(ctx), name, key)
	if err == nil || !errors.Is(err, store.ErrNotFound) {
		return run, err
	}
	if ctx.Err() != nil {
		return run, ctx.Err()
	}
	depth, err := e.depth(ctx, j.rec)
	if err != nil {
		return run, err
	}
	if depth >= maxDepth {
		return run, executor.CannotStart(fmt.Errorf("%d runs have started one another already: workflows seem to start each other without end", depth))
	}
	plan, err := e.workflow(name)
	if err != nil {
		return run, executor.CannotStart(err)
	}
	for {
		run, err = e.Start(ctx, Request{
			Plan: plan, Params: params, Trigger: store.TriggerWorkflow, Key: key,
			ScheduledFor: j.rec.ScheduledFor, IntervalFrom: j.rec.IntervalFrom, IntervalTo: j.rec.IntervalTo,
		})
		if !errors.Is(err, store.ErrFull) {
			break
		}
		if e.rest(ctx); ctx.Err() != nil {
			return run, ctx.Err()
		}
	}
	if errors.Is(err, ErrRefused) {
		return run, executor.CannotStart(fmt.Errorf("workflow %q: %w", name, err))
	}
	return run, err
}

// depth gives how many runs have started one another to make this one, itself
// included.
func (e *Engine) depth(ctx context.Context, run store.Run) (int, error) {
	n := 1
	for ; run.Trigger == store.TriggerWorkflow && n < maxDepth; n++ {
		parent, _, _ := strings.Cut(run.Key, "/")
		var err error
		if run, err = e.Store.Run(ctx, parent); err != nil {
			if errors.Is(err, store.ErrNotFound) {
				return n, nil // it was removed, being old
			}
			return n, err
		}
	}
	return n, nil
}

// attend waits for the end of a run that this engine, or another on the same
// store, carries out. Where ctx ends first the run is cancelled, and its end
// waited for; unless it is this engine that ends: then the run goes on with the
// next.
func (e *Engine) attend(ctx context.Context, id string) (store.Run, error) {
	waiting := ctx
	for {
		run, err := e.wait(waiting, id)
		switch {
		case err == nil && run.State.Final():
			return run, nil
		case errors.Is(context.Cause(ctx), errCut), errors.Is(err, ErrStopped):
			return run, errors.Join(err, ctx.Err())
		case waiting.Err() != nil:
			asked, err := e.cancelChild(ctx, id)
			if err != nil {
				return run, err
			}
			if asked {
				waiting = context.WithoutCancel(ctx)
			}
		case errors.Is(err, store.ErrFull):
			e.rest(waiting)
		case err != nil && !errors.Is(err, context.DeadlineExceeded):
			return run, err
		}
	}
}

// wait waits for the end of a run; one that another engine carries out is looked
// at for a while only, and one that nobody does is taken over.
func (e *Engine) wait(ctx context.Context, id string) (store.Run, error) {
	run, err := e.Store.Run(ctx, id)
	if err != nil || run.State.Final() {
		return run, err
	}
	if run.Owner != e.Owner {
		if !Alive(e.Data, run.Owner) {
			// Another may be quicker, also with all of the run.
			if err := e.Resume(ctx, id); err != nil && !errors.Is(err, store.ErrConflict) && !errors.Is(err, errEnded) {
				return run, err
			}
		}
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, childPause)
		defer stop()
	}
	return e.Wait(ctx, id)
}

// cancelChild cancels a run for the reason that ctx has ended. Where it could not
// be asked for, it is to be tried again: a while has passed then. A full disk does
// not let go of a child, whose processes may still be there.
func (e *Engine) cancelChild(ctx context.Context, id string) (asked bool, err error) {
	do := e.Cancel
	if errors.Is(context.Cause(ctx), errKilled) {
		do = e.Kill
	}
	ctx = context.WithoutCancel(ctx)
	err = do(ctx, id, "the task that started the run")
	if errors.Is(err, errOnceThereIsRoom) {
		return true, nil
	}
	if errors.Is(err, store.ErrNotFound) { // it has ended, or its engine is dead and it is to be taken over first
		run, err := e.Store.Run(ctx, id)
		if err != nil || run.State.Final() {
			return true, err
		}
		return false, e.orRest(ctx, e.Resume(ctx, id))
	}
	return err == nil, e.orRest(ctx, err)
}

// orRest lets a while pass where something is to be tried again.
func (e *Engine) orRest(ctx context.Context, err error) error {
	if errors.Is(err, store.ErrFull) || errors.Is(err, store.ErrConflict) || errors.Is(err, errEnded) {
		e.rest(ctx)
		return nil
	}
	return err
}

// rest lets a while pass, unless ctx is done or the engine stops.
func (e *Engine) rest(ctx context.Context) {
	select {
	case <-time.After(childPause):
	case <-ctx.Done():
	case <-e.over:
	}
}

// carriesOut tells whether a run is one that this engine has taken in.
func (e *Engine) carriesOut(ctx context.Context, id string) bool {
	yes, _ := lookFor(ctx, e, func(lp *loop) bool { return lp.live[id] != nil }) // no where nobody tells
	return yes
}
