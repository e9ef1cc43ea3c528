package server

import (
	"context"
	"errors"
	"net/http"
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
	Name string `path:"name" maxLength:"64"`
	Part
}

type versionsInput struct {
	Name string `path:"name" maxLength:"64"`
	LongPart
}

type sourceInput struct {
	Name    string `path:"name" maxLength:"64"`
	Version string `query:"version" maxLength:"64" doc:"default the loaded one"`
}

// history registers what is told of a workflow's past.
func (s *Server) history(api huma.API) {
	huma.Get(api, "/api/v1/workflows/{name}/versions", s.listVersions)
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
	if file := s.Catalog().Workflows[name]; file != nil && (version == "" || version == file.Version) {
		return file.Head.Source.Text, nil
	}
	v, err := s.Store.Version(ctx, version)
	switch {
	case errors.Is(err, store.ErrNotFound), err == nil && v.Workflow != name:
		return nil, huma.Error404NotFound("there is no such version of this workflow")
	case err != nil:
		return nil, s.problem(err)
	}
	return v.Text, nil
}

// listTicks lists the ledger of a workflow, the last tick first. The cursor is
// the time and the schedule of the last tick of the page before.
func (s *Server) listTicks(ctx context.Context, in *ticksInput) (*list[tickItem], error) {
	var before store.Tick
	if in.Cursor != "" {
		at, schedule, err := moment(in.Cursor)
		if err != nil {
			return nil, err
		}
		before = store.Tick{At: at, Schedule: schedule}
	}
	ticks, err := s.Store.LastTicks(ctx, in.Name, before, in.most())
	if err != nil {
		return nil, s.problem(err)
	}
	items, next := make([]tickItem, 0, len(ticks)), ""
	for _, t := range ticks {
		items = append(items, tickItem{t.At.UTC(), t.Schedule, string(t.Outcome), t.Reason, t.RunID})
	}
	if n := len(ticks); n == in.most() {
		next = momentCursor(ticks[n-1].At, ticks[n-1].Schedule)
	}
	return listOf(items, next), nil
}

// listVersions lists the versions of a workflow that have run, the last first.
// The cursor is the time and the hash of the last one of the page before.
func (s *Server) listVersions(ctx context.Context, in *versionsInput) (*list[versionItem], error) {
	var before store.Version
	if in.Cursor != "" {
		at, hash, err := moment(in.Cursor)
		if err != nil {
			return nil, err
		}
		before = store.Version{CreatedAt: at, Hash: hash}
	}
	found, err := s.Store.Versions(ctx, in.Name, before, in.most())
	if err != nil {
		return nil, s.problem(err)
	}
	items, next := make([]versionItem, 0, len(found)), ""
	for _, v := range found {
		items = append(items, versionItem{v.Hash, len(v.Tasks), optionalTime(v.CreatedAt)})
	}
	if n := len(found); n == in.most() {
		next = momentCursor(found[n-1].CreatedAt, found[n-1].Hash)
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
