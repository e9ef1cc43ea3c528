package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/store"
)

// followPause is how often a log that is followed is looked at for more.
const followPause = 200 * time.Millisecond

type logInput struct {
	ID      string `path:"id" maxLength:"64"`
	Task    string `path:"task" maxLength:"256"`
	Attempt int    `query:"attempt" minimum:"0" doc:"from 1; default the last one"`
	Follow  bool   `query:"follow" doc:"go on until the attempt has ended"`
	Offset  int64  `query:"offset" doc:"the byte to begin at; below 0 counted from the end"`
}

func (s *Server) logs(api huma.API) {
	text := map[string]*huma.MediaType{"text/plain; charset=utf-8": {Schema: &huma.Schema{Type: "string", Format: "binary"}}}
	huma.Register(api, huma.Operation{
		OperationID: "task-log", Method: http.MethodGet, Path: "/api/v1/runs/{id}/tasks/{task}/log",
		Summary:     "The stored bytes of an attempt's log",
		Description: "Takes Range for a part of it. With follow what the attempt writes comes as it is written.",
		Responses: map[string]*huma.Response{
			"200": {Description: "the log", Content: text}, "206": {Description: "the part that was asked for", Content: text},
		},
	}, func(ctx context.Context, in *logInput) (*huma.StreamResponse, error) {
		l, err := s.findLog(ctx, in.ID, in.Task, in.Attempt)
		if err != nil {
			return nil, s.problem(err)
		}
		f, err := os.Open(l.path)
		if errors.Is(err, fs.ErrNotExist) && !l.attempt.State.Final() && in.Follow {
			f, err = nil, nil // not written yet
		}
		if err != nil {
			return nil, huma.Error404NotFound("the log is not there any more")
		}
		return &huma.StreamResponse{Body: func(ctx huma.Context) {
			r, w := humago.Unwrap(ctx)
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			if in.Follow {
				s.follow(r, w, f, l, in.Offset)
				return
			}
			defer f.Close()
			from := fromOffset(f, in.Offset)
			http.ServeContent(w, r, "", time.Time{}, io.NewSectionReader(f, from, max(sizeOf(f)-from, 0)))
		}}, nil
	})
}

// foundLog is the log of one attempt.
type foundLog struct {
	run     store.Run
	attempt store.Attempt
	all     []store.Attempt // of the task or instance
	path    string
}

// errInstances says that a task has no log of its own.
var errInstances = fmt.Errorf("%w", store.ErrNotFound)

// findLog finds a log by the record of its attempt: no part of its path comes
// from the request. Attempt 0 is the last one.
func (s *Server) findLog(ctx context.Context, id, task string, number int) (foundLog, error) {
	var l foundLog
	var err error
	if l.run, err = s.findRun(ctx, id); err != nil {
		return l, err
	}
	plan, err := s.planOf(ctx, l.run.Workflow, l.run.Version)
	if err != nil {
		return l, err
	}
	at := place(plan.names, task)
	if at.Index < 0 {
		return l, missing("run %s has no task %q", id, task)
	}
	if l.all, err = s.Store.AttemptsAt(ctx, id, []store.Place{at}); err != nil {
		return l, err
	}
	for _, a := range l.all {
		if number == 0 || a.Number == number {
			l.attempt, l.path = a, filepath.Join(s.Data, filepath.FromSlash(a.Log))
		}
	}
	if l.path == "" && at.Instance < 0 && plan.plan() != nil && plan.plan().Tasks[at.Index].Spec.Foreach != nil {
		return l, absent{fmt.Sprintf("task %q of run %s has a log for each of its instances, as %q", task, id, task+"[0]"), errInstances}
	}
	if l.path == "" {
		return l, missing("task %q of run %s has no such attempt", task, id)
	}
	return l, nil
}

// place finds a task of a version by its id, which for one of the instances of a
// foreach ends in its number, as in "load[3]". The index is below 0 where there
// is none.
func place(tasks []string, id string) store.Place {
	name, i, ok := machine.ParseName(id)
	if !ok {
		return store.Place{Index: -1, Instance: -1}
	}
	return store.Place{Index: slices.Index(tasks, name), Instance: i.Index()}
}

func sizeOf(f *os.File) int64 {
	if info, err := f.Stat(); err == nil {
		return info.Size()
	}
	return 0
}

// fromOffset gives the byte that an offset means.
func fromOffset(f *os.File, offset int64) int64 {
	size := sizeOf(f)
	if offset < 0 {
		offset += size
	}
	return min(max(offset, 0), size)
}

// follow sends a log until its attempt has ended. f is nil where it has not been
// written yet.
func (s *Server) follow(r *http.Request, w http.ResponseWriter, f *os.File, l foundLog, offset int64) {
	defer func() {
		if f != nil {
			_ = f.Close()
		}
	}()
	w.Header().Set("X-Accel-Buffering", "no")
	out, buf := newStream(w), make([]byte, 64<<10)
	at := int64(-1)
	for {
		ended := s.attemptEnded(r.Context(), l) // before the rest is read, so that nothing is missed
		if f == nil {
			f, _ = os.Open(l.path)
		}
		for f != nil {
			if at < 0 {
				at = fromOffset(f, offset)
			}
			n, err := f.ReadAt(buf, at)
			at += int64(n)
			if n > 0 && out.send(buf[:n]) != nil || err != nil && err != io.EOF {
				return
			}
			if err == io.EOF {
				break
			}
		}
		if ended || out.rc.Flush() != nil {
			return
		}
		select {
		case <-time.After(followPause):
		case <-r.Context().Done():
			return
		}
	}
}

// attemptEnded tells whether an attempt has ended, or is not known any more.
func (s *Server) attemptEnded(ctx context.Context, l foundLog) bool {
	attempts, err := s.Store.AttemptsAt(ctx, l.run.ID, []store.Place{{Index: l.attempt.Index, Instance: l.attempt.Instance}})
	for _, a := range attempts {
		if a.Number == l.attempt.Number {
			return a.State.Final()
		}
	}
	return err == nil || ctx.Err() != nil
}
