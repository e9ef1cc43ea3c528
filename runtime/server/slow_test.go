package server

import (
	"bufio"
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/runtime/reload"
)

// pipes is a listener of connections within the process, which hold nothing: who
// does not read is not written to.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), closed: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

// join asks for events and returns once the answer has begun, so that the client
// is one of those who are told.
func (p *pipes) join(t *testing.T) *bufio.Reader {
	t.Helper()
	ours, theirs := net.Pipe()
	t.Cleanup(func() { _ = ours.Close() })
	p.conns <- theirs
	if _, err := ours.Write([]byte("GET /api/v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(ours)
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(line, "retry:") {
			return r
		}
	}
}

func (h *hub) count() (clients, events int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.clients), h.seq
}

// crowd is how many clients do not read; AX_CROWD is for those who want to see
// more of them.
func crowd(t *testing.T) int {
	text := os.Getenv("AX_CROWD")
	if text == "" {
		return 300
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestClientsThatDoNotReadAreDroppedAndHoldNobodyUp(t *testing.T) {
	var s *Server
	newClient(t, func(of *Server) { s = of })
	if err := s.Engine.Register("nothing", func(context.Context, struct{}) error { return nil }); err != nil {
		t.Fatal(err)
	}
	ln := newPipes()
	srv := &http.Server{Handler: s.Handler()}
	var served sync.WaitGroup
	served.Go(func() {
		if err := srv.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	defer served.Wait()
	defer srv.Close()

	n := crowd(t)
	for range n {
		ln.join(t)
	}
	reader := ln.join(t)
	heard := make(chan string, 1) // ends of runs, as one who reads is told
	go func() {
		for {
			line, err := reader.ReadString('\n')
			if err != nil {
				close(heard)
				return
			}
			if strings.HasPrefix(line, "data:") && strings.Contains(line, `"state":"succeeded","reason":"","trigger"`) {
				heard <- line
			}
		}
	}()
	if clients, _ := s.hub.count(); clients != n+1 {
		t.Fatalf("%d clients have joined, not %d", clients, n+1)
	}

	// Every update is taken by the hub, and one who reads is told of each end,
	// while the others take nothing.
	updates, leave := s.Engine.Subscribe(64 * hubBuffer)
	defer leave()
	plan := reload.Compile("flow.yaml", []byte("name: flow\ntasks:\n  a: {call: nothing}\n")).Plan
	_, before := s.hub.count()
	runs, began := hubBuffer/2+2, time.Now() // each has an update for its beginning, and one for its end
	for range runs {
		run, err := s.Engine.Start(t.Context(), runtime.Request{Plan: plan})
		if err != nil {
			t.Fatal(err)
		}
		if line := <-heard; !strings.Contains(line, run.ID) {
			t.Fatalf("the run %s has ended, told is %.300s", run.ID, line)
		}
	}
	t.Logf("%d runs before %d clients that do not read took %s", runs, n, time.Since(began))
	clients, events := s.hub.count()
	if clients != 1 {
		t.Errorf("after %d events %d clients that do not read are left", events-before, clients-1)
	}
	if told := len(updates); told < 2*runs || events-before != told {
		t.Errorf("the engine has told of %d changes in %d runs, the hub of %d events", told, runs, events-before)
	}
	for _, e := range s.hub.kept {
		if e.kind == "reset" {
			t.Error("the hub has missed updates of the engine")
		}
	}
}

func TestAClientIsDroppedWhenItsBufferIsFullAndNotBefore(t *testing.T) {
	var h hub
	_, slow, leave := h.join("")
	_, quick, goes := h.join("")
	defer goes()
	publish := func() { h.publish(event{kind: "workflows"}) }
	for range hubBuffer {
		publish()
		<-quick
	}
	if n, _ := h.count(); n != 2 {
		t.Fatalf("with a full buffer there are %d clients", n)
	}
	publish()
	<-quick
	if n, _ := h.count(); n != 1 {
		t.Fatalf("with one event too many there are %d clients", n)
	}
	got := 0
	for e := range slow { // it is closed
		if got++; e.seq != got {
			t.Errorf("event %d has the number %d", got, e.seq)
		}
	}
	if got != hubBuffer {
		t.Errorf("it was told of %d events, not %d", got, hubBuffer)
	}
	leave() // once more does no harm
}
