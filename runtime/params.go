package runtime

import (
	"fmt"
	"os"

	"github.com/ax-scheduler/ax/dsl"
)

// CheckParams tells what is wrong with parameters that a run of a workflow is to
// be given.
func CheckParams(wf *dsl.Workflow, given map[string]string) error {
	_, err := checkParams(wf, given)
	return err
}

// checkParams brings the given parameters together with those that a workflow
// declares: defaults are filled in, what is undeclared, missing or does not fit
// is refused with the parameter's name.
func checkParams(wf *dsl.Workflow, given map[string]string) (map[string]string, error) {
	values := make(map[string]string, len(wf.Params))
	var names []string
	for i := range wf.Params {
		p := &wf.Params[i]
		name := p.Name.V
		names = append(names, name)
		value, ok := given[name]
		switch {
		case ok:
			if err := p.Check(value); err != nil {
				return nil, fmt.Errorf("parameter %q: %w", name, err)
			}
			values[name] = value
		case p.Default.Set():
			values[name] = p.Default.V
		case p.Required.V:
			return nil, fmt.Errorf("parameter %q is required: give it with -p %s=…", name, name)
		}
	}
	for name := range given {
		if _, ok := values[name]; ok {
			continue
		}
		if near := dsl.Nearest(name, names); near != "" {
			return nil, fmt.Errorf("workflow %q has no parameter %q: did you mean %q?", wf.Name.V, name, near)
		}
		return nil, fmt.Errorf("workflow %q has no parameter %q", wf.Name.V, name)
	}
	return values, nil
}

// ReadParamsFile reads parameters from a YAML or JSON file: one map of names to
// values, each taken exactly as it is written.
func ReadParamsFile(path string) (map[string]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	fields, err := dsl.ParseFlat(path, text)
	if err != nil {
		return nil, err
	}
	values := make(map[string]string, len(fields))
	for _, f := range fields {
		values[f.Name.V] = f.Value.V
	}
	return values, nil
}
