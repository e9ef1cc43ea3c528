package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/ax-scheduler/ax/store"
)

// pauses: the times in which schedules start nothing.
var pauses = []check{
	{"a pause begins, and ends", func(t *testing.T, s store.Store) {
		begun := store.Pause{Workflow: "nightly", By: "loopback", Since: day}
		ended := begun
		ended.Until = day.Add(time.Hour)
		commit(t, s, &store.Batch{Pause: []store.Pause{begun}})
		same(t, "while it lasts", must(s.Pauses(context.Background()))(t), []store.Pause{begun})
		commit(t, s, &store.Batch{Pause: []store.Pause{ended}})
		same(t, "after its end", must(s.Pauses(context.Background()))(t), []store.Pause{ended})
	}},
	{"one pause of a workflow lasts at a time", func(t *testing.T, s store.Store) {
		first := store.Pause{Workflow: "nightly", By: "a", Since: day}
		second := store.Pause{Workflow: "nightly", By: "b", Since: day.Add(time.Hour)}
		commit(t, s, &store.Batch{Pause: []store.Pause{first, {Workflow: "hourly", By: "a", Since: day}}})
		refuse(t, s, &store.Batch{Pause: []store.Pause{second}}, store.ErrConflict)
		first.Until = day.Add(time.Minute)
		commit(t, s, &store.Batch{Pause: []store.Pause{first, second}})
		same(t, "by workflow and time", must(s.Pauses(context.Background()))(t), []store.Pause{{Workflow: "hourly", By: "a", Since: day}, first, second})
	}},
}
