package lint

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/dsl/expression"
)

// bareParams are the parameters that some runs have no value of, which nobody
// starts by hand.
type bareParams struct {
	by      map[string]*bareParam // by name
	byShell map[string]*bareParam // by variable
	certain []bool                // of each task: whether every run that it is a part of starts it, if nothing fails
}

type bareParam struct {
	*dsl.Param
	starter string // of the whole workflow, that gives no value; empty where there is none
}

// user is who asks for parameters.
type user struct {
	counts bool // it surely asks in runs that nobody starts by hand
	name   string
	task   *dsl.Task // nil for the workflow
}

// bareOf gives the parameters that are not given in some runs. Those that must
// be given are told of where the schedule stands.
func (p *pass) bareOf() *bareParams {
	p.shared.bareOnce.Do(func() {
		b := &bareParams{by: map[string]*bareParam{}, byShell: map[string]*bareParam{}}
		p.shared.bare = b
		for i := range p.wf.Params {
			q := &p.wf.Params[i]
			if q.Default.Set() || q.Required.V || q.Unread() || q.Name.V == "" || p.wf.Disabled.V || p.wf.Unread("params", "disabled") {
				continue
			}
			one := &bareParam{q, p.starterWithout(q)}
			b.by[q.Name.V], b.byShell[q.Variable()] = one, one
		}
		if len(b.by) > 0 {
			b.certain = p.graphOf().certain()
		}
	})
	return p.shared.bare
}

// fromAfter names what starts a workflow when another one has ended.
const fromAfter = `"after"`

// starterWithout names what starts the whole workflow without a value of a
// parameter.
func (p *pass) starterWithout(q *dsl.Param) string {
	if !p.wf.Unread("cron") && slices.ContainsFunc(p.wf.Schedules, withoutValue(q)) {
		return "the schedule"
	}
	if len(p.wf.After) > 0 {
		return fromAfter
	}
	return ""
}

func withoutValue(q *dsl.Param) func(dsl.Schedule) bool {
	return func(s dsl.Schedule) bool {
		return !slices.ContainsFunc(s.Params, func(f dsl.Field) bool { return f.Name.V == q.Name.V })
	}
}

// certain tells of each task whether it surely starts in every run that it is a
// part of, but for failures. A condition above it may be there to ask for the
// parameter.
func (g *graph) certain() []bool {
	all := make([]bool, len(g.Tasks))
	for _, t := range g.Order {
		node := &g.Tasks[t]
		all[t] = !g.looseWay[t] && node.Callers == 0 && !node.Spec.Disabled.V
		for i, u := range g.upstreams[t] {
			all[t] = all[t] && u >= 0 && all[u] && !decides(g.Tasks[u].Spec) && node.Spec.DependsOn[i].On&dsl.OnSucceeded != 0
		}
	}
	return all
}

// decides tells whether a task may end so that what depends on it is skipped,
// and nothing has failed.
func decides(t *dsl.Task) bool { return t.Kind != dsl.KindWaitFor && maySkip(t) || t.When.Set() }

// starting gives who asks in one task.
func (p *pass) starting(i int) user {
	if len(p.wf.Params) == 0 || len(p.bareOf().by) == 0 {
		return user{}
	}
	t := &p.wf.Tasks[i]
	at, ok := p.sketch.Task(t.ID.V)
	return user{ok && p.bareOf().certain[at] && !t.Unread("when", "foreach"), fmt.Sprintf("task %q", t.ID.V), t}
}

// theRun is who asks where a run as a whole needs a value.
func (p *pass) theRun() user {
	return user{len(p.wf.Params) > 0 && len(p.bareOf().by) > 0, `"env" of the workflow`, nil}
}

// asks reports parameters that have no value in a run that nobody starts by
// hand, and without which the present user cannot do.
func (p *pass) asks(names []string) {
	for _, name := range names {
		p.asksFor(p.bareOf().by[name])
	}
}

func (p *pass) asksFor(q *bareParam) {
	if q == nil {
		return
	}
	starter := q.starter
	if t := p.user.task; starter == "" && t != nil && !t.Unread("cron") && slices.ContainsFunc(t.Schedules, withoutValue(q.Param)) {
		starter = "the schedule of the task"
	}
	if starter != "" {
		hint := "give it a default"
		if starter != fromAfter {
			hint += ", or a value in the schedule: {cron: …, params: {" + q.Name.V + ": …}}"
		}
		p.report("unset-variable", q.Name.Pos, hint,
			"parameter %q has no value in a run that %s starts, and %s uses it", q.Name.V, starter, p.user.name)
	}
}

// asksBySetting does the same for the variables that a script surely expands: in
// what no condition, loop or function is around, up to the first command that
// may end the script or let variables be unset.
func (p *pass) asksBySetting(t *dsl.Task, s *script) {
	strict := s.strict || slices.Equal(t.Shell.Argv, []string{"bash"}) && !strings.Contains(s.text, "set +")
	if !p.user.counts || t.When.Set() || t.Foreach != nil || !strict || !strings.Contains(t.Run.V, "AX_PARAM_") ||
		len(p.wf.EnvFile) > 0 || p.wf.Unread("env", "env_file", "secrets", "defaults", "x-") || t.Unread("env") || given.MatchString(t.Run.V) {
		return
	}
	own := ownVariables(s.tree)
	for i := 0; i < len(s.tree); i++ {
		switch n := s.tree[i].Node.(type) {
		case *syntax.IfClause, *syntax.CaseClause, *syntax.WhileClause, *syntax.ForClause, *syntax.FuncDecl, *syntax.Subshell, *syntax.BinaryCmd:
			if mayEnd(s.tree[i:s.tree[i].Next]) {
				return
			}
			i = s.tree[i].Next - 1
		case *syntax.CallExpr:
			if mayEnd(s.tree[i:s.tree[i].Next]) {
				return
			}
		case *syntax.ParamExp:
			if n.Param != nil && n.Exp == nil && !own[n.Param.Value] && !p.sets(t, n.Param.Value) {
				p.asksFor(p.bareOf().byShell[n.Param.Value])
			}
		}
	}
}

// mayEnd tells whether a part of a script may end it.
func mayEnd(part expression.Tree) bool {
	return slices.ContainsFunc(part, func(b expression.Branch) bool {
		c, ok := b.Node.(*syntax.CallExpr)
		return ok && len(c.Args) > 0 && slices.Contains([]string{"exit", "exec", "set", "return", "kill"}, cmp.Or(c.Args[0].Lit(), "exit"))
	})
}
