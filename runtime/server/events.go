package server

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
)

const (
	heartbeat  = 15 * time.Second
	sendLimit  = 10 * time.Second // for a client to take what it is sent
	retryAfter = 2 * time.Second  // for a browser that has lost the connection
)

type eventsInput struct {
	Workflow string `query:"workflow" doc:"only events of this workflow's runs"`
	Run      string `query:"run" doc:"only events of this run"`
	Last     string `header:"Last-Event-ID" doc:"the id of the last event that was seen: what has happened since then comes first"`
	Since    string `query:"since" doc:"as Last-Event-ID, for those that cannot send a header"`
}

// wants tells whether a client has asked for an event.
func (in *eventsInput) wants(e *event) bool {
	if e.kind != "run" {
		return true
	}
	return (in.Workflow == "" || in.Workflow == e.workflow) && (in.Run == "" || in.Run == e.run)
}

func (s *Server) events(api huma.API) {
	huma.Register(api, huma.Operation{
		OperationID: "events", Method: http.MethodGet, Path: "/api/v1/events",
		Summary: "What happens, as it happens",
		Description: "Server-sent events. `run` has the run, without its tasks, and those of its tasks that changed; `workflows` says that " +
			"other workflows are loaded than before; `reset` that what was missed is not known any more: read again what is shown. " +
			"A comment comes every 15 seconds. Who is too slow is cut off, and goes on with Last-Event-ID.",
		Responses: map[string]*huma.Response{"200": {
			Description: "events, without end", Content: map[string]*huma.MediaType{"text/event-stream": {Schema: &huma.Schema{Type: "string"}}},
		}},
	}, func(_ context.Context, in *eventsInput) (*huma.StreamResponse, error) {
		return &huma.StreamResponse{Body: func(ctx huma.Context) {
			r, w := humago.Unwrap(ctx)
			s.stream(r, w, in)
		}}, nil
	})
}

// stream sends events until the client goes or is too slow.
func (s *Server) stream(r *http.Request, w http.ResponseWriter, in *eventsInput) {
	last := in.Last
	if last == "" {
		last = in.Since
	}
	missed, events, leave := s.hub.join(last)
	defer leave()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no")
	out := newStream(w)
	if out.send([]byte(fmt.Sprintf("retry: %d\n\n", retryAfter.Milliseconds()))) != nil {
		return
	}
	for i := range missed {
		if out.sendEvent(&s.hub, in, &missed[i]) != nil {
			return
		}
	}
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for {
		var err error
		select {
		case e, ok := <-events:
			if !ok {
				return
			}
			err = out.sendEvent(&s.hub, in, &e)
		case <-beat.C:
			err = out.send([]byte(":\n\n"))
		case <-r.Context().Done():
			return
		}
		if err != nil {
			return
		}
	}
}

// stream is an answer without end. It is not bound by the limits of a request,
// but each piece of it has one.
type stream struct {
	w  http.ResponseWriter
	rc *http.ResponseController
}

func newStream(w http.ResponseWriter) *stream {
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(time.Time{}) // an answer that is only recorded has none
	return &stream{w, rc}
}

func (o *stream) send(p []byte) error {
	_ = o.rc.SetWriteDeadline(time.Now().Add(sendLimit))
	if _, err := o.w.Write(p); err != nil {
		return err
	}
	return o.rc.Flush()
}

func (o *stream) sendEvent(h *hub, in *eventsInput, e *event) error {
	if !in.wants(e) {
		return nil
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "id: %s\nevent: %s\ndata: %s\n\n", h.id(e.seq), e.kind, e.data)
	return o.send(b.Bytes())
}
