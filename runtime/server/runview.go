package server

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/store"
)

const (
	rowsMost    = 200 // tasks on one page
	causesMost  = 4   // failed tasks that are told of first
	blockedMost = 12  // names of what each of them blocked
	tailMost    = 10  // last lines of its log
)

// runView is one run with what its page shows.
type runView struct {
	Run      store.Run
	Queued   time.Time // when it could have started
	States   []stateCount
	Total    int
	Graph    graphView
	Causes   []causeView
	More     int // failed tasks beyond those in Causes
	Rows     []taskRow
	Filter   string // state that the rows are of
	After    int    // place of the first task of the next page; 0 for none
	First    int    // place of the first row
	Axis     axis
	Params   []pair
	Outputs  []outputRow
	Files    []artifactFile
	Previous []store.Run    // the last runs of the workflow
	Gone     bool           // its version cannot be read
	Changes  []store.Change // who did what with it, the last first
}

type pair struct{ Name, Value string }

type stateCount struct {
	State string
	N     int
}

// taskRow is one task of the list, with its attempts on the time line.
type taskRow struct {
	runtime.TaskReport
	index    int // in the plan
	link     string
	Attempts []store.Attempt
	Bars     []bar
	Started  time.Time
	Finished time.Time
}

// Link gives the address of the task's log; empty where it has none.
func (t taskRow) Link() string { return t.link }

// bar is a part of a time line, in thousandths of its width.
type bar struct {
	Class string
	X, W  int
}

// axis is the span of a time line.
type axis struct {
	From, To time.Time
}

// place gives the bar of a span of time; one that is short is still seen.
func (a axis) place(from, to time.Time, class string) bar {
	whole := max(a.To.Sub(a.From), time.Millisecond)
	x := int(1000 * from.Sub(a.From) / whole)
	w := int(1000 * to.Sub(from) / whole)
	x = min(max(x, 0), 996)
	return bar{class, x, min(max(w, 4), 1000-x)}
}

// causeView is a task that failed: why, and what came of it.
type causeView struct {
	taskRow
	Tail    [][]byte // last lines of its log
	Blocked []string
	Others  int // blocked beyond those
}

// readRows are the tasks of a run as they were after so many events.
type readRows struct {
	id     string
	state  machine.RunState
	events int
	rows   []taskRow
}

// rowsKept is how many runs are kept as they were read last: looking at the next
// part of a large one does not read all of it again.
const rowsKept = 8

// readRun reads a run with its tasks and attempts, which nobody changes.
func (s *Server) readRun(ctx context.Context, id string) (store.Run, []taskRow, *planned, error) {
	run, err := s.Store.Run(ctx, id)
	if err != nil {
		return run, nil, nil, missing("there is no run %q", id)
	}
	plan, v := s.planOf(ctx, run.Workflow, run.Version), &s.views
	v.mu.Lock()
	i := slices.IndexFunc(v.read, func(r readRows) bool { return r.id == id && r.events == run.Events && r.state == run.State })
	if i >= 0 {
		rows := v.read[i].rows
		v.mu.Unlock()
		return run, rows, plan, nil
	}
	v.mu.Unlock()
	rows, err := s.readTasks(ctx, run)
	if err != nil {
		return run, nil, nil, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	// What is younger than its key may be there as well: it is read again then.
	v.read = append(slices.DeleteFunc(v.read, func(r readRows) bool { return r.id == id }), readRows{id, run.State, run.Events, rows})
	v.read = v.read[max(0, len(v.read)-rowsKept):]
	return run, rows, plan, nil
}

// readTasks reads the tasks of a run with their attempts.
func (s *Server) readTasks(ctx context.Context, run store.Run) ([]taskRow, error) {
	rep, err := runtime.ReadReport(ctx, s.Store, run.ID)
	if err != nil {
		return nil, err
	}
	attempts, err := s.Store.Attempts(ctx, run.ID)
	if err != nil {
		return nil, err
	}
	version, err := s.Store.Version(ctx, run.Version)
	if err != nil {
		return nil, err
	}
	places := make(map[string]int, len(version.Tasks))
	for i, name := range version.Tasks {
		places[name] = i
	}
	type key struct{ index, instance int }
	tries := map[key][]store.Attempt{}
	for _, a := range attempts {
		k := key{a.Index, a.Instance}
		tries[k] = append(tries[k], a)
	}
	rows := make([]taskRow, 0, len(rep.Tasks))
	for _, t := range rep.Tasks {
		row := taskRow{TaskReport: t, index: -1}
		instance := -1
		if i, ok := places[t.ID]; ok {
			row.index = i
		} else {
			row.index, instance = place(version.Tasks, t.ID)
		}
		if row.Attempts = tries[key{row.index, instance}]; len(row.Attempts) > 0 {
			row.link = taskLink(run, t.ID)
		}
		row.Started, row.Finished = s.localOf(t.StartedAt), s.localOf(t.FinishedAt)
		rows = append(rows, row)
	}
	return rows, nil
}

func (s *Server) local(t time.Time) time.Time {
	if t.IsZero() || s.Zone == nil {
		return t
	}
	return t.In(s.Zone)
}

func (s *Server) localOf(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return s.local(*t)
}

func (s *Server) localRun(r store.Run) store.Run {
	for _, t := range []*time.Time{&r.ScheduledFor, &r.CreatedAt, &r.StartedAt, &r.FinishedAt, &r.NotBefore} {
		*t = s.local(*t)
	}
	return r
}

func countStates(rows []taskRow) []stateCount {
	n := map[string]int{}
	for i := range rows {
		n[rows[i].State]++
	}
	var all []stateCount
	for st := machine.Pending; st <= machine.Cancelled; st++ {
		if name := st.String(); n[name] > 0 {
			all = append(all, stateCount{name, n[name]})
		}
	}
	return all
}

// causes tells of the tasks that failed, the first one first: the cause is
// among them.
func (s *Server) causes(run store.Run, rows []taskRow, p *planned) (all []causeView, more int) {
	var failed []taskRow
	skipped := map[string]bool{}
	for i := range rows {
		switch r := &rows[i]; {
		case r.State == "failed":
			failed = append(failed, *r)
		case r.State == "skipped" && r.Reason == string(machine.ReasonUpstream):
			skipped[r.ID] = true
		}
	}
	slices.SortStableFunc(failed, func(a, b taskRow) int { return a.Finished.Compare(b.Finished) })
	for _, t := range failed[:min(len(failed), causesMost)] {
		c := causeView{taskRow: t}
		if n := len(t.Attempts); n > 0 {
			c.Tail = logTail(filepath.Join(s.Data, filepath.FromSlash(t.Attempts[n-1].Log)))
		}
		if p.plan != nil && t.index >= 0 {
			for _, d := range p.plan.Downstream(dag.Task(t.index)) {
				if id := p.plan.Tasks[d].ID; skipped[id] && len(c.Blocked) < blockedMost {
					c.Blocked = append(c.Blocked, id)
				} else if skipped[id] {
					c.Others++
				}
			}
		}
		all = append(all, c)
	}
	return all, len(failed) - len(all)
}

// logTail gives the last lines of a log, where there is one.
func logTail(path string) [][]byte {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	buf := make([]byte, 4<<10)
	from := max(sizeOf(f)-int64(len(buf)), 0)
	n, err := f.ReadAt(buf, from)
	if err != nil && err != io.EOF {
		return nil
	}
	lines := strings.Split(strings.TrimRight(string(buf[:n]), "\n"), "\n")
	if from > 0 && len(lines) > 1 {
		lines = lines[1:]
	}
	var all [][]byte
	for _, l := range lines[max(0, len(lines)-tailMost):] {
		all = append(all, []byte(l))
	}
	if len(all) == 1 && len(all[0]) == 0 {
		return nil
	}
	return all
}

// urgency orders tasks for somebody who looks at a run of many: what is wrong or
// goes on comes first.
var urgency = map[string]int{"failed": 0, "retrying": 1, "running": 2, "ready": 3, "cancelled": 4, "skipped": 5, "pending": 6, "succeeded": 7}

// pick chooses the rows of a page.
func (v *runView) pick(rows []taskRow, now time.Time) {
	if v.Filter != "" {
		rows = slices.DeleteFunc(slices.Clone(rows), func(r taskRow) bool { return r.State != v.Filter })
	} else if len(rows) > rowsMost {
		rows = slices.Clone(rows)
		slices.SortStableFunc(rows, func(a, b taskRow) int { return cmp.Compare(urgency[a.State], urgency[b.State]) })
	}
	from := min(max(v.First, 0), len(rows))
	if len(rows) > from+rowsMost {
		v.After = from + rowsMost
	}
	v.Rows = slices.Clone(rows[from:min(len(rows), from+rowsMost)])
	for i := range v.Rows {
		v.Rows[i].Bars = barsOf(&v.Rows[i], v.Axis, now)
	}
}

// barsOf draws the attempts of a task and the waits between them.
func barsOf(t *taskRow, a axis, now time.Time) []bar {
	var all []bar
	var before time.Time
	for _, try := range t.Attempts[max(0, len(t.Attempts)-20):] {
		if !before.IsZero() && try.StartedAt.Sub(before) > 0 {
			all = append(all, a.place(before, try.StartedAt, "wait"))
		}
		end := try.FinishedAt
		if end.IsZero() {
			end = now
		}
		all = append(all, a.place(try.StartedAt, end, try.State.String()))
		before = end
	}
	if t.State == machine.Retrying.String() && !before.IsZero() {
		all = append(all, a.place(before, now, "wait"))
	}
	return all
}

// axisOf gives the span of a run's time line.
func axisOf(run store.Run, now time.Time) axis {
	a := axis{run.StartedAt, run.FinishedAt}
	if a.From.IsZero() {
		a.From = run.CreatedAt
	}
	if a.To.IsZero() {
		a.To = now
	}
	return a
}

// graphOf draws the tasks of a run by their states.
func runGraph(run store.Run, rows []taskRow, p *planned, now time.Time) graphView {
	if p.plan == nil {
		return graphView{}
	}
	byTask := make(map[int]*taskRow, len(rows))
	var worth []dag.Task
	for i := range rows {
		r := &rows[i]
		if old := byTask[r.index]; old == nil || strings.IndexByte(r.ID, '[') < 0 {
			byTask[r.index] = r
		}
	}
	for _, of := range []string{"failed", "running", "retrying", "ready"} {
		for i := range p.plan.Tasks {
			if r := byTask[i]; r != nil && r.State == of {
				worth = append(worth, dag.Task(i))
			}
		}
	}
	return p.graphOf(worth, func(t dag.Task) (class, note, link string) {
		r := byTask[int(t)]
		if r == nil {
			return "absent", "not in this run", ""
		}
		note = r.State
		switch {
		case r.State == "succeeded" || r.State == "failed" && !r.Started.IsZero():
			note = glyphs[r.State] + " " + took(r.Started, r.Finished)
		case r.State == "running":
			note = fmt.Sprintf("%s %s", glyphs[r.State], took(r.Started, now))
		}
		if r.TaskReport.Attempts > 1 {
			note += fmt.Sprintf(" · %d tries", r.TaskReport.Attempts)
		}
		return r.State, note, r.link
	})
}
