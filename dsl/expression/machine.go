package expression

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/ax-scheduler/ax/dsl"
)

// Values is what expressions are evaluated with: the facts of one run, as
// plain data. It is only read.
type Values struct {
	Params  map[string]string // texts that fit the declared types
	Env     map[string]string
	Secrets map[string]string
	Run     Run
	Tasks   map[string]Task // by id
	Item    any             // a value as Eval, Items of a list or ParseJSON give it
	Index   int             // of the item, from 0
	Zone    *time.Location  // of the workflow; nil means UTC
}

// Run is what is known of the run itself.
type Run struct {
	ID, Workflow, Trigger string
	ScheduledFor          time.Time
}

// Task is what is known of a task.
type Task struct {
	Absent   bool // not part of this run
	State    string
	Outputs  map[string]string
	ExitCode *int   // nil where no attempt ended with one
	Error    string // empty where there is none
	Each     *Each  // what the instances of a foreach have written; nil for other tasks, and where there were none
}

// Each is the outputs of a task with foreach: lists of a value an instance.
type Each struct {
	Count   int              // of instances
	Outputs map[string][]any // by key, so long each; nil for an instance that has not written it
}

// budget limits what one evaluation may do, in units of the order of 50 ns:
// every turn of a loop costs one for each node in it, every 32 bytes that are
// read or made cost one. It bounds the memory as well as the time.
const budget = 1_000_000

var errBudget = &failure{message: "the expression does too much work", hint: "let a task work it out and write it to AX_OUTPUT"}

// machine evaluates one expression once.
type machine struct {
	values *Values
	left   int   // of the budget
	items  []any // of the loops around, the innermost last
}

// spend takes from the budget for the handling of so many bytes.
func (m *machine) spend(bytes int) error { return m.work(bytes/32 + 1) }

func (m *machine) work(units int) error {
	if m.left -= units; m.left < 0 {
		return errBudget
	}
	return nil
}

func (m *machine) zone() *time.Location {
	if m.values.Zone != nil {
		return m.values.Zone
	}
	return time.UTC
}

// Eval gives the value: nil, bool, int, float64, string, time.Time, dsl.Date,
// time.Duration, []any or map[string]any. What it was compiled for decides
// which of them are possible. The value shares its lists and maps with the
// given ones and must not be changed. The error is an *Error.
func (p *Program) Eval(values *Values) (any, error) {
	m := machine{values: values, left: budget}
	v, err := p.body.eval(&m)
	if err != nil {
		return nil, shifted(p.body.at.at(err), p.by)
	}
	return v, nil
}

// text evaluates to a text.
func (p *Program) text(values *Values) (string, error) {
	v, err := p.Eval(values)
	if err != nil {
		return "", err
	}
	if s, ok := p.body.written(values); ok {
		return s, nil
	}
	s, err := Text(v)
	if err != nil {
		return "", shifted(p.body.at.at(err), p.by)
	}
	return s, nil
}

// written gives the text of a parameter that is a float, as somebody wrote it: a
// version such as 3.10 is another one than 3.1.
func (x code) written(values *Values) (string, bool) {
	if x.kind != kFloat || len(x.ref) != 2 || x.ref.Root() != "params" {
		return "", false
	}
	text, ok := values.Params[x.ref.Name()]
	return text, ok
}

func missing(message, hint string) error {
	return &failure{message: message, hint: hint, missing: true}
}

const fallbackHint = "give another value with ?? or default"

// param gives the value of a parameter in its declared type.
func (m *machine) param(name string, k kind) (any, error) {
	text, ok := m.values.Params[name]
	if !ok {
		return nil, missing("parameter "+strconv.Quote(name)+" has no value", fallbackHint)
	}
	var v any
	var err error
	switch k {
	case kText:
		return text, nil
	case kInt:
		v, err = strconv.Atoi(text)
	case kFloat:
		v, err = finite(strconv.ParseFloat(text, 64))
	case kBool:
		v, err = text == "true", nil
		if text != "true" && text != "false" {
			err = fmt.Errorf("%s is neither true nor false", clipped(text))
		}
	case kDate:
		v, err = dsl.ParseDate(text)
	case kDuration:
		v, err = dsl.ParseDuration(text)
	}
	if err != nil {
		return nil, &failure{message: fmt.Sprintf("parameter %q is %s, which is not %v", name, clipped(text), k)}
	}
	return v, nil
}

func (m *machine) variable(name string) (any, error) {
	if v, ok := m.values.Env[name]; ok {
		return v, nil
	}
	return nil, missing("variable "+strconv.Quote(name)+" is not set", nearest(name, m.values.Env))
}

func (m *machine) secret(name string) (any, error) {
	if v, ok := m.values.Secrets[name]; ok {
		return v, nil
	}
	return nil, missing("secret "+strconv.Quote(name)+" has no value", fallbackHint)
}

// scheduled gives the nominal time of the run in the workflow's zone.
func (m *machine) scheduled() (time.Time, error) {
	t := m.values.Run.ScheduledFor
	if t.IsZero() {
		return t, missing("the run has no scheduled time", fallbackHint)
	}
	return t.In(m.zone()), nil
}

func (m *machine) date() (any, error) {
	t, err := m.scheduled()
	return dateOf(t), err
}

func (m *machine) task(id string) (Task, error) {
	if t, ok := m.values.Tasks[id]; ok {
		return t, nil
	}
	return Task{}, missing("task "+strconv.Quote(id)+" is not part of this run", fallbackHint)
}

// without says that a task lacks something, and why where it is left out of the run.
func (t Task) without(id, what string) string {
	if t.Absent {
		return fmt.Sprintf("task %q is not part of this run and has no %s", id, what)
	}
	return fmt.Sprintf("task %q has no %s", id, what)
}

func (m *machine) state(id string) (any, error) {
	t, err := m.task(id)
	return t.State, err
}

func (m *machine) problem(id string) (any, error) {
	t, err := m.task(id)
	return t.Error, err
}

func (m *machine) exitCode(id string) (any, error) {
	t, err := m.task(id)
	if err != nil {
		return nil, err
	}
	if t.ExitCode == nil {
		return nil, missing(t.without(id, "exit code"), fallbackHint)
	}
	return *t.ExitCode, nil
}

func (m *machine) output(id, key string) (any, error) {
	t, err := m.task(id)
	if err != nil {
		return nil, err
	}
	if v, ok := t.Outputs[key]; ok {
		return v, nil
	}
	return nil, missing(t.without(id, fmt.Sprintf("output %q", key)), nearest(key, t.Outputs))
}

// outputList gives what the instances of a task have written under one key.
func (m *machine) outputList(id, key string) (any, error) {
	t, err := m.task(id)
	switch {
	case err != nil:
		return nil, err
	case t.Each == nil:
		return nil, missing(t.without(id, fmt.Sprintf("output %q", key)), fallbackHint)
	case t.Each.Count == 0:
		return []any{}, nil
	}
	if list, ok := t.Each.Outputs[key]; ok {
		return list, nil
	}
	return nil, missing(fmt.Sprintf("no instance of task %q has an output %q", id, key), nearest(key, t.Each.Outputs))
}

// outputs gives all outputs of a task as a map.
func (m *machine) outputs(id string) (any, error) {
	t, err := m.task(id)
	if err != nil {
		return nil, err
	}
	if t.Each != nil {
		all := make(map[string]any, len(t.Each.Outputs))
		for key, list := range t.Each.Outputs {
			all[key] = list
		}
		return all, m.work(len(all) + 1)
	}
	all := make(map[string]any, len(t.Outputs))
	for key, v := range t.Outputs {
		all[key] = v
	}
	return all, m.work(len(all) + 1)
}

// nearest suggests a key of a map.
func nearest[V any](key string, m map[string]V) string {
	if n := dsl.Nearest(key, slices.Sorted(maps.Keys(m))); n != "" {
		return dsl.DidYouMean(n)
	}
	return fallbackHint
}
