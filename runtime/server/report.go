package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"reflect"
	"slices"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/store"
)

// reportPart is how many tasks of a run are read, and sent, at a time: a run may
// have very many.
const reportPart = 500

// runAnswer describes an answer with a run and its tasks.
func runAnswer(api huma.API, status int) map[string]*huma.Response {
	schema := api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[runtime.Report](), true, "Report")
	return map[string]*huma.Response{strconv.Itoa(status): {
		Description: "the run", Content: map[string]*huma.MediaType{"application/json": {Schema: schema}},
	}}
}

// report answers with a run and its tasks, part by part. What cannot be read is
// told if it is the first part; later the connection is cut, so that nobody takes
// for whole what is not.
func (s *Server) report(ctx context.Context, id string, status int) (*huma.StreamResponse, error) {
	run, tasks, _, err := s.readRun(ctx, id)
	if err != nil {
		return nil, s.problem(err)
	}
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		_, w := humago.Unwrap(hc)
		var out bytes.Buffer
		for part, err := range s.taskReports(ctx, run, tasks) {
			switch {
			case err != nil && out.Len() == 0:
				status, detail := s.told(err)
				refuse(w, status, detail)
				return
			case err != nil:
				s.Log.Error("a run could not be told whole", "run", run.ID, "error", err)
				panic(http.ErrAbortHandler)
			case out.Len() == 0:
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(status)
				out.Write(append(bytes.TrimSuffix(encoded(runtime.NewReport(run)), []byte("}")), `,"tasks":[`...))
			default:
				out.Reset()
				out.WriteByte(',')
			}
			for i := range part {
				if i > 0 {
					out.WriteByte(',')
				}
				out.Write(encoded(part[i]))
			}
			if _, err := w.Write(out.Bytes()); err != nil {
				return // the client has gone
			}
		}
		_, _ = w.Write([]byte("]}\n")) // the client may have gone
	}}, nil
}

// encoded gives a report as JSON.
func encoded(report any) []byte {
	text, err := json.Marshal(report)
	if err != nil {
		panic(fmt.Sprintf("a report is no JSON: %v", err))
	}
	return text
}

type tasksInput struct {
	ID    string `path:"id" maxLength:"64"`
	State string `query:"state" doc:"only tasks and instances in this state"`
	Part
}

// listTasks lists the tasks of a run. The cursor is the place of the last one of
// the part before.
func (s *Server) listTasks(ctx context.Context, in *tasksInput) (*list[runtime.TaskReport], error) {
	after, err := placeCursor(in.Cursor)
	if err != nil {
		return nil, err
	}
	var state machine.TaskState
	if in.State != "" {
		if state, err = machine.ParseTaskState(in.State); err != nil {
			return nil, huma.Error400BadRequest(err.Error())
		}
	}
	run, tasks, _, err := s.readRun(ctx, in.ID)
	if err != nil {
		return nil, s.problem(err)
	}
	var chosen []taskMark
	next := ""
	for t := range withInstances(tasks) {
		switch {
		case !comesAfter(t.Place, after), in.State != "" && t.State != state:
		case len(chosen) == in.most():
			last := chosen[len(chosen)-1].Place
			next = fmt.Sprintf("%d %d", last.Index, last.Instance)
		default:
			chosen = append(chosen, t)
		}
		if next != "" {
			break
		}
	}
	items := make([]runtime.TaskReport, 0, len(chosen))
	for part := range slices.Chunk(chosen, reportPart) {
		reports, err := s.reportsOf(ctx, run, part)
		if err != nil {
			return nil, s.problem(err)
		}
		items = append(items, reports...)
	}
	return listOf(items, next), nil
}

// placeCursor reads a cursor that is a place; none is one before all others.
func placeCursor(text string) (p store.Place, err error) {
	if text == "" {
		return store.Place{Index: -1}, nil
	}
	if n, err := fmt.Sscanf(text, "%d %d", &p.Index, &p.Instance); n != 2 || err != nil || text != fmt.Sprintf("%d %d", p.Index, p.Instance) || p.Index < 0 || p.Instance < -1 {
		return p, badCursor()
	}
	return p, nil
}

func comesAfter(p, other store.Place) bool {
	return p.Index > other.Index || p.Index == other.Index && p.Instance > other.Instance
}

// withInstances gives tasks in order, each followed by its instances.
func withInstances(tasks []taskMark) iter.Seq[taskMark] {
	return func(yield func(taskMark) bool) {
		for _, t := range tasks {
			if !yield(t) {
				return
			}
			for _, i := range t.inner {
				if !yield(i) {
					return
				}
			}
		}
	}
}

// taskReports reads the tasks of a run, part by part, up to an error. There is one
// part at least.
func (s *Server) taskReports(ctx context.Context, run store.Run, tasks []taskMark) iter.Seq2[[]runtime.TaskReport, error] {
	return func(yield func([]runtime.TaskReport, error) bool) {
		part, told := make([]taskMark, 0, reportPart), false
		flush := func() bool {
			reports, err := s.reportsOf(ctx, run, part)
			part, told = part[:0], true
			return yield(reports, err) && err == nil
		}
		for t := range withInstances(tasks) {
			if part = append(part, t); len(part) == reportPart && !flush() {
				return
			}
		}
		if len(part) > 0 || !told {
			flush()
		}
	}
}

// reportsOf reads some tasks of a run.
func (s *Server) reportsOf(ctx context.Context, run store.Run, part []taskMark) ([]runtime.TaskReport, error) {
	records, err := s.recordsOf(ctx, run, part)
	if err != nil {
		return nil, err
	}
	all := make([]runtime.TaskReport, 0, len(part))
	for _, t := range part {
		rec, ok := records[t.Place]
		if !ok {
			rec = runtime.Untouched(t.name(), run)
		}
		report := runtime.NewTaskReport(rec)
		if report.ID = t.name(); len(t.inner) > 0 && t.State.Final() {
			if report.Outputs, err = s.outputsOf(ctx, run, t.inner); err != nil {
				return nil, err
			}
		}
		all = append(all, report)
	}
	return all, nil
}

func (s *Server) recordsOf(ctx context.Context, run store.Run, of []taskMark) (map[store.Place]store.Task, error) {
	places := make([]store.Place, len(of))
	for i, t := range of {
		places[i] = t.Place
	}
	found, err := s.Store.TasksAt(ctx, run.ID, places)
	if err != nil {
		return nil, err
	}
	records := make(map[store.Place]store.Task, len(found))
	for _, t := range found {
		records[store.Place{Index: t.Index, Instance: t.Instance}] = t
	}
	return records, nil
}

// outputsOf gathers the outputs of the instances of a task, which it has itself.
func (s *Server) outputsOf(ctx context.Context, run store.Run, instances []taskMark) (map[string]string, error) {
	lists := runtime.NewOutputLists(len(instances))
	for from := 0; from < len(instances); from += reportPart {
		part := instances[from:min(from+reportPart, len(instances))]
		gave := slices.DeleteFunc(slices.Clone(part), func(t taskMark) bool { return !t.Gave })
		records, err := s.recordsOf(ctx, run, gave)
		if err != nil {
			return nil, err
		}
		for i, t := range part {
			lists.Add(from+i, records[t.Place].Outputs)
		}
	}
	return lists.Texts(), nil
}
