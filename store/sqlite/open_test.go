package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ax-scheduler/ax/store"
	"github.com/ax-scheduler/ax/store/sqlite"
)

func TestOpenRefusesWhatIsNoSoundDatabaseOfItsOwnAndLeavesItAsItIs(t *testing.T) {
	for name, c := range map[string]struct {
		spoil  func(t *testing.T, path string)
		want   error
		remedy string
		reader bool // refuses it too
	}{
		"garbage over the schema": {func(t *testing.T, path string) { overwrite(t, path, 100, garbage(4000)) }, store.ErrDamaged, "restore it from a backup", true},
		"garbage over the header": {func(t *testing.T, path string) { overwrite(t, path, 0, garbage(100)) }, store.ErrDamaged, "restore it from a backup", true},
		"garbage over a table":    {func(t *testing.T, path string) { overwrite(t, path, size(t, path)-8192, garbage(4000)) }, store.ErrDamaged, "restore it from a backup", false},
		"cut off in the middle":   {func(t *testing.T, path string) { truncate(t, path, size(t, path)/2+100) }, store.ErrDamaged, "restore it from a backup", true},
		"cut off within a page":   {func(t *testing.T, path string) { truncate(t, path, 700) }, store.ErrDamaged, "restore it from a backup", true},
		"a text":                  {func(t *testing.T, path string) { write(t, path, strings.Repeat("not a database ", 40)) }, store.ErrDamaged, "restore it from a backup", true},
		"two letters":             {func(t *testing.T, path string) { write(t, path, "ax") }, store.ErrDamaged, "restore it from a backup", true},
		"one letter":              {func(t *testing.T, path string) { write(t, path, "?") }, store.ErrDamaged, "restore it from a backup", true},
		"no version":              {alter("PRAGMA user_version = 0"), store.ErrDamaged, "restore it from a backup", true},
		"tables of another program": {anew("CREATE TABLE t (a); INSERT INTO t VALUES (1)"), store.ErrForeign,
			"name another file", true},
		"tables of another program in WAL mode": {anew("PRAGMA journal_mode = WAL; CREATE TABLE t (a)"), store.ErrForeign,
			"name another file", true},
		"another application id":       {alter("PRAGMA application_id = 252006673"), store.ErrForeign, "name another file", true},
		"a version without our id":     {anew("PRAGMA user_version = 7"), store.ErrForeign, "name another file", true},
		"a newer version":              {alter("PRAGMA user_version = 99"), store.ErrNewer, "use the version of ax that wrote it", true},
		"a newer version with a table": {alter("CREATE TABLE later (a); PRAGMA user_version = 98"), store.ErrNewer, "use the version of ax that wrote it", true},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "ax.db")
			used(t, path)
			c.spoil(t, path)
			before := files(t, filepath.Dir(path))
			_, err := sqlite.Open(path, sqlite.Options{})
			refused(t, err, c.want, path, c.remedy)
			if c.reader {
				_, err = sqlite.OpenReader(path)
				refused(t, err, c.want, path, c.remedy)
			}
			if !maps.Equal(files(t, filepath.Dir(path)), before) {
				t.Error("the folder is not as it was")
			}
		})
	}
}

func TestOpenRefusesADatabaseThatItsLogMakesNewer(t *testing.T) {
	from, to := filepath.Join(t.TempDir(), "ax.db"), filepath.Join(t.TempDir(), "ax.db")
	used(t, from)
	db := raw(t, from)
	if _, err := db.Exec("PRAGMA user_version = 99"); err != nil {
		t.Fatal(err)
	}
	duplicate(t, from, to, "", "-wal")
	before := files(t, filepath.Dir(to))
	_, err := sqlite.Open(to, sqlite.Options{})
	refused(t, err, store.ErrNewer, to, "use the version of ax that wrote it")
	_, err = sqlite.OpenReader(to)
	refused(t, err, store.ErrNewer, to, "use the version of ax that wrote it")
	after := files(t, filepath.Dir(to))
	delete(after, "ax.db-shm")
	if !maps.Equal(after, before) {
		t.Error("the database or its log is not as it was")
	}
}

func TestOpenRecoversALogThatWasLeftBehind(t *testing.T) {
	for name, exts := range map[string][]string{"with its index": {"", "-wal", "-shm"}, "without its index": {"", "-wal"}} {
		t.Run(name, func(t *testing.T) {
			from, to := filepath.Join(t.TempDir(), "ax.db"), filepath.Join(t.TempDir(), "ax.db")
			s := open(t, from, sqlite.Options{})
			create(t, s, "r1")
			duplicate(t, from, to, exts...)
			for _, open := range []func() (*sqlite.Store, error){
				func() (*sqlite.Store, error) { return sqlite.OpenReader(to) },
				func() (*sqlite.Store, error) { return sqlite.Open(to, sqlite.Options{}) },
			} {
				s, err := open()
				if err != nil {
					t.Fatal(err)
				}
				if _, err := s.Run(context.Background(), "r1"); err != nil {
					t.Error(err)
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestOpenMakesADatabaseWhereThereIsNoneYet(t *testing.T) {
	for name, prepare := range map[string]func(t *testing.T, path string){
		"no folder":                 func(*testing.T, string) {},
		"no file":                   func(t *testing.T, path string) { makeFolder(t, path) },
		"an empty file":             func(t *testing.T, path string) { makeFolder(t, path); write(t, path, "") },
		"a database with no tables": func(t *testing.T, path string) { makeFolder(t, path); anew("VACUUM")(t, path) },
		"a link to where nothing is": func(t *testing.T, path string) {
			makeFolder(t, path)
			link(t, filepath.Join(t.TempDir(), "x.db"), path)
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "new", "a b?c#d%41é&mode=ro.db")
			prepare(t, path)
			for range 2 {
				s, err := sqlite.Open(path, sqlite.Options{})
				if err != nil {
					t.Fatal(err)
				}
				runs, err := s.Runs(context.Background(), store.RunFilter{Limit: 9})
				if err != nil {
					t.Error(err)
				}
				create(t, s, "r"+string(rune('1'+len(runs))))
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}
			s, err := sqlite.OpenReader(path)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if runs, err := s.Runs(context.Background(), store.RunFilter{Limit: 9}); err != nil || len(runs) != 2 {
				t.Errorf("%d runs and the error %v, expected 2", len(runs), err)
			}
		})
	}
}

func TestOpenMakesTheFolderForItsOwnerOnly(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	open(t, filepath.Join(dir, "ax.db"), sqlite.Options{})
	if fi, err := os.Stat(dir); err != nil || fi.Mode().Perm() != 0o700 {
		t.Errorf("the folder has the mode %v (%v), expected 0700", fi.Mode(), err)
	}
}

func TestOpenSaysWhatIsInTheWay(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	write(t, file, "")
	if _, err := sqlite.Open(dir, sqlite.Options{}); !errors.Is(err, store.ErrForeign) || !strings.Contains(err.Error(), dir) {
		t.Errorf("a folder gave the error %v", err)
	}
	if _, err := sqlite.OpenReader(dir); !errors.Is(err, store.ErrForeign) || !strings.Contains(err.Error(), dir) {
		t.Errorf("a folder gave the reader the error %v", err)
	}
	within := filepath.Join(file, "ax.db")
	if _, err := sqlite.Open(within, sqlite.Options{}); err == nil || !strings.Contains(err.Error(), within) {
		t.Errorf("a folder that is a file gave the error %v", err)
	}
}

func TestCloseLeavesNothingBesideTheDatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ax.db")
	used(t, path)
	if all := files(t, filepath.Dir(path)); len(all) != 1 {
		t.Errorf("the folder has the files %v", all)
	}
	s, err := sqlite.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if all := files(t, filepath.Dir(path)); len(all) != 1 {
		t.Errorf("after a reader the folder has the files %v", all)
	}
}

func TestReaderSeesWhatAWriterBesideItCommits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ax.db")
	w := open(t, path, sqlite.Options{})
	r, err := sqlite.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, id := range []string{"r1", "r2"} {
		create(t, w, id)
		if _, err := r.Run(context.Background(), id); err != nil {
			t.Error(err)
		}
	}
	if err := r.Commit(context.Background(), &store.Batch{}); !errors.Is(err, store.ErrReadOnly) {
		t.Errorf("a reader's commit gave the error %v, expected %v", err, store.ErrReadOnly)
	}
}

func TestReaderFindsNothingWhereNothingIsAndMakesNothing(t *testing.T) {
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty.db")
	write(t, empty, "")
	before := files(t, dir)
	for _, path := range []string{filepath.Join(dir, "ax.db"), filepath.Join(dir, "none", "ax.db"), empty} {
		if _, err := sqlite.OpenReader(path); !errors.Is(err, store.ErrNotFound) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s gave the error %v", path, err)
		}
	}
	if !maps.Equal(files(t, dir), before) {
		t.Error("the folder is not as it was")
	}
}

// used leaves a closed database with something in every table.
func used(t *testing.T, path string) {
	t.Helper()
	s, err := sqlite.Open(path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	create(t, s, "r0")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func create(t *testing.T, s *sqlite.Store, id string) {
	t.Helper()
	if err := s.Commit(context.Background(), small(id)); err != nil {
		t.Fatal(err)
	}
}

func refused(t *testing.T, err, want error, path, remedy string) {
	t.Helper()
	if !errors.Is(err, want) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), remedy) {
		t.Errorf("open gave the error %v\nexpected %q, the path and %q", err, want, remedy)
	}
}

// raw opens a database beside the package, with one connection.
func raw(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	return db
}

func alter(statements string) func(t *testing.T, path string) {
	return func(t *testing.T, path string) {
		t.Helper()
		db := raw(t, path)
		_, err := db.Exec(statements)
		if err := errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
	}
}

func anew(statements string) func(t *testing.T, path string) {
	return func(t *testing.T, path string) {
		t.Helper()
		os.Remove(path)
		alter(statements)(t, path)
	}
}

// duplicate copies a database that is open, as a crash would leave it.
func duplicate(t *testing.T, from, to string, exts ...string) {
	t.Helper()
	for _, ext := range exts {
		b, err := os.ReadFile(from + ext)
		if err != nil {
			t.Fatal(err)
		}
		write(t, to+ext, string(b))
	}
}

func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[e.Name()] = string(b)
	}
	return all
}

func garbage(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*151 + 7)
	}
	return string(b)
}

func overwrite(t *testing.T, path string, at int64, with string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteAt([]byte(with), at)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

func size(t *testing.T, path string) int64 {
	t.Helper()
	fi, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return fi.Size()
}

func truncate(t *testing.T, path string, to int64) {
	t.Helper()
	if err := os.Truncate(path, to); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func makeFolder(t *testing.T, path string) {
	t.Helper()
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, to, path string) {
	t.Helper()
	if err := os.Symlink(to, path); err != nil {
		t.Fatal(err)
	}
}
