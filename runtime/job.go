package runtime

import (
	"context"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/dsl/expression"
	"github.com/ax-scheduler/ax/runtime/executor"
	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/store"
)

// defaultKillAfter is the time between SIGTERM and SIGKILL (DSL.md).
const defaultKillAfter = 10 * time.Second

// job is one attempt to carry out, with all that the worker needs: nothing in
// it belongs to the loop.
type job struct {
	engine   *Engine
	rec      store.Run // as it was when the attempt began
	env      *environment
	spec     *dsl.Task
	programs *taskPrograms
	values   expression.Values
	run      string
	workflow string
	unit     string // name of the task or instance
	item     string // of an instance, as JSON
	number   int
	log      string
	told     []string // what a handler is told: AX_RUN_STATE, AX_FAILED_…
}

func (lp *loop) job(l *live, c machine.StartAttempt) *job {
	j := &job{
		engine: lp.e, rec: l.rec,
		env: l.env, spec: l.run.Plan().Tasks[c.Task].Spec, programs: &l.env.programs.tasks[c.Task],
		values: l.valuesFor(c.Task),
		run:    l.rec.ID, workflow: l.rec.Workflow, unit: l.run.Name(c.Unit()), number: c.Attempt,
		log:  filepath.Join(l.env.logs, filepath.Base(logPath(l, c.Unit(), c.Attempt))),
		told: append(l.runState(c.Task), l.failedVariables(c.Task)...),
	}
	if c.Instance != 0 {
		j.values.Index, j.item = c.Instance.Index(), l.run.Item(c.Unit())
	}
	return j
}

// valuesFor gives what the expressions of a task are evaluated with.
func (l *live) valuesFor(t dag.Task) expression.Values {
	values := l.env.values
	if ids := l.env.programs.tasks[t].upstreams; len(ids) > 0 {
		values.Tasks = make(map[string]expression.Task, len(ids))
		for _, id := range ids {
			if up, ok := l.run.Plan().Task(id); ok {
				v := l.run.Task(up)
				values.Tasks[id] = expression.Task{
					Absent: !v.Member, State: v.State.String(), Outputs: v.Outputs, ExitCode: v.ExitCode, Error: v.Error, Each: l.listsOf(up),
				}
			}
		}
	}
	return values
}

// runState tells a handler of the workflow, and those that its failure calls, what
// the other tasks amount to.
func (l *live) runState(t dag.Task) []string {
	state, _, _, decided := l.run.Outcome()
	if !decided || !l.run.Plan().Tasks[t].Late {
		return nil
	}
	return []string{"AX_RUN_STATE=" + state.String()}
}

// failedVariables tells a handler of the first failure into it.
func (l *live) failedVariables(t dag.Task) []string {
	by, ok := l.run.FailedInto(t)
	if !ok {
		return l.failedRun(t)
	}
	v := l.run.Task(by)
	code := ""
	if v.ExitCode != nil {
		code = strconv.Itoa(*v.ExitCode)
	}
	return []string{
		"AX_FAILED_TASK=" + l.run.Plan().Tasks[by].ID,
		"AX_FAILED_REASON=" + string(v.Reason),
		"AX_FAILED_EXIT_CODE=" + code,
		"AX_FAILED_ERROR=" + v.Error,
	}
}

// failedRun tells a handler of the workflow of a failure that no task is to
// blame for: that of the run's timeout.
func (l *live) failedRun(t dag.Task) []string {
	state, reason, text, decided := l.run.Outcome()
	if l.run.Plan().Tasks[t].Handles == 0 || !decided || state != machine.RunFailed {
		return nil
	}
	return []string{"AX_FAILED_TASK=", "AX_FAILED_REASON=" + string(reason), "AX_FAILED_EXIT_CODE=", "AX_FAILED_ERROR=" + text}
}

// carryOut runs the attempt to its end.
func (j *job) carryOut(ctx context.Context, x Executor) executor.Outcome {
	if err := j.env.makeFolders(); err != nil {
		return executor.Outcome{ExitCode: -1, StartError: "the run's folders cannot be made: " + err.Error()}
	}
	a, err := j.attempt()
	if err != nil {
		return executor.Outcome{ExitCode: -1, StartError: j.env.mask.Text(err.Error())}
	}
	if j.env.mask != nil {
		a.Secrets, a.Filter = j.env.hidden, j.env.mask.Writer
	}
	if child, ok := a.Action.(executor.Func); ok {
		return carryOutChild(ctx, x, a, child)
	}
	return x.Execute(ctx, a)
}

// attempt evaluates the expressions of the task.
func (j *job) attempt() (executor.Attempt, error) {
	a := executor.Attempt{
		Origin: j.env.origin, RunID: j.run, Workflow: j.workflow, Task: j.unit, Number: j.number,
		Dir: j.env.dir, Log: j.log, Scratch: j.env.scratch,
		KillAfter: j.spec.KillAfter.Or(defaultKillAfter),
	}
	instance, err := j.instance()
	if err != nil {
		return a, err
	}
	own, err := j.texts(j.programs.env, func(i int) dsl.Pos { return j.spec.Env[i].Value.Pos })
	if err != nil {
		return a, err
	}
	if j.programs.workdir != nil {
		dir, err := j.programs.workdir.Text(&j.values)
		if err != nil {
			return a, placedError(j.env.src, j.spec.Workdir.Pos, err)
		}
		a.Dir = j.env.path(dir)
	}
	switch j.spec.Kind {
	case dsl.KindRun:
		vars, err := j.programs.script.Env(&j.values)
		if err != nil {
			return a, placedError(j.env.src, j.spec.Run.Pos, err)
		}
		own = append(own, vars...)
		a.Action = executor.Script{Shell: j.spec.Shell.Argv, Text: j.programs.script.Text()}
	case dsl.KindCommand:
		argv, bad, err := expression.Args(j.programs.args, &j.values)
		if err != nil {
			return a, placedError(j.env.src, j.spec.Command[max(bad, 0)].Pos, err)
		}
		a.Action = executor.Command{Argv: argv}
	case dsl.KindCall:
		with, err := j.texts(j.programs.with, func(i int) dsl.Pos { return j.spec.With[i].Value.Pos })
		if err != nil {
			return a, err
		}
		a.Action = executor.Call{Name: j.spec.Call.V, With: mapOf(with)}
	default:
		if a.Action, err = j.kind(a.Dir); err != nil {
			return a, err
		}
	}
	if j.spec.Kind != dsl.KindCall { // a function has the environment of its program
		a.Env = append(j.env.variables(own, j.run, j.unit, j.number, j.told), instance...)
	}
	return a, nil
}

// texts evaluates named templates into NAME=value.
func (j *job) texts(ts []namedTemplate, at func(i int) dsl.Pos) ([]string, error) {
	vars := make([]string, 0, len(ts))
	for i, t := range ts {
		text, err := t.text.Text(&j.values)
		if err != nil {
			return nil, placedError(j.env.src, at(i), err)
		}
		vars = append(vars, t.name+"="+text)
	}
	return vars, nil
}

func mapOf(vars []string) map[string]string {
	m := make(map[string]string, len(vars))
	for _, v := range vars {
		name, value, _ := strings.Cut(v, "=")
		m[name] = value
	}
	return m
}

// withOf gives the parameters of a call as written.
func withOf(t *dsl.Task) map[string]string {
	with := make(map[string]string, len(t.With))
	for _, f := range t.With {
		with[f.Name.V] = f.Value.V
	}
	return with
}

// LogPath gives the path of the log of an attempt of a task or an instance
// ("load[3]"), relative to the data folder, with slashes. The index keeps apart the logs of tasks whose ids differ by case
// alone, on disks that do not.
func LogPath(run string, index int, task string, attempt int) string {
	return "logs/" + run + "/" + strconv.Itoa(index) + "-" + task + "." + strconv.Itoa(attempt) + ".log"
}

func logPath(l *live, u machine.Unit, number int) string {
	return LogPath(l.rec.ID, int(u.Task), l.run.Name(u), number)
}

// resultOf brings an outcome into the form that the machine takes.
func resultOf(o executor.Outcome) machine.Result {
	r := machine.Result{
		ExitCode: o.ExitCode, Signal: o.Signal, StartError: o.StartError, Failure: o.OutputError,
		Stopped: o.Stopped, Interrupted: o.Interrupted, LastLine: o.LastLine, Left: o.Leftovers, Outputs: o.Outputs,
	}
	if o.CallError != "" {
		r.Failure = o.CallError
	}
	return r
}

// attemptRecord gives the record of an attempt whose end the machine knows.
func attemptRecord(l *live, c machine.StartAttempt, o executor.Outcome, at time.Time) store.Attempt {
	v := l.run.View(c.Unit())
	a := store.Attempt{
		RunID: l.rec.ID, Index: int(c.Task), Instance: c.Instance.Index(), Number: c.Attempt,
		State: v.State, Reason: v.Reason, ExitCode: v.ExitCode, Error: v.Error,
		Warnings: o.Warnings, Log: logPath(l, c.Unit(), c.Attempt),
		StartedAt: v.AttemptAt, FinishedAt: at,
	}
	if !v.State.Final() {
		a.State = machine.Failed // another attempt follows
	}
	if v.State == machine.Failed && l.run.Plan().Tasks[c.Task].Spec.AllowFailure.V {
		a.Warnings = append(a.Warnings, "it is allowed to fail: the run goes on as if it had succeeded")
	}
	for _, left := range o.Leftovers {
		a.Warnings = append(a.Warnings, "could not be ended: "+left)
	}
	return a
}
