package sqlite_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/store"
	"github.com/ax-scheduler/ax/store/sqlite"
)

// The test binary starts itself as a process that writes: this variable then
// holds its name and how many batches each of its goroutines is to write.
const asWriter = "AX_TEST_WRITER"

func TestMain(m *testing.M) {
	if job := os.Getenv(asWriter); job != "" {
		if err := writeMany(job, os.Args[1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// writeMany writes batches from four goroutines and prints the id of each run
// once its batch is committed.
func writeMany(job, path string) error {
	name, count, _ := strings.Cut(job, " ")
	each, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	s, err := sqlite.Open(path, sqlite.Options{})
	if err != nil {
		return err
	}
	var all sync.WaitGroup
	failed := make(chan error, 4)
	for g := range 4 {
		all.Go(func() {
			for i := range each {
				id := fmt.Sprintf("%s.%d.%d", name, g, i)
				if err := s.Commit(context.Background(), small(id)); err != nil {
					failed <- err
					return
				}
				fmt.Println(id)
			}
		})
	}
	all.Wait()
	close(failed)
	if err := <-failed; err != nil {
		return err
	}
	return s.Close()
}

// writer starts a process that writes and gives the ids that it prints.
func writer(t *testing.T, path, name string, each int) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command(os.Args[0], path)
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d", asWriter, name, each))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, bufio.NewScanner(out)
}

func TestWhatWasCommittedIsThereAfterTheProcessWasKilled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ax.db")
	var committed []string
	for round, until := range []int{1, 7, 60, 200, 2, 400} {
		cmd, lines := writer(t, path, fmt.Sprint("round", round), 1<<30)
		for n := 0; lines.Scan(); n++ {
			committed = append(committed, lines.Text())
			if n == until {
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := cmd.Wait(); err == nil {
			t.Fatal("the writer came to an end by itself")
		}
		whole(t, path, committed, round%2 == 0)
	}
}

func TestSeveralProcessesMakeAndWriteOneDatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ax.db")
	var all []string
	var mu sync.Mutex
	var done sync.WaitGroup
	for p := range 3 {
		cmd, lines := writer(t, path, fmt.Sprint("p", p), 25)
		done.Go(func() {
			for lines.Scan() {
				mu.Lock()
				all = append(all, lines.Text())
				mu.Unlock()
			}
			if err := cmd.Wait(); err != nil {
				t.Errorf("writer %d: %v", p, err)
			}
		})
	}
	done.Wait()
	if len(all) != 300 {
		t.Errorf("%d batches were committed, expected 300", len(all))
	}
	whole(t, path, all, false)
}

func TestManyInOneProcessMakeOneDatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ax.db")
	var done sync.WaitGroup
	for i := range 6 {
		done.Go(func() {
			s, err := sqlite.Open(path, sqlite.Options{})
			if err == nil {
				err = s.Commit(context.Background(), small(fmt.Sprint("r", i)))
			}
			if err != nil {
				t.Error(err)
				return
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	done.Wait()
	whole(t, path, []string{"r0", "r1", "r2", "r3", "r4", "r5"}, false)
}

// whole looks whether a database has certain runs, and whether all of its runs
// are there with what was committed in the same batch. The first to look after
// a crash is a reader or a writer.
func whole(t *testing.T, path string, ids []string, reader bool) {
	t.Helper()
	var s *sqlite.Store
	var err error
	if reader {
		s, err = sqlite.OpenReader(path)
	} else {
		s, err = sqlite.Open(path, sqlite.Options{})
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	ctx := context.Background()
	runs, err := s.Unfinished(ctx, "", store.MaxLimit)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, r := range runs {
		found[r.ID] = true
		tasks, err := s.Tasks(ctx, r.ID)
		if err != nil {
			t.Fatal(err)
		}
		attempts, err := s.Attempts(ctx, r.ID)
		if err != nil {
			t.Fatal(err)
		}
		if r.Events != 2 || len(tasks) != 1 || len(attempts) != 1 {
			t.Fatalf("run %s has %d events, %d tasks and %d attempts, expected 2, 1 and 1", r.ID, r.Events, len(tasks), len(attempts))
		}
	}
	for _, id := range ids {
		if !found[id] {
			t.Fatalf("run %s was committed, but is not there", id)
		}
	}
}

// small is a batch with something for most tables.
func small(id string) *store.Batch {
	return &store.Batch{
		Create:   []store.Run{{ID: id, Workflow: "w", State: machine.RunRunning, CreatedAt: began}},
		Append:   []store.Appended{{RunID: id, Data: [][]byte{[]byte("one"), []byte("two")}}},
		Tasks:    []store.Task{{RunID: id, Instance: -1, ID: "t", State: machine.Running}},
		Attempts: []store.Attempt{{RunID: id, Instance: -1, Number: 1, State: machine.Running}},
	}
}
