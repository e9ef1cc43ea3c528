package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/store"
)

type startInput struct {
	Name string     `path:"name" maxLength:"64"`
	Body *startBody // nil for one with nothing in it
}

type startBody struct {
	Params       map[string]any `json:"params,omitempty" doc:"strings, numbers or booleans by name"`
	Delay        any            `json:"delay,omitempty" doc:"how long to wait before it starts, as 10s or in seconds"`
	At           time.Time      `json:"at,omitempty" doc:"when it starts; not with delay"`
	Priority     *int           `json:"priority,omitempty" minimum:"0" maximum:"9" doc:"default the workflow's"`
	ScheduledFor time.Time      `json:"scheduled_for,omitempty" doc:"the time that the run stands for; default now"`
	Key          string         `json:"key,omitempty" maxLength:"256" doc:"a repeated request with one key gives the first run"`
}

type idInput struct {
	ID string `path:"id" maxLength:"64"`
}

type retryInput struct {
	ID   string     `path:"id" maxLength:"64"`
	Body *retryBody // nil for one with nothing in it
}

type retryBody struct {
	Tasks  []string `json:"tasks,omitempty" doc:"only these tasks and what is downstream of them"`
	Latest bool     `json:"latest,omitempty" doc:"in the version of the workflow that is loaded now"`
}

// given gives what a request says, or what one without a body does.
func given[T any](body *T) T {
	if body == nil {
		body = new(T)
	}
	return *body
}

type runsInput struct {
	Workflow string `query:"workflow"`
	State    string `query:"state"`
	Part
}

func (s *Server) runs(api huma.API) {
	huma.Register(api, huma.Operation{
		OperationID: "start-run", Method: http.MethodPost, Path: "/api/v1/workflows/{name}/runs",
		Summary: "Start a run", Responses: runAnswer(api, http.StatusCreated),
	}, s.start)
	huma.Get(api, "/api/v1/runs", s.listRuns)
	huma.Register(api, huma.Operation{
		OperationID: "get-run", Method: http.MethodGet, Path: "/api/v1/runs/{id}",
		Summary: "A run with all its tasks", Responses: runAnswer(api, http.StatusOK),
	}, func(ctx context.Context, in *idInput) (*huma.StreamResponse, error) {
		return s.report(ctx, in.ID, http.StatusOK)
	})
	huma.Register(api, huma.Operation{
		OperationID: "list-run-tasks", Method: http.MethodGet, Path: "/api/v1/runs/{id}/tasks",
		Summary: "The tasks of a run, in file order, the instances of a foreach after their task",
	}, s.listTasks)
	huma.Register(api, huma.Operation{
		OperationID: "cancel-run", Method: http.MethodPost, Path: "/api/v1/runs/{id}/cancel",
		Summary: "Stop a run, or keep it from starting", Responses: runAnswer(api, http.StatusAccepted),
	}, s.cancel)
	huma.Register(api, huma.Operation{
		OperationID: "retry-run", Method: http.MethodPost, Path: "/api/v1/runs/{id}/retry",
		Summary: "Run again what failed or was skipped", Responses: runAnswer(api, http.StatusAccepted),
	}, s.retry)
}

func (s *Server) start(ctx context.Context, in *startInput) (*huma.StreamResponse, error) {
	file, err := s.workflow(in.Name)
	if err != nil {
		return nil, err
	}
	body := given(in.Body)
	params, err := texts(body.Params)
	if err != nil {
		return nil, huma.Error422UnprocessableEntity(err.Error())
	}
	at, err := notBefore(body.Delay, body.At, time.Now())
	if err != nil {
		return nil, huma.Error422UnprocessableEntity(err.Error())
	}
	run, err := s.Engine.Start(ctx, runtime.Request{
		Plan: file.Plan(), Params: params, Trigger: store.TriggerAPI, ScheduledFor: body.ScheduledFor,
		NotBefore: at, Priority: body.Priority, Key: body.Key,
	})
	if err != nil {
		return nil, s.problem(err)
	}
	return s.report(ctx, run.ID, http.StatusCreated)
}

// notBefore gives the time before which a run may not start.
func notBefore(delay any, at, now time.Time) (time.Time, error) {
	var text string
	switch d := delay.(type) {
	case nil:
		return at, nil
	case string:
		text = d
	case float64:
		text = strconv.FormatFloat(d, 'f', -1, 64)
	default:
		return at, errors.New("delay is neither a duration like 10s nor a number of seconds")
	}
	d, err := dsl.ParseDuration(text)
	switch {
	case err != nil:
		return at, fmt.Errorf("delay: %w", err)
	case !at.IsZero():
		return at, errors.New("give either delay or at, not both")
	}
	return now.Add(d), nil
}

// texts gives parameters as text: numbers as they are usually written.
func texts(params map[string]any) (map[string]string, error) {
	out := make(map[string]string, len(params))
	for name, v := range params {
		switch v := v.(type) {
		case string:
			out[name] = v
		case bool:
			out[name] = strconv.FormatBool(v)
		case float64:
			out[name] = strconv.FormatFloat(v, 'f', -1, 64)
		default:
			return nil, fmt.Errorf("parameter %q is not a string, a number or a boolean", name)
		}
	}
	return out, nil
}

// findRun reads a run. An error that tells of the store, not of the id, stays
// what it is.
func (s *Server) findRun(ctx context.Context, id string) (store.Run, error) {
	run, err := s.Store.Run(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		err = missing("there is no run %q", id)
	}
	return run, err
}

var cursor = regexp.MustCompile(`^[0-9a-z]{1,64}$`)

func (s *Server) listRuns(ctx context.Context, in *runsInput) (*list[runtime.Report], error) {
	f := store.RunFilter{Workflow: in.Workflow, Limit: in.most()}
	if in.State != "" {
		state, err := machine.ParseRunState(in.State)
		if err != nil {
			return nil, huma.Error400BadRequest(err.Error())
		}
		f.States = []machine.RunState{state}
	}
	return s.partOfRuns(ctx, f, in.Cursor)
}

func (s *Server) cancel(ctx context.Context, in *idInput) (*huma.StreamResponse, error) {
	run, err := s.findRun(ctx, in.ID)
	if err != nil {
		return nil, s.problem(err)
	}
	if run.State.Final() {
		return nil, huma.Error409Conflict(fmt.Sprintf("run %s has ended: it is %s", run.ID, run.State))
	}
	if err := s.Engine.Cancel(ctx, run.ID, "the API"); err != nil {
		return nil, s.problem(err)
	}
	return s.report(ctx, run.ID, http.StatusAccepted)
}

func (s *Server) retry(ctx context.Context, in *retryInput) (*huma.StreamResponse, error) {
	run, err := s.findRun(ctx, in.ID)
	if err != nil {
		return nil, s.problem(err)
	}
	if !run.State.Final() {
		return nil, huma.Error409Conflict(fmt.Sprintf("run %s has not ended: it is %s", run.ID, run.State))
	}
	again, body := s.Engine.Retry, given(in.Body)
	if body.Latest {
		file, err := s.workflow(run.Workflow)
		if err != nil {
			return nil, err
		}
		again = func(ctx context.Context, id string, tasks []string) error {
			return s.Engine.RetryLatest(ctx, id, tasks, file.Plan())
		}
	}
	if err := again(ctx, run.ID, body.Tasks); err != nil {
		return nil, s.problem(err)
	}
	return s.report(ctx, run.ID, http.StatusAccepted)
}
