package runtime_test

import (
	"context"
	goruntime "runtime"
	"sync"
	"testing"

	"github.com/ax-scheduler/ax/store"
)

// tally counts what is written into a store.
type tally struct {
	store.Store
	mu                               sync.Mutex
	commits, events, tasks, attempts int
	runs                             int
}

func (c *tally) Commit(ctx context.Context, b *store.Batch) error {
	c.mu.Lock()
	c.commits++
	for _, a := range b.Append {
		c.events += len(a.Data)
	}
	c.tasks += len(b.Tasks)
	c.attempts += len(b.Attempts)
	c.runs += len(b.Create) + len(b.Update)
	c.mu.Unlock()
	return c.Store.Commit(ctx, b)
}

// chain draws an edge from each task to the next: one at a time, so that what is
// written does not depend on what happens to end together.
func chain(i int) []int {
	if i == 0 {
		return nil
	}
	return []int{i - 1}
}

// What a task costs is held in numbers that are the same on every machine. Who
// changes one of them has made each task of each user dearer or cheaper.
func TestWhatATaskCostsIsHeldInCounts(t *testing.T) {
	const n = 500
	counted := &tally{}
	e := callingOn(t, func(st store.Store) store.Store { counted.Store = st; return counted })
	p := plan(t, callsOf(n, chain))
	carryOutCalls(t, e, p) // what is made once is there now
	var before, after goruntime.MemStats
	*counted = tally{Store: counted.Store}
	goruntime.ReadMemStats(&before)
	carryOutCalls(t, e, p)
	goruntime.ReadMemStats(&after)
	counted.mu.Lock()
	defer counted.mu.Unlock()
	for _, c := range []struct {
		what      string
		got, most int
	}{
		{"commits", counted.commits, n + 2}, // an end and the next beginning are one
		{"events", counted.events, 2*n + 1},
		{"rows of tasks", counted.tasks, 2 * n},
		{"rows of attempts", counted.attempts, 2 * n},
		{"rows of runs", counted.runs, 3},
		{"allocations a task", int(after.Mallocs-before.Mallocs) / n, 120},
	} {
		if c.got > c.most {
			t.Errorf("a chain of %d tasks: %d %s, at most %d are wanted", n, c.got, c.what, c.most)
		}
		t.Logf("%s: %d", c.what, c.got)
	}
}
