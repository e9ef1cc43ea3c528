package sqlite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/store"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// began and ended are the records of a task at the start and at the end of its
// first attempt.
func began(index int) (store.Task, store.Attempt) {
	id := fmt.Sprintf("load-%03d", index)
	return store.Task{RunID: "r", Index: index, Instance: -1, ID: id, State: machine.Running, Attempts: 1, StartedAt: noon},
		store.Attempt{RunID: "r", Index: index, Instance: -1, Number: 1, State: machine.Running, Log: "logs/r/" + id + ".1.log", StartedAt: noon}
}

func ended(index int) (store.Task, store.Attempt) {
	t, a := began(index)
	code := 0
	t.State, t.ExitCode, t.FinishedAt = machine.Succeeded, &code, noon.Add(time.Second)
	a.State, a.ExitCode, a.FinishedAt = machine.Succeeded, &code, noon.Add(time.Second)
	return t, a
}

func write(t *testing.T, s *Store, b *store.Batch) {
	t.Helper()
	if err := s.Commit(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

func value(t *testing.T, s *Store, query string) (n int) {
	t.Helper()
	if err := s.reads.QueryRow(query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// What the first attempt costs is held in counts: no row of its own, and no page more
// at its end than at its start.
func TestAFirstAttemptHasNoRowOfItsOwnAndMakesNoPageMoreWhenItEnds(t *testing.T) {
	const n = 500
	s := opened(t)
	write(t, s, &store.Batch{Create: []store.Run{{ID: "r", Workflow: "w", State: machine.RunRunning}}})
	pages := map[string]int{}
	for _, part := range []struct {
		name string
		rows func(int) (store.Task, store.Attempt)
	}{{"start", began}, {"end", ended}} {
		for i := range n {
			task, attempt := part.rows(i)
			write(t, s, &store.Batch{Tasks: []store.Task{task}, Attempts: []store.Attempt{attempt}})
		}
		pages[part.name] = value(t, s, "PRAGMA page_count")
	}
	if got := value(t, s, "SELECT count(*) FROM attempts"); got != 0 {
		t.Errorf("%d rows of attempts, expected none", got)
	}
	if pages["end"] != pages["start"] {
		t.Errorf("%d pages at the start of the attempts and %d at their end", pages["start"], pages["end"])
	}
	attempts, err := s.Attempts(t.Context(), "r")
	if err != nil || len(attempts) != n {
		t.Fatalf("%d attempts (%v), expected %d", len(attempts), err, n)
	}
	if _, want := ended(7); !reflect.DeepEqual(attempts[7], want) {
		t.Errorf("an attempt is %+v, expected %+v", attempts[7], want)
	}
}

// atVersion4 makes a database as an ax wrote it that kept each attempt in a row of
// its own: one run, one task, whose attempt is going on.
func atVersion4(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "ax.db")
	c, err := connect(dsn(path, "mode", "rwc"))
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= 4; n++ {
		text, err := migration(n)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.exec(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	for _, text := range []string{
		fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = 4", applicationID),
		`INSERT INTO runs (n, id, workflow, file, version, state, reason, error, "trigger", key, priority, grp, group_max, owner)
			VALUES (1, 'r', 'w', '', '', 'running', '', '', 'manual', '', 0, '', 0, '')`,
		`INSERT INTO tasks (run, idx, instance, id, state, reason, attempts, error) VALUES (1, 0, -1, 'load-000', 'running', '', 1, '')`,
		`INSERT INTO attempts (run, idx, instance, number, state, reason, error, log) VALUES (1, 0, -1, 1, 'running', '', '', 'old.log')`,
	} {
		if err := c.exec(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// logs reads the logs of the attempts in two ways.
func logs(t *testing.T, s *Store) (all [2][]string) {
	t.Helper()
	whole, err1 := s.Attempts(context.Background(), "r")
	at, err2 := s.AttemptsAt(context.Background(), "r", []store.Place{{Index: 0, Instance: -1}})
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	for i, attempts := range [][]store.Attempt{whole, at} {
		for _, a := range attempts {
			all[i] = append(all[i], fmt.Sprintf("%d %s %s", a.Number, a.State, a.Log))
		}
	}
	return all
}

func TestAttemptsOfAnOlderDatabaseAreReadAndGoneOnWith(t *testing.T) {
	path := atVersion4(t)
	same := func(s *Store, want ...string) {
		t.Helper()
		if got := logs(t, s); !reflect.DeepEqual(got, [2][]string{want, want}) {
			t.Errorf("the attempts are %q, expected %q", got, want)
		}
	}
	r, err := OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	same(r, "1 running old.log")

	objection := errors.New("somebody has it open")
	if _, err := Open(path, Options{MayMigrate: func() error { return objection }}); !errors.Is(err, objection) {
		t.Fatalf("it is brought up to date in spite of an objection: %v", err)
	}
	s, err := Open(path, Options{MayMigrate: func() error { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	same(s, "1 running old.log")
	task, attempt := ended(0)
	attempt.Log = "new.log"
	write(t, s, &store.Batch{Tasks: []store.Task{task}, Attempts: []store.Attempt{attempt}})
	same(s, "1 succeeded new.log")
	same(r, "1 succeeded new.log") // who has it open sees that it was brought up to date
	second := attempt
	second.Number, second.Log, task.Attempts = 2, "second.log", 2
	write(t, s, &store.Batch{Tasks: []store.Task{task}, Attempts: []store.Attempt{second}})
	same(s, "1 succeeded new.log", "2 succeeded second.log")
	attempt.Log = "alone.log" // without its task
	write(t, s, &store.Batch{Attempts: []store.Attempt{attempt}})
	same(s, "1 succeeded alone.log", "2 succeeded second.log")
	attempt.Log = "\xff" // not to be told in JSON
	write(t, s, &store.Batch{Tasks: []store.Task{task}, Attempts: []store.Attempt{attempt}})
	same(s, "1 succeeded \xff", "2 succeeded second.log")
	write(t, s, &store.Batch{Remove: []string{"r"}})
	same(s)
}
