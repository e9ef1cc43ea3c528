package server

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ax-scheduler/ax/runtime"
)

type backfillInput struct {
	Name string `path:"name" maxLength:"64"`
	Body struct {
		From        string         `json:"from" doc:"a time, or a date for the whole day in the workflow's zone; inclusive"`
		To          string         `json:"to" doc:"as from; inclusive"`
		MaxParallel int            `json:"max_parallel,omitempty" minimum:"0" doc:"its runs at a time; 0 for no limit but max_active"`
		Params      map[string]any `json:"params,omitempty"`
		Redo        string         `json:"redo,omitempty" enum:"failed,all" doc:"which of the dates that have a run are done again"`
		DryRun      bool           `json:"dry_run,omitempty" doc:"tell what would be done, and do nothing"`
	}
}

type backfillAnswer struct {
	Status int
	Body   runtime.FilledList
}

func (s *Server) backfill(ctx context.Context, in *backfillInput) (*backfillAnswer, error) {
	do, status := s.Engine.Backfill, http.StatusAccepted
	if in.Body.DryRun {
		runtime.LookOnly(ctx)
		do, status = s.Engine.PlanBackfill, http.StatusOK
	}
	file, err := s.workflow(in.Name)
	if err != nil {
		return nil, err
	}
	params, err := texts(in.Body.Params)
	if err != nil {
		return nil, huma.Error422UnprocessableEntity(err.Error())
	}
	filled, err := do(ctx, runtime.Backfill{
		Plan: file.Plan(), Params: params, From: in.Body.From, To: in.Body.To,
		MaxParallel: in.Body.MaxParallel, Redo: runtime.Redo(in.Body.Redo),
	})
	if err != nil {
		return nil, s.problem(err)
	}
	return &backfillAnswer{status, runtime.NewFilledList(filled)}, nil
}

func (s *Server) backfills(api huma.API) {
	const path = "/api/v1/workflows/{name}/backfill"
	huma.Register(api, huma.Operation{
		OperationID: "backfill", Method: http.MethodPost, Path: path,
		Summary: "One run for every tick of a span of time", DefaultStatus: http.StatusAccepted,
	}, s.backfill)
	answers := api.OpenAPI().Paths[path].Post.Responses
	answers["200"] = &huma.Response{Description: "with dry_run: what would be done", Content: answers["202"].Content}
}
