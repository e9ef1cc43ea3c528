package runtime

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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
	if err := MakeData(dir); err != nil {
		return nil, err
	}
	for {
		c := &Claim{Owner: NewID(time.Now())}
		path := claimPath(data, c.Owner)
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o644)
		if err != nil {
			return nil, remedied("claim the data folder", err)
		}
		// Before it was locked it looked like that of a dead engine, which
		// another may have removed.
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil && err != syscall.EWOULDBLOCK {
			return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), f.Close())
		} else if err != nil || !isAt(f, path) {
			_ = os.Remove(path) // if it is there: it is ours alone
			f.Close()
			continue
		}
		if _, err := f.WriteString(strconv.Itoa(os.Getpid()) + "\n"); err != nil {
			return nil, errors.Join(remedied("claim the data folder", err), f.Close())
		}
		c.file = f
		return c, nil
	}
}

// isAt tells whether an open file is the one that has a path.
func isAt(f *os.File, path string) bool {
	ours, err1 := f.Stat()
	there, err2 := os.Stat(path)
	return err1 == nil && err2 == nil && os.SameFile(ours, there)
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

// Engines gives the owners whose engine processes live on a data folder.
func Engines(data string) ([]string, error) {
	owners, err := claims(data)
	return slices.DeleteFunc(owners, func(owner string) bool { return !Alive(data, owner) }), err
}

// claims gives the owners that have claims in a data folder, dead ones too.
func claims(data string) (owners []string, err error) {
	entries, err := os.ReadDir(filepath.Join(data, "engines"))
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	for _, entry := range entries {
		if owner, ok := strings.CutSuffix(entry.Name(), ".lock"); ok {
			owners = append(owners, owner)
		}
	}
	return owners, nil
}

// deadClaims gives the owners whose claims are left though they are dead.
func (e *Engine) deadClaims() (owners []string, err error) {
	owners, err = claims(e.Data)
	return slices.DeleteFunc(owners, func(owner string) bool { return owner == e.Owner || Alive(e.Data, owner) }), err
}

// removeClaim removes the claim of a dead owner, and no other.
func removeClaim(data, owner string) {
	path := claimPath(data, owner)
	f, err := os.Open(path)
	if err != nil {
		return
	}
	defer f.Close()
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil && isAt(f, path) {
		_ = os.Remove(path) // or the next who looks does
	}
}

func claimPath(data, owner string) string { return filepath.Join(data, "engines", owner+".lock") }
