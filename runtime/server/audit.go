package server

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/store"
)

// actions are the verbs of what requests change, by the end of their routes: the
// forms of the pages have the same ends. What has none changes nothing that is
// stored.
var actions = map[string]string{
	"/workflows/{name}/runs":     "start",
	"/workflows/{name}/backfill": "backfill",
	"/workflows/{name}/pause":    "pause",
	"/workflows/{name}/resume":   "resume",
	"/runs/{id}/cancel":          "cancel",
	"/runs/{id}/retry":           "retry",
	"/prune":                     "prune",
}

// record writes who has asked for a change and what came of it, unless that was
// written with the change itself.
func (s *Server) record(r *http.Request, status int) {
	_, route, _ := strings.Cut(r.Pattern, " ")
	route = strings.TrimPrefix(route, "/api/v1")
	action := actions[route]
	if action == "" {
		return
	}
	workflow, run := "", ""
	switch {
	case strings.HasPrefix(route, "/workflows/"):
		workflow = r.PathValue("name")
	case strings.HasPrefix(route, "/runs/"):
		if rec, err := s.Store.Run(context.WithoutCancel(r.Context()), r.PathValue("id")); err == nil {
			workflow, run = rec.Workflow, rec.ID
		} else {
			run = r.PathValue("id")
		}
	}
	if err := runtime.Record(r.Context(), s.Store, action, workflow, run, answerOf(status)); err != nil {
		s.Log.Error("a change could not be recorded", "action", action, "workflow", workflow, "run", run, "error", err)
	}
}

// answerOf puts the status of an answer into a word.
func answerOf(status int) string {
	switch {
	case status < 400:
		return runtime.Done
	case status < 500:
		return "refused"
	}
	return "failed"
}

type auditItem struct {
	At       time.Time `json:"at"`
	By       string    `json:"by" doc:"loopback, a token by its role and place, or a user of the command line"`
	From     string    `json:"from" doc:"address that the request came from; empty where the command line wrote into the store itself"`
	Action   string    `json:"action" enum:"start,backfill,pause,resume,cancel,retry,prune"`
	Workflow string    `json:"workflow"`
	Run      string    `json:"run"`
	Answer   string    `json:"answer" doc:"done, refused or failed"`
}

type auditInput struct {
	Workflow string `query:"workflow"`
	Run      string `query:"run"`
	Part
}

func (s *Server) audits(api huma.API) {
	huma.Register(api, huma.Operation{
		OperationID: "audit", Method: http.MethodGet, Path: "/api/v1/audit", Summary: "Who changed what, the last first",
	}, func(ctx context.Context, in *auditInput) (*list[auditItem], error) {
		before, err := number(in.Cursor)
		if err != nil {
			return nil, err
		}
		f := store.ChangeFilter{Workflow: in.Workflow, RunID: in.Run, Limit: in.most(), Before: before}
		changes, err := s.Store.Changes(ctx, f)
		if err != nil {
			return nil, s.problem(err)
		}
		items, next := make([]auditItem, 0, len(changes)), ""
		for _, c := range changes {
			items = append(items, auditItem{c.At, c.By, c.From, c.Action, c.Workflow, c.RunID, c.Answer})
		}
		if len(changes) == f.Limit {
			next = strconv.FormatInt(changes[len(changes)-1].N, 10)
		}
		return listOf(items, next), nil
	})
}

// changesMost is how many changes a page lists.
const changesMost = 8

// changesOf lists the last changes of a workflow, or of one run.
func (s *Server) changesOf(ctx context.Context, workflow, run string) ([]store.Change, error) {
	all, err := s.Store.Changes(ctx, store.ChangeFilter{Workflow: workflow, RunID: run, Limit: changesMost})
	for i := range all {
		all[i].At = s.local(all[i].At)
	}
	return all, err
}
