package executor

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"sync"
)

// Registry holds the Go functions that tasks may call by name. The zero value is empty and ready; all methods may be used
// side by side.
type Registry struct {
	mu        sync.RWMutex
	functions map[string]*function
}

// function is a registered one, taken apart.
type function struct {
	value  reflect.Value
	args   reflect.Type
	params []param
	gives  bool // it returns outputs
}

var functionName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]{0,63}$`)

var (
	contextType = reflect.TypeFor[context.Context]()
	errorType   = reflect.TypeFor[error]()
	outputsType = reflect.TypeFor[map[string]string]()
)

// Register makes a function known under a name: letters, digits, _, - and dots, at most 64, as in report.generate. fn is
//
//	func(ctx context.Context, args T) error
//	func(ctx context.Context, args T) (map[string]string, error)
//
// where the exported fields of the struct T are its parameters, and the map holds the outputs. A parameter is named by
// the tag ax:"name", else by the field's name in lower_snake_case; ax:"name,optional" or ax:",optional" leaves the field
// at its zero value where the task does not give it; ax:"-" is no parameter. Fields are of a string, bool, int, int64 or
// float64 type, time.Duration, time.Time or []string; see Param for how these are written.
//
// ctx is cancelled when the attempt is stopped, and Log(ctx) is the attempt's log. Register fails for a name that is
// taken or none, and for any other type.
func (r *Registry) Register(name string, fn any) error {
	if !functionName.MatchString(name) {
		return fmt.Errorf("register %q: a name has letters, digits, %q, %q and %q, at most 64, and begins with a letter or %q", name, "_", "-", ".", "_")
	}
	f, err := newFunction(fn)
	if err != nil {
		return fmt.Errorf("register %q: %w", name, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.functions[name] != nil {
		return fmt.Errorf("register %q: the name is taken", name)
	}
	if r.functions == nil {
		r.functions = make(map[string]*function)
	}
	r.functions[name] = f
	return nil
}

func newFunction(fn any) (*function, error) {
	v := reflect.ValueOf(fn)
	if !v.IsValid() || v.Kind() != reflect.Func || v.IsNil() {
		return nil, fmt.Errorf("%T is no function", fn)
	}
	t := v.Type()
	gives := t.NumOut() == 2 && t.Out(0) == outputsType
	fits := t.NumIn() == 2 && !t.IsVariadic() && t.In(0) == contextType && t.In(1).Kind() == reflect.Struct &&
		(t.NumOut() == 1 || gives) && t.Out(t.NumOut()-1) == errorType
	if !fits {
		return nil, fmt.Errorf("%s must be func(context.Context, T) error or func(context.Context, T) (map[string]string, error), T a struct", t)
	}
	params, err := paramsOf(t.In(1))
	if err != nil {
		return nil, err
	}
	return &function{value: v, args: t.In(1), params: params, gives: gives}, nil
}

// Names returns the registered names in order.
func (r *Registry) Names() []string {
	if r == nil {
		return nil
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.Sorted(maps.Keys(r.functions))
}

// Params returns the parameters of a function in the order of its fields, and false for a name that is not registered.
func (r *Registry) Params(name string) ([]Param, bool) {
	f := r.find(name)
	if f == nil {
		return nil, false
	}
	list := make([]Param, len(f.params))
	for i, p := range f.params {
		list[i] = p.Param
	}
	return list, true
}

func (r *Registry) find(name string) *function {
	if r == nil {
		return nil
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.functions[name]
}

// ProblemKind says what is wrong with a call.
type ProblemKind string

// What may be wrong with a call.
const (
	UnknownFunction ProblemKind = "unknown function"
	UnknownParam    ProblemKind = "unknown parameter"
	MissingParam    ProblemKind = "missing parameter"
	BadValue        ProblemKind = "bad value"
)

// Problem is one thing that is wrong with a call. It is an error, and has what a diagnostic needs.
type Problem struct {
	Kind    ProblemKind
	Param   string // empty for UnknownFunction
	Message string
	Hint    string // "did you mean …?", or what is allowed; may be empty
}

// Error returns the message and the hint.
func (p Problem) Error() string {
	if p.Hint == "" {
		return p.Message
	}
	return p.Message + ": " + p.Hint
}

// Check returns everything that is wrong with a call, in the order of the function's parameters, the unknown ones last
// and sorted. A value that is only known later can be left to the run: drop the BadValue of that parameter.
func (r *Registry) Check(name string, with map[string]string) []Problem {
	f := r.find(name)
	if f == nil {
		return []Problem{{
			Kind:    UnknownFunction,
			Message: fmt.Sprintf("no function %q is registered", name),
			Hint:    suggest(name, r.Names()),
		}}
	}
	_, problems := f.arguments(with)
	return problems
}

// arguments makes the struct from the map.
func (f *function) arguments(with map[string]string) (reflect.Value, []Problem) {
	var problems []Problem
	args := reflect.New(f.args).Elem()
	taken := 0
	for _, p := range f.params {
		text, given := with[p.Name]
		if !given {
			if p.Required {
				problems = append(problems, Problem{MissingParam, p.Name, fmt.Sprintf("parameter %q (%s) is missing", p.Name, p.Type), ""})
			}
			continue
		}
		taken++
		if err := p.set(args.Field(p.field), text); err != nil {
			problems = append(problems, Problem{BadValue, p.Name, fmt.Sprintf("parameter %q: %q is no %s", p.Name, text, p.Type), err.Error()})
		}
	}
	if taken == len(with) {
		return args, problems
	}
	known := make([]string, 0, len(f.params))
	for _, p := range f.params {
		known = append(known, p.Name)
	}
	for _, key := range slices.Sorted(maps.Keys(with)) {
		if !slices.Contains(known, key) {
			problems = append(problems, Problem{UnknownParam, key, fmt.Sprintf("there is no parameter %q", key), suggest(key, known)})
		}
	}
	return args, problems
}
