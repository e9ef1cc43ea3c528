package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/store"
)

// together: many goroutines on one store.
var together = []check{
	{"of many writers one wins each place", func(t *testing.T, s store.Store) {
		const writers, places = 8, 30
		commit(t, s, &store.Batch{Create: []store.Run{run("r", "w", machine.RunRunning)}})
		won := make([][]int, writers)
		var all sync.WaitGroup
		for w := range writers {
			all.Go(func() {
				for have := 0; have < places; have++ {
					err := s.Commit(context.Background(), &store.Batch{
						Append: []store.Appended{{RunID: "r", Have: have, Data: [][]byte{{byte(w)}}}},
						Tasks:  []store.Task{{RunID: "r", Index: have, ID: fmt.Sprint(w)}},
					})
					switch {
					case err == nil:
						won[w] = append(won[w], have)
					case !errors.Is(err, store.ErrConflict):
						t.Errorf("commit: %v", err)
						return
					}
				}
			})
		}
		all.Wait()
		events, tasks := must(s.Events(context.Background(), "r"))(t), must(s.Tasks(context.Background(), "r"))(t)
		if len(events) != places || len(tasks) != places {
			t.Fatalf("%d events and %d tasks, expected %d of each", len(events), len(tasks), places)
		}
		n := 0
		for w, places := range won {
			for _, have := range places {
				n++
				if int(events[have].Data[0]) != w || tasks[have].ID != fmt.Sprint(w) {
					t.Fatalf("place %d was won by %d, but is of %d", have, w, events[have].Data[0])
				}
			}
		}
		if n != places {
			t.Fatalf("%d wins for %d places", n, places)
		}
	}},
	{"writers of different runs do not hinder each other", func(t *testing.T, s store.Store) {
		const writers, each = 16, 20
		var all sync.WaitGroup
		for w := range writers {
			all.Go(func() {
				id := fmt.Sprint("r", w)
				for i := range each {
					b := &store.Batch{Append: []store.Appended{{RunID: id, Have: i, Data: [][]byte{{byte(i)}}}}}
					if i == 0 {
						b.Create = []store.Run{run(id, "w", machine.RunRunning)}
					}
					if err := s.Commit(context.Background(), b); err != nil {
						t.Errorf("run %s, event %d: %v", id, i, err)
						return
					}
				}
			})
		}
		all.Wait()
		for _, r := range must(s.Unfinished(context.Background(), "", store.MaxLimit))(t) {
			if r.Events != each {
				t.Fatalf("run %s has %d events, expected %d", r.ID, r.Events, each)
			}
		}
	}},
	{"a conflict of one batch does not spoil those written beside it", func(t *testing.T, s store.Store) {
		const writers, each = 8, 20
		commit(t, s, &store.Batch{Create: []store.Run{run("taken", "w", machine.RunRunning)}})
		var all sync.WaitGroup
		for w := range writers {
			all.Go(func() {
				for i := range each {
					id := fmt.Sprintf("r%d.%d", w, i)
					b := &store.Batch{Create: []store.Run{run(id, "w", machine.RunRunning)}, Tasks: []store.Task{{RunID: id}}}
					var want error
					if i%2 == 1 {
						b.Create = append(b.Create, run("taken", "w", machine.RunRunning))
						want = store.ErrConflict
					}
					if err := s.Commit(context.Background(), b); !errors.Is(err, want) {
						t.Errorf("batch %s gave the error %v, expected %v", id, err, want)
					}
				}
			})
		}
		all.Wait()
		if n := len(must(s.Unfinished(context.Background(), "", store.MaxLimit))(t)); n != writers*each/2+1 {
			t.Fatalf("%d runs, expected %d", n, writers*each/2+1)
		}
	}},
	{"reads never see half a batch", func(t *testing.T, s store.Store) {
		const batches = 60
		commit(t, s, &store.Batch{Create: []store.Run{run("r", "w", machine.RunRunning)}})
		done := make(chan struct{})
		var readers sync.WaitGroup
		for range 2 {
			readers.Go(func() {
				for reading := true; reading; {
					select {
					case <-done:
						reading = false
					default:
					}
					runs, err := s.Unfinished(context.Background(), "", store.MaxLimit)
					events, err2 := s.Events(context.Background(), "r")
					tasks, err3 := s.Tasks(context.Background(), "r")
					if err := errors.Join(err, err2, err3); err != nil {
						t.Errorf("read: %v", err)
						return
					}
					if len(runs)%2 != 1 || len(events)%3 != 0 || len(tasks)%2 != 0 || runs[0].Events != 3*(len(runs)-1)/2 {
						t.Errorf("half a batch: %d runs, %d events, %d tasks, %d events counted", len(runs), len(events), len(tasks), runs[0].Events)
						return
					}
				}
			})
		}
		for i := range batches {
			commit(t, s, &store.Batch{
				Create: []store.Run{run(fmt.Sprintf("s%03d", i), "w", machine.RunRunning), run(fmt.Sprintf("t%03d", i), "w", machine.RunRunning)},
				Append: []store.Appended{{RunID: "r", Have: 3 * i, Data: [][]byte{{1}, {2}}}, {RunID: "r", Have: 3*i + 2, Data: [][]byte{{3}}}},
				Tasks:  []store.Task{{RunID: "r", Index: 2 * i}, {RunID: "r", Index: 2*i + 1}},
			})
		}
		close(done)
		readers.Wait()
	}},
}
