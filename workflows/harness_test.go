package workflows

import (
	"bytes"
	"cmp"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// result is what a run left behind. Maps are by task id; a task that was skipped is in none of them.
type result struct {
	state     string                       // of the run: succeeded or failed
	states    map[string]string            // succeeded or failed
	outputs   map[string]map[string]string // lines of AX_OUTPUT
	logs      map[string]string            // standard output and error together
	artifacts string                       // the folder AX_ARTIFACTS
}

type workflow struct {
	Env       map[string]string
	OnFailure string `yaml:"on_failure"`
	Tasks     map[string]task
}

type task struct {
	Run          string
	Command      []string
	Env          map[string]string
	DependsOn    ids    `yaml:"depends_on"`
	OnFailure    string `yaml:"on_failure"`
	AllowFailure bool   `yaml:"allow_failure"`
}

// ids is one id or a list of them.
type ids []string

func (l *ids) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		*l = ids{n.Value}
		return nil
	}
	return n.Decode((*[]string)(l))
}

// runPipeline runs the workflow in file once, one attempt a task, upstreams first, as the run of the given date.
func runPipeline(t *testing.T, file, date string) result {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var w workflow
	if err := yaml.Unmarshal(text, &w); err != nil {
		t.Fatal(err)
	}
	r := result{"succeeded", map[string]string{}, map[string]map[string]string{}, map[string]string{}, t.TempDir()}
	env := append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "AX_") }),
		"AX_WORKFLOW="+strings.TrimSuffix(filepath.Base(file), ".yaml"), "AX_RUN_ID=r1", "AX_ATTEMPT=1",
		"AX_DATE="+date, "AX_SCHEDULED_FOR="+date+"T03:00:00Z", "AX_ARTIFACTS="+r.artifacts)
	for k, v := range w.Env {
		env = append(env, k+"="+v)
	}
	handlers := map[string]string{} // by the task that starts them
	first := ""                     // the task that made the run fail
	for id, k := range w.Tasks {
		handlers[id] = k.OnFailure
	}
	for _, id := range inOrder(t, w, handlers) {
		if !r.all(w.Tasks[id].DependsOn) {
			continue
		}
		r.attempt(t, filepath.Dir(file), id, w.Tasks[id], env)
		if r.states[id] != "failed" || w.Tasks[id].AllowFailure {
			continue
		}
		r.state, first = "failed", cmp.Or(first, id)
		if h := handlers[id]; h != "" {
			r.attempt(t, filepath.Dir(file), h, w.Tasks[h], append(env, r.failed(id)...))
		}
	}
	if r.state == "failed" && w.OnFailure != "" {
		r.attempt(t, filepath.Dir(file), w.OnFailure, w.Tasks[w.OnFailure], append(env, r.failed(first)...))
	}
	return r
}

// inOrder gives the tasks that are not handlers, upstreams before those that wait for them.
func inOrder(t *testing.T, w workflow, handlers map[string]string) (order []string) {
	t.Helper()
	left := slices.Sorted(maps.Keys(w.Tasks))
	left = slices.DeleteFunc(left, func(id string) bool {
		return id == w.OnFailure || slices.Contains(slices.Collect(maps.Values(handlers)), id)
	})
	for len(left) > 0 {
		i := slices.IndexFunc(left, func(id string) bool {
			return !slices.ContainsFunc(w.Tasks[id].DependsOn, func(up string) bool { return !slices.Contains(order, up) })
		})
		if i < 0 {
			t.Fatalf("no order for %q", left)
		}
		order = append(order, left[i])
		left = slices.Delete(left, i, i+1)
	}
	return order
}

func (r *result) all(upstreams []string) bool {
	return !slices.ContainsFunc(upstreams, func(up string) bool { return r.states[up] != "succeeded" })
}

// failed is what a handler is told of the task id.
func (r *result) failed(id string) []string {
	lines := strings.Split(strings.TrimSpace(r.logs[id]), "\n")
	return []string{"AX_FAILED_TASK=" + id, "AX_FAILED_REASON=exit", "AX_FAILED_EXIT_CODE=1",
		"AX_FAILED_ERROR=exit code 1: " + lines[len(lines)-1]}
}

func (r *result) attempt(t *testing.T, dir, id string, k task, env []string) {
	t.Helper()
	argv := k.Command
	if k.Run != "" {
		script := filepath.Join(t.TempDir(), id)
		if err := os.WriteFile(script, []byte(k.Run), 0o600); err != nil {
			t.Fatal(err)
		}
		argv = []string{"sh", "-eu", script}
	}
	output := filepath.Join(t.TempDir(), "output")
	c := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	c.Dir = dir
	c.Env = append(slices.Clone(env), "AX_TASK="+id, "AX_OUTPUT="+output)
	for key, v := range k.Env {
		c.Env = append(c.Env, key+"="+v)
	}
	var log bytes.Buffer
	c.Stdout, c.Stderr = &log, &log
	r.states[id] = "succeeded"
	if err := c.Run(); err != nil {
		r.states[id] = "failed"
	}
	r.logs[id] = log.String()
	r.outputs[id] = map[string]string{}
	lines, _ := os.ReadFile(output) // a task without outputs writes no file
	for line := range strings.Lines(string(lines)) {
		if key, v, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "="); ok {
			r.outputs[id][key] = v
		}
	}
}
