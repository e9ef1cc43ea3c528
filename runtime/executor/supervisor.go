package executor

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// socketSuffix is that of the sockets at which supervisors can be reached. One that is being made has another.
const socketSuffix = ".sock"

// systemGoesDown is how long after a SIGTERM to a supervisor the death of a task by a signal is put down to the end of the
// machine or the container: whoever ends all processes asks first and kills some time later.
const systemGoesDown = 2 * time.Minute

// toldWait is how long after the death of a task by a signal the supervisor waits for its own, which may have been sent at
// the same moment.
const toldWait = 200 * time.Millisecond

// Supervise carries out the attempts that an engine asks for over a connection, and returns when the engine is gone and
// nothing is left to do. It is the main function of a process of its own, which outlives the engine: then what runs goes
// on, other engines find it by a socket of that name in the folder and are told of its end, and what ends while none is there leaves a
// record beside its scratch files. It calls BecomeSubreaper, and no signal that asks processes to end ends this one.
//
// One supervisor for all attempts of an engine costs each about 0.5 ms. A shell for each would cost 2 ms, and could not tell
// death by a signal from an exit code that looks like it (BenchmarkSupervision).
func Supervise(folder, name string, engine net.Conn) error {
	s := &supervisor{charges: map[string]*charge{}}
	s.idle.L = &s.mu
	defer s.outliveSignals()()
	if err := BecomeSubreaper(); err != nil {
		return err
	}
	ln, remove, err := listenIn(folder, name)
	if err != nil {
		return err
	}
	defer remove()
	defer ln.Close()
	s.links = 1
	w := newWire(engine)
	w.send(message{Verb: verbReady})
	s.serve(w) // to the end, so that all that it asked for is known to those who come then
	go s.accept(ln)
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.charges)+s.links > 0 {
		s.idle.Wait()
	}
	return nil
}

// listenIn makes the socket. It gets its name when it can be connected to.
func listenIn(folder, name string) (ln net.Listener, remove func(), err error) {
	path := filepath.Join(folder, name)
	err = inFolder(path, func(near string) error {
		ln, err = net.Listen("unix", near)
		return err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("make the socket of the supervisor: %w", err)
	}
	ln.(*net.UnixListener).SetUnlinkOnClose(false)
	if err := os.Rename(path, path+socketSuffix); err != nil {
		ln.Close()
		return nil, nil, err
	}
	return ln, func() { _ = os.Remove(path + socketSuffix) }, nil // or the next who looks removes it
}

// supervisor is the state of one, guarded by mu.
type supervisor struct {
	x    Executor
	told atomic.Int64 // when it got SIGTERM, in nanoseconds

	mu      sync.Mutex
	idle    sync.Cond // something has left charges or links
	charges map[string]*charge
	links   int // engines that are connected
}

// charge is one attempt that a supervisor carries out, until its outcome is stored or left as a record.
type charge struct {
	attempt Attempt
	stop    context.CancelFunc
	watcher *wire    // who is told of its end; nil for nobody
	outcome *Outcome // nil while it is alive
}

// outliveSignals keeps the signals away that ask processes to end, without having the tasks ignore them.
func (s *supervisor) outliveSignals() (stop func()) {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGPIPE)
	go func() {
		for sig := range signals {
			if sig == syscall.SIGTERM {
				s.told.Store(time.Now().UnixNano())
			}
		}
	}()
	return func() { signal.Stop(signals); close(signals) }
}

func (s *supervisor) accept(ln net.Listener) {
	for {
		conn, err := ln.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.links++
		s.mu.Unlock()
		go s.serve(newWire(conn))
	}
}

// serve does what one engine asks for until it is gone.
func (s *supervisor) serve(w *wire) {
	for {
		m, err := w.receive()
		if err != nil {
			s.abandon(w)
			return
		}
		s.mu.Lock()
		switch c := s.charges[m.Mark]; {
		case m.Verb == verbStart && c == nil && m.Attempt != nil:
			s.startLocked(w, m)
		case m.Verb == verbAdopt && c == nil:
			w.send(message{Verb: verbUnknown, Mark: m.Mark})
		case m.Verb == verbAdopt:
			c.watcher = w
			w.send(message{Verb: verbFound, Mark: m.Mark})
			s.tellLocked(m.Mark, c)
		case m.Verb == verbStop && c != nil:
			c.stop()
		case m.Verb == verbSettled && c != nil:
			s.forgetLocked(m.Mark)
		}
		s.mu.Unlock()
	}
}

func (s *supervisor) startLocked(w *wire, m message) {
	ctx, stop := context.WithCancel(context.Background())
	a := *m.Attempt
	switch {
	case m.Script != nil:
		a.Action = *m.Script
	case m.Command != nil:
		a.Action = *m.Command
	}
	c := &charge{attempt: a, stop: stop, watcher: w}
	s.charges[m.Mark] = c
	go func() {
		o := s.x.Execute(ctx, a)
		stop()
		killed := o.Signal != "" && !o.Stopped
		if killed {
			time.Sleep(toldWait)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		o.Interrupted = killed && time.Now().UnixNano() < s.told.Load()+int64(systemGoesDown)
		c.outcome = &o
		s.tellLocked(m.Mark, c)
	}()
}

// tellLocked tells of the end of a charge: its watcher, or else whoever comes later by a record.
func (s *supervisor) tellLocked(mark string, c *charge) {
	switch {
	case c.outcome == nil:
	case c.watcher != nil:
		c.watcher.send(message{Verb: verbEnded, Mark: mark, Outcome: c.outcome})
	case c.attempt.leaveRecord(*c.outcome) == nil:
		s.forgetLocked(mark)
	default: // the disk is full
		time.AfterFunc(time.Second, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.charges[mark] == c {
				s.tellLocked(mark, c)
			}
		})
	}
}

func (s *supervisor) forgetLocked(mark string) {
	delete(s.charges, mark)
	s.idle.Signal()
}

// abandon deals with what an engine that is gone has left.
func (s *supervisor) abandon(w *wire) {
	w.close()
	s.mu.Lock()
	defer s.mu.Unlock()
	for mark, c := range s.charges {
		if c.watcher == w {
			c.watcher = nil
			s.tellLocked(mark, c)
		}
	}
	s.links--
	s.idle.Signal()
}

func (a *Attempt) recordPath() string { return a.scratchFile("outcome") }

// leaveRecord writes the outcome of an attempt for an engine that comes later. It is there whole or not at all; a power
// cut may lose it, and then nobody can say that the attempt has ended.
func (a *Attempt) leaveRecord(o Outcome) error {
	data, err := json.Marshal(o)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(a.Scratch, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(a.recordPath()+".new", data, logMode); err != nil {
		return err
	}
	return os.Rename(a.recordPath()+".new", a.recordPath())
}

// record reads what leaveRecord has written; nil where there is none.
func (a *Attempt) record() *Outcome {
	data, err := os.ReadFile(a.recordPath())
	if err != nil {
		return nil
	}
	var o Outcome
	if json.Unmarshal(data, &o) != nil {
		return nil
	}
	o.Settled = func() { _ = os.Remove(a.recordPath()) } // or it goes with the run's scratch files
	return &o
}
