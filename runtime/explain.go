package runtime

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/dsl/expression"
	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/store"
)

// Insight looks into the expressions of one unit of a run that was replayed, with
// what is stored of the run. Secrets and variables are not: they are shown as they
// are written in the file.
type Insight struct {
	spec   *dsl.Task
	when   *expression.Program
	scope  *expression.Scope
	values expression.Values
}

// NewInsight looks into a unit of a replayed run.
func NewInsight(r *machine.Run, run store.Run, u machine.Unit) *Insight {
	wf, spec := r.Plan().Workflow, r.Plan().Tasks[u.Task].Spec
	scope := expression.NewScope(wf).ForTask(spec.ID.V, func(string) bool { return true }, spec.Foreach != nil)
	c := &programCompiler{src: wf.Source, scope: scope}
	tp := c.task(spec)
	tp.upstreams = tp.tasksNamed()
	env := &environment{programs: &programs{tasks: make([]taskPrograms, len(r.Plan().Tasks))}}
	env.programs.tasks[u.Task] = tp
	zone, err := (&Engine{}).zoneOf(wf)
	if err != nil {
		zone = time.Local
	}
	env.values = expression.Values{
		Params: run.Params, Zone: zone,
		Run: expression.Run{ID: run.ID, Workflow: run.Workflow, Trigger: string(run.Trigger), ScheduledFor: run.ScheduledFor},
	}
	in := &Insight{spec: spec, when: tp.when, scope: scope, values: (&live{run: r, env: env}).valuesFor(u.Task)}
	if u.Instance != 0 {
		in.values.Index = u.Instance.Index()
		in.values.Item, _ = expression.ParseJSON(r.Item(u)) // it is JSON
	}
	return in
}

// Condition gives the `when` of the task in one line, and for each name in it a
// text such as `params.min is 100`, in the order in which they stand there. Both
// are empty where the task has none.
func (in *Insight) Condition() (when string, reads []string) {
	if in.when == nil {
		return "", nil
	}
	for _, ref := range in.when.References() {
		name := strings.Join(ref, ".")
		if text := name + " is " + in.valueOf(ref, name); !slices.Contains(reads, text) {
			reads = append(reads, text)
		}
	}
	return strings.Join(strings.Fields(in.spec.When.V), " "), reads
}

func (in *Insight) valueOf(ref expression.Reference, name string) string {
	switch ref.Root() {
	case "secrets":
		return "***"
	case "env":
		return "not kept"
	}
	p, err := expression.Compile(name, expression.WantText, in.scope)
	if err != nil {
		return "not kept"
	}
	v, err := p.Eval(&in.values)
	if err != nil {
		return "not there"
	}
	if s, ok := v.(string); ok {
		return strconv.Quote(s)
	}
	text, err := expression.Text(v)
	if err != nil { // nothing has no text
		return "nothing"
	}
	return text
}

// WaitsFor tells what the task waits for while an attempt of its `wait_for` is
// under way, and how often it looks; empty for tasks of other kinds.
func (in *Insight) WaitsFor() string {
	w := in.spec.WaitFor
	if w == nil {
		return ""
	}
	every := ", looked for every " + dsl.FormatDuration(w.Poll.Or(defaultPoll))
	switch {
	case w.File.Set():
		return "the file " + strconv.Quote(in.text(w.File.V)) + every
	case w.HTTP != nil:
		return "the answer of " + strconv.Quote(in.text(w.HTTP.URL.V)) + every
	case w.SQL != nil && w.SQL.File.Set():
		return "a row of the query in " + strconv.Quote(in.text(w.SQL.File.V)) + every
	case w.SQL != nil:
		return "a row of " + strconv.Quote(strings.Join(strings.Fields(w.SQL.Query.V), " ")) + every
	}
	return "the time " + strconv.Quote(in.text(w.Until.V))
}

// text gives a text with the values in it, or as it is written where they are not
// kept.
func (in *Insight) text(written string) string {
	t, faults := expression.CompileTemplate(written, in.scope)
	if len(faults) > 0 || slices.ContainsFunc(t.References(), func(r expression.Reference) bool { return r.Root() == "env" || r.Root() == "secrets" }) {
		return written
	}
	text, err := t.Text(&in.values)
	if err != nil {
		return written
	}
	return text
}
