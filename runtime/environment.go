package runtime

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/dsl/cron"
	"github.com/ax-scheduler/ax/dsl/expression"
	"github.com/ax-scheduler/ax/runtime/executor"
	"github.com/ax-scheduler/ax/store"
)

// environment is what the tasks of one run have in common: variables, folders
// and expressions. It does not change; its methods may be called side by side.
type environment struct {
	src       *dsl.Source
	origin    string // of the data folder, see originOf
	dir       string // of the workflow file: relative paths start here
	artifacts string
	logs      string
	scratch   string

	shared   []string       // variables, in rising order of precedence
	secrets  []string       // variables, above those of the tasks
	run      []string       // AX_… variables of the run
	parent   string         // of all attempts: TRACEPARENT but for what names the attempt
	hidden   []string       // values of the secrets
	mask     *executor.Mask // nil where there is nothing to mask
	programs *programs
	values   expression.Values // without those of tasks

	folders    sync.Once
	foldersErr error
}

// newEnvironment reads what a run's tasks will see. Errors name the file and
// the place that asks for it.
func newEnvironment(e *Engine, p *dag.Plan, run *store.Run) (*environment, error) {
	wf := p.Workflow
	file, err := filepath.Abs(wf.Source.File)
	if err != nil {
		return nil, fmt.Errorf("find the folder of %s: %w", wf.Source.File, err)
	}
	data, err := filepath.Abs(e.Data)
	if err != nil {
		return nil, fmt.Errorf("find the data folder: %w", err)
	}
	env := &environment{
		src:       wf.Source,
		dir:       filepath.Dir(file),
		artifacts: filepath.Join(data, "artifacts", run.ID),
		logs:      filepath.Join(data, "logs", run.ID),
		scratch:   filepath.Join(data, "scratch", run.ID),
	}
	if env.origin, err = originOf(data); err != nil {
		return nil, err
	}
	zone, err := e.zoneOf(wf)
	if err != nil {
		return nil, err
	}
	if env.programs, err = compilePrograms(p); err != nil {
		return nil, err
	}
	env.values = expression.Values{
		Params: run.Params, Env: map[string]string{}, Zone: zone,
		Run: expression.Run{ID: run.ID, Workflow: run.Workflow, Trigger: string(run.Trigger), ScheduledFor: run.ScheduledFor},
	}
	env.inherit(e, wf)
	secrets, err := readSecrets(wf, env, e.Env)
	if err != nil {
		return nil, err
	}
	env.hide(e, run, secrets)
	env.values.Secrets = secrets
	if err := env.share(wf); err != nil {
		return nil, err
	}
	env.run = runVariables(env, wf, run, zone)
	env.parent = "TRACEPARENT=00-" + TraceID(run.ID) + "-"
	return env, nil
}

// originOf tells a data folder, which is made if need be, from a copy of it on
// the same machine: the processes of a run are not those of its copy.
func originOf(data string) (string, error) {
	if err := MakeData(data); err != nil {
		return "", err
	}
	var st unix.Stat_t
	if err := unix.Stat(data, &st); err != nil {
		return "", fmt.Errorf("look at the data folder: %w", err)
	}
	return fmt.Sprintf("%x.%x", st.Dev, st.Ino), nil
}

// hide makes the variables and the mask of the secrets.
func (env *environment) hide(e *Engine, run *store.Run, secrets map[string]string) {
	for name, value := range secrets {
		env.secrets = append(env.secrets, name+"="+value)
		env.hidden = append(env.hidden, value)
	}
	slices.Sort(env.secrets)
	var short bool
	if env.mask, short = executor.NewMask(env.hidden); short {
		e.Log.Warn("a secret of fewer than four characters cannot be masked", "run", run.ID, "workflow", run.Workflow)
	}
}

// share gathers the further variables that all tasks have: those of env_file and
// those of the workflow's env.
func (env *environment) share(wf *dsl.Workflow) error {
	for _, path := range wf.EnvFile {
		name, err := startText(wf, path, &env.values, "params", "run", "env")
		if err != nil {
			return fmt.Errorf("env_file: %w", err)
		}
		file := env.path(name)
		var vars []string
		text, err := os.ReadFile(file)
		if err == nil {
			vars, err = dsl.EnvFile(file, text)
		}
		if err != nil {
			return fmt.Errorf("%s:%d:%d: env_file: %w", wf.Source.File, path.Pos.Line, path.Pos.Col, err)
		}
		for _, v := range vars {
			env.put(v)
		}
	}
	for i, v := range env.programs.env {
		text, err := v.text.Text(&env.values)
		if err != nil {
			return placedError(wf.Source, wf.Env[i].Value.Pos, err)
		}
		env.put(v.name + "=" + text)
	}
	return nil
}

func runVariables(env *environment, wf *dsl.Workflow, run *store.Run, zone *time.Location) []string {
	vars := []string{
		"AX_RUN_ID=" + run.ID,
		"AX_WORKFLOW=" + run.Workflow,
		"AX_SCHEDULED_FOR=" + run.ScheduledFor.Format(time.RFC3339Nano),
		"AX_DATE=" + run.ScheduledFor.In(zone).Format(time.DateOnly),
		"AX_INTERVAL_START=" + run.IntervalFrom.Format(time.RFC3339Nano),
		"AX_INTERVAL_END=" + run.IntervalTo.Format(time.RFC3339Nano),
		"AX_TRACE_ID=" + TraceID(run.ID),
		"AX_ARTIFACTS=" + env.artifacts,
	}
	for i := range wf.Params {
		if v, ok := run.Params[wf.Params[i].Name.V]; ok {
			vars = append(vars, wf.Params[i].Variable()+"="+v)
		}
	}
	return vars
}

// zoneOf gives the zone of a workflow: its own, or the engine's.
func (e *Engine) zoneOf(wf *dsl.Workflow) (*time.Location, error) {
	if !wf.Timezone.Set() {
		if e.Zone != nil {
			return e.Zone, nil
		}
		return time.Local, nil
	}
	zone, err := cron.LoadZone(wf.Timezone.V)
	if err != nil {
		p := wf.Timezone.Pos
		return nil, fmt.Errorf("%s:%d:%d: timezone: %w", wf.Source.File, p.Line, p.Col, err)
	}
	return zone, nil
}

// path gives an absolute path for one that the file names.
func (env *environment) path(p string) string {
	if filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(env.dir, p)
}

// makeFolders makes the run's folders, once.
func (env *environment) makeFolders() error {
	env.folders.Do(func() {
		for _, dir := range []string{env.logs, env.artifacts} {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				env.foldersErr = err
				return
			}
		}
	})
	return env.foldersErr
}

// cleanUp removes what nobody needs after the end of the run.
func (env *environment) cleanUp() {
	_ = os.RemoveAll(env.scratch) // what is left is found by the next clean-up
}

// variables gives the complete environment of one attempt of a task or an
// instance, the last of a name winning.
func (env *environment) variables(own []string, run, task string, attempt int, told []string) []string {
	return append(slices.Concat(env.shared, own, env.secrets, env.run, told),
		"AX_TASK="+task,
		"AX_ATTEMPT="+strconv.Itoa(attempt),
		"AX_IDEMPOTENCY_KEY="+run+"/"+task,
		env.parent+SpanID(run, task, attempt)+"-01",
	)
}

// TraceID derives the trace of a run (W3C Trace Context, 16 bytes in hex).
func TraceID(run string) string {
	sum := sha256.Sum256([]byte(run))
	return hex.EncodeToString(sum[:16])
}

// SpanID derives the span of an attempt of a task, or an instance as load[3], in
// the trace of its run (8 bytes in hex): TRACEPARENT names it to the task.
func SpanID(run, task string, attempt int) string {
	return shortHash(run + "/" + task + "/" + strconv.Itoa(attempt))
}

// RunSpanID derives the span of a run in its own trace (8 bytes in hex).
func RunSpanID(run string) string { return shortHash(run + "/") }

func shortHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}
