package server

import (
	"cmp"
	"context"
	"fmt"
	"html/template"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dag/layout"
	"github.com/ax-scheduler/ax/runtime/machine"
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
	read  []runTasks          // the last runs that were looked at, the last one last
}

// planned is a version with its picture.
type planned struct {
	names []string         // of its tasks, in file order
	plan  func() *dag.Plan // gives nil where this ax cannot read it

	once    sync.Once
	drawing *layout.Drawing // of the whole; nil where it is too large

	mu    sync.Mutex
	parts []detail // that were drawn last, of one that is too large
}

// detail is a picture of some tasks.
type detail struct {
	tasks   []dag.Task
	drawing *layout.Drawing
}

// partsKept is how many pictures of parts of a plan are kept: one that goes on
// is looked at again and again.
const partsKept = 4

// planOf gives the plan of a version of a workflow.
func (s *Server) planOf(ctx context.Context, name, version string) (*planned, error) {
	v := &s.views
	v.mu.Lock()
	p := v.plans[version]
	v.mu.Unlock()
	if p != nil {
		return p, nil
	}
	p = &planned{}
	if file := s.Catalog().Workflows[name]; file != nil && file.Version == version {
		p.plan, p.names = file.Plan, file.Plan().IDs()
	} else if stored, err := s.Store.Version(ctx, version); err == nil {
		p.names = stored.Tasks
		p.plan = sync.OnceValue(func() *dag.Plan { return reload.Check(name+".yaml", stored.Text).Plan })
	} else {
		return nil, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.plans == nil || len(v.plans) >= plansKept {
		v.plans = map[string]*planned{}
	}
	v.plans[version] = p
	return p, nil
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
		if len(p.plan().Tasks) <= graphWhole {
			p.drawing, _ = layout.Place(pictureOf(p.plan(), allTasks(p.plan()))) // a plan has no cycle
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

// drawn gives the tasks of a run's graph: all of them, or of a large plan what
// failed, what goes on, and what is beside them.
func (p *planned) drawn(tasks []taskMark) []dag.Task {
	if len(p.plan().Tasks) <= graphWhole {
		return allTasks(p.plan())
	}
	var worth []dag.Task
	for _, of := range []machine.TaskState{machine.Failed, machine.Running, machine.Retrying, machine.Ready} {
		for _, t := range tasks {
			if t.State == of && len(worth) < graphPart/2 {
				worth = append(worth, dag.Task(t.Index))
			}
		}
	}
	return around(p.plan(), worth)
}

// picture gives the picture of some tasks, or nil.
func (p *planned) picture(tasks []dag.Task) *layout.Drawing {
	if len(tasks) == len(p.plan().Tasks) {
		return p.whole()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, k := range p.parts {
		if slices.Equal(k.tasks, tasks) {
			return k.drawing
		}
	}
	drawing, _ := layout.Place(pictureOf(p.plan(), tasks)) // a plan has no cycle
	p.parts = append(p.parts[max(0, len(p.parts)-partsKept+1):], detail{tasks, drawing})
	return drawing
}

// graphOf draws some tasks of a plan. look gives the class, the note and the
// address of a task.
func (p *planned) graphOf(tasks []dag.Task, look func(dag.Task) (class, note, link string)) graphView {
	if p.plan() == nil {
		return graphView{}
	}
	v, drawing := graphView{All: len(p.plan().Tasks)}, p.picture(tasks)
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

// runGraph draws the tasks of a run by their states.
func (s *Server) runGraph(run store.Run, tasks []taskMark, drawn []dag.Task, r recordSet, p *planned, now time.Time) graphView {
	byTask := make(map[dag.Task]taskMark, len(drawn))
	for _, t := range drawn {
		if i, ok := slices.BinarySearchFunc(tasks, int(t), func(t taskMark, index int) int { return cmp.Compare(t.Index, index) }); ok {
			byTask[t] = tasks[i]
		}
	}
	return p.graphOf(drawn, func(t dag.Task) (class, note, link string) {
		mark, ok := byTask[t]
		if !ok {
			return "absent", "not in this run", ""
		}
		row := s.row(run, mark, r)
		note = row.State
		switch {
		case len(row.States) > 0:
			note = instancesNote(row.States)
		case row.State == "succeeded" || row.State == "failed" && !row.Started.IsZero():
			note = glyphs[row.State] + " " + took(row.Started, row.Finished)
		case row.State == "running":
			note = fmt.Sprintf("%s %s", glyphs[row.State], took(row.Started, now))
		}
		if row.TaskReport.Attempts > 1 && len(row.States) == 0 {
			note += fmt.Sprintf(" · %d tries", row.TaskReport.Attempts)
		}
		return row.State, note, row.Link
	})
}

// instancesNote counts instances by their states, the most urgent ones.
func instancesNote(states []stateCount) string {
	states = slices.Clone(states)
	slices.SortFunc(states, func(a, b stateCount) int { return cmp.Compare(urgencyOf(a.State), urgencyOf(b.State)) })
	var parts []string
	for _, st := range states[:min(len(states), 2)] {
		parts = append(parts, glyphs[st.State]+" "+thousands(st.N))
	}
	return strings.Join(parts, "  ")
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

// instancesLink gives the address of the list of a task's instances, with other
// parameters.
func instancesLink(run store.Run, task string, more ...string) string {
	q := url.Values{"of": {task}}
	for i := 0; i+1 < len(more); i += 2 {
		q.Set(more[i], more[i+1])
	}
	return "/runs/" + url.PathEscape(run.ID) + "?" + q.Encode() + "#tasks"
}
