package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/ax-scheduler/ax/store"
)

func TestABackupIsOneMomentOfADatabaseThatIsBeingWritten(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	path := filepath.Join(dir, "ax.db")
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	stop, stopped := make(chan struct{}), make(chan error, 1)
	first := make(chan struct{})
	go func() {
		for i := 0; ; i++ {
			id := fmt.Sprintf("r%06d", i)
			b := &store.Batch{Create: []store.Run{{ID: id}}, Append: []store.Appended{{RunID: id, Data: [][]byte{{1}}}}}
			if err := s.Commit(ctx, b); err != nil {
				stopped <- err
				return
			}
			if i == 100 {
				close(first)
			}
			select {
			case <-stop:
				stopped <- nil
				return
			default:
			}
		}
	}()
	<-first
	to := filepath.Join(dir, "it's a copy.db")
	if err := Backup(ctx, path, to); err != nil {
		t.Error(err)
	}
	close(stop)
	if err := errors.Join(<-stopped, s.Close()); err != nil {
		t.Fatal(err)
	}
	if err := Backup(ctx, path, to); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second backup into the same file gave %v", err)
	}
	if err := Check(ctx, to); err != nil {
		t.Error(err)
	}
	copied, err := Open(to, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer copied.Close()
	n := 0
	for before := ""; ; {
		runs, err := copied.Runs(ctx, store.RunFilter{Limit: store.MaxLimit, Before: before})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range runs {
			if before = r.ID; r.Events != 1 {
				t.Fatalf("run %s has %d events", r.ID, r.Events)
			}
		}
		if n += len(runs); len(runs) < store.MaxLimit {
			break
		}
	}
	if n < 101 {
		t.Errorf("the backup has %d runs, and there were 101 before", n)
	}
	left, err := filepath.Glob(filepath.Join(dir, ".ax-backup-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("it left %q, %v", left, err)
	}
}

func TestABackupOfWhatIsNoDatabaseOfAxIsRefused(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	foreign := filepath.Join(dir, "foreign.db")
	if err := os.WriteFile(foreign, []byte("not a database at all, but long enough to look like one"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]error{foreign: store.ErrDamaged, filepath.Join(dir, "none.db"): store.ErrNotFound} {
		if err := Backup(ctx, path, filepath.Join(dir, "copy.db")); !errors.Is(err, want) {
			t.Errorf("backup of %s gave %v, want %v", path, err, want)
		}
		if _, err := os.Lstat(filepath.Join(dir, "copy.db")); err == nil {
			t.Error("a refused backup left a file")
		}
	}
	if err := Check(ctx, foreign); !errors.Is(err, store.ErrDamaged) {
		t.Errorf("the check gave %v", err)
	}
}

// What was killed leaves its last changes in a log beside the database.
func TestABackupInThePlaceOfADatabaseWhoseEngineWasKilledIsAsItWasMade(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	path, backup := filepath.Join(dir, "ax.db"), filepath.Join(dir, "backup.db")
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	add := func(from, to int) {
		for i := from; i < to; i++ {
			if err := s.Commit(ctx, &store.Batch{Create: []store.Run{{ID: fmt.Sprintf("r%06d", i), Workflow: "w"}}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	add(0, 3)
	if err := Backup(ctx, path, backup); err != nil {
		t.Fatal(err)
	}
	add(3, 100)
	count := func(s *Store, err error) int {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		runs, err := s.Runs(ctx, store.RunFilter{Limit: store.MaxLimit})
		if err != nil {
			t.Fatal(err)
		}
		return len(runs)
	}
	killed := func() string {
		at := t.TempDir()
		for _, name := range []string{"ax.db", "ax.db-wal", "ax.db-shm"} {
			copyFile(t, filepath.Join(dir, name), filepath.Join(at, name))
		}
		return filepath.Join(at, "ax.db")
	}
	if n := count(Open(killed(), Options{})); n != 100 { // it is needed, and nothing is put aside
		t.Errorf("after the kill there are %d runs", n)
	}
	for name, look := range map[string]func(at string) int{
		"for writing": func(at string) int { return count(Open(at, Options{})) },
		"for reading": func(at string) int { return count(OpenReader(at)) },
		"by a check": func(at string) int {
			if err := Check(ctx, at); err != nil {
				t.Error(err)
			}
			return count(OpenReader(at))
		},
	} {
		at := killed()
		copyFile(t, backup, at)
		if n := look(at); n != 3 {
			t.Errorf("opened %s the backup of 3 runs has %d", name, n)
		}
		aside, err := filepath.Glob(at + "-wal.2*")
		if err != nil || len(aside) != 1 {
			t.Errorf("opened %s: put aside are %v, %v", name, aside, err)
		}
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
