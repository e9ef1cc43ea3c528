package server

import (
	"context"
	"errors"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/store"
)

type healthAnswer struct {
	Body struct {
		QueueDepth    int     `json:"queue_depth" doc:"runs that wait"`
		ActiveWorkers int     `json:"active_workers" doc:"attempts under way"`
		SuccessRate   float64 `json:"success_rate" doc:"share of the runs that ended in the last five minutes that succeeded; 1 where none did"`
	}
}

type readyAnswer struct {
	Body struct {
		Ready bool `json:"ready"`
	}
}

func (s *Server) health(api huma.API) {
	huma.Get(api, "/healthz", func(ctx context.Context, _ *struct{}) (*healthAnswer, error) {
		h, err := s.Engine.Health(ctx)
		if err != nil {
			return nil, s.problem(err)
		}
		a := &healthAnswer{}
		a.Body.QueueDepth, a.Body.ActiveWorkers, a.Body.SuccessRate = h.Queued, h.Active, h.SuccessRate
		return a, nil
	})
	huma.Get(api, "/readyz", func(ctx context.Context, _ *struct{}) (*readyAnswer, error) {
		h, err := s.Engine.Health(ctx)
		if err != nil {
			return nil, s.problem(err)
		}
		if h.Trouble != "" {
			return nil, huma.Error503ServiceUnavailable(h.Trouble)
		}
		a := &readyAnswer{}
		a.Body.Ready = true
		return a, nil
	})
	huma.Get(api, "/jobs/running", s.inState(machine.RunRunning, machine.RunQueued))
	huma.Get(api, "/jobs/failed", s.inState(machine.RunFailed))
}

// inState lists the newest runs in some states. The cursor is the id of the last
// run of the page before.
func (s *Server) inState(states ...machine.RunState) func(context.Context, *Part) (*list[runtime.Report], error) {
	return func(ctx context.Context, in *Part) (*list[runtime.Report], error) {
		return s.partOfRuns(ctx, store.RunFilter{States: states, Limit: in.most()}, in.Cursor)
	}
}

// partOfRuns lists runs that come after a cursor.
func (s *Server) partOfRuns(ctx context.Context, f store.RunFilter, after string) (*list[runtime.Report], error) {
	if after != "" {
		if !cursor.MatchString(after) {
			return nil, badCursor()
		}
		if _, err := s.Store.Run(ctx, after); errors.Is(err, store.ErrNotFound) {
			return nil, badCursor()
		} else if err != nil {
			return nil, s.problem(err)
		}
		f.Before = after
	}
	runs, err := s.Store.Runs(ctx, f)
	if err != nil {
		return nil, s.problem(err)
	}
	next := ""
	if len(runs) == f.Limit {
		next = runs[len(runs)-1].ID
	}
	return listOf(reports(runs), next), nil
}

func reports(runs []store.Run) []runtime.Report {
	rs := make([]runtime.Report, 0, len(runs))
	for _, r := range runs {
		rs = append(rs, runtime.NewReport(r))
	}
	return rs
}
