package server

import (
	"context"
	"html/template"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dag/layout"
	"github.com/ax-scheduler/ax/runtime/reload"
	"github.com/ax-scheduler/ax/store"
)

const (
	graphWhole = 250 // tasks up to which a graph is drawn as a whole
	graphPart  = 80  // tasks of a part of a larger one
	plansKept  = 64
)

// views keeps what is costly to make again for each page.
type views struct {
	lines  lineIndexes
	recent recent

	mu    sync.Mutex
	plans map[string]*planned // by version
	read  []readRows          // the last runs that were looked at, the last one last
}

// planned is a version with its picture.
type planned struct {
	plan *dag.Plan // nil where this ax cannot read it

	once    sync.Once
	drawing *layout.Drawing // of the whole; nil where it is too large
}

// planOf gives the plan of a version of a workflow.
func (s *Server) planOf(ctx context.Context, name, version string) *planned {
	v := &s.views
	v.mu.Lock()
	p := v.plans[version]
	v.mu.Unlock()
	if p != nil {
		return p
	}
	p = &planned{}
	if file := s.Catalog().Workflows[name]; file != nil && file.Source.Hash() == version {
		p.plan = file.Plan
	} else if stored, err := s.Store.Version(ctx, version); err == nil {
		p.plan = reload.Check(name+".yaml", stored.Text).Plan
	} else {
		return p // not kept: it may be stored soon
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.plans == nil || len(v.plans) >= plansKept {
		v.plans = map[string]*planned{}
	}
	v.plans[version] = p
	return p
}

// pictureOf gives the graph of some tasks of a plan, in file order.
func pictureOf(p *dag.Plan, tasks []dag.Task) layout.Graph {
	g := layout.Graph{Title: "tasks of " + p.Workflow.Name.V}
	at := make(map[dag.Task]int, len(tasks))
	for i, t := range tasks {
		at[t] = i
		g.Nodes = append(g.Nodes, layout.Node{ID: p.Tasks[t].ID, Note: "succeeded 9m59s"}) // its room
	}
	for i, t := range tasks {
		for _, e := range p.Tasks[t].Downstream {
			to, in := at[e.To]
			if !in {
				continue
			}
			kind := layout.Depends
			if e.Kind == dag.Failure {
				kind = layout.Failure
			}
			g.Edges = append(g.Edges, layout.Edge{From: i, To: to, Kind: kind, Label: e.Label()})
		}
	}
	return g
}

func allTasks(p *dag.Plan) []dag.Task {
	all := make([]dag.Task, len(p.Tasks))
	for i := range all {
		all[i] = dag.Task(i)
	}
	return all
}

// whole gives the picture of all tasks, or nil.
func (p *planned) whole() *layout.Drawing {
	p.once.Do(func() {
		if len(p.plan.Tasks) <= graphWhole {
			p.drawing, _ = layout.Place(pictureOf(p.plan, allTasks(p.plan))) // a plan has no cycle
		}
	})
	return p.drawing
}

// graphView is the graph of a page.
type graphView struct {
	SVG   template.HTML
	Shown int // tasks
	All   int
}

// graphOf draws a plan: the whole of it, or of a large one what is worth seeing
// with its neighbours. look gives the class, the note and the address of a task.
func (p *planned) graphOf(worth []dag.Task, look func(dag.Task) (class, note, link string)) graphView {
	if p.plan == nil {
		return graphView{}
	}
	v := graphView{All: len(p.plan.Tasks)}
	tasks, drawing := allTasks(p.plan), p.whole()
	if drawing == nil {
		tasks = around(p.plan, worth)
		drawing, _ = layout.Place(pictureOf(p.plan, tasks))
	}
	if drawing == nil {
		return v
	}
	v.Shown = len(tasks)
	mine := *drawing
	mine.Boxes = slices.Clone(drawing.Boxes)
	for i, t := range tasks {
		b := &mine.Boxes[i]
		b.Class, b.Note, b.Link = look(t)
	}
	var out strings.Builder
	if mine.WriteInline(&out) == nil {
		v.SVG = template.HTML(out.String()) //nolint:gosec // layout escapes all texts
	}
	return v
}

// around gives tasks and their neighbours, at most graphPart, in file order;
// where there are none, the first ones.
func around(p *dag.Plan, worth []dag.Task) []dag.Task {
	if len(worth) == 0 {
		worth = p.Order[:min(len(p.Order), graphPart/2)]
	}
	in := map[dag.Task]bool{}
	var tasks []dag.Task
	add := func(t dag.Task) {
		if !in[t] && len(tasks) < graphPart {
			in[t] = true
			tasks = append(tasks, t)
		}
	}
	worth = worth[:min(len(worth), graphPart/2)]
	for _, t := range worth {
		add(t)
	}
	for _, t := range worth {
		n := &p.Tasks[t]
		for _, d := range n.Spec.DependsOn[:min(len(n.Spec.DependsOn), 8)] {
			if up, ok := p.Task(d.Task.V); ok {
				add(up)
			}
		}
		for _, e := range n.Downstream[:min(len(n.Downstream), 8)] {
			add(e.To)
		}
	}
	slices.Sort(tasks)
	return tasks
}

// taskLink gives the address of the log of a task of a run.
func taskLink(run store.Run, task string) string {
	return "/runs/" + url.PathEscape(run.ID) + "/tasks/" + url.PathEscape(task)
}
