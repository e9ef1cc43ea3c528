package executor

import (
	"context"
	"math"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// child is the main process of an attempt, and by it the whole tree. It is left a zombie until the tree has ended: so
// long nothing else can get its number or its group.
type child struct {
	pid  int
	mark string      // in the environment of its tree, see markVariable
	out  os.FileInfo // the file or pipe that its tree writes to

	// pidfd tells the end of the process to the runtime's poller, so that a waiting attempt is a goroutine and not a
	// thread. Where the kernel has none (before 5.3), done is closed by a goroutine that does block one.
	pidfd *os.File
	done  chan struct{}

	lost bool // given up, guarded by family.mu: it did not die of SIGKILL

	// begun is the main process's start as in process; rarely asked for.
	begun func() uint64
}

// start begins a process and makes it known to the family.
func start(path string, argv []string, attr *syscall.ProcAttr, mark string, out os.FileInfo) (*child, error) {
	pidfd := -1
	if kin.pidfds.Load() {
		attr.Sys.PidFD = &pidfd
	}
	kin.fork.Lock()
	defer kin.fork.Unlock()
	pid, _, err := syscall.StartProcess(path, argv, attr)
	if err != nil {
		return nil, err
	}
	c := &child{pid: pid, mark: mark, out: out, begun: sync.OnceValue(func() uint64 {
		p, _ := readProcess(pid)
		return p.start
	})}
	if !c.poll(pidfd) {
		c.done = make(chan struct{})
		go c.block()
	}
	kin.add(c)
	return c, nil
}

// poll hands the descriptor to the runtime's poller, and returns false if there is none or it cannot be polled.
func (c *child) poll(pidfd int) bool {
	if pidfd < 0 {
		return false
	}
	_ = unix.SetNonblock(pidfd, true) // or os.NewFile would not try
	c.pidfd = os.NewFile(uintptr(pidfd), "pidfd")
	if c.pidfd.SetReadDeadline(time.Time{}) == nil {
		return true
	}
	c.pidfd.Close()
	c.pidfd = nil
	return false
}

func (c *child) block() {
	for unix.Waitid(unix.P_PID, c.pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
	close(c.done)
}

// ended tells whether the main process has. It stays a zombie.
func (c *child) ended() bool {
	for {
		var info unix.Siginfo
		err := unix.Waitid(unix.P_PID, c.pid, &info, unix.WEXITED|unix.WNOWAIT|unix.WNOHANG, nil)
		if err != unix.EINTR {
			return err != nil || info.Signo == int32(unix.SIGCHLD)
		}
	}
}

// await waits for the end of the main process, and returns false if ctx is done while it is alive.
func (c *child) await(ctx context.Context) bool {
	if c.pidfd == nil {
		select {
		case <-c.done:
			return true
		case <-ctx.Done():
			return c.ended()
		}
	}
	// Neither call fails on an open descriptor that can be polled.
	_ = c.pidfd.SetReadDeadline(time.Time{})
	conn, _ := c.pidfd.SyscallConn()
	interrupted := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		_ = c.pidfd.SetReadDeadline(time.Unix(1, 0))
		close(interrupted)
	})
	err := conn.Read(func(uintptr) bool { return c.ended() })
	if !stop() {
		<-interrupted // or it would cut short a later wait
	}
	return err == nil || c.ended()
}

func (c *child) pause(least, most time.Duration) {
	if c.ended() {
		time.Sleep(least)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), most)
	defer cancel()
	c.await(ctx)
}

// reap takes the exit status. It fails for a process that will not die; the family goes on looking after that one.
func (c *child) reap() (syscall.WaitStatus, bool) {
	status, ok := kin.remove(c)
	if c.pidfd != nil {
		c.pidfd.Close()
	}
	return status, ok
}

func (c *child) members() []process {
	var roots []process
	if !c.ended() {
		main, ok := readProcess(c.pid)
		if !ok { // without /proc its group can still be ended
			main = process{pid: c.pid, group: c.pid, name: "main process"}
		}
		roots = append(roots, main)
	}
	if !kin.subreaper.Load() {
		return withDescendants(append(roots, c.search()...))
	}
	return withDescendants(append(roots, kin.orphansOf(c)...))
}

// search finds a tree among all processes of the machine: its orphans are children of another.
func (c *child) search() []process {
	return search(func(p process) bool {
		if p.group == c.pid {
			return true
		}
		if p.start < c.begun() {
			return false
		}
		s := readSigns(p.pid)
		return s.has(c.mark) || s.holds(c.out)
	})
}

func (c *child) signal(sig syscall.Signal, to []process) int {
	// The group in one step, so that none of it escapes by forking. The number is ours until the main process is reaped.
	_ = kin.kill(-c.pid, sig)
	reached := 0
	for _, p := range to {
		if p.group == c.pid && sig != syscall.SIGKILL || kin.send(p, sig) {
			reached++
		}
	}
	return reached
}

// closeRangeOnExec does it in one call. It fails before Linux 5.11.
func closeRangeOnExec() bool {
	return unix.CloseRange(3, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC) == nil
}
