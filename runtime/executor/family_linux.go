package executor

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// kin is the family of this process. There is one because a process has one set of children.
var kin = newFamily()

// family knows the main processes of all attempts, and finds the orphans of their trees. As a subreaper, this process
// becomes the parent of every descendant that loses its own; such a child is known by its process group, which is not
// ours, for every attempt begins one. A child that os/exec starts stays in our group and is never touched.
type family struct {
	// fork is held while a process is started, until it is in mains, and while orphans are collected: in between, a new
	// main process would look like an orphan.
	fork sync.Mutex

	mu      sync.Mutex
	mains   map[int]*child // by pid, from start to reap
	helpers map[int]bool   // children that are no attempt's, by pid
	tend    *time.Timer    // runs while there are any

	orphans orphans

	subreaper     atomic.Bool
	pidfds        atomic.Bool // may be used; off only to test what is done without them
	childrenFiles atomic.Bool // the kernel lists the children of a thread (CONFIG_PROC_CHILDREN), as nearly all do

	kill     func(pid int, sig syscall.Signal) error
	signalFD func(pidfd int, sig syscall.Signal) error
}

// tendInterval is how often orphans that ended while their attempt goes on are reaped.
const tendInterval = time.Second

func newFamily() *family {
	f := &family{
		mains:    make(map[int]*child),
		helpers:  make(map[int]bool),
		orphans:  orphans{known: make(map[int]*orphan)},
		kill:     syscall.Kill,
		signalFD: func(fd int, sig syscall.Signal) error { return unix.PidfdSendSignal(fd, sig, nil, 0) },
	}
	f.pidfds.Store(true)
	self := os.Getpid()
	f.childrenFiles.Store(unix.Access(childrenFile(self, self), unix.R_OK) == nil)
	return f
}

// BecomeSubreaper makes this process the parent of descendants that lose their own, for the rest of its life. The main
// function of the engine calls it once, before the first attempt: it makes the look for what an attempt left behind
// complete and cheap. Without it, every attempt costs a look at all processes of the machine. From then on a child of
// this process that is in another process group is taken for the offspring of an attempt: what else the program starts
// must stay in its own. It fails where the kernel refuses, or where there is no /proc, without which nothing that is left
// behind can be found.
func BecomeSubreaper() error {
	if _, ok := readProcess(os.Getpid()); !ok {
		return fmt.Errorf("/proc cannot be read: mount it, or what tasks leave in the background is not found")
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become the subreaper of all tasks: %w", err)
	}
	kin.subreaper.Store(true)
	return nil
}

func (f *family) add(c *child) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.mains) == 0 {
		f.tend = time.AfterFunc(tendInterval, f.look)
	}
	f.mains[c.pid] = c
}

// remove reaps a main process that has ended; one that has not is marked as lost, for look.
func (f *family) remove(c *child) (syscall.WaitStatus, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.removeLocked(c)
}

func (f *family) removeLocked(c *child) (syscall.WaitStatus, bool) {
	status, err := reap(c.pid)
	if c.lost = err == errAlive; c.lost {
		return 0, false
	}
	delete(f.mains, c.pid)
	if len(f.mains) == 0 {
		f.tend.Stop()
	}
	return status, err == nil // else somebody has waited for all children, and it is his
}

// look reaps orphans and lost main processes that have ended, and comes back while there are attempts.
func (f *family) look() {
	f.orphansOf(nil)
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.mains {
		if c.lost {
			f.removeLocked(c)
		}
	}
	if len(f.mains) > 0 {
		f.tend.Reset(tendInterval)
	}
}

// ReapOrphans takes the exit status of orphans that have ended. A process that is the first of its machine or container,
// or whose supervisor has died, gets them at any time; otherwise an attempt sees to its own.
func ReapOrphans() { kin.orphansOf(nil) }

// startHelper starts a child that is no attempt's and leaves our process group: endHelper waits for its end.
func startHelper(path string, argv []string, attr *os.ProcAttr) (*os.Process, error) {
	kin.fork.Lock()
	defer kin.fork.Unlock()
	p, err := os.StartProcess(path, argv, attr)
	if err == nil {
		kin.mu.Lock()
		defer kin.mu.Unlock()
		kin.helpers[p.Pid] = true
	}
	return p, err
}

func endHelper(p *os.Process) {
	_, _ = p.Wait() // how it ended is nobody's business
	kin.mu.Lock()
	defer kin.mu.Unlock()
	delete(kin.helpers, p.Pid)
}

// send signals exactly this process, never another that got its number. It returns false if that is not allowed.
func (f *family) send(p process, sig syscall.Signal) bool {
	signal := func() error { return f.kill(p.pid, sig) } // for an old kernel; the moment for a mistake is short
	if f.pidfds.Load() {
		fd, err := unix.PidfdOpen(p.pid, 0)
		switch err {
		case nil:
			defer unix.Close(fd)
			signal = func() error { return f.signalFD(fd, sig) }
		case unix.ESRCH:
			return true
		}
	}
	if now, ok := readProcess(p.pid); !ok || now.start != p.start {
		return true
	}
	return signal() != unix.EPERM
}

var errAlive = errors.New("it has not ended")

// reap takes the status of a child that has ended.
func reap(pid int) (status syscall.WaitStatus, err error) {
	for {
		got, err := syscall.Wait4(pid, &status, syscall.WNOHANG, nil)
		switch {
		case err == syscall.EINTR:
		case err == nil && got == 0:
			return 0, errAlive
		default:
			return status, err
		}
	}
}
