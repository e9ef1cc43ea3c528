package lint

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/dsl/expression"
)

// scopeOf gives the names that the expressions of a file may use. It is made
// when the first expression is seen.
func (p *pass) scopeOf() *expression.Scope {
	p.shared.scopeOnce.Do(func() { p.shared.scope = expression.NewScope(p.wf).Tried() })
	return p.shared.scope
}

// mostFaults bounds the faults of expressions in one stretch of tasks: each may
// cost a look at all names of the file.
func (p *pass) mostFaults() int { return max(10, min(100, 200_000/max(len(p.wf.Tasks), 1))) }

// faulty reports what is wrong with the expressions of a scalar, each at its
// place within it, but a name that is wrong only once.
func (p *pass) faulty(v dsl.Value[string], faults expression.Errors) {
	for i, e := range faults {
		if p.faults++; p.faults > p.mostFaults() || slices.ContainsFunc(faults[:i], e.Repeats) {
			continue
		}
		rule := e.Kind.Rule()
		if isList(v.V) { // its own text is made from a list or a map, offsets mean nothing
			p.report(rule, v.Pos, e.Hint, "%s", e.Message)
		} else {
			p.within(rule, v, e.Offset, e.Width, e.Hint, "%s", e.Message)
		}
		p.found[len(p.found)-1].code = codeOf(v.V) + " " + e.Hint
	}
}

// codeOf gives the expressions of a text, or all of it where it has none.
func codeOf(text string) string {
	list, _ := dsl.Expressions(text)
	if len(list) == 0 {
		return text
	}
	var code []string
	for _, e := range list {
		code = append(code, e.Text)
	}
	return strings.Join(code, " ")
}

// isList tells whether a value is the JSON of a list or a map.
func isList(text string) bool {
	return text != "" && (text[0] == '[' || text[0] == '{') && json.Valid([]byte(text))
}

// text checks the expressions in a text.
func (p *pass) text(v dsl.Value[string], scope func() *expression.Scope) {
	if !strings.Contains(v.V, "${{") || p.faults > p.mostFaults() {
		return
	}
	compiled, faults := expression.CompileTemplate(v.V, scope())
	p.faulty(v, faults)
	if p.user.counts {
		p.asks(compiled.Asks())
	}
}

// bare checks a key whose value is an expression.
func (p *pass) bare(v dsl.Value[string], want expression.Want, scope func() *expression.Scope) {
	if !v.Set() || p.faults > p.mostFaults() {
		return
	}
	faults := expression.Check(v.V, want, scope())
	if p.user.counts && len(faults) == 0 {
		if compiled, err := expression.Compile(v.V, want, scope()); err == nil {
			p.asks(compiled.Asks())
		}
	}
	if slices.ContainsFunc(faults, unreadable) {
		from, to, ok := p.Source.CommentBehind(v.Pos)
		if ok && !slices.ContainsFunc(expression.Check(v.V+" "+string(p.Source.Text[from:to]), want, scope()), unreadable) {
			p.found = append(p.found, finding{Diagnostic: p.Source.CommentTaken("bad-expression", from, to), code: codeOf(v.V)})
			return
		}
	}
	p.faulty(v, faults)
}

// unreadable tells whether a fault is one of the expression itself, not of a
// name in it.
func unreadable(e *expression.Error) bool { return e.Kind == expression.Bad }

// workflowExpressions checks the expressions outside of tasks. What is read
// when a run starts can use its parameters, but no task.
func (p *pass) workflowExpressions() {
	p.fixedInWorkflow()
	start := func() *expression.Scope { return p.scopeOf().Only("params", "run", "env") }
	p.user = p.theRun()
	for _, v := range p.wf.Env {
		p.text(v.Value, p.scopeOf)
	}
	p.user = user{}
	for _, f := range p.wf.EnvFile {
		p.text(f, start)
	}
	for _, s := range p.wf.Secrets {
		p.text(s.File, start)
	}
	for _, n := range p.wf.Notify {
		for _, v := range []dsl.Value[string]{n.URL, n.Email, n.Secret} {
			p.text(v, p.scopeOf)
		}
		p.email(n.Email)
	}
	for s := range p.schedules() {
		for _, f := range s.Params {
			p.text(f.Value, func() *expression.Scope { return p.scopeOf().Only("run", "env") })
		}
	}
}

// taskExpressions checks the expressions of one task.
func (p *pass) taskExpressions(i int) {
	t := &p.wf.Tasks[i]
	each := t.Foreach != nil || t.Unread("foreach")
	scope := p.lazily(i, each, false)
	p.fixedInTask(t)
	if t.Retry != nil {
		starts := p.user
		p.user = user{}
		p.bare(t.Retry.If, expression.WantBool, p.lazily(i, each, true))
		p.user = starts
	}
	p.bare(t.When, expression.WantBool, func() *expression.Scope { return scope().When() })
	p.user.counts = p.user.counts && !t.When.Set()
	if t.Foreach != nil {
		whole := p.lazily(i, false, false)
		outside := func() *expression.Scope { return whole().Items() }
		p.bare(t.Foreach.Expr, expression.WantList, outside)
		p.texts(t.Foreach.Items, outside)
		p.user.counts = false // there may be no items
	}
	p.runExpressions(t, scope)
	p.bareBraces(t, scope)
	p.texts(t.Command, scope)
	for _, v := range t.Env {
		p.text(v.Value, scope)
	}
	p.text(t.Workdir, scope)
	p.fields(t.With, scope)
	p.sql(t.SQL, scope)
	p.http(t.HTTP, scope)
	if t.Workflow != nil {
		p.fields(t.Workflow.Params, scope)
	}
	if w := t.WaitFor; w != nil {
		p.text(w.File, scope)
		p.text(w.Until, scope)
		p.moment(w.Until)
		p.sql(w.SQL, scope)
		p.http(w.HTTP, scope)
	}
}

func (p *pass) texts(list []dsl.Value[string], scope func() *expression.Scope) {
	for _, v := range list {
		p.text(v, scope)
	}
}

func (p *pass) fields(list []dsl.Field, scope func() *expression.Scope) {
	for _, f := range list {
		p.text(f.Value, scope)
	}
}

func (p *pass) sql(s *dsl.SQL, scope func() *expression.Scope) {
	if s != nil {
		p.texts([]dsl.Value[string]{s.DB, s.File, s.Save}, scope)
		p.fields(s.Params, scope)
		p.query(s, scope)
	}
}

func (p *pass) http(h *dsl.HTTP, scope func() *expression.Scope) {
	if h != nil {
		p.texts([]dsl.Value[string]{h.Method, h.URL, h.Body, h.Save}, scope)
		p.fields(h.Headers, scope)
	}
}

// runExpressions checks the expressions of a script. That it is no shell has
// been said already where the shell's parser says so too.
func (p *pass) runExpressions(t *dsl.Task, scope func() *expression.Scope) {
	if !strings.Contains(t.Run.V, "${{") || t.Unread("shell") || p.faults > p.mostFaults() {
		return
	}
	compiled, faults := p.scripts.CompileScript(expression.ShellOf(t.Shell.Argv), t.Run.V, scope())
	if p.user.counts {
		p.asks(compiled.Asks())
	}
	p.faulty(t.Run, slices.DeleteFunc(faults, func(e *expression.Error) bool {
		return e.Kind == expression.ShellSyntax && p.unreadable
	}))
}

// bareExpression is what would be an expression if a dollar sign stood before it.
var bareExpression = regexp.MustCompile(`(?:^|[^${])(\{\{\s*(?:(?:params|run|secrets|tasks)\.[\w.-]+|item)\s*\}\})`)

// bareBraces looks at braces of a script without a dollar sign before them: it
// reports the first template of Airflow, and the first expression that lacks the
// sign, if what it names is there.
func (p *pass) bareBraces(t *dsl.Task, scope func() *expression.Scope) {
	if strings.Count(t.Run.V, "{{") == strings.Count(t.Run.V, "${{") || t.Unread("run") {
		return
	}
	p.airflow(t)
	if m := bareExpression.FindStringSubmatchIndex(t.Run.V); m != nil {
		bare := t.Run.V[m[2]:m[3]]
		if _, faults := expression.CompileTemplate("$"+bare, scope()); len(faults) == 0 {
			p.within("altered-script", t.Run, m[2], m[3]-m[2], "write $"+bare, "%q has no dollar sign before it: the script gets it as it stands", bare)
			p.found[len(p.found)-1].code = strings.Trim(bare, "{} ")
		}
	}
}

// lazily gives the scope of a task, made when it is asked for.
func (p *pass) lazily(i int, foreach, itself bool) func() *expression.Scope {
	var scope *expression.Scope
	return func() *expression.Scope {
		if scope == nil {
			scope = p.scopeOf().ForTask(p.wf.Tasks[i].ID.V, p.finalBefore(dag.Task(i), itself), foreach)
		}
		return scope
	}
}

// finalBefore tells which tasks have surely ended when a task is about to
// start, or with itself, when it has ended.
func (p *pass) finalBefore(t dag.Task, itself bool) func(id string) bool {
	return func(id string) bool {
		v, ok := p.sketch.Task(id)
		if !ok || v == t {
			return itself
		}
		if p.lineage == nil {
			p.lineage = newLineage(p.graphOf())
		}
		return p.lineage.surelyBefore(v, t)
	}
}
