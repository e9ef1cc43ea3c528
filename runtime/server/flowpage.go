package server

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/runtime/reload"
	"github.com/ax-scheduler/ax/store"
)

const (
	gridCells   = 2400 // of the grid of runs by task
	gridRuns    = 30
	gridTasks   = 120 // rows; of more tasks only those that were in trouble
	ledgerRows  = 20
	sourceMost  = 400 // lines of the source that are shown
	comingTicks = 5
)

type workflowView struct {
	Name     string
	File     *reload.File
	Loaded   bool
	Stale    bool
	Paused   *store.Pause // nil where it is not
	Timed    bool         // it has what can be paused: schedules, or `after`
	About    []pair
	Graph    graphView
	Coming   []runtime.Coming
	Ledger   []store.Tick
	Grid     gridView
	Bars     []durationBar
	Longest  string
	Versions []versionRow
	Source   []sourceLine
	Cut      bool // there is more of the source
	Against  string
	Changed  int
	Form     startFormView
	Fill     fillFormView
	Changes  []store.Change // who did what, the last first
}

type durationBar struct {
	Run  store.Run
	H    int // thousandths of the longest
	Took string
}

type versionRow struct {
	store.Version
	Current bool
}

// gridView is the runs of a workflow by its tasks.
type gridView struct {
	Runs    []store.Run // oldest first
	Rows    []gridRow
	Partial bool // only tasks that were in trouble
}

type gridRow struct {
	Task  string
	Cells []gridCell
}

type gridCell struct{ State, Link string }

func (s *Server) workflowPage(w http.ResponseWriter, r *http.Request) error {
	return s.showWorkflow(w, r, http.StatusOK, startFormView{}, fillFormView{})
}

// showWorkflow answers with the page of a workflow, and with its forms as they
// were sent where they could not be carried out.
func (s *Server) showWorkflow(w http.ResponseWriter, r *http.Request, status int, form startFormView, fill fillFormView) error {
	ctx, name, since := r.Context(), r.PathValue("name"), s.hub.now()
	v := workflowView{Name: name, File: s.Catalog().Workflows[name], Form: form, Fill: fill}
	v.Loaded = v.File != nil
	runs, err := s.Store.Runs(ctx, store.RunFilter{Workflow: name, Limit: gridRuns})
	if err != nil {
		return err
	}
	if !v.Loaded && len(runs) == 0 {
		return missing("there is no workflow %q", name)
	}
	slices.Reverse(runs)
	for i := range runs {
		runs[i] = s.localRun(runs[i])
	}
	v.Bars, v.Longest = durations(runs)
	if v.Ledger, err = s.Store.LastTicks(ctx, name, store.Tick{}, ledgerRows); err != nil {
		return err
	}
	for i := range v.Ledger {
		v.Ledger[i].At = s.local(v.Ledger[i].At)
	}
	if v.Changes, err = s.changesOf(ctx, name, ""); err != nil {
		return err
	}
	paused, err := s.Engine.Paused(ctx)
	if err != nil {
		return err
	}
	if p, ok := paused[name]; ok {
		p.Since = s.local(p.Since)
		v.Paused = &p
	}
	version := ""
	if v.Loaded {
		version = v.File.Source.Hash()
		v.Stale = staleNames(s.Catalog())[name]
		v.About = aboutOf(v.File.Workflow)
		v.Timed = timed(v.File)
		v.Form.Fields = fieldsOf(v.File.Workflow, v.Form.Values)
		if err := s.comingOf(ctx, &v); err != nil {
			return err
		}
	} else {
		version = runs[len(runs)-1].Version
	}
	plan := s.planOf(ctx, name, version)
	v.Graph = s.workflowGraph(ctx, plan, runs)
	if v.Grid, err = s.gridOf(ctx, runs, plan); err != nil {
		return err
	}
	if err := s.versionsOf(ctx, &v, version, r.FormValue("version"), r.FormValue("against")); err != nil {
		return err
	}
	p := page{Title: name, Nav: "home", Watch: watching(url.Values{"workflow": {name}}.Encode()), Since: since}
	s.render(w, r, status, "workflow", p, v)
	return nil
}

// timed tells whether a workflow is started by itself.
func timed(f *reload.File) bool {
	return len(f.Workflow.Schedules)+len(f.Workflow.After) > 0 ||
		slices.ContainsFunc(f.Plan.Tasks, func(n dag.Node) bool { return len(n.Spec.Schedules) > 0 })
}

// aboutOf tells what a workflow says of itself beside its tasks.
func aboutOf(wf *dsl.Workflow) (all []pair) {
	add := func(name, value string) {
		if value != "" {
			all = append(all, pair{name, oneLine(value, 200)})
		}
	}
	var schedules, tags []string
	for i := range wf.Schedules {
		schedules = append(schedules, scheduleText(&wf.Schedules[i]))
	}
	for _, t := range wf.Tags {
		tags = append(tags, t.V)
	}
	add("schedule", strings.Join(schedules, "; "))
	add("time zone", wf.Timezone.V)
	add("owner", wf.Owner.V)
	add("tags", strings.Join(tags, ", "))
	add("file", wf.Source.File)
	return all
}

func scheduleText(s *dsl.Schedule) string {
	if s.Cron.Set() {
		return strings.TrimSpace("cron " + s.Cron.V + " " + s.Timezone.V)
	}
	return "every " + durationText(s.Every.V)
}

func (s *Server) comingOf(ctx context.Context, v *workflowView) error {
	now := time.Now()
	coming, err := s.Engine.Coming(ctx, now, now.AddDate(0, 1, 0), comingTicks)
	if err != nil {
		return err
	}
	for _, c := range coming {
		if c.Workflow == v.Name && len(v.Coming) < comingTicks {
			c.At = s.local(c.At)
			v.Coming = append(v.Coming, c)
		}
	}
	return nil
}

// workflowGraph draws a workflow by how its tasks ended the last time.
func (s *Server) workflowGraph(ctx context.Context, p *planned, runs []store.Run) graphView {
	if p.plan == nil {
		return graphView{}
	}
	states := map[string]store.Task{}
	link := func(string) string { return "" }
	if len(runs) > 0 {
		last := runs[len(runs)-1]
		link = func(task string) string { return taskLink(last, task) }
		if len(p.plan.Tasks) <= graphWhole {
			tasks, err := s.Store.Tasks(ctx, last.ID)
			if err != nil {
				return graphView{}
			}
			for _, t := range tasks {
				states[t.ID] = t
			}
		}
	}
	return p.graphOf(nil, func(t dag.Task) (class, note, to string) {
		id := p.plan.Tasks[t].ID
		st, ok := states[id]
		if !ok {
			return "", noteOf(&p.plan.Tasks[t]), ""
		}
		if st.Attempts > 0 {
			to = link(id)
		}
		return st.State.String(), noteOf(&p.plan.Tasks[t]), to
	})
}

// noteOf tells how a task is carried out.
func noteOf(n *dag.Node) string {
	switch {
	case len(n.Spec.Schedules) > 0:
		return scheduleText(&n.Spec.Schedules[0])
	case n.Spec.Disabled.V:
		return "disabled"
	case n.Spec.When.Set():
		return "when " + oneLine(n.Spec.When.V, 40)
	}
	return ""
}

func durations(runs []store.Run) (bars []durationBar, longest string) {
	var most time.Duration
	for _, r := range runs {
		if !r.StartedAt.IsZero() && !r.FinishedAt.IsZero() {
			most = max(most, r.FinishedAt.Sub(r.WentAt()))
		}
	}
	for _, r := range runs {
		if r.StartedAt.IsZero() || r.FinishedAt.IsZero() {
			continue
		}
		d := r.FinishedAt.Sub(r.WentAt())
		bars = append(bars, durationBar{r, max(20, int(1000*d/max(most, 1))), durationText(d)})
	}
	return bars, durationText(most)
}

// gridOf gives the states of the tasks of the last runs. Of a workflow of many
// tasks it reads only those that were in trouble.
func (s *Server) gridOf(ctx context.Context, runs []store.Run, p *planned) (gridView, error) {
	if p.plan == nil || len(runs) == 0 {
		return gridView{}, nil
	}
	g := gridView{Runs: runs, Partial: len(p.plan.Tasks) > gridTasks}
	if most := gridCells / len(p.plan.Tasks); !g.Partial && len(runs) > most {
		g.Runs = runs[len(runs)-most:]
	}
	states := make([]map[string]store.Task, len(g.Runs))
	trouble := map[string]bool{}
	for i, run := range g.Runs {
		var tasks []store.Task
		var err error
		if g.Partial {
			tasks, err = s.Store.TasksIn(ctx, run.ID, []machine.TaskState{machine.Failed, machine.Retrying, machine.Running}, gridTasks/4)
		} else {
			tasks, err = s.Store.Tasks(ctx, run.ID)
		}
		if err != nil {
			return g, err
		}
		states[i] = make(map[string]store.Task, len(tasks))
		for _, t := range tasks {
			if old, ok := states[i][t.ID]; !ok || urgency[t.State.String()] < urgency[old.State.String()] {
				states[i][t.ID] = t
			}
			trouble[t.ID] = true
		}
	}
	for i := range p.plan.Tasks {
		id := p.plan.Tasks[i].ID
		if g.Partial && !trouble[id] || len(g.Rows) == gridTasks {
			continue
		}
		row := gridRow{Task: id, Cells: make([]gridCell, len(g.Runs))}
		for j, run := range g.Runs {
			if t, ok := states[j][id]; ok {
				row.Cells[j].State = t.State.String()
				if t.Attempts > 0 && (t.State == machine.Failed || !g.Partial) {
					row.Cells[j].Link = taskLink(run, id)
				}
			}
		}
		g.Rows = append(g.Rows, row)
	}
	return g, nil
}
