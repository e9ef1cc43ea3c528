package executor

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"
)

// ErrDetach is the cause with which a context is cancelled to let an attempt go without stopping it. One that has no
// supervisor is stopped all the same.
var ErrDetach = errors.New("the engine lets go of its attempts")

// stopWait is how long, beyond its KillAfter, a supervisor may take to stop an attempt before its processes are ended
// without it.
const stopWait = 30 * time.Second

// startWait is how long a new supervisor may take to become ready, on a machine that is very busy.
const startWait = 30 * time.Second

// complaintsLog is where supervisors that break down say why.
const complaintsLog = "complaints.log"

// Supervision has processes outlive this one. Its fields are set before use.
type Supervision struct {
	Folder string // absolute; of the sockets of supervisors, made if missing
	// Command is the path of a program and its argv, which may begin with another name. It calls Supervise in its working folder, with the name that it is given as one
	// argument more and its descriptor 3. Without one processes are children of this process, and only those of other
	// engines are adopted.
	Command []string

	mu   sync.Mutex
	own  *link  // to the supervisor of this process; nil before the first attempt
	name string // of it

	patience time.Duration // with supervisors of others; adoptWait where 0
}

// supervised tells whether a supervisor carries this attempt out.
func (x *Executor) supervised(a *Attempt) bool {
	if x.Supervision == nil || len(x.Supervision.Command) == 0 {
		return false
	}
	switch a.Action.(type) {
	case Script, Command:
		return true
	}
	return false
}

// execute has the supervisor carry out an attempt.
func (s *Supervision) execute(ctx context.Context, a *Attempt) Outcome {
	l, err := s.supervisor()
	if err != nil {
		return Outcome{ExitCode: notRun, StartError: fmt.Sprintf("the supervisor of tasks could not be started: %v", err), Finished: time.Now()}
	}
	plain := *a
	plain.Action = nil
	m := message{Verb: verbStart, Mark: a.mark(), Attempt: &plain}
	switch action := a.Action.(type) {
	case Script:
		m.Script = &action
	case Command:
		m.Command = &action
	}
	w := l.watch(m.Mark)
	l.wire.send(m)
	return l.await(ctx, a, w)
}

// supervisor gives the connection to the supervisor of this process. One that has died is replaced.
func (s *Supervision) supervisor() (*link, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.own != nil && !s.own.over() {
		return s.own, nil
	}
	conn, err := s.start()
	if err != nil {
		return nil, err
	}
	w := newWire(conn)
	if err := ready(w); err != nil {
		w.close()
		return nil, fmt.Errorf("%w: see %s", err, filepath.Join(s.Folder, complaintsLog))
	}
	s.own = newLink(w)
	return s.own, nil
}

// ready waits until a new supervisor can be found by other engines. Were it asked for anything before, and we died, the next
// engine would not see it and begin the same again.
func ready(w *wire) error {
	if err := w.conn.SetReadDeadline(time.Now().Add(startWait)); err != nil {
		return err
	}
	if m, err := w.receive(); err != nil || m.Verb != verbReady {
		return fmt.Errorf("it did not become ready (%v)", err)
	}
	return w.conn.SetReadDeadline(time.Time{})
}

// Close lets go of the supervisor. It goes on until the attempts that it has have ended.
func (s *Supervision) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.own != nil {
		s.own.wire.close()
		s.own = nil
	}
}

// start begins a supervisor in a session of its own, where no terminal reaches it. It takes some 5 ms to be
// ready.
func (s *Supervision) start() (net.Conn, error) {
	if err := os.MkdirAll(s.Folder, 0o700); err != nil {
		return nil, err
	}
	null, err := devNull()
	if err != nil {
		return nil, err
	}
	// What it complains of is kept: nobody but the system can make it.
	complaints, err := os.OpenFile(filepath.Join(s.Folder, complaintsLog), os.O_WRONLY|os.O_APPEND|os.O_CREATE, logMode)
	if err != nil {
		return nil, err
	}
	defer complaints.Close()
	ours, theirs, err := socketPair()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	defer ours.Close() // FileConn makes a copy
	sealDescriptors()
	s.name = rand.Text()
	process, err := startHelper(s.Command[0], append(slices.Clone(s.Command[1:]), s.name), &os.ProcAttr{
		Dir: s.Folder, Files: []*os.File{null, null, complaints, theirs}, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return nil, err
	}
	go endHelper(process)
	return net.FileConn(ours)
}

func socketPair() (a, b *os.File, err error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	for _, fd := range fds {
		syscall.CloseOnExec(fd)
	}
	return os.NewFile(uintptr(fds[0]), "supervisor"), os.NewFile(uintptr(fds[1]), "engine"), nil
}

// link is a connection to a supervisor, with those who wait for news from it.
type link struct {
	wire *wire
	gone chan struct{} // closed when the supervisor is

	mu      sync.Mutex
	watches map[string]*watch // by mark
	adopted bool              // it belonged to another engine: closed when nothing of it is left
}

// watch waits for news of one attempt.
type watch struct {
	found chan bool // whether the supervisor has it; of adopt only
	ended chan Outcome
}

func newLink(w *wire) *link {
	l := &link{wire: w, gone: make(chan struct{}), watches: map[string]*watch{}}
	go l.read()
	return l
}

func (l *link) over() bool {
	select {
	case <-l.gone:
		return true
	default:
		return false
	}
}

func (l *link) read() {
	defer l.wire.close()
	defer close(l.gone)
	for {
		m, err := l.wire.receive()
		if err != nil {
			return
		}
		l.mu.Lock()
		w := l.watches[m.Mark]
		l.mu.Unlock()
		if w == nil {
			continue
		}
		switch m.Verb {
		case verbFound, verbUnknown:
			w.found <- m.Verb == verbFound
		case verbEnded:
			select {
			case w.ended <- *m.Outcome:
			default: // told twice
			}
		}
	}
}

func (l *link) watch(mark string) *watch {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := &watch{found: make(chan bool, 1), ended: make(chan Outcome, 1)}
	l.watches[mark] = w
	return w
}

// forget drops a watch, and a connection that was for adopted attempts with the last one.
func (l *link) forget(mark string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.watches, mark)
	if l.adopted && len(l.watches) == 0 {
		l.wire.close()
	}
}

// await waits for the end of an attempt, or has it stopped once ctx is done.
func (l *link) await(ctx context.Context, a *Attempt, w *watch) Outcome {
	select {
	case o := <-w.ended:
		return l.settle(a, o)
	case <-l.gone:
		return l.lost(a, w)
	case <-ctx.Done():
	}
	if errors.Is(context.Cause(ctx), ErrDetach) {
		l.forget(a.mark())
		return Outcome{ExitCode: notRun, Detached: true}
	}
	l.wire.send(message{Verb: verbStop, Mark: a.mark()})
	late := time.NewTimer(a.KillAfter + stopWait)
	defer late.Stop()
	select {
	case o := <-w.ended:
		return l.settle(a, o)
	case <-l.gone:
	case <-late.C:
	}
	return l.lost(a, w)
}

// settle has the supervisor keep an outcome until it is stored.
func (l *link) settle(a *Attempt, o Outcome) Outcome {
	mark := a.mark()
	o.Settled = func() {
		l.wire.send(message{Verb: verbSettled, Mark: mark})
		l.forget(mark)
	}
	return o
}

// lost ends what is left of an attempt whose supervisor is gone or stuck: nobody will ever know how it ended.
func (l *link) lost(a *Attempt, w *watch) Outcome {
	l.forget(a.mark())
	select {
	case o := <-w.ended: // the last that it said
		return o
	default:
	}
	return sweep(a)
}

// sweep ends what is left of an attempt that nobody knows the end of.
func sweep(a *Attempt) Outcome {
	left := EndLeftovers([]Attempt{*a})[0]
	ReapOrphans()
	return Outcome{ExitCode: notRun, Interrupted: true, Leftovers: left, Finished: time.Now()}
}

// others connects to every supervisor but the own, and tidies up after those that are dead.
func (s *Supervision) others() []*link {
	var links []*link
	for _, conn := range s.dial() {
		l := newLink(newWire(conn))
		l.adopted = true
		links = append(links, l)
	}
	return links
}

func (s *Supervision) dial() (conns []net.Conn) {
	sockets, _ := filepath.Glob(filepath.Join(escapeGlob(s.Folder), "*"+socketSuffix)) // the pattern is right
	s.mu.Lock()
	own := s.name
	s.mu.Unlock()
	for _, path := range sockets {
		if filepath.Base(path) == own+socketSuffix {
			continue // it listens only once we are gone
		}
		var conn net.Conn
		err := inFolder(path, func(near string) (err error) {
			conn, err = net.DialTimeout("unix", near, adoptWait)
			return err
		})
		switch {
		case err == nil:
			conns = append(conns, conn)
		case errors.Is(err, syscall.ECONNREFUSED):
			_ = os.Remove(path) // or the next who looks does
		}
	}
	return conns
}

// Abandoned tells whether a supervisor is at work whose engine may be gone: some other than the own.
func (x *Executor) Abandoned() bool {
	if x.Supervision == nil {
		return false
	}
	conns := x.Supervision.dial()
	for _, c := range conns {
		c.Close()
	}
	return len(conns) > 0
}

// GoOn tells for each of some attempts whether processes of it are there. Of an attempt it needs what Adopt does.
func (x *Executor) GoOn(attempts []Attempt) []bool {
	all := make([]int, len(attempts))
	for i := range all {
		all[i] = i
	}
	return anyLeft(attempts, all)
}
