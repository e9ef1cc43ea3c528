package lint

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"

	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/dsl/expression"
)

// The variables that ax sets: for every task, for instances of a foreach, for
// handlers of a failure, and for handlers of the workflow.
var (
	everyTask    = strings.Fields("AX_RUN_ID AX_WORKFLOW AX_TASK AX_ATTEMPT AX_SCHEDULED_FOR AX_DATE AX_INTERVAL_START AX_INTERVAL_END AX_ARTIFACTS AX_OUTPUT AX_IDEMPOTENCY_KEY AX_TRACE_ID AX_PROCESS_OF")
	everyItem    = strings.Fields("AX_INDEX AX_ITEM")
	everyFailure = strings.Fields("AX_FAILED_TASK AX_FAILED_REASON AX_FAILED_EXIT_CODE AX_FAILED_ERROR")
	runState     = "AX_RUN_STATE"
)

// asked is how programs in a script ask for a variable: awk, Python, JavaScript,
// Ruby and Perl.
var asked = regexp.MustCompile(`(?:ENVIRON\[|environ\[|\bENV\[|process\.env\[|\$ENV\{|process\.env\.)\\?["']?(AX_[A-Z][A-Z0-9_]*)`)

// askers are texts one of which stands in each of these ways: most scripts have
// none, and need not be searched.
var askers = []string{"ENVIRON[", "environ[", "ENV[", "process.env", "$ENV{"}

// given are ways to set a variable that are not looked into.
var given = regexp.MustCompile(`(?m)\b(eval|source)\b|(^|[;&|(])\s*\.\s|\bexport\s+["$]`)

// unset reports variables of ax that a script uses and nobody sets, each once.
func (p *pass) unset(t *dsl.Task, s *script) {
	if !strings.Contains(t.Run.V, "AX_") || len(p.wf.EnvFile) > 0 ||
		p.wf.Unread("env", "env_file", "secrets", "defaults", "x-") || t.Unread("env") {
		return
	}
	var told map[string]bool // what concerns one task is told once for all variables of a failure
	mayBeGiven := sync.OnceValue(func() bool { return given.MatchString(t.Run.V) })
	tell := func(name string, from, width int) {
		about := name
		if slices.Contains(everyFailure, name) {
			about = everyFailure[0]
		}
		if told[about] || !strings.HasPrefix(name, "AX_") || p.sets(t, name) {
			return
		}
		if message, hint := p.whyUnset(t, name); message != "" && !mayBeGiven() {
			if told == nil {
				told = map[string]bool{}
			}
			told[about] = true
			p.within("unset-variable", t.Run, from, width, hint, "%s", message)
		}
	}
	var own map[string]bool
	if s != nil {
		own = ownVariables(s.tree)
		s.tree.Walk(func(n syntax.Node) bool {
			if e, ok := n.(*syntax.ParamExp); ok && e.Param != nil && !own[e.Param.Value] {
				tell(e.Param.Value, int(e.Pos().Offset()), int(e.End().Offset()-e.Pos().Offset()))
			}
			return true
		})
	}
	if !slices.ContainsFunc(askers, func(sign string) bool { return strings.Contains(t.Run.V, sign) }) {
		return
	}
	for _, m := range asked.FindAllStringSubmatchIndex(t.Run.V, -1) {
		if name := t.Run.V[m[2]:m[3]]; !own[name] {
			tell(name, m[2], m[3]-m[2])
		}
	}
}

// ownVariables gives the variables named as those of ax that a script sets, and
// those of which it knows that they may not be set.
func ownVariables(tree expression.Tree) map[string]bool {
	own := map[string]bool{}
	add := func(name string) {
		if strings.HasPrefix(name, "AX_") {
			own[name] = true
		}
	}
	for _, b := range tree {
		switch n := b.Node.(type) {
		case *syntax.Assign:
			if n.Name != nil {
				add(n.Name.Value)
			}
		case *syntax.WordIter:
			add(n.Name.Value)
		case *syntax.ParamExp:
			if n.Param != nil && n.Exp != nil && n.Exp.Op <= syntax.AssignUnsetOrNull {
				add(n.Param.Value)
			}
		case *syntax.CallExpr:
			for _, w := range n.Args { // export, env and the like, and tests such as [ -v AX_ITEM ]
				name, _, _ := strings.Cut(w.Lit(), "=")
				add(name)
			}
		}
	}
	return own
}

// sets tells whether the file itself gives a task a variable.
func (p *pass) sets(t *dsl.Task, name string) bool {
	n := p.namesOf()
	return n.env[name] || n.secrets[name] || slices.ContainsFunc(t.Env, func(v dsl.EnvVar) bool { return v.Name.V == name })
}

// names are those that a file gives variables and tasks a meaning by.
type names struct {
	env, secrets map[string]bool
	params       map[string]bool // the variables of parameters
	handlers     map[string]bool // tasks that a task names in on_failure
	anyHandler   bool            // it is not known which tasks are named there
}

// namesOf gives the names of the file.
func (p *pass) namesOf() *names {
	p.shared.namesOnce.Do(func() {
		n := &names{env: map[string]bool{}, secrets: map[string]bool{}, params: map[string]bool{}, handlers: map[string]bool{}}
		for _, v := range p.wf.Env {
			n.env[v.Name.V] = true
		}
		for _, s := range p.wf.Secrets {
			n.secrets[s.Name.V] = true
		}
		for i := range p.wf.Params {
			n.params[p.wf.Params[i].Variable()] = true
		}
		for i := range p.wf.Tasks {
			t := &p.wf.Tasks[i]
			n.anyHandler = n.anyHandler || t.Unread("on_failure")
			for _, v := range t.OnFailure {
				_, known := p.sketch.Task(v.V)
				n.anyHandler = n.anyHandler || !known
				n.handlers[v.V] = true
			}
		}
		p.shared.names = n
	})
	return p.shared.names
}

// whyUnset tells why a task has no such variable; nothing where it may have it.
func (p *pass) whyUnset(t *dsl.Task, name string) (message, hint string) {
	parameter, isParam := strings.CutPrefix(name, "AX_PARAM_")
	switch {
	case slices.Contains(everyTask, name) || p.wf.Unread("params") && isParam:
		return "", ""
	case isParam:
		return p.whyNoParam(name, parameter)
	case slices.Contains(everyItem, name):
		if t.Foreach != nil || t.Unread("foreach") {
			return "", ""
		}
		return fmt.Sprintf("$%s is set only in a task with foreach", name), ""
	case name == runState:
		if p.mayHandle(t) || slices.ContainsFunc(p.wf.OnSuccess, p.means(t)) || p.wf.Unread("on_success") {
			return "", ""
		}
		return fmt.Sprintf("$%s is set only in handlers of the workflow", name), fmt.Sprintf("name %q in on_finish of the workflow", t.ID.V)
	case slices.Contains(everyFailure, name):
		if p.mayHandle(t) {
			return "", ""
		}
		return fmt.Sprintf("$%s is set only in handlers of a failure", name), fmt.Sprintf("name %q in on_failure, of a task or of the workflow", t.ID.V)
	}
	known := slices.Concat(everyTask, everyItem, everyFailure, []string{runState})
	if p.compared += len(p.wf.Params); p.compared <= mostCompared {
		for i := range p.wf.Params {
			known = append(known, p.wf.Params[i].Variable())
		}
	}
	return fmt.Sprintf("ax sets no variable %q", name), dsl.DidYouMean(dsl.Nearest(name, known))
}

// mostCompared bounds how many names of parameters are held against those that
// are not there, in one stretch of tasks; then none is suggested any more.
const mostCompared = 1_000_000

// whyNoParam looks for the parameter behind a variable.
func (p *pass) whyNoParam(name, parameter string) (message, hint string) {
	if p.namesOf().params[name] {
		return "", ""
	}
	near := ""
	if p.compared += len(p.wf.Params); p.compared <= mostCompared {
		var known []string
		for i := range p.wf.Params {
			known = append(known, p.wf.Params[i].Variable())
		}
		near = dsl.Nearest(name, known)
	}
	return fmt.Sprintf("no parameter arrives as $%s", name), cmp.Or(dsl.DidYouMean(near), "declare it in params")
}

// means gives what tells whether a name is that of a task. It may be the one that
// was meant by a name that no task has.
func (p *pass) means(t *dsl.Task) func(dsl.Value[string]) bool {
	return func(v dsl.Value[string]) bool {
		_, known := p.sketch.Task(v.V)
		return v.V == t.ID.V || !known
	}
}

// mayHandle tells whether a task may be started by a failure: of another task,
// or of the run.
func (p *pass) mayHandle(t *dsl.Task) bool {
	is := p.means(t)
	if t.Uncalled() || p.wf.Unread("on_failure", "on_finish", "tasks") || slices.ContainsFunc(p.wf.OnFailure, is) || slices.ContainsFunc(p.wf.OnFinish, is) {
		return true
	}
	n := p.namesOf()
	return n.anyHandler || n.handlers[t.ID.V]
}
