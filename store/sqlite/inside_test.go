package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/store"
)

func opened(t *testing.T) *Store {
	t.Helper()
	s, err := Open(filepath.Join(t.TempDir(), "ax.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestEveryReadGoesByAnIndexAndSortsNothing(t *testing.T) {
	s := opened(t)
	ctx := context.Background()
	for _, workflow := range []string{"", "w"} {
		for _, before := range []string{"", "r"} {
			for n := range 8 {
				f := store.RunFilter{Workflow: workflow, Before: before, Limit: 50}
				for i := range n {
					f.States = append(f.States, machine.RunState(i))
				}
				if _, err := s.Runs(ctx, f); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	_, err1 := s.Resolve(ctx, "r", 2)
	_, err2 := s.Unfinished(ctx, "", store.MaxLimit)
	_, err3 := s.Tasks(ctx, "r")
	_, err4 := s.Attempts(ctx, "r")
	_, err5 := s.Events(ctx, "r")
	_, err6 := s.Ticks(ctx, "w", time.Time{}, time.Time{}, 0)
	_, err7 := s.Scheduled(ctx, 10)
	_, err8 := s.Queued(ctx, "w", 10)
	if err := errors.Join(err1, err2, err3, err4, err5, err6, err7, err8); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		func() error { _, err := s.Run(ctx, "r"); return err }(),
		func() error { _, err := s.RunByKey(ctx, "w", "k"); return err }(),
		func() error { _, err := s.Version(ctx, "v"); return err }(),
	} {
		if !errors.Is(err, store.ErrNotFound) {
			t.Fatal(err)
		}
	}
	queries := 0
	s.queries.Range(func(query, _ any) bool {
		queries++
		for _, step := range plan(t, s, query.(string)) {
			if strings.Contains(step, "TEMP B-TREE") || strings.Contains(step, "SCAN") && !strings.Contains(step, "INDEX") && step != "SCAN CONSTANT ROW" {
				t.Errorf("%s\nin the plan of %s", step, query)
			}
		}
		return true
	})
	if queries < 30 {
		t.Errorf("only %d queries were made", queries)
	}
}

func plan(t *testing.T, s *Store, query string) []string {
	t.Helper()
	args := make([]any, strings.Count(query, "?"))
	rows, err := s.reads.Query("EXPLAIN QUERY PLAN "+query, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var steps []string
	for rows.Next() {
		var id, parent, unused int
		var step string
		if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
			t.Fatal(err)
		}
		steps = append(steps, step)
	}
	return steps
}

func TestANewDatabaseSaysWhatItIs(t *testing.T) {
	for _, sync := range []Synchronous{Full, Normal} {
		s, err := Open(filepath.Join(t.TempDir(), "ax.db"), Options{Synchronous: sync})
		if err != nil {
			t.Fatal(err)
		}
		for pragma, want := range map[string]any{
			"application_id": int64(0x61784442), "user_version": int64(latest), "auto_vacuum": int64(2), "journal_mode": "wal",
			"synchronous": int64(2 - sync), "busy_timeout": int64(0),
		} {
			if got, err := s.writer.conn.value(context.Background(), "PRAGMA "+pragma); err != nil || got != want {
				t.Errorf("%s is %v (%v), expected %v", pragma, got, err, want)
			}
		}
		var readOnly int
		if err := s.reads.QueryRow("PRAGMA query_only").Scan(&readOnly); err != nil || readOnly != 1 {
			t.Errorf("query_only of a reader is %d (%v)", readOnly, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestMigrationsAreThereOneForEachVersion(t *testing.T) {
	entries, err := migrations.ReadDir("migrations")
	if err != nil || len(entries) != latest {
		t.Fatalf("%d migrations (%v), expected %d", len(entries), err, latest)
	}
	for n := 1; n <= latest; n++ {
		if _, err := migration(n); err != nil {
			t.Error(err)
		}
	}
	if _, err := migration(latest + 1); err == nil {
		t.Error("a migration that is not there gave no error")
	}
}

// Each older version, made by its own migrations, is brought up to date, and
// has then the schema of a new database.
func TestEveryOlderVersionIsBroughtUpToDate(t *testing.T) {
	want := schema(t, opened(t))
	for version := range latest {
		path := filepath.Join(t.TempDir(), "ax.db")
		c, err := connect(dsn(path, "mode", "rwc"))
		if err != nil {
			t.Fatal(err)
		}
		for n := 1; n <= version; n++ {
			text, err := migration(n)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.exec(t.Context(), text); err != nil {
				t.Fatal(err)
			}
		}
		if version > 0 {
			if err := c.exec(t.Context(), fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, version)); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		s, err := Open(path, Options{})
		if err != nil {
			t.Fatalf("version %d: %v", version, err)
		}
		if got := schema(t, s); got != want {
			t.Errorf("version %d became\n%s\nexpected\n%s", version, got, want)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func schema(t *testing.T, s *Store) string {
	t.Helper()
	rows, err := s.reads.Query("SELECT coalesce(sql, name) FROM sqlite_schema ORDER BY name")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var all strings.Builder
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&all, text)
	}
	return all.String()
}

func TestADatabaseThatMayNotGrowIsFullAndGoesOnWhenItMay(t *testing.T) {
	s := opened(t)
	ctx := context.Background()
	set := func(pages int) {
		t.Helper()
		if err := s.writer.conn.exec(ctx, fmt.Sprint("PRAGMA max_page_count = ", pages)); err != nil {
			t.Fatal(err)
		}
	}
	big := &store.Batch{
		Create: []store.Run{{ID: "r"}},
		Append: []store.Appended{{RunID: "r", Data: [][]byte{make([]byte, 1<<20)}}},
	}
	set(100)
	err := s.Commit(ctx, big)
	if !errors.Is(err, store.ErrFull) || !strings.Contains(err.Error(), s.path) {
		t.Fatalf("commit gave the error %v, expected %v", err, store.ErrFull)
	}
	if _, err := s.Run(ctx, "r"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the run of the batch that failed gave the error %v", err)
	}
	set(1 << 20)
	if err := s.Commit(ctx, big); err != nil {
		t.Error(err)
	}
}

func TestABatchThatFindsNoRoomDoesNotSpoilThoseWrittenBesideIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := opened(t)
		ctx := context.Background()
		if err := s.writer.conn.exec(ctx, "PRAGMA max_page_count = 100"); err != nil {
			t.Fatal(err)
		}
		other, err := connect(dsn(s.path))
		if err != nil {
			t.Fatal(err)
		}
		if err := other.exec(ctx, "BEGIN IMMEDIATE"); err != nil {
			t.Fatal(err)
		}
		answers := make(chan error)
		for i := range 9 {
			size := 10
			if i == 4 {
				size = 1 << 20
			}
			id := fmt.Sprint("r", i)
			b := &store.Batch{Create: []store.Run{{ID: id}}, Append: []store.Appended{{RunID: id, Data: [][]byte{make([]byte, size)}}}}
			go func() {
				err := s.Commit(ctx, b)
				if want := map[bool]error{true: store.ErrFull}[i == 4]; !errors.Is(err, want) {
					err = fmt.Errorf("batch %d gave the error %v, expected %v", i, err, want)
				} else {
					err = nil
				}
				answers <- err
			}()
		}
		time.Sleep(time.Second)
		if err := other.Close(); err != nil {
			t.Fatal(err)
		}
		for range 9 {
			if err := <-answers; err != nil {
				t.Error(err)
			}
		}
		if runs, err := s.Scheduled(ctx, store.MaxLimit); err != nil || len(runs) != 8 {
			t.Errorf("%d runs (%v), expected 8", len(runs), err)
		}
	})
}

func TestAReadEndsWithItsContextOrWhenItTakesTooLong(t *testing.T) {
	s := opened(t)
	const endless = "WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT max(x) FROM c"
	scan := func(n *int) []any { return []any{n} }
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	if _, err := read(ctx, s, endless, scan); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a read whose context ends gave the error %v, expected %v", err, context.DeadlineExceeded)
	}
	s.limit = time.Millisecond
	if _, err := read(context.Background(), s, endless, scan); !errors.Is(err, errSlow) || !strings.Contains(err.Error(), s.path) {
		t.Errorf("a read that takes too long gave the error %v, expected %v", err, errSlow)
	}
	s.limit = defaultReadLimit
	for range 2 * readConns {
		if _, err := s.Unfinished(context.Background(), "", store.MaxLimit); err != nil {
			t.Errorf("a later read gave the error %v", err)
		}
	}
}

func TestWhatCannotBeReadIsDamage(t *testing.T) {
	ctx := context.Background()
	for spoil, read := range map[string]func(s *Store) error{
		"UPDATE runs SET state = 'asleep'":   func(s *Store) error { _, err := s.Run(ctx, "r"); return err },
		"UPDATE runs SET params = '{'":       func(s *Store) error { _, err := s.Run(ctx, "r"); return err },
		"UPDATE runs SET only = '{}'":        func(s *Store) error { _, err := s.Scheduled(ctx, 1); return err },
		"UPDATE tasks SET state = 'asleep'":  func(s *Store) error { _, err := s.Tasks(ctx, "r"); return err },
		"UPDATE attempts SET warnings = '7'": func(s *Store) error { _, err := s.Attempts(ctx, "r"); return err },
		"UPDATE events SET data = x'05aa'":   func(s *Store) error { _, err := s.Events(ctx, "r"); return err },
		"UPDATE events SET data = x'ff'":     func(s *Store) error { _, err := s.Events(ctx, "r"); return err },
		"UPDATE events SET last = 5":         func(s *Store) error { _, err := s.Events(ctx, "r"); return err },
		"UPDATE versions SET tasks = '[1'":   func(s *Store) error { _, err := s.Version(ctx, "v"); return err },
	} {
		s := opened(t)
		err := s.Commit(ctx, &store.Batch{
			Versions: []store.Version{{Hash: "v"}}, Create: []store.Run{{ID: "r"}}, Append: []store.Appended{{RunID: "r", Data: [][]byte{{1}}}},
			Tasks: []store.Task{{RunID: "r"}}, Attempts: []store.Attempt{{RunID: "r"}}, Ticks: []store.Tick{{}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.writer.conn.exec(ctx, spoil); err != nil {
			t.Fatal(err)
		}
		if err := read(s); !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), s.path) {
			t.Errorf("after %s the error is %v, expected %v", spoil, err, store.ErrDamaged)
		}
	}
}

func TestAPageThatTurnsBadIsDamage(t *testing.T) {
	s := opened(t)
	ctx := context.Background()
	b := new(store.Batch)
	for i := range 100 {
		b.Create = append(b.Create, store.Run{ID: fmt.Sprintf("r%05d", i), Error: strings.Repeat("x", 200)})
	}
	if err := errors.Join(s.Commit(ctx, b), s.writer.conn.exec(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(s.path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fi, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteAt(make([]byte, fi.Size()-4096), 4096)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Unfinished(ctx, "", store.MaxLimit); !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), s.path) {
		t.Errorf("a read gave the error %v, expected %v", err, store.ErrDamaged)
	}
}

func TestALongReadDoesNotMakeTheLogGrowForGood(t *testing.T) {
	s := opened(t)
	s.writer.maxLog, s.writer.log = 1<<20, 1<<20
	ctx := context.Background()
	if err := s.Commit(ctx, &store.Batch{Create: []store.Run{{ID: "r"}}}); err != nil {
		t.Fatal(err)
	}
	n := 0
	grow := func() int64 {
		t.Helper()
		b := &store.Batch{Append: []store.Appended{{RunID: "r", Have: n, Data: [][]byte{make([]byte, 100<<10)}}}}
		if err := s.Commit(ctx, b); err != nil {
			t.Fatal(err)
		}
		n++
		fi, err := os.Stat(s.path + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		return fi.Size()
	}
	reading, err := s.reads.Begin()
	if err != nil {
		t.Fatal(err)
	}
	var runs int
	if err := reading.QueryRow("SELECT count(*) FROM runs").Scan(&runs); err != nil {
		t.Fatal(err)
	}
	for grow() < 3<<20 {
		if n > 100 {
			t.Fatal("the log does not grow")
		}
	}
	if err := reading.Rollback(); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if grow() < 1<<20 {
			return
		}
	}
	t.Error("the log is as large as before after the read has ended")
}
