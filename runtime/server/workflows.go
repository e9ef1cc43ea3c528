package server

import (
	"cmp"
	"context"
	"fmt"
	"slices"
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
	huma.Get(api, "/status", func(ctx context.Context, _ *struct{}) (*list[workflowItem], error) { return s.listWorkflows(ctx) })
	huma.Get(api, "/api/v1/workflows", func(ctx context.Context, _ *struct{}) (*list[workflowItem], error) { return s.listWorkflows(ctx) })
	huma.Get(api, "/api/v1/workflows/{name}", func(ctx context.Context, in *nameInput) (*workflowAnswer, error) {
		file, err := s.workflow(in.Name)
		if err != nil {
			return nil, err
		}
		return s.oneWorkflow(ctx, file)
	})
	huma.Get(api, "/api/v1/diagnostics", func(context.Context, *struct{}) (*list[diagnosticItem], error) {
		items := []diagnosticItem{}
		for _, f := range s.Catalog().Files {
			for _, d := range f.Diagnostics {
				items = append(items, diagnosticOf(d))
			}
		}
		return listOf(items, ""), nil
	})
}

func diagnosticOf(d dsl.Diagnostic) diagnosticItem {
	return diagnosticItem{
		File: d.File, Line: int(d.Pos.Line), Column: int(d.Pos.Col), EndLine: int(d.End.Line), EndColumn: int(d.End.Col),
		Severity: d.Severity.String(), Rule: d.Rule, Message: d.Message, Hint: d.Hint,
	}
}

// workflow finds a loaded workflow by its name.
func (s *Server) workflow(name string) (*reload.File, error) {
	if file := s.Catalog().Workflows[name]; file != nil {
		return file, nil
	}
	return nil, huma.Error404NotFound(fmt.Sprintf("no workflow %q is loaded", name))
}

func (s *Server) listWorkflows(ctx context.Context) (*list[workflowItem], error) {
	c := s.Catalog()
	sch, err := s.schedules(ctx)
	if err != nil {
		return nil, s.problem(err)
	}
	items := make([]workflowItem, 0, len(c.Workflows))
	for _, file := range c.Workflows {
		item, err := s.item(ctx, c, file, sch)
		if err != nil {
			return nil, s.problem(err)
		}
		items = append(items, item)
	}
	slices.SortFunc(items, func(a, b workflowItem) int { return cmp.Compare(a.Name, b.Name) })
	return listOf(items, ""), nil
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
func (s *Server) oneWorkflow(ctx context.Context, file *reload.File) (*workflowAnswer, error) {
	sch, err := s.schedules(ctx, file.Workflow.Name.V)
	if err != nil {
		return nil, s.problem(err)
	}
	item, err := s.item(ctx, s.Catalog(), file, sch)
	if err != nil {
		return nil, s.problem(err)
	}
	return &workflowAnswer{item}, nil
}

func (s *Server) item(ctx context.Context, c *reload.Catalog, file *reload.File, sch schedules) (workflowItem, error) {
	wf := file.Workflow
	item := workflowItem{
		Name: wf.Name.V, Description: wf.Description.V, File: wf.Source.File, Version: wf.Source.Hash(), Disabled: wf.Disabled.V,
	}
	item.Stale = c.Stale(item.Name)
	if p, ok := sch.paused[item.Name]; ok {
		item.Paused = &pausedItem{p.By, p.Since}
	}
	if at, ok := sch.next[item.Name]; ok {
		item.Next = &at
	}
	last, err := s.Store.Runs(ctx, store.RunFilter{Workflow: item.Name, Limit: 1})
	if err != nil {
		return item, err
	}
	if len(last) > 0 {
		rep := runtime.NewReport(last[0])
		item.LastRun = &rep
	}
	return item, nil
}
