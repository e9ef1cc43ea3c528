package expression

import (
	"slices"

	"github.com/ax-scheduler/ax/dsl"
)

// roots are the words that a name can begin with, in the order in which the
// manual has them.
var roots = []string{"params", "env", "secrets", "run", "tasks", "item", "index"}

// Scope says which names an expression may use. It does not change; what is
// derived from it shares its tables.
type Scope struct {
	*declared
	roots []string             // what is on offer here
	self  string               // the task it is for
	final func(id string) bool // which tasks have surely ended by then
	early bool                 // a foreach asks it before there are items
	try   bool                 // operations on values that are written out are tried
}

// declared is what a workflow declares, for all scopes of it.
type declared struct {
	params  map[string]dsl.ParamType
	secrets map[string]bool
	tasks   map[string]bool
	foreach map[string]bool     // of the tasks
	outputs map[string][]string // of tasks that can have just these
	open    map[string]bool     // the roots of which not every name is known

	paramNames, secretNames, taskIDs []string // in file order, for hints
}

// NewScope makes the scope of the workflow as a whole: its parameters, secrets,
// environment and the run, but no task and no item. Where a mistake keeps some
// of the names from being known, one that is like none of the others is let
// pass.
func NewScope(wf *dsl.Workflow) *Scope {
	d := &declared{
		params:  make(map[string]dsl.ParamType, len(wf.Params)),
		secrets: make(map[string]bool, len(wf.Secrets)),
		tasks:   make(map[string]bool, len(wf.Tasks)),
		foreach: map[string]bool{},
		outputs: map[string][]string{},
		open: map[string]bool{
			"params": wf.Unread("params"), "secrets": wf.Unread("secrets"), "tasks": wf.Unread("tasks"),
		},
	}
	for _, p := range wf.Params {
		d.params[p.Name.V] = p.Type.V
		if p.Unread() {
			d.params[p.Name.V] = ""
		}
		if dsl.IsName(p.Name.V) {
			d.paramNames = append(d.paramNames, p.Name.V)
		}
	}
	for _, s := range wf.Secrets {
		d.secrets[s.Name.V] = true
		d.secretNames = append(d.secretNames, s.Name.V)
	}
	for i := range wf.Tasks {
		d.tasks[wf.Tasks[i].ID.V] = true
		if dsl.IsName(wf.Tasks[i].ID.V) {
			d.taskIDs = append(d.taskIDs, wf.Tasks[i].ID.V)
		}
		if names := fixedOutputs(&wf.Tasks[i]); names != nil {
			d.outputs[wf.Tasks[i].ID.V] = names
		}
		if wf.Tasks[i].Foreach != nil {
			d.foreach[wf.Tasks[i].ID.V] = true
		}
	}
	return &Scope{declared: d, roots: roots[:4]}
}

// fixedOutputs gives the outputs that a task can have, where what it does decides
// that; nil where anything may be one.
func fixedOutputs(t *dsl.Task) []string {
	switch {
	case t.Unread("run", "command", "sql", "http", "workflow", "wait_for", "call"):
	case t.Kind == dsl.KindWorkflow:
		return []string{"run_id"}
	case t.Kind == dsl.KindHTTP, t.WaitFor != nil && t.WaitFor.HTTP != nil:
		return []string{"status", "body"}
	case t.WaitFor != nil && t.WaitFor.File.Set():
		return []string{"file"}
	}
	return nil
}

// ForTask gives the scope within one task. The function tells which tasks are
// surely final when the expression is evaluated: for most keys the upstreams of
// the task, for retry.if the task itself as well, whose last attempt it asks
// about. It may be nil. The item and its index are there in a foreach.
func (s *Scope) ForTask(id string, final func(id string) bool, foreach bool) *Scope {
	t := *s
	t.self, t.final = id, final
	t.roots = roots[:5]
	if foreach {
		t.roots = roots
	}
	return &t
}

// Only gives a scope with just some of the roots of names, for places where the
// others have no value yet: Only("run", "env").
func (s *Scope) Only(some ...string) *Scope {
	t := *s
	t.roots = slices.DeleteFunc(slices.Clone(s.roots), func(r string) bool { return !slices.Contains(some, r) })
	return &t
}

// Tried gives a scope in which what is made of values that are written out alone
// is evaluated when compiling: where it surely fails, that is a fault.
func (s *Scope) Tried() *Scope {
	t := *s
	t.try = true
	return &t
}

// Items gives the scope for the items of a foreach: without secrets, since items
// are stored and shown.
func (s *Scope) Items() *Scope { return s.Only("params", "env", "run", "tasks") }

// When gives the scope for the condition of a task. That of a foreach is asked
// once for the task as a whole, before its items are known.
func (s *Scope) When() *Scope {
	if !s.offers("item") {
		return s
	}
	t := s.Only(roots[:5]...)
	t.early = true
	return t
}

func (s *Scope) offers(root string) bool { return slices.Contains(s.roots, root) }

// declares tells whether there is a name under a root.
func (s *Scope) declares(root, name string) bool {
	switch root {
	case "params":
		_, ok := s.params[name]
		return ok
	case "secrets":
		return s.secrets[name]
	}
	return s.tasks[name]
}

// excuses tells whether a name that is not declared may be there all the same.
func (s *Scope) excuses(root, name string, known []string) bool {
	return s.open[root] && dsl.Nearest(name, known) == ""
}

// elsewhere guesses what an unknown word was meant to be.
func (s *Scope) elsewhere(word string) string {
	switch {
	case s.declares("params", word):
		return dsl.DidYouMean("params." + word)
	case s.tasks[word]:
		return dsl.DidYouMean("tasks." + word)
	case s.secrets[word]:
		return dsl.DidYouMean("secrets." + word)
	}
	names := slices.Concat(s.roots, functionNames)
	return dsl.DidYouMean(dsl.Nearest(word, names))
}

// Reference is one name that an expression uses: the parts of it, such as
// "tasks", "load", "outputs", "rows".
type Reference []string

// Root gives the first part of a reference.
func (r Reference) Root() string { return r[0] }

// Name gives the second part: of a parameter, variable, secret, field of the
// run or task; empty for item and index.
func (r Reference) Name() string {
	if len(r) < 2 {
		return ""
	}
	return r[1]
}
