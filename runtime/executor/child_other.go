//go:build unix && !linux

package executor

import (
	"context"
	"fmt"
	"net"
	"os"
	"syscall"
	"time"
)

// child is the main process of an attempt, and by it its process group: here nothing finds what has left that.
type child struct {
	pid    int
	mark   string
	out    os.FileInfo
	done   chan struct{} // closed once status is set
	status syscall.WaitStatus
	err    error
}

// BecomeSubreaper does nothing here: only Linux gives orphans to a process of one's choice.
func BecomeSubreaper() error { return nil }

// EndLeftovers ends nothing here: only the group of a living main process is known.
func EndLeftovers(attempts []Attempt) [][]string { return make([][]string, len(attempts)) }

// ReapOrphans does nothing here: orphans do not come to this process.
func ReapOrphans() {}

func anyLeft(_ []Attempt, which []int) []bool { return make([]bool, len(which)) }

func startHelper(path string, argv []string, attr *os.ProcAttr) (*os.Process, error) {
	return os.StartProcess(path, argv, attr)
}

func killPeer(net.Conn) {}

func endHelper(p *os.Process) { _, _ = p.Wait() }

func start(path string, argv []string, attr *syscall.ProcAttr, mark string, out os.FileInfo) (*child, error) {
	pid, _, err := syscall.StartProcess(path, argv, attr)
	if err != nil {
		return nil, err
	}
	c := &child{pid: pid, mark: mark, out: out, done: make(chan struct{})}
	go func() {
		defer close(c.done)
		for {
			if _, c.err = syscall.Wait4(pid, &c.status, 0, nil); c.err != syscall.EINTR {
				return
			}
		}
	}()
	return c, nil
}

func (c *child) ended() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

func (c *child) await(ctx context.Context) bool {
	select {
	case <-c.done:
		return true
	case <-ctx.Done():
		return c.ended()
	}
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

func (c *child) reap() (syscall.WaitStatus, bool) {
	return c.status, c.ended() && c.err == nil
}

// members stands for the whole group by one process, for its members cannot be listed.
func (c *child) members() []process {
	if c.ended() && syscall.Kill(-c.pid, 0) != nil {
		return nil
	}
	return []process{{pid: c.pid, name: fmt.Sprintf("process group %d", c.pid)}}
}

func (c *child) signal(sig syscall.Signal, _ []process) int {
	if syscall.Kill(-c.pid, sig) == syscall.EPERM {
		return 0
	}
	return 1
}

func closeRangeOnExec() bool { return false }
