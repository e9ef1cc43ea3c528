package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/ax-scheduler/ax/store"
)

func change(action, workflow, run string, at time.Time) store.Change {
	return store.Change{At: at, By: "somebody", Action: action, Workflow: workflow, RunID: run, Answer: "done"}
}

// audit: who changed what.
var audit = []check{
	{"changes are listed the last first, of a workflow and of a run too, page by page", func(t *testing.T, s store.Store) {
		commit(t, s, &store.Batch{Changes: []store.Change{
			change("start", "nightly", "r1", day), change("pause", "nightly", "", day.Add(time.Hour)), change("prune", "", "", day),
		}})
		commit(t, s, &store.Batch{Changes: []store.Change{change("cancel", "nightly", "r1", day), change("start", "hourly", "r2", day)}})
		list := func(f store.ChangeFilter) (actions []string, last int64) {
			for _, c := range must(s.Changes(context.Background(), f))(t) {
				actions, last = append(actions, c.Action+" "+c.Workflow), c.N
			}
			return actions, last
		}
		all, _ := list(store.ChangeFilter{Limit: 9})
		same(t, "all", all, []string{"start hourly", "cancel nightly", "prune ", "pause nightly", "start nightly"})
		page, last := list(store.ChangeFilter{Limit: 2})
		same(t, "a page", page, []string{"start hourly", "cancel nightly"})
		page, _ = list(store.ChangeFilter{Limit: 2, Before: last})
		same(t, "the next page", page, []string{"prune ", "pause nightly"})
		of, _ := list(store.ChangeFilter{Limit: 9, Workflow: "nightly"})
		same(t, "of a workflow", of, []string{"cancel nightly", "pause nightly", "start nightly"})
		of, _ = list(store.ChangeFilter{Limit: 9, Workflow: "nightly", RunID: "r1"})
		same(t, "of a run", of, []string{"cancel nightly", "start nightly"})
	}},
	{"a change that is not written leaves no record", func(t *testing.T, s store.Store) {
		commit(t, s, full())
		refuse(t, s, &store.Batch{Create: full().Create, Changes: []store.Change{change("start", "nightly", "r1", day)}}, store.ErrConflict)
	}},
	{"old changes go, and their numbers are not used again", func(t *testing.T, s store.Store) {
		commit(t, s, &store.Batch{Changes: []store.Change{change("start", "nightly", "", day), change("cancel", "nightly", "", day.Add(time.Hour))}})
		before := must(s.Changes(context.Background(), store.ChangeFilter{Limit: 9}))(t)
		commit(t, s, &store.Batch{PurgeChanges: day.Add(time.Hour)})
		same(t, "what is left", must(s.Changes(context.Background(), store.ChangeFilter{Limit: 9}))(t), before[:1])
		commit(t, s, &store.Batch{PurgeChanges: day.Add(2 * time.Hour)})
		commit(t, s, &store.Batch{Changes: []store.Change{change("start", "nightly", "", day)}})
		if again := must(s.Changes(context.Background(), store.ChangeFilter{Limit: 9}))(t); len(again) != 1 || again[0].N <= before[0].N {
			t.Fatalf("after all were gone: %s", text(again))
		}
	}},
}
