package dag

import (
	"container/heap"
	"fmt"
	"slices"
	"strconv"

	"github.com/ax-scheduler/ax/dsl"
)

// link is an edge with the place where the file draws it.
type link struct {
	from, to Task
	on       dsl.Outcomes
	kind     Kind
	pos      dsl.Pos
}

// compiler gathers what Compile finds.
type compiler struct {
	wf     *dsl.Workflow
	plan   *Plan
	links  []link // in file order
	ds     dsl.Diagnostics
	told   map[mistake]bool
	astray []Task            // whose on_failure leads nobody knows where; None for the workflow's handlers
	wrong  bool              // there is an error
	ids    []string          // made when the first unknown name wants a suggestion
	near   map[string]string // the suggestions for unknown names
}

// mistake identifies one: by what is wrong and where.
type mistake struct {
	rule  string
	at    dsl.Pos
	about string
}

// maxSuggestions bounds how many unknown names are compared with all the known
// ones, which is the one thing here that is not linear.
const maxSuggestions = 100

// Compile turns a parsed workflow into a plan. It reports self-dependency,
// cycle (each once, with the whole way round), unknown-task,
// duplicate-dependency and schedules where none can be. The plan is nil if any
// of these is an error. The same workflow gives the same plan and the same
// diagnostics. Time and memory are linear in tasks plus edges.
func Compile(wf *dsl.Workflow) (*Plan, dsl.Diagnostics) {
	plan, ds, whole := Sketch(wf)
	if !whole {
		return nil, ds
	}
	return plan, ds
}

// Sketch does what Compile does, but gives a plan in any case, for those who
// look at a file that has mistakes in it; whole tells whether Compile gives it
// too. The edges that are wrong are left out, of a cycle all, and the tasks
// that may lack one are marked as Cut. Nothing of it may be run.
func Sketch(wf *dsl.Workflow) (plan *Plan, ds dsl.Diagnostics, whole bool) {
	c := &compiler{wf: wf, plan: &Plan{
		Workflow: wf,
		Tasks:    make([]Node, len(wf.Tasks)),
		index:    make(map[string]Task, len(wf.Tasks)),
	}}
	for i := range wf.Tasks {
		c.plan.Tasks[i] = Node{ID: wf.Tasks[i].ID.V, Spec: &wf.Tasks[i]}
		c.plan.index[wf.Tasks[i].ID.V] = Task(i)
	}
	for i := range wf.Tasks {
		c.edges(Task(i))
	}
	c.handlers()
	c.late()
	c.connect()
	c.order()
	c.strays()
	c.entries()
	c.ds.Sort()
	return c.plan, c.ds, !c.wrong
}

// report adds what is wrong at a place, once: several tasks may share a list.
// Cycles, of which several may close at one place, are told apart.
func (c *compiler) report(rule string, s dsl.Severity, pos dsl.Pos, hint, format string, args ...any) {
	c.wrong = c.wrong || s == dsl.Error
	message := fmt.Sprintf(format, args...)
	m := mistake{rule: rule, at: pos}
	if rule == "cycle" {
		m.about = message
	}
	if c.told[m] {
		return
	}
	if c.told == nil {
		c.told = map[mistake]bool{}
	}
	c.told[m] = true
	c.ds = append(c.ds, c.wf.Source.Diagnostic(rule, s, pos, message, hint))
}

// edges reads the names that one task gives.
func (c *compiler) edges(t Task) {
	task := &c.wf.Tasks[t]
	seen := make(map[string]bool, len(task.DependsOn))
	for _, d := range task.DependsOn {
		if up, ok := c.name(t, Depends, d.Task, seen); ok {
			c.links = append(c.links, link{up, t, d.On, Depends, d.Task.Pos})
		}
	}
	clear(seen)
	for _, h := range task.OnFailure {
		if down, ok := c.name(t, Failure, h, seen); ok {
			c.links = append(c.links, link{t, down, dsl.OnFailed, Failure, h.Pos})
		}
	}
}

// name resolves one name that task t gives. It reports what is wrong with it.
func (c *compiler) name(t Task, k Kind, name dsl.Value[string], seen map[string]bool) (Task, bool) {
	other, known := c.plan.index[name.V]
	again := seen[name.V]
	seen[name.V] = true
	if known && !again && other != t {
		return other, true
	}
	says, hint := "task %q depends on", "remove it, or name the task that must come first"
	if k == Failure {
		says, hint = "on_failure of task %q names", "remove it, or name the task that handles the failure"
	}
	says = fmt.Sprintf(says, c.plan.Tasks[t].ID)
	switch {
	case other == t && known:
		c.report("self-dependency", dsl.Error, name.Pos, hint, "%s itself", says)
		if k == Depends {
			c.plan.Tasks[t].Cut = true
		} else {
			c.astray = append(c.astray, t)
		}
	case again:
		c.twice(name, says)
	default:
		if k == Depends {
			c.plan.Tasks[t].Cut = true
		}
		if c.unknown(name, says) && k == Failure {
			c.uncalled(t, name.V)
		}
	}
	return None, false
}

// uncalled marks the task that was meant by an unknown name of a handler.
func (c *compiler) uncalled(by Task, name string) {
	if t, ok := c.plan.index[c.nearest(name)]; ok {
		c.plan.Tasks[t].Uncalled = true
		return
	}
	c.astray = append(c.astray, by)
}

// strays marks what may have been meant where no name was near: the tasks that
// wait for nothing, as handlers do, and do not come before the caller.
func (c *compiler) strays() {
	const most = 16 // callers that are told apart
	if len(c.astray) > most {
		c.astray = []Task{None}
	}
	tasks := c.plan.Tasks
	for _, by := range c.astray {
		before := make([]bool, len(tasks))
		for _, t := range slices.Backward(c.plan.Order) {
			before[t] = t == by || slices.ContainsFunc(tasks[t].Downstream, func(e Edge) bool { return before[e.To] })
		}
		for i := range tasks {
			n := &tasks[i]
			n.Uncalled = n.Uncalled || !before[i] && len(n.Spec.DependsOn) == 0
		}
	}
}

func (c *compiler) twice(name dsl.Value[string], says string) {
	c.report("duplicate-dependency", dsl.Warning, name.Pos, "remove one of them", "%s %q twice", says, name.V)
}

// unknown reports a name that no task has. It is false where the task may be
// among those that could not be read.
func (c *compiler) unknown(name dsl.Value[string], says string) bool {
	hint := ""
	if ids, list := dsl.AsList(name.V); len(ids) > 0 && !slices.ContainsFunc(ids, func(id string) bool { _, ok := c.plan.index[id]; return !ok }) {
		hint = list
	} else if near := c.nearest(name.V); near != "" {
		hint = dsl.DidYouMean(near)
	} else if c.wf.Unread("tasks") {
		c.wrong = true
		return false
	}
	c.report("unknown-task", dsl.Error, name.Pos, hint, "%s unknown task %q", says, name.V)
	return true
}

func (c *compiler) nearest(name string) string {
	if near, ok := c.near[name]; ok || len(c.near) == maxSuggestions {
		return near
	}
	if c.near == nil {
		c.near = map[string]string{}
		for i := range c.wf.Tasks {
			if id := c.wf.Tasks[i].ID.V; dsl.IsName(id) {
				c.ids = append(c.ids, id)
			}
		}
	}
	c.near[name] = dsl.Nearest(name, c.ids)
	return c.near[name]
}

// handlers marks the handlers of the workflow.
func (c *compiler) handlers() {
	for _, h := range []struct {
		key   string
		names []dsl.Value[string]
		on    RunOutcomes
	}{
		{"on_failure", c.wf.OnFailure, RunFailed},
		{"on_success", c.wf.OnSuccess, RunSucceeded},
		{"on_finish", c.wf.OnFinish, RunSucceeded | RunFailed | RunCancelled},
	} {
		seen := map[string]bool{}
		for _, name := range h.names {
			t, known := c.plan.index[name.V]
			switch {
			case seen[name.V]:
				c.twice(name, h.key+" names")
			case known:
				c.plan.Tasks[t].Handles |= h.on
			default:
				if c.unknown(name, h.key+" names") {
					c.uncalled(None, name.V)
				}
			}
			seen[name.V] = true
		}
	}
}

// late marks the handlers of the workflow and the handlers that they call. A
// task that depends on one of them without being late itself would wait for it
// while it waits for every other task to end. Such an edge is reported here and
// left out of the plan, lest it be told once more as part of a longer way round.
func (c *compiler) late() {
	tasks := c.plan.Tasks
	calls := map[Task][]Task{}
	for _, l := range c.links {
		if l.kind == Failure {
			calls[l.from] = append(calls[l.from], l.to)
		}
	}
	var work []Task
	mark := func(t Task) {
		if !tasks[t].Late {
			tasks[t].Late = true
			work = append(work, t)
		}
	}
	for i := range tasks {
		if tasks[i].Handles != 0 {
			mark(Task(i))
		}
	}
	for len(work) > 0 {
		t := work[0]
		work = work[1:]
		for _, h := range calls[t] {
			mark(h)
		}
	}
	c.links = slices.DeleteFunc(c.links, func(l link) bool {
		waits := l.kind == Depends && tasks[l.from].Late && !tasks[l.to].Late
		if waits {
			tasks[l.to].Cut = true
			h, t := tasks[l.from].ID, tasks[l.to].ID
			c.report("cycle", dsl.Error, l.pos, "make "+strconv.Quote(t)+" a handler of the workflow as well, or drop the dependency",
				"tasks wait for each other: %s -> %s -> %s (handler %q starts once every other task has ended)", h, t, h, h)
		}
		return waits
	})
}

// connect lays the edges out task by task and counts them at their ends.
func (c *compiler) connect() {
	tasks := c.plan.Tasks
	for i := range tasks {
		tasks[i].Upstreams, tasks[i].Callers = 0, 0
	}
	degree := make([]int32, len(tasks))
	for _, l := range c.links {
		degree[l.from]++
		if l.kind == Failure {
			tasks[l.to].Callers++
		} else {
			tasks[l.to].Upstreams++
		}
	}
	all := make([]Edge, len(c.links))
	for i := range tasks {
		tasks[i].Downstream, all = all[:0:degree[i]], all[degree[i]:]
	}
	for _, l := range c.links {
		n := &tasks[l.from]
		n.Downstream = append(n.Downstream, Edge{l.to, l.on, l.kind})
	}
}

// order sorts the tasks topologically, the first in the file first among those
// that are free (Kahn's algorithm over a heap of places), and has what is left
// over named as cycles.
func (c *compiler) order() {
	order, waiting := c.sorted()
	if len(order) < len(c.plan.Tasks) {
		c.cut(c.cycles(waiting))
		c.connect()
		order, _ = c.sorted()
	}
	c.plan.Order = order
}

// cut takes the edges within knots of cycles out.
func (c *compiler) cut(knots [][]Task) {
	of := map[Task]int{}
	for i, knot := range knots {
		for _, t := range knot {
			of[t] = i + 1
			c.plan.Tasks[t].Cut = true
		}
	}
	c.links = slices.DeleteFunc(c.links, func(l link) bool { return of[l.from] > 0 && of[l.from] == of[l.to] })
}

// sorted gives the order, and how many edges still lead to each task that is
// not in it.
func (c *compiler) sorted() (order []Task, waiting []int32) {
	tasks := c.plan.Tasks
	waiting = make([]int32, len(tasks))
	var free minHeap
	for i := range tasks {
		waiting[i] = tasks[i].Upstreams + tasks[i].Callers
		if waiting[i] == 0 {
			free = append(free, Task(i)) // ascending, so a heap already
		}
	}
	order = make([]Task, 0, len(tasks))
	for len(free) > 0 {
		t := heap.Pop(&free).(Task)
		order = append(order, t)
		for _, e := range tasks[t].Downstream {
			if waiting[e.To]--; waiting[e.To] == 0 {
				heap.Push(&free, e.To)
			}
		}
	}
	return order, waiting
}

// entries groups the scheduled roots by schedule.
func (c *compiler) entries() {
	type key struct{ cron, zone, every, params string }
	at := map[key]int{}
	for i := range c.wf.Tasks {
		t := &c.wf.Tasks[i]
		for s := range t.Schedules {
			sch := &t.Schedules[s]
			pos, word := sch.Cron.Pos, "cron"
			if !sch.Cron.Set() {
				pos, word = sch.Every.Pos, "every"
			}
			n := &c.plan.Tasks[i]
			switch {
			case len(t.DependsOn) > 0:
				c.report("bad-value", dsl.Error, pos, "remove it, or remove depends_on: it is started by what it depends on",
					"task %q has both %s and depends_on", t.ID.V, word)
				continue
			case n.Callers > 0 || n.Handles != 0:
				c.report("bad-value", dsl.Error, pos, "remove it: a handler is started by what it handles",
					"task %q is a handler and has %s", t.ID.V, word)
				continue
			case t.Disabled.V:
				continue
			}
			k := key{cron: sch.Cron.V, zone: sch.Timezone.V, every: sch.Every.V.String()}
			for _, f := range sch.Params {
				k.params += fmt.Sprintf("%q=%q ", f.Name.V, f.Value.V)
			}
			if _, ok := at[k]; !ok {
				at[k] = len(c.plan.Entries)
				c.plan.Entries = append(c.plan.Entries, Entry{Schedule: sch})
			}
			e := &c.plan.Entries[at[k]]
			if n := len(e.Roots); n == 0 || e.Roots[n-1] != Task(i) { // a task may give one schedule twice
				e.Roots, e.IDs = append(e.Roots, Task(i)), append(e.IDs, t.ID.V)
			}
		}
	}
}

// minHeap is a heap of tasks, the first in the file on top.
type minHeap []Task

func (h minHeap) Len() int           { return len(h) }
func (h minHeap) Less(i, j int) bool { return h[i] < h[j] }
func (h minHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *minHeap) Push(x any)        { *h = append(*h, x.(Task)) }
func (h *minHeap) Pop() any {
	old := *h
	t := old[len(old)-1]
	*h = old[:len(old)-1]
	return t
}
