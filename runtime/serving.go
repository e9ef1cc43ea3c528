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

// Serving is the process that serves a data folder, as it says of itself.
type Serving struct {
	PID   int
	Addr  string // host and port at which it answers HTTP; empty while it starts
	Token string // lets who can read the data folder ask it for everything; empty where it needs none
}

// ServeLock is held by the process that serves a data folder.
type ServeLock struct{ file *os.File }

func servePath(data string) string { return filepath.Join(data, "serve.lock") }

// LockServing makes this process the one that serves a data folder, until it
// releases the lock or ends. The error names the process that does already.
func LockServing(data string) (*ServeLock, error) {
	// A token stands in it: others may not read it.
	f, err := os.OpenFile(servePath(data), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if !tryLock(f) {
		defer f.Close()
		other, _ := readServing(data) // who cannot be read is not named
		return nil, fmt.Errorf("process %d serves the data folder %s already", other.PID, data)
	}
	l := &ServeLock{f}
	if err := l.Announce("", ""); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return l, nil
}

// tryLock tries for a moment: FindServing of another process holds the lock for
// the time of a system call.
func tryLock(f *os.File) bool {
	for range 10 {
		if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			return true
		}
		time.Sleep(10 * time.Millisecond)
	}
	return false
}

// Announce says at which address this process answers HTTP, and to which token.
func (l *ServeLock) Announce(addr, token string) error {
	if err := l.file.Truncate(0); err != nil {
		return err
	}
	_, err := l.file.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"+addr+"\n"+token+"\n"), 0)
	return err
}

// Release lets another process serve the data folder.
func (l *ServeLock) Release() error { return l.file.Close() }

// FindServing tells which process serves a data folder; false where none does.
func FindServing(data string) (Serving, bool) {
	f, err := os.Open(servePath(data))
	if err != nil {
		return Serving{}, false
	}
	defer f.Close()
	// A lock that can be had is one that nobody holds.
	if syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) == nil {
		return Serving{}, false
	}
	s, err := readServing(data)
	return s, err == nil
}

func readServing(data string) (s Serving, err error) {
	text, err := os.ReadFile(servePath(data))
	if err != nil {
		return s, err
	}
	lines := append(strings.Split(string(text), "\n"), "", "")
	if s.PID, err = strconv.Atoi(lines[0]); err != nil {
		return s, fmt.Errorf("%s does not hold a process id", servePath(data))
	}
	s.Addr, s.Token = lines[1], lines[2]
	return s, nil
}
