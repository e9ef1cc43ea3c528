package server

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ax-scheduler/ax/runtime"
)

type pruneInput struct {
	Body struct {
		Workflows []string `json:"workflows,omitempty" doc:"only runs of these; default all"`
		DryRun    bool     `json:"dry_run,omitempty" doc:"tell what would go, and remove nothing"`
	}
}

func (s *Server) prunes(api huma.API) {
	huma.Register(api, huma.Operation{
		OperationID: "prune", Method: http.MethodPost, Path: "/api/v1/prune",
		Summary: "Remove the runs that retention does not keep", DefaultStatus: http.StatusOK,
	}, func(ctx context.Context, in *pruneInput) (*list[runtime.Report], error) {
		gone, err := s.Engine.Prune(ctx, runtime.Prune{
			Default: s.Retention, Workflows: runtime.Retentions(s.Catalog()), Only: in.Body.Workflows, DryRun: in.Body.DryRun,
		})
		if err != nil {
			return nil, s.problem(err)
		}
		return listOf(reports(gone), ""), nil
	})
}
