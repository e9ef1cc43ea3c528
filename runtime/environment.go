package runtime

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/dsl/cron"
	"github.com/ax-scheduler/ax/store"
)

// environment is what the tasks of one run have in common: variables and
// folders. It does not change; its methods may be called side by side.
type environment struct {
	dir       string // of the workflow file: relative paths start here
	artifacts string
	logs      string
	scratch   string
	shared    []string // variables, in rising order of precedence
	run       []string // AX_… variables of the run

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
		dir:       filepath.Dir(file),
		artifacts: filepath.Join(data, "artifacts", run.ID),
		logs:      filepath.Join(data, "logs", run.ID),
		scratch:   filepath.Join(data, "scratch", run.ID),
	}
	env.inherit(e.Env)
	for _, path := range wf.EnvFile {
		vars, err := readEnvFile(env.path(path.V))
		if err != nil {
			return nil, fmt.Errorf("%s:%d:%d: env_file: %w", wf.Source.File, path.Pos.Line, path.Pos.Col, err)
		}
		env.shared = append(env.shared, vars...)
	}
	for _, v := range wf.Env {
		env.shared = append(env.shared, v.Name.V+"="+v.Value.V)
	}
	zone, err := e.zoneOf(wf)
	if err != nil {
		return nil, err
	}
	env.run = []string{
		"AX_RUN_ID=" + run.ID,
		"AX_WORKFLOW=" + run.Workflow,
		"AX_SCHEDULED_FOR=" + run.ScheduledFor.Format(time.RFC3339Nano),
		"AX_DATE=" + run.ScheduledFor.In(zone).Format(time.DateOnly),
		"AX_INTERVAL_START=" + run.IntervalFrom.Format(time.RFC3339Nano),
		"AX_INTERVAL_END=" + run.IntervalTo.Format(time.RFC3339Nano),
		"AX_TRACE_ID=" + traceID(run.ID),
		"AX_ARTIFACTS=" + env.artifacts,
	}
	for i := range wf.Params {
		if v, ok := run.Params[wf.Params[i].Name.V]; ok {
			env.run = append(env.run, wf.Params[i].Variable()+"="+v)
		}
	}
	return env, nil
}

// inherit takes over the engine's own variables but for its settings.
func (env *environment) inherit(vars []string) {
	for _, v := range vars {
		if !strings.HasPrefix(v, "AX_") {
			env.shared = append(env.shared, v)
		}
	}
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

// variables gives the complete environment of one attempt, the last of a name
// winning.
func (env *environment) variables(spec *dsl.Task, run string, attempt int, failed []string) []string {
	vars := make([]string, 0, len(env.shared)+len(spec.Env)+len(env.run)+len(failed)+4)
	vars = append(vars, env.shared...)
	for _, v := range spec.Env {
		vars = append(vars, v.Name.V+"="+v.Value.V)
	}
	vars = append(vars, env.run...)
	vars = append(vars, failed...)
	id := spec.ID.V
	return append(vars,
		"AX_TASK="+id,
		"AX_ATTEMPT="+strconv.Itoa(attempt),
		"AX_IDEMPOTENCY_KEY="+run+"/"+id,
		"TRACEPARENT=00-"+traceID(run)+"-"+spanID(run, id, attempt)+"-01",
	)
}

// traceID derives the trace of a run (W3C Trace Context, 16 bytes in hex).
func traceID(run string) string {
	sum := sha256.Sum256([]byte(run))
	return hex.EncodeToString(sum[:16])
}

// spanID derives the span of an attempt (8 bytes in hex).
func spanID(run, task string, attempt int) string {
	sum := sha256.Sum256([]byte(run + "/" + task + "/" + strconv.Itoa(attempt)))
	return hex.EncodeToString(sum[:8])
}
