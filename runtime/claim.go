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

// Holder tells which process holds the claim of an owner.
func Holder(data, owner string) (pid int, err error) {
	text, err := os.ReadFile(claimPath(data, owner))
	if err != nil {
		return 0, err
	}
	if pid, err = strconv.Atoi(strings.TrimSpace(string(text))); err != nil {
		return 0, fmt.Errorf("%s does not hold a process id", claimPath(data, owner))
	}
	return pid, nil
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
