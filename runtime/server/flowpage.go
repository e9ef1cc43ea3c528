package server

import (
	"context"
	"maps"
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
	gridTasks   = 120    // rows; of more tasks only those that were in trouble
	gridLooks   = 20_000 // tasks among which those are looked for
	ledgerRows  = 20
	sourceMost  = 400 // lines of the source that are shown
	comingTicks = 5
)

type workflowView struct {
	Name     string
	File     *reload.Loaded
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
	Zone     string         // of the times of its schedules

	zone *time.Location
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
	v.zone, v.Zone = s.zoneOf(v.File)
	runs, err := s.Store.Runs(ctx, store.RunFilter{Workflow: name, Limit: gridRuns})
	if err != nil {
		return err
	}
	if !v.Loaded && len(runs) == 0 {
		return missing("there is no workflow %q", name)
	}
	runs = s.localRuns(runs)
	slices.Reverse(runs)
	v.Bars, v.Longest = durations(runs)
	if v.Ledger, err = s.Store.LastTicks(ctx, name, store.Tick{}, ledgerRows); err != nil {
		return err
	}
	for i := range v.Ledger {
		v.Ledger[i].At = v.Ledger[i].At.In(v.zone)
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
		version = v.File.Version
		v.Stale = s.Catalog().Stale(name)
		v.About = aboutOf(v.File.Head)
		v.Timed = timed(v.File)
		v.Form.Fields = fieldsOf(v.File.Head, v.Form.Values)
		if err := s.comingOf(ctx, &v); err != nil {
			return err
		}
	} else {
		version = runs[len(runs)-1].Version
	}
	plan, err := s.planOf(ctx, name, version)
	if err != nil {
		return err
	}
	if plan.plan() != nil {
		if err := s.past(ctx, &v, runs, plan); err != nil {
			return err
		}
	}
	if err := s.versionsOf(ctx, &v, version, r.FormValue("version"), r.FormValue("against")); err != nil {
		return err
	}
	p := page{Title: name, Nav: "home", Watch: watching(url.Values{"workflow": {name}}.Encode()), Since: since}
	s.render(w, r, status, "workflow", p, v)
	return nil
}

// timed tells whether a workflow is started by itself.
func timed(f *reload.Loaded) bool {
	return len(f.Head.Schedules)+len(f.Head.After)+len(f.Entries) > 0
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
	return wholeUnits("every " + s.Every.V.String())
}

// wholeUnits leaves the zeros behind a rate out, as in "every 2h0m0s".
func wholeUnits(schedule string) string {
	for _, zero := range []struct{ from, to string }{{"m0s", "m"}, {"h0m", "h"}} {
		if rest, ok := strings.CutSuffix(schedule, zero.from); ok {
			schedule = rest + zero.to
		}
	}
	return schedule
}

// zoneOf gives the zone that the times of a workflow's schedules are shown in: its
// own, else the server's; and its name.
func (s *Server) zoneOf(f *reload.Loaded) (zone *time.Location, name string) {
	if zone = s.Zone; zone == nil {
		zone = time.UTC
	}
	if f != nil && f.Head.Timezone.Set() {
		if own, err := time.LoadLocation(f.Head.Timezone.V); err == nil {
			return own, own.String()
		}
	}
	if zone == time.Local {
		return zone, time.Now().In(zone).Format("MST")
	}
	return zone, zone.String()
}

func (s *Server) comingOf(ctx context.Context, v *workflowView) error {
	now := time.Now()
	coming, err := s.Engine.Coming(ctx, now, now.AddDate(0, 1, 0), comingTicks)
	if err != nil {
		return err
	}
	for _, c := range coming {
		if c.Workflow == v.Name && len(v.Coming) < comingTicks {
			c.At = c.At.In(v.zone)
			v.Coming = append(v.Coming, c)
		}
	}
	return nil
}

// workflowGraph draws a workflow by how its tasks ended the last time.
func workflowGraph(p *planned, runs []store.Run, marks map[string][]store.Mark) graphView {
	states := map[dag.Task]store.Mark{}
	var last store.Run
	if len(runs) > 0 {
		last = runs[len(runs)-1]
	}
	drawn := allTasks(p.plan())
	if len(drawn) > graphWhole {
		drawn = around(p.plan(), nil)
	} else {
		for _, m := range marks[last.ID] {
			states[dag.Task(m.Index)] = m
		}
	}
	return p.graphOf(drawn, func(t dag.Task) (class, note, to string) {
		m, ok := states[t]
		if !ok {
			return "", noteOf(&p.plan().Tasks[t]), ""
		}
		return m.State.String(), noteOf(&p.plan().Tasks[t]), markLink(last, p.plan(), m)
	})
}

// markLink gives the address of what a task has done in a run; empty for nothing.
func markLink(run store.Run, p *dag.Plan, m store.Mark) string {
	n := &p.Tasks[m.Index]
	switch {
	case n.Spec.Foreach != nil:
		return instancesLink(run, n.ID)
	case m.Tried:
		return taskLink(run, n.ID)
	}
	return ""
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

// past draws the last runs of a workflow: the last one as a graph, all of
// them as a grid. Of a workflow of many tasks it reads only those that were in
// trouble, and of fewer runs.
func (s *Server) past(ctx context.Context, v *workflowView, runs []store.Run, p *planned) error {
	n := len(p.plan().Tasks)
	g := gridView{Partial: n > gridTasks}
	f := store.MarkFilter{Whole: true, Apart: slices.ContainsFunc(p.plan().Tasks, func(n dag.Node) bool { return n.Spec.Foreach != nil })}
	most := gridCells / n
	if g.Partial {
		most = max(1, gridLooks/n)
		f.States = []machine.TaskState{machine.Failed, machine.Retrying, machine.Running}
	}
	g.Runs = runs[max(0, len(runs)-most):]
	for _, run := range g.Runs {
		f.Runs = append(f.Runs, run.ID)
	}
	marks, err := s.Store.Marks(ctx, f)
	if err != nil {
		return err
	}
	if err := s.byTask(ctx, g.Runs, p.plan(), marks); err != nil {
		return err
	}
	v.Graph = workflowGraph(p, runs, marks)
	g.fill(p.plan(), marks)
	v.Grid = g
	return nil
}

// byTask puts the marks of runs of other versions under the tasks of a plan, by
// their names. Those of tasks that it has no more are left out.
func (s *Server) byTask(ctx context.Context, runs []store.Run, p *dag.Plan, marks map[string][]store.Mark) error {
	for _, run := range runs {
		of, err := s.planOf(ctx, run.Workflow, run.Version)
		if err != nil {
			return err
		}
		var mine []store.Mark
		for _, m := range marks[run.ID] {
			if m.Index >= len(of.names) {
				continue
			}
			if t, ok := p.Task(of.names[m.Index]); ok {
				m.Index = int(t)
				mine = append(mine, m)
			}
		}
		marks[run.ID] = mine
	}
	return nil
}

// fill gives the grid a row for each task that there is something to tell of.
func (g *gridView) fill(p *dag.Plan, marks map[string][]store.Mark) {
	rows := map[int]*gridRow{}
	for i, run := range g.Runs {
		for _, m := range marks[run.ID] {
			row := rows[m.Index]
			if row == nil {
				row = &gridRow{Task: p.Tasks[m.Index].ID, Cells: make([]gridCell, len(g.Runs))}
				rows[m.Index] = row
			}
			row.Cells[i] = gridCell{m.State.String(), markLink(run, p, m)}
		}
	}
	for _, i := range slices.Sorted(maps.Keys(rows)) {
		if len(g.Rows) < gridTasks {
			g.Rows = append(g.Rows, *rows[i])
		}
	}
}
