package runtime

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/runtime/executor"
	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/store"
)

// defaultKillAfter is the time between SIGTERM and SIGKILL (DSL.md).
const defaultKillAfter = 10 * time.Second

// job is one attempt to carry out, with all that the worker needs: nothing in
// it belongs to the loop.
type job struct {
	env      *environment
	spec     *dsl.Task
	run      string
	workflow string
	number   int
	log      string
	failed   []string // AX_FAILED_… of a handler
}

func (lp *loop) job(l *live, c machine.StartAttempt) *job {
	j := &job{
		env: l.env, spec: l.run.Plan().Tasks[c.Task].Spec,
		run: l.rec.ID, workflow: l.rec.Workflow, number: c.Attempt,
		log: filepath.Join(l.env.logs, filepath.Base(logPath(l, c.Task, c.Attempt))),
	}
	if t, ok := l.run.FailedInto(c.Task); ok {
		v := l.run.Task(t)
		j.failed = []string{
			"AX_FAILED_TASK=" + l.run.Plan().Tasks[t].ID,
			"AX_FAILED_REASON=" + string(v.Reason),
			"AX_FAILED_EXIT_CODE=",
			"AX_FAILED_ERROR=" + v.Error,
		}
		if v.ExitCode != nil {
			j.failed[2] += strconv.Itoa(*v.ExitCode)
		}
	}
	return j
}

// carryOut runs the attempt to its end.
func (j *job) carryOut(ctx context.Context, x Executor) executor.Outcome {
	if err := j.env.makeFolders(); err != nil {
		return executor.Outcome{ExitCode: -1, StartError: "the run's folders cannot be made: " + err.Error()}
	}
	dir := j.env.dir
	if j.spec.Workdir.Set() {
		dir = j.env.path(j.spec.Workdir.V)
	}
	return x.Execute(ctx, executor.Attempt{
		RunID: j.run, Workflow: j.workflow, Task: j.spec.ID.V, Number: j.number,
		Action:    actionOf(j.spec),
		Dir:       dir,
		Env:       j.env.variables(j.spec, j.run, j.number, j.failed),
		Log:       j.log,
		Scratch:   j.env.scratch,
		KillAfter: j.spec.KillAfter.Or(defaultKillAfter),
	})
}

func actionOf(t *dsl.Task) executor.Action {
	switch t.Kind {
	case dsl.KindRun:
		return executor.Script{Shell: t.Shell.Argv, Text: t.Run.V}
	case dsl.KindCommand:
		var argv []string
		for _, a := range t.Command {
			argv = append(argv, a.V)
		}
		return executor.Command{Argv: argv}
	case dsl.KindCall:
		return executor.Call{Name: t.Call.V, With: withOf(t)}
	}
	return nil
}

func withOf(t *dsl.Task) map[string]string {
	with := make(map[string]string, len(t.With))
	for _, f := range t.With {
		with[f.Name.V] = f.Value.V
	}
	return with
}

// LogPath gives the path of an attempt's log, relative to the data folder, with
// slashes. The index keeps apart the logs of tasks whose ids differ by case
// alone, on disks that do not.
func LogPath(run string, index int, task string, attempt int) string {
	return fmt.Sprintf("logs/%s/%d-%s.%d.log", run, index, task, attempt)
}

func logPath(l *live, t dag.Task, number int) string {
	return LogPath(l.rec.ID, int(t), l.run.Plan().Tasks[t].ID, number)
}

// resultOf brings an outcome into the form that the machine takes.
func resultOf(o executor.Outcome) machine.Result {
	r := machine.Result{
		ExitCode: o.ExitCode, Signal: o.Signal, StartError: o.StartError, Failure: o.OutputError,
		Stopped: o.Stopped, LastLine: o.LastLine, Left: o.Leftovers, Outputs: o.Outputs,
	}
	if o.CallError != "" {
		r.Failure = o.CallError
	}
	return r
}

// attemptRecord gives the record of an attempt whose end the machine knows.
func attemptRecord(l *live, c machine.StartAttempt, o executor.Outcome, at time.Time) store.Attempt {
	v := l.run.Task(c.Task)
	a := store.Attempt{
		RunID: l.rec.ID, Index: int(c.Task), Instance: -1, Number: c.Attempt,
		State: v.State, Reason: v.Reason, ExitCode: v.ExitCode, Error: v.Error,
		Warnings: o.Warnings, Log: logPath(l, c.Task, c.Attempt),
		StartedAt: v.AttemptAt, FinishedAt: at,
	}
	if !v.State.Final() {
		a.State = machine.Failed // another attempt follows
	}
	for _, left := range o.Leftovers {
		a.Warnings = append(a.Warnings, "could not be ended: "+left)
	}
	return a
}
