package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	modernc "modernc.org/sqlite"

	"github.com/ax-scheduler/ax/store"
	"github.com/ax-scheduler/ax/store/sqlite"
)

func TestOpenSaysThatAFolderCannotBeWritten(t *testing.T) {
	for name, fill := range map[string]func(dir string){
		"without a database": func(string) {},
		"with a database":    func(dir string) { used(t, filepath.Join(dir, "ax.db")) },
		"with a live copy":   func(dir string) { left(t, dir, "", "-wal", "-shm") },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(readOnly(t, fill), "ax.db")
			_, err := sqlite.Open(path, sqlite.Options{})
			refused(t, err, store.ErrReadOnly, path, "see to the permissions of the file and its folder")
		})
	}
	t.Run("in which the data folder is to be made", func(t *testing.T) {
		path := filepath.Join(readOnly(t, func(string) {}), "new", "ax.db")
		_, err := sqlite.Open(path, sqlite.Options{})
		refused(t, err, store.ErrReadOnly, path, "see to the permissions of the file and its folder")
	})
}

func TestReaderReadsOnAReadOnlyFileSystem(t *testing.T) {
	for name, fill := range map[string]func(dir string){
		"a database":                         func(dir string) { used(t, filepath.Join(dir, "ax.db")) },
		"a database with its log and index":  func(dir string) { left(t, dir, "", "-wal", "-shm") },
		"a database with an empty log":       func(dir string) { used(t, filepath.Join(dir, "ax.db")); write(t, filepath.Join(dir, "ax.db-wal"), "") },
		"a database with the index of a log": func(dir string) { used(t, filepath.Join(dir, "ax.db")); write(t, filepath.Join(dir, "ax.db-shm"), "") },
	} {
		t.Run(name, func(t *testing.T) {
			dir := readOnly(t, fill)
			before := files(t, dir)
			s, err := sqlite.OpenReader(filepath.Join(dir, "ax.db"))
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if _, err := s.Run(context.Background(), "r0"); err != nil {
				t.Error(err)
			}
			if !maps.Equal(files(t, dir), before) {
				t.Error("the folder is not as it was")
			}
		})
	}
}

func TestADatabaseThatCannotBeWrittenCanBeBackedUp(t *testing.T) {
	dir := readOnly(t, func(dir string) { used(t, filepath.Join(dir, "ax.db")) })
	before := files(t, dir)
	path, to := filepath.Join(dir, "ax.db"), filepath.Join(t.TempDir(), "copy.db")
	if err := sqlite.Backup(t.Context(), path, to); err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(files(t, dir), before) {
		t.Error("the folder is not as it was")
	}
	if _, err := open(t, to, sqlite.Options{}).Run(t.Context(), "r0"); err != nil {
		t.Error(err)
	}
	path = filepath.Join(readOnly(t, func(dir string) { left(t, dir, "", "-wal") }), "ax.db")
	refused(t, sqlite.Backup(t.Context(), path, to+"2"), store.ErrReadOnly, path, "see to the permissions of the file and its folder")
}

func TestReaderDoesNotPassOverALogThatItCannotRead(t *testing.T) {
	path := filepath.Join(readOnly(t, func(dir string) { left(t, dir, "", "-wal") }), "ax.db")
	_, err := sqlite.OpenReader(path)
	refused(t, err, store.ErrReadOnly, path, "its last changes stand in a log beside it")
}

func TestCommitsAreConfirmedWithoutTheTimeOfTheFile(t *testing.T) {
	open(t, filepath.Join(t.TempDir(), "ax.db"), sqlite.Options{})
	if !modernc.FdatasyncEnabled() {
		t.Error("SQLite uses fsync")
	}
}

func TestAFullDiskLosesNothingAndIsOverWhenThereIsRoom(t *testing.T) {
	dir := mount(t, "4m")
	path, filler := filepath.Join(dir, "ax.db"), filepath.Join(dir, "filler")
	write(t, filler, strings.Repeat(".", 2<<20))
	s := open(t, path, sqlite.Options{})
	create(t, s, "r0")
	append := func(have int) error {
		return s.Commit(context.Background(), &store.Batch{Append: []store.Appended{{RunID: "r0", Have: have, Data: [][]byte{make([]byte, 50_000)}}}})
	}
	have := 2
	for ; have < 200; have++ {
		if err := append(have); err != nil {
			refused(t, err, store.ErrFull, path, "free some space")
			break
		}
	}
	if have == 200 {
		t.Fatal("the disk does not become full")
	}
	refused(t, append(have), store.ErrFull, path, "free some space")
	if events, err := s.Events(context.Background(), "r0"); err != nil || len(events) != have {
		t.Errorf("%d events and the error %v, expected %d events", len(events), err, have)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		if err := append(have); err != nil {
			t.Fatal(err)
		}
		have++
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	s = open(t, path, sqlite.Options{})
	if events, err := s.Events(context.Background(), "r0"); err != nil || len(events) != have {
		t.Errorf("%d events and the error %v, expected %d events", len(events), err, have)
	}
}

func TestOpenSaysThatTheDiskIsFull(t *testing.T) {
	dir := mount(t, "64k")
	fillUp(t, filepath.Join(dir, "filler"))
	path := filepath.Join(dir, "ax.db")
	_, err := sqlite.Open(path, sqlite.Options{})
	refused(t, err, store.ErrFull, path, "free some space")
}

func fillUp(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
}

// left leaves a database in a folder as a crash would.
func left(t *testing.T, dir string, exts ...string) {
	t.Helper()
	from := filepath.Join(t.TempDir(), "ax.db")
	s := open(t, from, sqlite.Options{})
	create(t, s, "r0")
	duplicate(t, from, filepath.Join(dir, "ax.db"), exts...)
}

// Closing any descriptor of a file drops all locks that the process has on it.
func TestASecondStoreOnAFileDropsNoLockOfTheFirst(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ax.db")
	s := open(t, path, sqlite.Options{})
	create(t, s, "r0")
	before := locks(t, path)
	if before == 0 {
		t.Fatal("the store holds no lock on the file")
	}
	for _, open := range []func() (*sqlite.Store, error){
		func() (*sqlite.Store, error) { return sqlite.Open(path, sqlite.Options{}) },
		func() (*sqlite.Store, error) { return sqlite.OpenReader(path) },
	} {
		second, err := open()
		if err != nil {
			t.Fatal(err)
		}
		if err := second.Close(); err != nil {
			t.Error(err)
		}
		if after := locks(t, path); after != before {
			t.Errorf("the store holds %d locks on the file, before it held %d", after, before)
		}
	}
}

// locks counts the locks that this process holds on a file.
func locks(t *testing.T, path string) int {
	t.Helper()
	fi, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	all, err := os.ReadFile("/proc/locks")
	if err != nil {
		t.Skipf("the locks of the system cannot be read: %v", err)
	}
	n := 0
	for line := range strings.Lines(string(all)) {
		f := strings.Fields(line)
		if len(f) > 5 && f[4] == fmt.Sprint(os.Getpid()) && strings.HasSuffix(f[5], fmt.Sprintf(":%d", fi.Sys().(*syscall.Stat_t).Ino)) {
			n++
		}
	}
	return n
}

// mount puts a file system in memory of a given size on a new folder, or skips
// the test where that is not allowed.
func mount(t *testing.T, size string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("needs a file system of its own, and this user may not mount one: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// readOnly makes a folder read-only and gives the way back: as a file system of
// its own, or, where that is not allowed, by its permissions, which do not hold
// for the superuser.
func readOnly(t *testing.T, fill func(dir string)) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=8m"); err != nil {
		if os.Geteuid() == 0 {
			t.Skipf("the superuser may write everywhere, and mounting failed: %v", err)
		}
		fill(dir)
		if err := os.Chmod(dir, 0o500); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.Chmod(dir, 0o700) })
		return dir
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	fill(dir)
	if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	return dir
}
