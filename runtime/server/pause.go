package server

import (
	"context"
	"net/http"
	"net/url"

	"github.com/danielgtaylor/huma/v2"
)

func (s *Server) pauses(api huma.API) {
	huma.Register(api, huma.Operation{
		OperationID: "pause-workflow", Method: http.MethodPost, Path: "/api/v1/workflows/{name}/pause",
		Summary: "Keep the schedules of a workflow from starting it",
		Description: "Until they are resumed every tick is skipped with the reason `paused`, and `after` does not start it either. Runs that are " +
			"there go on, and those that are asked for start. A workflow that is paused stays as it is.",
	}, func(ctx context.Context, in *nameInput) (*workflowAnswer, error) {
		return s.setPaused(ctx, in.Name, true)
	})
	huma.Register(api, huma.Operation{
		OperationID: "resume-workflow", Method: http.MethodPost, Path: "/api/v1/workflows/{name}/resume",
		Summary:     "Let the schedules of a workflow start it again",
		Description: "The next tick starts it; nothing of the pause is caught up. A workflow that is not paused stays as it is.",
	}, func(ctx context.Context, in *nameInput) (*workflowAnswer, error) {
		return s.setPaused(ctx, in.Name, false)
	})
}

// setPaused pauses or resumes the schedules of a workflow that is loaded.
func (s *Server) setPaused(ctx context.Context, name string, paused bool) (*workflowAnswer, error) {
	file, err := s.workflow(name)
	if err != nil {
		return nil, err
	}
	if paused {
		_, err = s.Engine.Pause(ctx, name, callerIn(ctx).name)
	} else {
		_, err = s.Engine.Unpause(ctx, name)
	}
	if err != nil {
		return nil, s.problem(err)
	}
	s.hub.publish(event{kind: "workflows", data: []byte("{}")}) // pages show it
	return s.oneWorkflow(ctx, file)
}

// pauseForm gives the handler of one of the buttons.
func (s *Server) pauseForm(paused bool) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		name := r.PathValue("name")
		if _, err := s.setPaused(r.Context(), name, paused); err != nil {
			return err
		}
		http.Redirect(w, r, "/workflows/"+url.PathEscape(name), http.StatusSeeOther)
		return nil
	}
}
