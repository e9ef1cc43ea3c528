package runtime

import (
	"fmt"
	"maps"
	"os"
	"slices"

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
	if err := undeclared(wf, given); err != nil {
		return nil, err
	}
	values := make(map[string]string, len(wf.Params))
	for i := range wf.Params {
		p := &wf.Params[i]
		name := p.Name.V
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
	return values, nil
}

// undeclared refuses parameters that a workflow does not have. It comes first,
// for a name that is misspelt leaves another one without a value.
func undeclared(wf *dsl.Workflow, given map[string]string) error {
	var names []string
	for i := range wf.Params {
		names = append(names, wf.Params[i].Name.V)
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if slices.Contains(names, name) {
			continue
		}
		return fmt.Errorf("workflow %q has no parameter %q: %s", wf.Name.V, name, dsl.Meant(name, names))
	}
	return nil
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
