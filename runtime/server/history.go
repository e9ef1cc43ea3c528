package server

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/ax-scheduler/ax/store"
)

type versionItem struct {
	Version   string     `json:"version"`
	Tasks     int        `json:"tasks" doc:"how many it has"`
	CreatedAt *time.Time `json:"created_at" doc:"when a run was first started with it"`
}

type tickItem struct {
	At       time.Time `json:"at"`
	Schedule string    `json:"schedule"`
	Outcome  string    `json:"outcome" enum:"fired,skipped,missed,merged,loaded"`
	Reason   string    `json:"reason"`
	Run      string    `json:"run" doc:"that it started, or that was in its way"`
}

type ticksInput struct {
	Name   string `path:"name" maxLength:"64"`
	Limit  int    `query:"limit" default:"100"`
	Cursor string `query:"cursor" maxLength:"512"`
}

type sourceInput struct {
	Name    string `path:"name" maxLength:"64"`
	Version string `query:"version" maxLength:"64" doc:"default the loaded one"`
}

// history registers what is told of a workflow's past.
func (s *Server) history(api huma.API) {
	huma.Get(api, "/api/v1/workflows/{name}/versions", func(ctx context.Context, in *nameInput) (*list[versionItem], error) {
		found, err := s.Store.Versions(ctx, in.Name, store.MaxLimit)
		if err != nil {
			return nil, s.problem(err)
		}
		items := make([]versionItem, 0, len(found))
		for _, v := range found {
			items = append(items, versionItem{v.Hash, len(v.Tasks), optionalTime(v.CreatedAt)})
		}
		return listOf(items, ""), nil
	})
	huma.Get(api, "/api/v1/workflows/{name}/ticks", s.listTicks)
	huma.Register(api, huma.Operation{
		OperationID: "workflow-source", Method: http.MethodGet, Path: "/api/v1/workflows/{name}/source",
		Summary: "The text of a version of a workflow",
		Responses: map[string]*huma.Response{"200": {
			Description: "the text, as its author wrote it", Content: map[string]*huma.MediaType{"text/plain; charset=utf-8": {Schema: &huma.Schema{Type: "string"}}},
		}},
	}, func(ctx context.Context, in *sourceInput) (*huma.StreamResponse, error) {
		text, err := s.sourceOf(ctx, in.Name, in.Version)
		if err != nil {
			return nil, err
		}
		return &huma.StreamResponse{Body: func(ctx huma.Context) {
			_, w := humago.Unwrap(ctx)
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			_, _ = w.Write(text) // the client may have gone
		}}, nil
	})
}

// sourceOf gives the text of a version of a workflow.
func (s *Server) sourceOf(ctx context.Context, name, version string) ([]byte, error) {
	if file := s.Catalog().Workflows[name]; file != nil && (version == "" || version == file.Source.Hash()) {
		return file.Source.Text, nil
	}
	v, err := s.Store.Version(ctx, version)
	if err != nil || v.Workflow != name {
		return nil, huma.Error404NotFound("there is no such version of this workflow")
	}
	return v.Text, nil
}

// listTicks lists the ledger of a workflow, the last tick first. The cursor is
// the time and the schedule of the last tick of the page before.
func (s *Server) listTicks(ctx context.Context, in *ticksInput) (*list[tickItem], error) {
	var before store.Tick
	if in.Cursor != "" {
		text, schedule, ok := strings.Cut(in.Cursor, " ")
		micros, err := strconv.ParseInt(text, 10, 64)
		if err != nil || !ok {
			return nil, huma.Error400BadRequest("the cursor is none that this server gave")
		}
		before = store.Tick{At: time.UnixMicro(micros), Schedule: schedule}
	}
	limit := min(max(in.Limit, 1), store.MaxLimit)
	ticks, err := s.Store.LastTicks(ctx, in.Name, before, limit)
	if err != nil {
		return nil, s.problem(err)
	}
	items, next := make([]tickItem, 0, len(ticks)), ""
	for _, t := range ticks {
		items = append(items, tickItem{t.At.UTC(), t.Schedule, string(t.Outcome), t.Reason, t.RunID})
	}
	if len(ticks) == limit {
		last := ticks[limit-1]
		next = strconv.FormatInt(last.At.UnixMicro(), 10) + " " + last.Schedule
	}
	return listOf(items, next), nil
}

func optionalTime(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}
