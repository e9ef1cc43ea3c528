package sqlite_test

import (
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/store"
	"github.com/ax-scheduler/ax/store/sqlite"
)

var history = flag.Int("history", 2000, "runs, of ten tasks each, in the database that reads are measured on")

var began = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// fleet is a number of live runs of 20 tasks each that take turns. Each
// transition is an event with the task and the attempt that it changes.
type fleet struct {
	live  []int // transitions of each
	ids   []string
	next  int
	total int
}

func newFleet(n int) *fleet { return &fleet{live: make([]int, n), ids: make([]string, n)} }

func (f *fleet) batch(size int) *store.Batch {
	b := new(store.Batch)
	for range size {
		i := f.next % len(f.live)
		f.next++
		if f.live[i]%40 == 0 {
			f.live[i] = 0
			f.ids[i] = fmt.Sprintf("20260102T030405-%08x", f.total)
			f.total++
			b.Create = append(b.Create, store.Run{ID: f.ids[i], Workflow: "nightly", State: machine.RunRunning, Version: "c0ffee", CreatedAt: began})
		}
		n := f.live[i]
		f.live[i]++
		at := began.Add(time.Duration(n) * time.Second)
		task := store.Task{RunID: f.ids[i], Index: n / 2, Instance: -1, ID: fmt.Sprint("task", n/2), State: machine.Running, Attempts: 1, StartedAt: at}
		attempt := store.Attempt{RunID: f.ids[i], Index: n / 2, Instance: -1, Number: 1, State: machine.Running, StartedAt: at, Log: "logs/20260102/task.1.log"}
		if n%2 == 1 {
			task.State, task.FinishedAt, task.ExitCode = machine.Succeeded, at, new(0)
			attempt.State, attempt.FinishedAt, attempt.ExitCode = machine.Succeeded, at, new(0)
		}
		b.Append = append(b.Append, store.Appended{RunID: f.ids[i], Have: n, Data: [][]byte{make([]byte, 150)}})
		b.Tasks = append(b.Tasks, task)
		b.Attempts = append(b.Attempts, attempt)
	}
	return b
}

func BenchmarkCommit(b *testing.B) {
	for _, size := range []int{1, 10, 100, 1000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			s, f := open(b, filepath.Join(b.TempDir(), "ax.db"), sqlite.Options{}), newFleet(1000)
			for b.Loop() {
				if err := s.Commit(context.Background(), f.batch(size)); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(f.next)/b.Elapsed().Seconds(), "transitions/s")
		})
	}
}

// BenchmarkCommitTogether is 64 goroutines that each commit one transition at a time.
func BenchmarkCommitTogether(b *testing.B) {
	s := open(b, filepath.Join(b.TempDir(), "ax.db"), sqlite.Options{})
	b.SetParallelism(32)
	begin := make(chan int, 1)
	begin <- 0
	b.RunParallel(func(p *testing.PB) {
		f := newFleet(1)
		n := <-begin
		begin <- n + 1
		f.total = n << 20
		for p.Next() {
			if err := s.Commit(context.Background(), f.batch(1)); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "transitions/s")
}

func BenchmarkRead(b *testing.B) {
	s := open(b, filepath.Join(b.TempDir(), "ax.db"), sqlite.Options{Synchronous: sqlite.Normal})
	ids := fill(b, s, *history)
	ctx := context.Background()
	for name, read := range map[string]func(i int) (int, error){
		"one run": func(i int) (int, error) {
			_, err := s.Run(ctx, ids[i%len(ids)])
			return 1, err
		},
		"50 runs": func(i int) (int, error) {
			all, err := s.Runs(ctx, store.RunFilter{Limit: 50, Before: ids[i%len(ids)]})
			return len(all), err
		},
		"1000 runs": func(i int) (int, error) {
			all, err := s.Runs(ctx, store.RunFilter{Limit: 1000})
			return len(all), err
		},
		"50 runs of a workflow": func(i int) (int, error) {
			all, err := s.Runs(ctx, store.RunFilter{Workflow: "w7", Limit: 50, Before: ids[i%len(ids)]})
			return len(all), err
		},
		"50 failed runs of a workflow": func(i int) (int, error) {
			all, err := s.Runs(ctx, store.RunFilter{Workflow: "w7", Limit: 50, States: []machine.RunState{machine.RunFailed}})
			return len(all), err
		},
		"50 failed or cancelled runs": func(i int) (int, error) {
			all, err := s.Runs(ctx, store.RunFilter{Limit: 50, States: []machine.RunState{machine.RunFailed, machine.RunCancelled}})
			return len(all), err
		},
		"unfinished": func(int) (int, error) {
			all, err := s.Unfinished(ctx, "", store.MaxLimit)
			return len(all), err
		},
		"the page of a run": func(i int) (int, error) {
			tasks, err := s.Tasks(ctx, ids[i*7919%len(ids)])
			if err != nil {
				return 0, err
			}
			attempts, err := s.Attempts(ctx, ids[i*7919%len(ids)])
			return len(tasks) + len(attempts), err
		},
		"the events of a run": func(i int) (int, error) {
			all, err := s.Events(ctx, ids[i*7919%len(ids)])
			return len(all), err
		},
	} {
		b.Run(name, func(b *testing.B) {
			rows, i := 0, 0
			for b.Loop() {
				n, err := read(i)
				if err != nil {
					b.Fatal(err)
				}
				i++
				rows = max(rows, n)
			}
			b.ReportMetric(float64(rows), "rows")
		})
	}
}

// fill writes runs of ten tasks of 20 workflows: most succeeded, one in a
// hundred failed, the last ten still going on.
func fill(b *testing.B, s *sqlite.Store, runs int) []string {
	b.Helper()
	ids := make([]string, runs)
	for i := 0; i < runs; {
		batch := new(store.Batch)
		for ; i < runs && len(batch.Create) < 200; i++ {
			ids[i] = fmt.Sprintf("20260102T030405-%08x", i)
			r := store.Run{
				ID: ids[i], Workflow: fmt.Sprint("w", i%20), State: machine.RunSucceeded, Version: "c0ffee", Params: map[string]string{"day": "2026-01-02"},
				CreatedAt: began, StartedAt: began, FinishedAt: began.Add(time.Minute),
			}
			switch {
			case i >= runs-10:
				r.State = machine.RunRunning
			case i%100 == 7:
				r.State = machine.RunFailed
			}
			batch.Create = append(batch.Create, r)
			var events [][]byte
			for n := range 10 {
				events = append(events, make([]byte, 150), make([]byte, 150))
				batch.Tasks = append(batch.Tasks, store.Task{
					RunID: r.ID, Index: n, Instance: -1, ID: fmt.Sprint("task", n), State: machine.Succeeded, Attempts: 1,
					ExitCode: new(0), StartedAt: began, FinishedAt: began.Add(time.Minute), Outputs: map[string]string{"rows": "12"},
				})
				batch.Attempts = append(batch.Attempts, store.Attempt{
					RunID: r.ID, Index: n, Instance: -1, Number: 1, State: machine.Succeeded, ExitCode: new(0),
					Log: "logs/20260102/task.1.log", StartedAt: began, FinishedAt: began.Add(time.Minute),
				})
			}
			batch.Append = append(batch.Append, store.Appended{RunID: r.ID, Data: events})
		}
		if err := s.Commit(context.Background(), batch); err != nil {
			b.Fatal(err)
		}
	}
	return ids
}
