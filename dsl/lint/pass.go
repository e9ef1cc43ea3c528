package lint

import (
	"fmt"
	"index/suffixarray"
	"sync"
	"sync/atomic"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/dsl/expression"
)

// pass is one look at a file, or at a stretch of its tasks. It is used by one
// goroutine.
type pass struct {
	*File
	o      *Options
	disk   *disk
	wf     *dsl.Workflow
	sketch *dag.Plan
	whole  bool // the parser could read what decides where the present task finds its files
	found  []finding

	shared     *shared
	scripts    expression.Reader
	clocks     map[clockKey]*clock
	lineage    *lineage
	faults     int  // of expressions, so far
	compared   int  // names of parameters, so far
	user       user // whose expressions are looked at
	unreadable bool // the script of the present task is no shell, and that was reported
}

// shared is what the passes over one file have in common, each part made when
// it is first asked for.
type shared struct {
	sketch    *dag.Plan
	scopeOnce sync.Once
	scope     *expression.Scope
	graphOnce sync.Once
	graph     *graph
	namesOnce sync.Once
	names     *names
	bareOnce  sync.Once
	bare      *bareParams
	textOnce  sync.Once
	text      *suffixarray.Index
	counted   atomic.Int32 // how many names were looked for in the text
}

// graphOf gives the graph of the file, as far as it could be read.
func (p *pass) graphOf() *graph {
	p.shared.graphOnce.Do(func() { p.shared.graph = newGraph(p.sketch) })
	return p.shared.graph
}

// task looks at one task by itself.
func (p *pass) task(i int) {
	t := &p.wf.Tasks[i]
	for s := range t.Schedules {
		p.schedule(&t.Schedules[s])
	}
	p.whole = !t.Unread("workdir", "runs_on", "shell", "depends_on", "run", "command", "sql", "wait_for")
	p.user = p.starting(i)
	if p.unreadable = false; !t.Unread("run", "shell") {
		p.script(t)
	}
	p.taskExpressions(i)
	p.taskFiles(t)
	p.unexpandedInTask(t)
}

// workflow looks at what is no task's own.
func (p *pass) workflow() {
	p.timezone()
	for s := range p.wf.Schedules {
		p.schedule(&p.wf.Schedules[s])
	}
	p.span()
	p.workflowExpressions()
	p.unexpandedInWorkflow()
	p.noTimezone()
	p.noTimeout()
	p.unusedParams()
	p.scheduleParams()
	p.workflowFiles()
	p.neverRuns()
	p.mixedSchedules()
	p.overrun()
	p.redundant()
}

// report adds a finding about the token at a place.
func (p *pass) report(rule string, at dsl.Pos, hint, format string, args ...any) {
	p.found = append(p.found, finding{Diagnostic: p.Source.Diagnostic(rule, severityOf(rule), at, fmt.Sprintf(format, args...), hint)})
}

// within adds a finding about width bytes at an offset of a scalar's value.
func (p *pass) within(rule string, scalar dsl.Value[string], offset, width int, hint, format string, args ...any) {
	d := p.Source.DiagnosticInScalar(rule, severityOf(rule), scalar.Pos, offset, width, fmt.Sprintf(format, args...), hint)
	p.found = append(p.found, finding{Diagnostic: d, head: scalar.Pos.Line})
}
