package runtime

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/ax-scheduler/ax/dsl"
)

// readSecrets reads the secrets of a workflow. The error names the place of each
// that there is none of, never a value. One line end at the end of a file is not
// part of the secret.
func readSecrets(wf *dsl.Workflow, env *environment, engine []string) (map[string]string, error) {
	values := make(map[string]string, len(wf.Secrets))
	var errs []error
	for _, s := range wf.Secrets {
		value, at, err := readSecret(wf, s, env, engine)
		if err == nil && strings.ContainsRune(value, 0) {
			err = errors.New("it holds a NUL character, which no variable can")
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s:%d:%d: secret %q: %w", wf.Source.File, at.Line, at.Col, s.Name.V, err))
			continue
		}
		values[s.Name.V] = value
	}
	return values, errors.Join(errs...)
}

func readSecret(wf *dsl.Workflow, s dsl.Secret, env *environment, engine []string) (string, dsl.Pos, error) {
	if s.Env.Set() {
		for _, v := range engine {
			if value, ok := strings.CutPrefix(v, s.Env.V+"="); ok {
				return value, s.Env.Pos, nil
			}
		}
		return "", s.Env.Pos, fmt.Errorf("the variable %s is not set where ax runs", s.Env.V)
	}
	path, err := startText(wf, s.File, &env.values, "params", "run", "env")
	if err != nil {
		return "", s.File.Pos, err
	}
	text, err := os.ReadFile(env.path(path))
	if err != nil {
		return "", s.File.Pos, err
	}
	value := strings.TrimSuffix(string(text), "\n")
	return strings.TrimSuffix(value, "\r"), s.File.Pos, nil
}
