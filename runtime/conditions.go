package runtime

import (
	"time"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dsl/expression"
	"github.com/ax-scheduler/ax/runtime/machine"
)

// evaluate answers whether the `when` of a task holds.
func (l *live) evaluate(t dag.Task, at time.Time) machine.Evaluated {
	values := l.valuesFor(t)
	holds, err := l.env.programs.tasks[t].when.Eval(&values)
	if err != nil {
		err = placedError(l.env.src, l.run.Plan().Tasks[t].Spec.When.Pos, err)
		return machine.Evaluated{Task: t, Error: l.env.mask.Text(err.Error()), At: at}
	}
	return machine.Evaluated{Task: t, Holds: holds == true, At: at}
}

// askRetryIf lets retry.if say whether a failed attempt is worth another. The
// task itself is, for it, as the attempt left it. Where it cannot be evaluated
// there is no other attempt, and the warning says why.
func (l *live) askRetryIf(u machine.Unit, r *machine.Result) (warning string) {
	program := l.env.programs.tasks[u.Task].retryIf
	spec := l.run.Plan().Tasks[u.Task].Spec
	if program == nil || machine.Succeeds(spec, *r) && !r.Stopped {
		return ""
	}
	values := l.valuesFor(u.Task)
	if u.Instance != 0 {
		values.Index = u.Instance.Index()
		values.Item, _ = expression.ParseJSON(l.run.Item(u)) // it is JSON
	}
	if values.Tasks == nil {
		values.Tasks = map[string]expression.Task{}
	}
	self := expression.Task{State: machine.Failed.String(), Outputs: r.Outputs, Error: machine.Describe(*r)}
	if r.StartError == "" {
		self.ExitCode = &r.ExitCode
	}
	values.Tasks[spec.ID.V] = self
	again, err := program.Eval(&values)
	r.NoRetry = again != true
	if err != nil {
		err = placedError(l.env.src, spec.Retry.If.Pos, err)
		return "retry.if: " + l.env.mask.Text(err.Error())
	}
	return ""
}
