package sqlite_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/ax-scheduler/ax/store"
	"github.com/ax-scheduler/ax/store/sqlite"
)

// halfWritten leaves a file, and the journal that takes it back, as a crash
// would that came while a transaction was being written.
func halfWritten(t *testing.T, path, before, within string) {
	t.Helper()
	written(t, path, before, within, "")
}

// written is halfWritten, and after executes something more before the file is
// taken: with COMMIT the crash came when all was written and not yet confirmed.
func written(t *testing.T, path, before, within, after string) {
	t.Helper()
	from := filepath.Join(t.TempDir(), "from.db")
	db := raw(t, from)
	const big = `WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c WHERE x < 500) INSERT INTO t SELECT randomblob(1000) FROM c;`
	for _, text := range []string{before, "PRAGMA cache_size = 1; BEGIN", within, big} {
		if _, err := db.Exec(text); err != nil {
			t.Fatal(err)
		}
	}
	duplicate(t, from, path, "-journal")
	if _, err := db.Exec(after); err != nil {
		t.Fatal(err)
	}
	duplicate(t, from, path, "")
	if size(t, path) == 0 {
		t.Fatal("nothing was written to the file")
	}
}

func TestADatabaseWhoseMakingWasCutOffIsMadeAnew(t *testing.T) {
	for name, c := range map[string]struct{ before, after string }{
		"before its first page":    {"", ""},
		"behind its first page":    {"VACUUM", ""},
		"when it was all but made": {"VACUUM", "COMMIT"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "ax.db")
			written(t, path, c.before, "CREATE TABLE t (a); PRAGMA application_id = 0x61784442; PRAGMA user_version = 1", c.after)
			for range 2 { // the first to look takes back what is half-written
				if _, err := sqlite.OpenReader(path); !errors.Is(err, store.ErrNotFound) {
					t.Errorf("a reader got the error %v, expected %v", err, store.ErrNotFound)
				}
			}
			create(t, open(t, path, sqlite.Options{}), "r1")
		})
	}
}

func TestAHalfWrittenDatabaseOfAnotherProgramIsLeftAsItIs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ax.db")
	halfWritten(t, path, "CREATE TABLE t (a); INSERT INTO t VALUES (1); PRAGMA application_id = 77", "DELETE FROM t;")
	before := files(t, filepath.Dir(path))
	_, err := sqlite.Open(path, sqlite.Options{})
	refused(t, err, store.ErrForeign, path, "name another file")
	if after := files(t, filepath.Dir(path)); after["ax.db"] != before["ax.db"] || after["ax.db-journal"] != before["ax.db-journal"] {
		t.Error("the database or its journal is not as it was")
	}
}

func TestACheckpointThatWasCutOffIsNoDamage(t *testing.T) {
	from, to := filepath.Join(t.TempDir(), "ax.db"), filepath.Join(t.TempDir(), "ax.db")
	s := open(t, from, sqlite.Options{})
	for i := range 300 {
		create(t, s, fmt.Sprint("r", i))
	}
	duplicate(t, from, to, "", "-wal")
	old := files(t, filepath.Dir(to))["ax.db"]
	if _, err := raw(t, from).Exec("PRAGMA wal_checkpoint(PASSIVE)"); err != nil {
		t.Fatal(err)
	}
	done := files(t, filepath.Dir(from))["ax.db"]
	if len(done) <= len(old) {
		t.Fatal("the database has not grown")
	}
	// the first page is written, with the number of pages that there will be
	write(t, to, done[:4096]+old[4096:])
	whole(t, to, []string{"r0", "r299"}, true)
	whole(t, to, []string{"r0", "r299"}, false)
}
