package runtime

import (
	"context"
	"fmt"
	"slices"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/store"
)

// RetryLatest is Retry in another version of the workflow: what succeeded is
// kept where the task is still there, all else is done as the plan says. The
// run's parameters must fit it.
func (e *Engine) RetryLatest(ctx context.Context, id string, tasks []string, plan *dag.Plan) error {
	e.init()
	if err := e.refusal(plan); err != nil {
		return refused{err}
	}
	return e.retry(ctx, id, tasks, plan)
}

// rebased gives an ended run as it goes on in another plan, and what is to be
// written of that with its retry: one without the other would leave an ended run
// with tasks that have not. Its records of tasks and attempts are told anew, by the
// places of their tasks in the plan. The run that is given must not be used any more.
func (e *Engine) rebased(ctx context.Context, l *live, plan *dag.Plan) (*live, *store.Batch, error) {
	version := versionOf(plan, e.now())
	if version.Hash == l.rec.Version {
		return l, &store.Batch{}, nil
	}
	before, err := e.Store.Version(ctx, l.rec.Version)
	if err != nil {
		return nil, nil, err
	}
	attempts, err := e.Store.Attempts(ctx, l.rec.ID)
	if err != nil {
		return nil, nil, err
	}
	rec := l.rec
	kept := map[string]string{} // parameters that are no longer declared are left behind
	for i := range plan.Workflow.Params {
		name := plan.Workflow.Params[i].Name.V
		if value, ok := rec.Params[name]; ok {
			kept[name] = value
		}
	}
	if rec.Params, err = checkParams(plan.Workflow, kept); err != nil {
		return nil, nil, refused{fmt.Errorf("the latest version of %s does not take the parameters of the run: %w", rec.Workflow, err)}
	}
	env, err := newEnvironment(e, plan, &rec)
	if err != nil {
		return nil, nil, refused{err}
	}
	data, err := machine.Encode(machine.VersionChanged{From: rec.Version, To: version.Hash, At: e.now()})
	if err != nil {
		return nil, nil, err
	}
	rec.Version = version.Hash
	l.run.TakeChanged() // all is told anew
	b := &store.Batch{Versions: []store.Version{version}, Restate: []string{rec.ID}, Append: []store.Appended{{RunID: rec.ID, Data: [][]byte{data}}}}
	for _, a := range attempts {
		if i := slices.Index(version.Tasks, before.Tasks[a.Index]); i >= 0 {
			a.Index = i
			b.Attempts = append(b.Attempts, a)
		}
	}
	return &live{run: l.run.Rebase(plan), rec: rec, env: env}, b, nil
}
