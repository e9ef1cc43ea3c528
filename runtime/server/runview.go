package server

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/store"
)

const (
	rowsMost    = 100 // tasks on one page
	innerMost   = 8   // instances beneath a task
	innerOfAll  = 120 // instances beneath all tasks of a page
	causesMost  = 4   // failed tasks that are told of first
	failedMost  = 200 // failed tasks among which those are looked for
	blockedMost = 12  // names of what each of them blocked
	tailMost    = 10  // last lines of its log
)

// runView is one run with what its page shows.
type runView struct {
	Run      store.Run
	States   []stateCount
	Total    int
	Of       string // the task whose instances are listed; empty for all tasks
	Graph    graphView
	Causes   []causeView
	More     int // failed tasks beyond those in Causes
	Rows     []taskRow
	Filter   string // state that the rows are of
	Later    string // address of the next page; empty for none
	Axis     axis
	Params   []pair
	Outputs  []outputRow
	Few      bool // outputs of instances are left out
	Files    []artifactFile
	Previous []store.Run    // the last runs of the workflow
	Gone     bool           // its version cannot be read
	Changes  []store.Change // who did what with it, the last first
}

type pair struct{ Name, Value string }

// taskRow is one task of the list, with its attempts on the time line, or with
// its instances beneath it.
type taskRow struct {
	runtime.TaskReport
	Link     string // of its log, or of the list of its instances; empty for none
	Attempts []store.Attempt
	Bars     []bar
	Started  time.Time
	Finished time.Time

	States []stateCount // of its instances
	Inner  []taskRow    // the most urgent of them
	Others int          // instances beyond those
}

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

func (s *Server) local(t time.Time) time.Time {
	if t.IsZero() || s.Zone == nil {
		return t
	}
	return t.In(s.Zone)
}

func (s *Server) localRun(r store.Run) store.Run {
	for _, t := range []*time.Time{&r.ScheduledFor, &r.CreatedAt, &r.StartedAt, &r.FinishedAt, &r.NotBefore} {
		*t = s.local(*t)
	}
	return r
}

// localRuns gives runs of their own, since those of the store or of a cache may
// be read by others.
func (s *Server) localRuns(runs []store.Run) []store.Run {
	all := make([]store.Run, 0, len(runs))
	for _, r := range runs {
		all = append(all, s.localRun(r))
	}
	return all
}

// shown is what of a run's tasks a page shows, and so what is read of them.
type shown struct {
	rows   []taskMark // of the list
	inner  map[int][]taskMark
	causes []taskMark // among which they are looked for
	drawn  []dag.Task // of the graph
	gave   []taskMark // those whose outputs are told
}

// choose chooses what a page shows of the tasks of a run.
func (v *runView) choose(tasks []taskMark, plan *planned, from int) shown {
	c := shown{inner: map[int][]taskMark{}}
	list := tasks
	if v.Of != "" {
		if i := slices.IndexFunc(tasks, func(t taskMark) bool { return t.task == v.Of }); i >= 0 {
			list = tasks[i].inner
		}
	}
	v.Total, v.States = len(list), countStates(list)
	if v.Filter != "" {
		list = slices.DeleteFunc(slices.Clone(list), func(t taskMark) bool { return t.State.String() != v.Filter })
	}
	c.rows = mostUrgent(list, from, rowsMost)
	if after := max(from, 0) + len(c.rows); len(c.rows) > 0 && after < len(list) {
		v.Later = v.href(after)
	}
	left := innerOfAll
	for _, t := range c.rows {
		if n := min(innerMost, left); len(t.inner) > 0 && n > 0 {
			c.inner[t.Index] = mostUrgent(t.inner, 0, n)
			left -= len(c.inner[t.Index])
		}
	}
	for _, t := range tasks {
		if t.State == machine.Failed && len(c.causes) < failedMost {
			c.causes = append(c.causes, t)
		}
		v.Few = v.Few || len(t.inner) > innerMost && slices.ContainsFunc(t.inner[innerMost:], func(t taskMark) bool { return t.Gave })
		gave := append([]taskMark{t}, t.inner[:min(len(t.inner), innerMost)]...)
		for _, g := range gave {
			if g.Gave && len(c.gave) < outputsMost {
				c.gave = append(c.gave, g)
			}
		}
	}
	if plan.plan() != nil {
		c.drawn = plan.drawn(tasks)
	}
	return c
}

// href gives the address of the list of tasks from a place on.
func (v *runView) href(from int) string {
	q := url.Values{}
	for name, value := range map[string]string{"of": v.Of, "state": v.Filter} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if from > 0 {
		q.Set("from", strconv.Itoa(from))
	}
	return "?" + q.Encode() + "#tasks"
}

// StateLink gives the address of the list of what is in a state.
func (v *runView) StateLink(state string) string {
	return (&runView{Of: v.Of, Filter: state}).href(0)
}

// places gives where the records stand that are read, and those whose attempts
// are.
func (c *shown) places() (tasks, tried map[store.Place]bool) {
	tasks, tried = map[store.Place]bool{}, map[store.Place]bool{}
	for _, t := range c.rows {
		tasks[t.Place], tried[t.Place] = true, true
		for _, i := range c.inner[t.Index] {
			tasks[i.Place], tried[i.Place] = true, true
		}
	}
	for _, t := range c.causes {
		tasks[t.Place] = true
		if i, ok := firstFailed(t); ok {
			tasks[i.Place] = true
		}
	}
	for _, t := range c.drawn {
		tasks[store.Place{Index: int(t), Instance: -1}] = true
	}
	for _, t := range c.gave {
		tasks[t.Place] = true
	}
	return tasks, tried
}

// fill tells of what was chosen.
func (s *Server) fill(v *runView, c shown, r recordSet, now time.Time) {
	for _, t := range c.rows {
		row := s.row(v.Run, t, r)
		row.Bars = barsOf(&row, v.Axis, now)
		for _, i := range c.inner[t.Index] {
			inner := s.row(v.Run, i, r)
			inner.Bars = barsOf(&inner, v.Axis, now)
			row.Inner = append(row.Inner, inner)
		}
		row.Others = len(t.inner) - len(row.Inner)
		v.Rows = append(v.Rows, row)
	}
	for _, t := range c.gave {
		outputs := r.tasks[t.Place].Outputs
		for _, name := range slices.Sorted(maps.Keys(outputs)) {
			value := outputs[name]
			if len(v.Outputs) < outputsMost {
				v.Outputs = append(v.Outputs, outputRow{t.name(), name, oneLine(value, 300)})
			}
		}
	}
}

// barsOf draws the attempts of a task and the waits between them.
func barsOf(t *taskRow, a axis, now time.Time) []bar {
	var all []bar
	if len(t.States) > 0 && !t.Started.IsZero() { // its instances have the attempts
		end := t.Finished
		if end.IsZero() {
			end = now
		}
		return append(all, a.place(t.Started, end, t.State))
	}
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
