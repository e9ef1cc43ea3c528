package executor

import (
	"fmt"
	"syscall"
	"time"
)

// killWait is how long a process may take to die after SIGKILL before it is named instead: one in uninterruptible sleep,
// on a dead network disk for instance, may never.
const killWait = 3 * time.Second

// tree is a set of processes that are to end together. It is looked at anew each time, for its processes start others.
type tree interface {
	// members returns the living, none of them twice.
	members() []process
	// signal sends to all of them, and returns how many are not out of its reach; one that is gone already is not.
	signal(sig syscall.Signal, to []process) (reached int)
	// pause waits for the least time, or for up to the most while there is an end that wakes it.
	pause(least, most time.Duration)
}

// process is one that was alive a moment ago. Its start, in the kernel's ticks since boot, tells it from a later one with
// its number.
type process struct {
	pid    int
	parent int
	group  int
	start  uint64
	name   string
	dead   bool // a zombie
}

func (p process) String() string { return fmt.Sprintf("pid %d (%s)", p.pid, p.name) }

// end asks all of the tree to end, kills after the grace what is left, and names what does not die of that. SIGCONT
// because a stopped process cannot act on SIGTERM. SIGTERM goes out once: what a process starts to tidy up is left to.
func end(t tree, grace time.Duration) (survivors []string) {
	left := t.members()
	if len(left) == 0 {
		return nil
	}
	t.signal(syscall.SIGTERM, left)
	t.signal(syscall.SIGCONT, left)
	left = outlast(t, grace)
	for over := time.Now().Add(killWait); len(left) > 0; left = t.members() {
		if t.signal(syscall.SIGKILL, left) == 0 || time.Now().After(over) {
			break
		}
		t.pause(time.Millisecond, 10*time.Millisecond)
	}
	for _, p := range left {
		survivors = append(survivors, p.String())
	}
	return survivors
}

// outlast waits for the end of the tree and returns what is left of it after the limit.
func outlast(t tree, limit time.Duration) []process {
	over := time.Now().Add(limit)
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		left := t.members()
		rest := time.Until(over)
		if len(left) == 0 || rest <= 0 {
			return left
		}
		t.pause(min(pause, rest), rest)
	}
}
