package server

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/runtime/reload"
	"github.com/ax-scheduler/ax/store"
)

const (
	homeRows     = 50 // workflows on one page
	stripRuns    = 15 // runs in the strip of each
	homeRunning  = 12
	homeBroken   = 10
	homeUpcoming = 12 // workflows on the time line of what comes
	daySpan      = 24 * time.Hour
	ticksInDay   = 49 // of one schedule on the time line: with so many it is a band
)

type homeView struct {
	Rows       []flowRow
	Total      int
	Query      string
	Next       string // name after which the next page begins
	Running    []store.Run
	Waiting    int
	Failed     []store.Run    // whose workflow has not succeeded since
	Broken     []fileProblems // files with errors: with the first of each, and how many more
	BrokenMore int            // files beyond those
	Upcoming   []upcomingRow
	More       int // workflows that start in the time but are not in Upcoming
	Hours      []hourMark
	Now        time.Time
}

// flowRow is one workflow of the list.
type flowRow struct {
	Name        string
	Description string
	Disabled    bool
	Stale       bool
	Paused      *store.Pause // nil where it is not
	Next        time.Time
	Strip       []store.Run // oldest first
	Last        *store.Run
}

type upcomingRow struct {
	Name     string
	Schedule string // that makes it a band; empty for none
	First    time.Time
	N        int
	Marks    []int // thousandths of the span
}

type hourMark struct {
	X    int
	Text string
}

func (s *Server) homePage(w http.ResponseWriter, r *http.Request) error {
	ctx, since := r.Context(), s.hub.now()
	v := homeView{Query: strings.TrimSpace(r.FormValue("q")), Now: s.local(time.Now())}
	if err := s.homeRows(ctx, &v, r.FormValue("after")); err != nil {
		return err
	}
	if err := s.homeRuns(ctx, &v); err != nil {
		return err
	}
	if err := s.upcoming(ctx, &v); err != nil {
		return err
	}
	v.Broken, v.BrokenMore = s.broken()
	s.render(w, r, http.StatusOK, "home", page{Title: "Workflows", Nav: "home", Watch: watching(""), Since: since, Busy: len(v.Running) > 0}, v)
	return nil
}

// broken lists the files with errors, each with its first error and how many more
// it has, and tells how many files there are beyond those.
func (s *Server) broken() (all []fileProblems, more int) {
	for _, f := range s.Catalog().Files {
		if !f.Diagnostics.Errors() {
			continue
		}
		if len(all) == homeBroken {
			more++
			continue
		}
		p := fileProblems{Path: f.Path, Workflow: f.Name, Stale: f.Stale}
		for _, d := range f.Diagnostics {
			switch {
			case d.Severity != dsl.Error:
			case len(p.Items) == 0:
				p.Items = append(p.Items, diagnosticOf(d))
			default:
				p.More++
			}
		}
		all = append(all, p)
	}
	return all, more
}

// homeRows lists the workflows of one page.
func (s *Server) homeRows(ctx context.Context, v *homeView, after string) error {
	c := s.Catalog()
	sch, err := s.schedules(ctx)
	if err != nil {
		return err
	}
	names := slices.Sorted(maps.Keys(c.Workflows))
	if v.Query != "" {
		names = slices.DeleteFunc(names, func(name string) bool { return !matches(c.Workflows[name], v.Query) })
	}
	v.Total = len(names)
	if i, found := slices.BinarySearch(names, after); after != "" {
		if found {
			i++
		}
		names = names[i:]
	}
	if len(names) > homeRows {
		names = names[:homeRows]
		v.Next = names[homeRows-1]
	}
	strips, err := s.stripsOf(ctx, names)
	if err != nil {
		return err
	}
	for _, name := range names {
		wf := c.Workflows[name].Head
		row := flowRow{
			Name: name, Description: oneLine(wf.Description.V, 120), Disabled: wf.Disabled.V, Stale: c.Stale(name),
			Next: s.local(sch.next[name]),
		}
		if p, paused := sch.paused[name]; paused {
			row.Paused = &p
		}
		row.Strip = s.localRuns(strips[name])
		slices.Reverse(row.Strip)
		if n := len(row.Strip); n > 0 {
			row.Last = &row.Strip[n-1]
		}
		v.Rows = append(v.Rows, row)
	}
	return nil
}

// matches tells whether a workflow is one that somebody looks for.
func matches(f *reload.Loaded, query string) bool {
	wf := f.Head
	texts := []string{wf.Name.V, wf.Description.V, wf.Owner.V}
	for _, tag := range wf.Tags {
		texts = append(texts, tag.V)
	}
	return strings.Contains(strings.ToLower(strings.Join(texts, "\n")), strings.ToLower(query))
}

// homeRuns lists what goes on and what has failed last.
func (s *Server) homeRuns(ctx context.Context, v *homeView) error {
	running, err := s.Store.Runs(ctx, store.RunFilter{States: []machine.RunState{machine.RunRunning}, Limit: homeRunning})
	if err != nil {
		return err
	}
	v.Running = s.localRuns(running)
	h, err := s.Engine.Health(ctx)
	if err != nil {
		return err
	}
	v.Waiting = h.Queued
	failed, err := s.Store.Runs(ctx, store.RunFilter{States: []machine.RunState{machine.RunFailed}, Limit: 30})
	if err != nil {
		return err
	}
	var names []string
	for _, run := range failed {
		names = append(names, run.Workflow)
	}
	last, err := s.Store.LastRuns(ctx, names, []machine.RunState{machine.RunSucceeded, machine.RunFailed, machine.RunRunning}, 1)
	if err != nil {
		return err
	}
	for _, run := range failed {
		if len(v.Failed) < 5 && slices.ContainsFunc(last, func(r store.Run) bool { return r.ID == run.ID }) {
			v.Failed = append(v.Failed, s.localRun(run))
		}
	}
	return nil
}

// upcoming draws the starts of the next day.
func (s *Server) upcoming(ctx context.Context, v *homeView) error {
	coming, err := s.comingDay(ctx, v.Now)
	if err != nil {
		return err
	}
	rows := map[string]*upcomingRow{}
	var order []*upcomingRow
	for _, c := range coming {
		if c.At.Before(v.Now) {
			continue
		}
		row := rows[c.Workflow]
		if row == nil {
			row = &upcomingRow{Name: c.Workflow, First: s.local(c.At)}
			rows[c.Workflow] = row
			order = append(order, row)
		}
		if row.N++; row.N == ticksInDay {
			row.Schedule = wholeUnits(c.Schedule)
		}
		x := int(1000 * c.At.Sub(v.Now) / daySpan)
		if n := len(row.Marks); n == 0 || x-row.Marks[n-1] >= 4 {
			row.Marks = append(row.Marks, x)
		}
	}
	for i, row := range order {
		if i == homeUpcoming {
			v.More = len(order) - homeUpcoming
			break
		}
		if row.Schedule != "" {
			row.Marks = row.Marks[:1]
		}
		v.Upcoming = append(v.Upcoming, *row)
	}
	for at := v.Now.Truncate(time.Hour).Add(time.Hour); at.Before(v.Now.Add(daySpan)); at = at.Add(time.Hour) {
		if at.Hour()%3 == 0 {
			v.Hours = append(v.Hours, hourMark{int(1000 * at.Sub(v.Now) / daySpan), at.Format("15:04")})
		}
	}
	return nil
}
