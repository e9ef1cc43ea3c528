package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	modernc "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/ax-scheduler/ax/store"
)

var errClosed = errors.New("the store is closed")

// code gives SQLite's extended result code, 0 if the error is of another kind.
func code(err error) int {
	if e, ok := errors.AsType[*modernc.Error](err); ok {
		return e.Code()
	}
	return 0
}

// primary gives SQLite's result code without what extends it.
func primary(err error) int { return code(err) & 0xff }

// busy tells whether another process is in the way, for now.
func busy(err error) bool { return primary(err) == lib.SQLITE_BUSY }

// patient does something again and again while another process is in the way,
// until the context ends, with growing pauses.
func patient(ctx context.Context, do func() error) error {
	for pause := shortPause; ; pause = longer(pause) {
		err := do()
		if !busy(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
	}
}

const shortPause = time.Millisecond

func longer(pause time.Duration) time.Duration { return min(2*pause, 50*time.Millisecond) }

// damage tells whether SQLite found the file to be damaged or none of its own.
func damage(err error) bool {
	c := primary(err)
	return c == lib.SQLITE_CORRUPT || c == lib.SQLITE_NOTADB
}

var remedies = map[error]string{
	store.ErrFull:     "free some space",
	store.ErrReadOnly: "see to the permissions of the file and its folder, and that the file system is not mounted read-only",
	store.ErrDamaged:  "restore it from a backup, or move it away to begin with an empty one",
	store.ErrForeign:  "name another file or data folder",
	store.ErrNewer:    "use the version of ax that wrote it, or a later one",
}

// explain says which file an error is about, of which kind of package store it
// is, and what to do.
func explain(path string, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	kind := kindOf(path, err)
	switch {
	case kind != nil && errors.Is(err, kind):
		return fmt.Errorf("database %q: %w; %s", path, err, remedies[kind])
	case kind != nil:
		return fmt.Errorf("database %q: %w (%w); %s", path, kind, err, remedies[kind])
	case busy(err):
		return fmt.Errorf("database %q: another process has locked it (%w)", path, err)
	}
	return fmt.Errorf("database %q: %w", path, err)
}

// kindOf gives the error of package store that an error stands for, or nil.
func kindOf(path string, err error) error {
	for kind := range remedies {
		if errors.Is(err, kind) {
			return kind
		}
	}
	switch primary(err) {
	case lib.SQLITE_FULL:
		return store.ErrFull
	case lib.SQLITE_READONLY, lib.SQLITE_PERM:
		return store.ErrReadOnly
	case lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB:
		return store.ErrDamaged
	case lib.SQLITE_IOERR, lib.SQLITE_CANTOPEN:
		return system(probe(filepath.Dir(path)))
	}
	return system(err)
}

// probe does what SQLite could not do, since SQLite does not say why: it writes
// a small file and removes it.
func probe(dir string) error {
	f, err := os.CreateTemp(dir, ".ax-probe-*")
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, 64<<10))
	return errors.Join(err, f.Sync(), f.Close(), os.Remove(f.Name()))
}

// system sorts the errors of the operating system.
func system(err error) error {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EFBIG):
		return store.ErrFull
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return store.ErrReadOnly
	}
	return nil
}
