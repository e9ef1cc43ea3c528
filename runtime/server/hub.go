package server

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/ax-scheduler/ax/runtime"
)

const (
	hubKeeps  = 2048 // events that one who was away can be told of afterwards
	hubBuffer = 512  // events that a client may be behind before it is dropped
)

// event is one thing that has happened, as clients are told of it.
type event struct {
	seq      int
	kind     string // run, workflows or reset
	workflow string
	run      string
	data     []byte // JSON
}

// hub tells every client what has happened. It never waits for one: who is too
// slow is dropped, comes back, and is told what it has missed.
type hub struct {
	once sync.Once
	name string // of this hub: numbers of events mean nothing to another

	mu      sync.Mutex
	seq     int
	kept    []event // the last ones
	clients map[chan event]struct{}
}

func (h *hub) init() {
	h.once.Do(func() { h.name, h.clients = rand.Text()[:8], map[chan event]struct{}{} })
}

// runEvent is the data of an event of kind run: the run without its tasks, and
// those of its tasks that changed.
type runEvent struct {
	Run   runtime.Report       `json:"run"`
	Tasks []runtime.TaskReport `json:"tasks"`
}

// listen takes in the engine's updates, and word of each new catalog, until ctx is
// done.
func (s *Server) listen(ctx context.Context) {
	s.hub.init()
	updates, leave := s.Engine.Subscribe(8192)
	defer func() { leave() }()
	for {
		select {
		case u, ok := <-updates:
			if !ok { // too slow: what was missed is not known
				updates, leave = s.Engine.Subscribe(8192)
				s.hub.publish(event{kind: "reset", data: []byte("{}")})
				continue
			}
			s.views.recent.changed(u.Run.Workflow)
			s.hub.publish(eventOf(u))
		case <-s.Reloaded:
			s.hub.publish(event{kind: "workflows", data: []byte("{}")})
		case <-ctx.Done():
			return
		}
	}
}

func eventOf(u *runtime.Update) event {
	e := runEvent{Run: runtime.NewReport(u.Run), Tasks: make([]runtime.TaskReport, 0, len(u.Tasks))}
	for _, t := range u.Tasks {
		e.Tasks = append(e.Tasks, runtime.NewTaskReport(t))
	}
	data, err := json.Marshal(e)
	if err != nil {
		panic(fmt.Sprintf("a report is no JSON: %v", err))
	}
	return event{kind: "run", workflow: u.Run.Workflow, run: u.Run.ID, data: data}
}

func (h *hub) publish(e event) {
	h.init() // a request may come before the server listens to the engine
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seq++
	e.seq = h.seq
	if h.kept = append(h.kept, e); len(h.kept) > 2*hubKeeps {
		h.kept = append([]event(nil), h.kept[len(h.kept)-hubKeeps:]...)
	}
	for c := range h.clients {
		select {
		case c <- e:
		default:
			delete(h.clients, c)
			close(c)
		}
	}
}

// join gives a client what it has missed since the event with an id, and a
// channel of what happens from now on, which is closed where it is too slow.
// Where what it has missed is not known any more, it is told to begin anew.
func (h *hub) join(last string) (missed []event, events chan event, leave func()) {
	h.init()
	events = make(chan event, hubBuffer)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.clients[events] = struct{}{}
	if last != "" {
		name, text, _ := strings.Cut(last, "-")
		seq, err := strconv.Atoi(text)
		first := h.seq - len(h.kept) // the number of the event before those kept
		if err != nil || name != h.name || seq < first || seq > h.seq {
			missed = []event{{seq: h.seq, kind: "reset", data: []byte("{}")}}
		} else {
			missed = append(missed, h.kept[seq-first:]...)
		}
	}
	return missed, events, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.clients, events)
	}
}

// id gives what a client sends back as Last-Event-ID.
func (h *hub) id(seq int) string { return h.name + "-" + strconv.Itoa(seq) }

// now gives the id of the last event.
func (h *hub) now() string {
	h.init()
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.id(h.seq)
}
