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

// rebase has an ended run go on in another plan, and stores that. Its records of
// tasks and attempts are told anew, by the places of their tasks in the plan.
func (e *Engine) rebase(ctx context.Context, l *live, plan *dag.Plan) error {
	version := versionOf(plan, e.now())
	if version.Hash == l.rec.Version {
		return nil
	}
	before, err := e.Store.Version(ctx, l.rec.Version)
	if err != nil {
		return err
	}
	attempts, err := e.Store.Attempts(ctx, l.rec.ID)
	if err != nil {
		return err
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
		return refused{fmt.Errorf("the latest version of %s does not take the parameters of the run: %w", rec.Workflow, err)}
	}
	env, err := newEnvironment(e, plan, &rec)
	if err != nil {
		return refused{err}
	}
	changed := machine.VersionChanged{From: rec.Version, To: version.Hash, At: e.now()}
	data, err := machine.Encode(changed)
	if err != nil {
		return err
	}
	rec.Version = version.Hash
	l.rec, l.env, l.run = rec, env, l.run.Rebase(plan)
	b := &store.Batch{
		Versions: []store.Version{version}, Update: []store.Run{rec}, Restate: []string{rec.ID},
		Append: []store.Appended{{RunID: rec.ID, Have: rec.Events, Data: [][]byte{data}}},
	}
	for _, u := range l.run.TakeChanged() {
		b.Tasks = append(b.Tasks, taskRecord(l, u))
	}
	for _, a := range attempts {
		if i := slices.Index(version.Tasks, before.Tasks[a.Index]); i >= 0 {
			a.Index = i
			b.Attempts = append(b.Attempts, a)
		}
	}
	if err := e.commit(ctx, b); err != nil {
		return fmt.Errorf("retry run %s in the latest version of %s: %w", rec.ID, rec.Workflow, err)
	}
	l.rec.Events++
	return nil
}
