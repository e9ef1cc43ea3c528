package server

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/runtime/reload"
	"github.com/ax-scheduler/ax/store"
)

type workflowItem struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	File        string          `json:"file"`
	Version     string          `json:"version"`
	Stale       bool            `json:"stale" doc:"the file has errors, and an older version of it is loaded"`
	Disabled    bool            `json:"disabled"`
	Next        *time.Time      `json:"next" doc:"when its schedules start it next; null while they are paused"`
	LastRun     *runtime.Report `json:"last_run"`
	Paused      *pausedItem     `json:"paused" doc:"while its schedules are paused: by whom, and since when"`
}

// pausedItem is a pause that is under way.
type pausedItem struct {
	By    string    `json:"by"`
	Since time.Time `json:"since"`
}

type diagnosticItem struct {
	File      string `json:"file"`
	Line      int    `json:"line"`
	Column    int    `json:"column"`
	EndLine   int    `json:"end_line"`
	EndColumn int    `json:"end_column"`
	Severity  string `json:"severity"`
	Rule      string `json:"rule"`
	Message   string `json:"message"`
	Hint      string `json:"hint"`
}

type nameInput struct {
	Name string `path:"name" maxLength:"64"`
}

type workflowAnswer struct{ Body workflowItem }

func (s *Server) workflows(api huma.API) {
	huma.Get(api, "/status", s.listWorkflows)
	huma.Get(api, "/api/v1/workflows", s.listWorkflows)
	huma.Get(api, "/api/v1/workflows/{name}", func(ctx context.Context, in *nameInput) (*workflowAnswer, error) {
		file, err := s.workflow(in.Name)
		if err != nil {
			return nil, err
		}
		return s.oneWorkflow(ctx, file)
	})
	huma.Get(api, "/api/v1/diagnostics", s.listDiagnostics)
}

// listDiagnostics lists what is wrong with the files, by file and place. The
// cursor is how many came before.
func (s *Server) listDiagnostics(_ context.Context, in *LongPart) (*list[diagnosticItem], error) {
	before, err := number(in.Cursor)
	if err != nil {
		return nil, err
	}
	items, n := []diagnosticItem{}, 0
	for _, f := range s.Catalog().Files {
		for _, d := range f.Diagnostics {
			switch {
			case n < int(before):
			case len(items) < in.most():
				items = append(items, diagnosticOf(d))
			default:
				return listOf(items, strconv.Itoa(n)), nil
			}
			n++
		}
	}
	return listOf(items, ""), nil
}

func diagnosticOf(d dsl.Diagnostic) diagnosticItem {
	return diagnosticItem{
		File: d.File, Line: int(d.Pos.Line), Column: int(d.Pos.Col), EndLine: int(d.End.Line), EndColumn: int(d.End.Col),
		Severity: d.Severity.String(), Rule: d.Rule, Message: d.Message, Hint: d.Hint,
	}
}

// workflow finds a loaded workflow by its name.
func (s *Server) workflow(name string) (*reload.Loaded, error) {
	if file := s.Catalog().Workflows[name]; file != nil {
		return file, nil
	}
	text := fmt.Sprintf("no workflow %q is loaded", name)
	if why := s.Catalog().Refused(name); why != "" {
		text += ": " + why
	}
	return nil, huma.Error404NotFound(text)
}

var nameCursor = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// listWorkflows lists what is loaded, by name. The cursor is the last name of the
// page before.
func (s *Server) listWorkflows(ctx context.Context, in *LongPart) (*list[workflowItem], error) {
	c := s.Catalog()
	names, next := slices.Sorted(maps.Keys(c.Workflows)), ""
	if in.Cursor != "" && !nameCursor.MatchString(in.Cursor) {
		return nil, badCursor()
	}
	if i, found := slices.BinarySearch(names, in.Cursor); found {
		names = names[i+1:]
	} else {
		names = names[i:]
	}
	if n := in.most(); len(names) > n {
		names, next = names[:n], names[n-1]
	}
	sch, err := s.schedules(ctx)
	if err != nil {
		return nil, s.problem(err)
	}
	items, err := s.items(ctx, c, c.Workflows, names, sch)
	if err != nil {
		return nil, s.problem(err)
	}
	return listOf(items, next), nil
}

// schedules is how the schedules of workflows stand.
type schedules struct {
	next   map[string]time.Time
	paused map[string]store.Pause
}

func (s *Server) schedules(ctx context.Context, only ...string) (sch schedules, err error) {
	if sch.next, err = s.Engine.NextTicks(ctx, only...); err != nil {
		return sch, err
	}
	sch.paused, err = s.Engine.Paused(ctx)
	return sch, err
}

// oneWorkflow tells of one that is loaded.
func (s *Server) oneWorkflow(ctx context.Context, file *reload.Loaded) (*workflowAnswer, error) {
	c, name := s.Catalog(), file.Head.Name.V
	sch, err := s.schedules(ctx, name)
	if err != nil {
		return nil, s.problem(err)
	}
	item, err := s.items(ctx, c, map[string]*reload.Loaded{name: file}, []string{name}, sch)
	if err != nil {
		return nil, s.problem(err)
	}
	return &workflowAnswer{item[0]}, nil
}

// items tells of workflows, whose files may be of a catalog before.
func (s *Server) items(ctx context.Context, c *reload.Catalog, files map[string]*reload.Loaded, names []string, sch schedules) ([]workflowItem, error) {
	runs, err := s.Store.LastRuns(ctx, names, nil, 1)
	if err != nil {
		return nil, err
	}
	last := make(map[string]*runtime.Report, len(runs))
	for _, run := range runs {
		rep := runtime.NewReport(run)
		last[run.Workflow] = &rep
	}
	items := make([]workflowItem, 0, len(names))
	for _, name := range names {
		file := files[name]
		wf := file.Head
		item := workflowItem{
			Name: name, Description: wf.Description.V, File: wf.Source.File, Version: file.Version, Disabled: wf.Disabled.V,
			Stale: c.Stale(name), LastRun: last[name],
		}
		if p, ok := sch.paused[name]; ok {
			item.Paused = &pausedItem{p.By, p.Since}
		}
		if at, ok := sch.next[name]; ok {
			item.Next = &at
		}
		items = append(items, item)
	}
	return items, nil
}
