package runtime

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/dsl/expression"
)

// programs are the compiled expressions of a plan.
type programs struct {
	env   []namedTemplate // of the workflow
	tasks []taskPrograms
}

// taskPrograms are the compiled expressions of one task; what the task does not
// have is nil.
type taskPrograms struct {
	script  *expression.Script
	args    []*expression.Template
	env     []namedTemplate
	with    []namedTemplate
	workdir *expression.Template
	kind    *kindPrograms
	when    *expression.Program
	retryIf *expression.Program
	foreach *expression.Program
	items   []*expression.Template // of a foreach that lists them

	upstreams []string // tasks that the expressions name
}

type namedTemplate struct {
	name string
	text *expression.Template
}

// compilePrograms compiles every expression of a plan. The error tells all that
// is wrong, each with its place in the file.
func compilePrograms(p *dag.Plan) (*programs, error) {
	c := &programCompiler{src: p.Workflow.Source, scope: expression.NewScope(p.Workflow)}
	ps := &programs{tasks: make([]taskPrograms, len(p.Tasks))}
	ps.env = c.variables(p.Workflow.Env)
	workflow := c.scope
	for i := range p.Tasks {
		t := p.Tasks[i].Spec
		// Whether a task has surely ended by then is for ax lint to say.
		c.scope = workflow.ForTask(t.ID.V, func(string) bool { return true }, t.Foreach != nil)
		tp := c.task(t)
		if t.Foreach != nil {
			c.scope = workflow.ForTask(t.ID.V, func(string) bool { return true }, false).Items()
			c.foreach(t.Foreach, &tp)
		}
		tp.upstreams = tp.tasksNamed()
		ps.tasks[i] = tp
	}
	return ps, errors.Join(c.errs...)
}

type programCompiler struct {
	src   *dsl.Source
	scope *expression.Scope
	errs  []error
}

func (c *programCompiler) task(t *dsl.Task) taskPrograms {
	tp := taskPrograms{env: c.variables(t.Env)}
	switch t.Kind {
	case dsl.KindRun:
		script, faults := expression.CompileScript(expression.ShellOf(t.Shell.Argv), t.Run.V, c.scope)
		c.faults(t.Run.Pos, faults)
		tp.script = script
	case dsl.KindCommand:
		for _, a := range t.Command {
			tp.args = append(tp.args, c.template(a))
		}
	case dsl.KindCall:
		for _, f := range t.With {
			tp.with = append(tp.with, namedTemplate{f.Name.V, c.template(f.Value)})
		}
	default:
		tp.kind = c.kind(t)
	}
	if t.Workdir.Set() {
		tp.workdir = c.template(t.Workdir)
	}
	if t.When.Set() {
		tp.when = c.program(t.When, expression.WantBool)
	}
	if t.Retry != nil && t.Retry.If.Set() {
		tp.retryIf = c.program(t.Retry.If, expression.WantBool)
	}
	return tp
}

func (c *programCompiler) foreach(f *dsl.Foreach, tp *taskPrograms) {
	if f.Expr.Set() {
		tp.foreach = c.program(f.Expr, expression.WantList)
	}
	for _, item := range f.Items {
		tp.items = append(tp.items, c.template(item))
	}
}

func (c *programCompiler) variables(vars []dsl.EnvVar) []namedTemplate {
	var ts []namedTemplate
	for _, v := range vars {
		ts = append(ts, namedTemplate{v.Name.V, c.template(v.Value)})
	}
	return ts
}

func (c *programCompiler) template(v dsl.Value[string]) *expression.Template {
	t, faults := expression.CompileTemplate(v.V, c.scope)
	c.faults(v.Pos, faults)
	return t
}

func (c *programCompiler) program(v dsl.Value[string], want expression.Want) *expression.Program {
	p, err := expression.Compile(v.V, want, c.scope)
	var fault *expression.Error
	if errors.As(err, &fault) {
		c.faults(v.Pos, expression.Errors{fault})
	}
	return p
}

func (c *programCompiler) faults(scalar dsl.Pos, faults expression.Errors) {
	for _, f := range faults {
		c.errs = append(c.errs, placedError(c.src, scalar, f))
	}
}

// placedError gives an error of an expression with its place in the file.
func placedError(src *dsl.Source, scalar dsl.Pos, err error) error {
	var fault *expression.Error
	if !errors.As(err, &fault) {
		return err
	}
	at := src.InScalar(scalar, fault.Offset)
	if fault.Hint != "" {
		return fmt.Errorf("%s:%d:%d: %s: %s", src.File, at.Line, at.Col, fault.Message, fault.Hint)
	}
	return fmt.Errorf("%s:%d:%d: %s", src.File, at.Line, at.Col, fault.Message)
}

// tasksNamed lists the tasks whose state or outputs the expressions use.
func (tp *taskPrograms) tasksNamed() []string {
	var refs []expression.Reference
	if tp.script != nil {
		refs = append(refs, tp.script.References()...)
	}
	for _, a := range slices.Concat(tp.args, tp.items) {
		refs = append(refs, a.References()...)
	}
	for _, t := range slices.Concat(tp.env, tp.with) {
		refs = append(refs, t.text.References()...)
	}
	if tp.workdir != nil {
		refs = append(refs, tp.workdir.References()...)
	}
	if tp.kind != nil {
		refs = append(refs, tp.kind.references()...)
	}
	for _, p := range []*expression.Program{tp.when, tp.retryIf, tp.foreach} {
		if p != nil {
			refs = append(refs, p.References()...)
		}
	}
	var ids []string
	for _, r := range refs {
		if r.Root() == "tasks" && len(r) > 1 && !slices.Contains(ids, r.Name()) {
			ids = append(ids, r.Name())
		}
	}
	return ids
}
