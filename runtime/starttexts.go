package runtime

import (
	"errors"
	"strings"

	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/dsl/expression"
)

// Texts that are evaluated before the first task: they can name what a run is
// given, and the environment as far as it is known by then, but no secret.

// startText evaluates a text of a workflow with some of the names.
func startText(wf *dsl.Workflow, v dsl.Value[string], values *expression.Values, names ...string) (string, error) {
	if !strings.Contains(v.V, "${{") {
		return v.V, nil
	}
	t, faults := expression.CompileTemplate(v.V, expression.NewScope(wf).Only(names...))
	if len(faults) > 0 {
		return "", placedError(wf.Source, v.Pos, faults[0])
	}
	text, err := t.Text(values)
	if err != nil {
		return "", placedError(wf.Source, v.Pos, err)
	}
	return text, nil
}

// inherit takes the engine's own variables, but for its settings and the sources
// of secrets.
func (env *environment) inherit(e *Engine, wf *dsl.Workflow) {
	sources := map[string]bool{}
	for _, s := range wf.Secrets {
		sources[s.Env.V] = true
	}
	for _, v := range e.Env {
		if name, _, _ := strings.Cut(v, "="); !strings.HasPrefix(v, "AX_") && !sources[name] {
			env.put(v)
		}
	}
}

// put adds a variable for all tasks.
func (env *environment) put(v string) {
	env.shared = append(env.shared, v)
	if name, value, ok := strings.Cut(v, "="); ok {
		env.values.Env[name] = value
	}
}

// scheduleParams evaluates the parameters that a schedule gives to a run.
func (e *Engine) scheduleParams(p *pendingTick) (map[string]string, error) {
	wf := p.plan.Workflow
	zone, err := e.zoneOf(wf)
	if err != nil {
		return nil, err
	}
	env := &environment{values: expression.Values{
		Env: map[string]string{}, Zone: zone,
		Run: expression.Run{ID: p.run.ID, Workflow: p.run.Workflow, Trigger: string(p.run.Trigger), ScheduledFor: p.run.ScheduledFor},
	}}
	env.inherit(e, wf)
	given := make(map[string]string, len(p.params))
	var errs []error
	for _, f := range p.params {
		given[f.Name.V], err = startText(wf, f.Value, &env.values, "run", "env")
		errs = append(errs, err)
	}
	return given, errors.Join(errs...)
}
