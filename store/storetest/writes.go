package storetest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/store"
)

// writes: what a batch may do, and what it may not.
var writes = []check{
	{"a wrong have is a conflict and writes nothing", func(t *testing.T, s store.Store) {
		commit(t, s, full())
		for _, have := range []int{-1, 0, 1, 3, 1000} {
			refuse(t, s, &store.Batch{Append: []store.Appended{{RunID: "r1", Have: have, Data: [][]byte{{1}}}}}, store.ErrConflict)
		}
		commit(t, s, &store.Batch{Append: []store.Appended{{RunID: "r1", Have: 2, Data: [][]byte{{1}}}}})
		refuse(t, s, &store.Batch{Append: []store.Appended{{RunID: "r1", Have: 2, Data: [][]byte{{1}}}}}, store.ErrConflict)
	}},
	{"an append of nothing still says how many events it expects", func(t *testing.T, s store.Store) {
		commit(t, s, full())
		commit(t, s, &store.Batch{Append: []store.Appended{{RunID: "r1", Have: 2}}})
		refuse(t, s, &store.Batch{Append: []store.Appended{{RunID: "r1", Have: 1}}}, store.ErrConflict)
		commit(t, s, &store.Batch{Append: []store.Appended{{RunID: "r1", Have: 2, Data: [][]byte{{1}}}}})
		if n := len(must(s.Events(context.Background(), "r1"))(t)); n != 3 {
			t.Fatalf("the run has %d events, expected 3", n)
		}
	}},
	{"several appends to one run in a batch follow each other", func(t *testing.T, s store.Store) {
		commit(t, s, full())
		commit(t, s, &store.Batch{Append: []store.Appended{{RunID: "r1", Have: 2, Data: [][]byte{{1}, {2}}}, {RunID: "r1", Have: 4, Data: [][]byte{{3}}}}})
		refuse(t, s, &store.Batch{Append: []store.Appended{{RunID: "r1", Have: 5, Data: [][]byte{{1}, {2}}}, {RunID: "r1", Have: 6, Data: [][]byte{{3}}}}}, store.ErrConflict)
		events := must(s.Events(context.Background(), "r1"))(t)
		same(t, "the last events", events[2:], []store.Event{{Seq: 3, Data: []byte{1}}, {Seq: 4, Data: []byte{2}}, {Seq: 5, Data: []byte{3}}})
	}},
	{"a batch may hold many rows of several runs, and the last of a task or an attempt counts", func(t *testing.T, s store.Store) {
		commit(t, s, &store.Batch{Create: []store.Run{run("r1", "nightly", machine.RunRunning), run("r2", "nightly", machine.RunRunning)}})
		var b store.Batch
		want := map[string][]store.Task{}
		for i := range 45 {
			id := []string{"r1", "r1", "r2"}[i/20] // 40 of one run, then 5 of the other
			task := store.Task{RunID: id, Index: i, Instance: -1, ID: fmt.Sprint("t", i), State: machine.Running, Attempts: 1, StartedAt: day}
			attempt := store.Attempt{RunID: id, Index: i, Instance: -1, Number: 1, State: machine.Running, StartedAt: day}
			b.Tasks, b.Attempts = append(b.Tasks, task), append(b.Attempts, attempt)
			if i%3 == 0 {
				task.State, attempt.State = machine.Succeeded, machine.Succeeded
				b.Tasks, b.Attempts = append(b.Tasks, task), append(b.Attempts, attempt)
			}
			want[id] = append(want[id], task)
		}
		lost := b
		lost.Tasks = append(b.Tasks[:30:30], store.Task{RunID: "gone", ID: "t", State: machine.Running})
		refuse(t, s, &lost, store.ErrNotFound)
		commit(t, s, &b)
		for id, tasks := range want {
			same(t, "the tasks of "+id, must(s.Tasks(context.Background(), id))(t), tasks)
			attempts := must(s.Attempts(context.Background(), id))(t)
			if len(attempts) != len(tasks) {
				t.Fatalf("%s has %d attempts, expected %d", id, len(attempts), len(tasks))
			}
			for i, a := range attempts {
				if a.State != tasks[i].State || a.Index != tasks[i].Index {
					t.Errorf("attempt %d of %s is of task %d and %s, expected %d and %s", i, id, a.Index, a.State, tasks[i].Index, tasks[i].State)
				}
			}
		}
	}},
	{"a taken id is a conflict", func(t *testing.T, s store.Store) {
		commit(t, s, full())
		refuse(t, s, &store.Batch{Create: []store.Run{run("r1", "hourly", machine.RunQueued)}}, store.ErrConflict)
		refuse(t, s, &store.Batch{Create: []store.Run{run("r2", "a", machine.RunQueued), run("r2", "b", machine.RunQueued)}}, store.ErrConflict)
	}},
	{"a taken key is a conflict within one workflow", func(t *testing.T, s store.Store) {
		keyed := func(id, workflow, key string) store.Run {
			r := run(id, workflow, machine.RunQueued)
			r.Key = key
			return r
		}
		commit(t, s, full())
		refuse(t, s, &store.Batch{Create: []store.Run{keyed("r2", "nightly", "k1")}}, store.ErrConflict)
		refuse(t, s, &store.Batch{Create: []store.Run{keyed("r2", "hourly", "k2"), keyed("r3", "hourly", "k2")}}, store.ErrConflict)
		commit(t, s, &store.Batch{Create: []store.Run{
			keyed("r2", "hourly", "k1"), keyed("r3", "nightly", "k2"), keyed("r4", "nightly", ""), keyed("r5", "nightly", ""),
		}})
		if got := must(s.RunByKey(context.Background(), "hourly", "k1"))(t); got.ID != "r2" {
			t.Fatalf("the key gives the run %q, expected r2", got.ID)
		}
		if _, err := s.RunByKey(context.Background(), "nightly", ""); !errors.Is(err, store.ErrNotFound) {
			t.Fatalf("the empty key gave the error %v, expected %v", err, store.ErrNotFound)
		}
	}},
	{"a tick that is there is a conflict", func(t *testing.T, s store.Store) {
		commit(t, s, full())
		tick := func(workflow, schedule string, at time.Time) *store.Batch {
			return &store.Batch{Ticks: []store.Tick{{Workflow: workflow, Schedule: schedule, At: at, Outcome: store.TickFired}}}
		}
		refuse(t, s, tick("nightly", "0 2 * * *", day.In(time.FixedZone("", 3600))), store.ErrConflict)
		commit(t, s, tick("nightly", "0 2 * * *", day.Add(time.Microsecond)))
		commit(t, s, tick("nightly", "0 3 * * *", day))
		commit(t, s, tick("hourly", "0 2 * * *", day))
		refuse(t, s, tick("hourly", "0 2 * * *", day), store.ErrConflict)
	}},
	{"a version that is there is left as it is", func(t *testing.T, s store.Store) {
		commit(t, s, full())
		commit(t, s, &store.Batch{Versions: []store.Version{
			{Hash: "c0ffee", Workflow: "other"}, {Hash: "beef", Workflow: "first"}, {Hash: "beef", Workflow: "second"},
		}})
		v := see(t, s, usual)
		same(t, "versions", v.Versions, append(full().Versions, store.Version{Hash: "beef", Workflow: "first"}))
	}},
	{"an update replaces a run but for what it was created with", func(t *testing.T, s store.Store) {
		commit(t, s, full())
		commit(t, s, &store.Batch{Create: []store.Run{run("r2", "nightly", machine.RunQueued)}})
		u := store.Run{ID: "r1", Workflow: "hourly", Key: "k2", CreatedAt: day.Add(time.Hour), State: machine.RunRunning, Owner: "engine-2", Events: 99}
		commit(t, s, &store.Batch{Update: []store.Run{u}})
		u.Workflow, u.Key, u.CreatedAt, u.Events = "nightly", "k1", full().Create[0].CreatedAt, 2
		same(t, "run", must(s.Run(context.Background(), "r1"))(t), u)
		same(t, "the other run", must(s.Run(context.Background(), "r2"))(t), run("r2", "nightly", machine.RunQueued))
	}},
	{"tasks and attempts are inserted or replaced", func(t *testing.T, s store.Store) {
		commit(t, s, full())
		task := store.Task{RunID: "r1", Index: 1, Instance: 2, ID: "a", State: machine.Succeeded, Attempts: 4}
		other := store.Task{RunID: "r1", Index: 1, Instance: -1, ID: "a", State: machine.Ready}
		attempt := store.Attempt{RunID: "r1", Index: 1, Instance: 2, Number: 3, State: machine.Succeeded}
		next := store.Attempt{RunID: "r1", Index: 1, Instance: 2, Number: 4, State: machine.Running, Log: "x"}
		first := store.Attempt{RunID: "r1", Index: 0, Instance: 2, Number: 9, State: machine.Running}
		twice := task
		twice.Attempts = 1
		commit(t, s, &store.Batch{Tasks: []store.Task{other, twice, task}, Attempts: []store.Attempt{next, attempt, first}})
		v := see(t, s, usual)
		same(t, "tasks by index and instance", v.Tasks["r1"], []store.Task{other, task})
		same(t, "attempts by index, instance and number", v.Attempts["r1"], []store.Attempt{first, attempt, next})
	}},
	{"what belongs to a run that is not there is refused", func(t *testing.T, s store.Store) {
		commit(t, s, full())
		for _, b := range []store.Batch{
			{Update: []store.Run{run("r2", "nightly", machine.RunQueued)}},
			{Append: []store.Appended{{RunID: "r2", Data: [][]byte{{1}}}}},
			{Append: []store.Appended{{RunID: "r2", Have: 1}}},
			{Tasks: []store.Task{{RunID: "r2"}}},
			{Attempts: []store.Attempt{{RunID: "r2"}}},
		} {
			refuse(t, s, &b, store.ErrNotFound)
		}
	}},
	{"a batch is written as a whole or not at all, whichever part fails", func(t *testing.T, s store.Store) {
		commit(t, s, full())
		for part, spoilt := range map[string]func(b *store.Batch){
			"create":          func(b *store.Batch) { b.Create = append(b.Create, run("r1", "hourly", machine.RunQueued)) },
			"update":          func(b *store.Batch) { b.Update = append(b.Update, run("r9", "hourly", machine.RunQueued)) },
			"append":          func(b *store.Batch) { b.Append = append(b.Append, store.Appended{RunID: "r2", Have: 1}) },
			"append to none":  func(b *store.Batch) { b.Append = append(b.Append, store.Appended{RunID: "r9"}) },
			"task":            func(b *store.Batch) { b.Tasks = append(b.Tasks, store.Task{RunID: "r9"}) },
			"attempt":         func(b *store.Batch) { b.Attempts = append(b.Attempts, store.Attempt{RunID: "r9"}) },
			"tick":            func(b *store.Batch) { b.Ticks = append(b.Ticks, full().Ticks...) },
			"tick of its own": func(b *store.Batch) { b.Ticks = append(b.Ticks, b.Ticks...) },
		} {
			b := &store.Batch{
				Versions: []store.Version{{Hash: "beef"}},
				Create:   []store.Run{run("r2", "hourly", machine.RunQueued), run("r0", "hourly", machine.RunQueued)},
				Update:   []store.Run{run("r1", "nightly", machine.RunRunning), run("r2", "hourly", machine.RunRunning)},
				Append:   []store.Appended{{RunID: "r1", Have: 2, Data: [][]byte{{1}}}, {RunID: "r2", Data: [][]byte{{1}, {2}}}},
				Tasks:    []store.Task{{RunID: "r1", Index: 1, Instance: 2}, {RunID: "r1", Index: 7}, {RunID: "r2"}},
				Attempts: []store.Attempt{{RunID: "r1", Index: 1, Instance: 2, Number: 3}, {RunID: "r1", Index: 7}, {RunID: "r2"}},
				Ticks:    []store.Tick{{Workflow: "hourly", At: day}},
			}
			spoilt(b)
			before := see(t, s, usual)
			err := s.Commit(context.Background(), b)
			if !errors.Is(err, store.ErrConflict) && !errors.Is(err, store.ErrNotFound) {
				t.Fatalf("%s: commit gave the error %v, expected a conflict or not found", part, err)
			}
			same(t, "the store after a batch whose "+part+" was refused", see(t, s, usual), before)
		}
	}},
	{"an error names the run", func(t *testing.T, s store.Store) {
		commit(t, s, full())
		for _, b := range []store.Batch{
			{Create: full().Create},
			{Append: []store.Appended{{RunID: "r1", Have: 1}}},
		} {
			if err := s.Commit(context.Background(), &b); err == nil || !contains(err.Error(), `"r1"`) {
				t.Fatalf("commit gave the error %v, expected one that names the run", err)
			}
		}
	}},
	{"an empty batch is nothing to do", func(t *testing.T, s store.Store) {
		commit(t, s, &store.Batch{})
	}},
	{"many records fit into one batch", func(t *testing.T, s store.Store) {
		b := &store.Batch{}
		for i := range 1000 {
			id := fmt.Sprintf("r%05d", i)
			b.Create = append(b.Create, run(id, "many", machine.RunQueued))
			b.Append = append(b.Append, store.Appended{RunID: id, Data: [][]byte{make([]byte, i)}})
		}
		commit(t, s, b)
		if n := len(must(s.Unfinished(context.Background(), "", store.MaxLimit))(t)); n != 1000 {
			t.Fatalf("%d runs came out of 1000", n)
		}
		last := must(s.Events(context.Background(), "r00999"))(t)
		same(t, "the last event", last, []store.Event{{Seq: 1, Data: make([]byte, 999)}})
	}},
	{"a context that has ended keeps a batch from being written", func(t *testing.T, s store.Store) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := s.Commit(ctx, full()); !errors.Is(err, context.Canceled) {
			t.Fatalf("commit gave the error %v, expected %v", err, context.Canceled)
		}
		same(t, "runs", see(t, s, usual).Runs, []store.Run{})
	}},
	{"a closed store gives errors, also when it is closed twice", func(t *testing.T, s store.Store) {
		commit(t, s, full())
		for range 2 {
			if err := s.Close(); err != nil {
				t.Fatalf("close: %v", err)
			}
		}
		ctx := context.Background()
		_, read := s.Run(ctx, "r1")
		for _, err := range []error{s.Commit(ctx, full()), read} {
			if err == nil || errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrConflict) {
				t.Fatalf("a closed store gave the error %v", err)
			}
		}
	}},
}
