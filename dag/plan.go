// Package dag compiles a workflow into a Plan: tasks by number, edges with
// their conditions, the counters a run begins with, and the entry points of
// schedules. A Plan is acyclic and never changes.
//
// It decides nothing about a run (runtime/machine does) and reads no files.
package dag

import "github.com/ax-scheduler/ax/dsl"

// Task is the place of a task in Plan.Tasks, in file order.
type Task int32

// None stands for no task.
const None Task = -1

// Kind says which key drew an edge.
type Kind uint8

// The kinds of edges.
const (
	Depends Kind = iota // depends_on
	Failure             // on_failure of a task
)

// Edge leads from an upstream task to a task that waits for it.
type Edge struct {
	To   Task
	On   dsl.Outcomes // the ends of the upstream for which it holds
	Kind Kind
}

// Label says what an edge waits for, for a picture; empty where that is plain
// success.
func (e Edge) Label() string {
	switch {
	case e.Kind == Failure:
		return "on failure"
	case e.On == dsl.OnSucceeded:
		return ""
	}
	return e.On.String()
}

// RunOutcomes is a set of ends of a run, for workflow handlers.
type RunOutcomes uint8

// The ends of a run that handlers wait for.
const (
	RunSucceeded RunOutcomes = 1 << iota
	RunFailed
	RunCancelled
)

// Node is one task of a plan.
type Node struct {
	ID         string
	Spec       *dsl.Task
	Upstreams  int32  // depends_on edges that lead here
	Callers    int32  // on_failure edges that lead here
	Downstream []Edge // whom to tell at the end; by file order of the edge

	// Handles is not empty for a workflow handler: the ends of the run on
	// which it starts, once every task that is not Late has ended.
	Handles RunOutcomes
	// Late marks the handlers of the workflow and what handles their own
	// failures: they have no say in the outcome of the run.
	Late bool

	// Cut marks a task some of whose upstreams are not known, since the file
	// draws edges wrongly, Uncalled one that may be a handler for the same
	// reason. No plan of Compile has such tasks.
	Cut, Uncalled bool
}

// Entry is a schedule of tasks: roots with the same schedule start in one run.
type Entry struct {
	Schedule *dsl.Schedule
	Roots    []Task
	IDs      []string // of the roots
}

// Plan is a compiled workflow. It is read-only and safe for concurrent use.
type Plan struct {
	Workflow *dsl.Workflow
	Tasks    []Node // in file order
	Order    []Task // topological, ties in file order
	Entries  []Entry

	index map[string]Task
}

// IDs gives the ids of all tasks, by their numbers.
func (p *Plan) IDs() []string {
	ids := make([]string, len(p.Tasks))
	for i := range p.Tasks {
		ids[i] = p.Tasks[i].ID
	}
	return ids
}

// Task finds a task by its id.
func (p *Plan) Task(id string) (Task, bool) {
	t, ok := p.index[id]
	return t, ok
}

// Downstream gives, in file order, the given tasks and all that waits for them,
// directly or not.
func (p *Plan) Downstream(roots ...Task) []Task {
	return p.selected(p.reach(roots))
}

// Members gives the tasks of a run that starts at the given roots, in file
// order: the roots, what lies downstream of them, the upstreams that those
// need, the handlers that these call, and the handlers of the workflow.
// (DSL.md, "Schedules on tasks".)
func (p *Plan) Members(roots ...Task) []Task {
	in := p.reach(roots)
	for t := range p.Tasks {
		in[t] = in[t] || p.Tasks[t].Handles != 0
	}
	work := p.selected(in)
	add := func(t Task) {
		if !in[t] {
			in[t] = true
			work = append(work, t)
		}
	}
	for ; len(work) > 0; work = work[1:] {
		n := &p.Tasks[work[0]]
		for _, d := range n.Spec.DependsOn {
			add(p.index[d.Task.V])
		}
		for _, e := range n.Downstream {
			// A handler, on the other hand, does not need all who may call it.
			if e.Kind == Failure {
				add(e.To)
			}
		}
	}
	return p.selected(in)
}

// reach marks the given tasks and everything downstream.
func (p *Plan) reach(roots []Task) []bool {
	in := make([]bool, len(p.Tasks))
	for _, t := range roots {
		in[t] = true
	}
	for _, t := range p.Order {
		if in[t] {
			for _, e := range p.Tasks[t].Downstream {
				in[e.To] = true
			}
		}
	}
	return in
}

func (p *Plan) selected(in []bool) []Task {
	var ts []Task
	for t, ok := range in {
		if ok {
			ts = append(ts, Task(t))
		}
	}
	return ts
}
