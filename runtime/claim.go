package runtime

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Claim is what an engine process holds as long as it lives: a locked file in
// the data folder, named like the owner in its runs. The system lets go of the
// lock when the process ends, however it ends, so that others can tell.
type Claim struct {
	Owner string
	file  *os.File
}

// NewClaim takes a new claim in a data folder, which is made if need be.
func NewClaim(data string) (*Claim, error) {
	dir := filepath.Join(data, "engines")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make the data folder: %w", err)
	}
	c := &Claim{Owner: NewID(time.Now())}
	f, err := os.OpenFile(claimPath(data, c.Owner), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("claim the data folder: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	if _, err := f.WriteString(strconv.Itoa(os.Getpid()) + "\n"); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("claim the data folder: %w", err)
	}
	c.file = f
	return c, nil
}

// Announce writes into the claim at which address the engine answers HTTP.
func (c *Claim) Announce(addr string) error {
	_, err := c.file.WriteString(addr + "\n")
	return err
}

// Holder tells which process holds the claim of an owner, and at which address
// it answers HTTP; empty where it does not.
func Holder(data, owner string) (pid int, addr string, err error) {
	text, err := os.ReadFile(claimPath(data, owner))
	if err != nil {
		return 0, "", err
	}
	lines := strings.Split(string(text), "\n")
	if pid, err = strconv.Atoi(lines[0]); err != nil {
		return 0, "", fmt.Errorf("%s does not hold a process id", claimPath(data, owner))
	}
	if len(lines) > 1 {
		addr = lines[1]
	}
	return pid, addr, nil
}

// LockServing makes this process the one that serves a data folder, until it
// calls release or ends. The error names the process that does already.
func LockServing(data string) (release func() error, err error) {
	path := filepath.Join(data, "serve.lock")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		defer f.Close()
		pid, _ := os.ReadFile(path) // who cannot be read is not named
		return nil, fmt.Errorf("process %s serves the data folder %s already", strings.TrimSpace(string(pid)), data)
	}
	if err := f.Truncate(0); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if _, err := f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f.Close, nil
}

// Release gives the claim up.
func (c *Claim) Release() error {
	return errors.Join(os.Remove(c.file.Name()), c.file.Close())
}

// Alive tells whether the engine process of an owner still lives.
func Alive(data, owner string) bool {
	f, err := os.Open(claimPath(data, owner))
	if err != nil {
		return false
	}
	defer f.Close()
	// A lock that can be had is one that nobody holds.
	return syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) != nil
}

func claimPath(data, owner string) string { return filepath.Join(data, "engines", owner+".lock") }
