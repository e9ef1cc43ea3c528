package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/store"
)

func message(id string, next time.Time) store.Message {
	return store.Message{ID: id, Workflow: "nightly", State: store.MessageWaiting, CreatedAt: day, NextAt: next}
}

// messages: the outbox.
var messages = []check{
	{"a message is made once, whatever became of it", func(t *testing.T, s store.Store) {
		commit(t, s, &store.Batch{Messages: []store.Message{message("m1", day)}})
		commit(t, s, &store.Batch{Tries: []store.Try{{ID: "m1", Tries: 1, State: store.MessageSent, NextAt: day}}})
		other := message("m1", day)
		other.Event, other.Body = "late", []byte("other")
		commit(t, s, &store.Batch{Messages: []store.Message{other, message("m2", day)}})
		want := message("m1", day)
		want.Tries, want.State = 1, store.MessageSent
		same(t, "the first message", must(s.Messages(context.Background(), store.MessageSent, 9))(t), []store.Message{want})
		same(t, "how many wait", must(s.Waiting(context.Background()))(t), 1)
	}},
	{"of two senders that know of the same tries one goes on", func(t *testing.T, s store.Store) {
		commit(t, s, &store.Batch{Messages: []store.Message{message("m1", day)}})
		claim := &store.Batch{Tries: []store.Try{{ID: "m1", Have: 0, Tries: 1, State: store.MessageWaiting, NextAt: day.Add(time.Hour)}}}
		commit(t, s, claim)
		refuse(t, s, claim, store.ErrConflict)
		refuse(t, s, &store.Batch{Tries: []store.Try{{ID: "m9", State: store.MessageSent}}}, store.ErrNotFound)
	}},
	{"a message and the end that it tells of are written together or not at all", func(t *testing.T, s store.Store) {
		commit(t, s, full())
		refuse(t, s, &store.Batch{Create: []store.Run{run("r1", "nightly", machine.RunFailed)}, Messages: []store.Message{message("m2", day)}}, store.ErrConflict)
		refuse(t, s, &store.Batch{Messages: []store.Message{message("m2", day)}, Tries: []store.Try{{ID: "m2", Have: 7}}}, store.ErrConflict)
	}},
	{"messages are listed by the time of their next try", func(t *testing.T, s store.Store) {
		commit(t, s, &store.Batch{Messages: []store.Message{
			message("c", day.Add(time.Hour)), message("b", day), message("a", day.Add(2*time.Hour)), message("d", day),
		}})
		list := func(limit int) (ids []string) {
			for _, m := range must(s.Messages(context.Background(), store.MessageWaiting, limit))(t) {
				ids = append(ids, m.ID)
			}
			return ids
		}
		same(t, "all", list(9), []string{"b", "d", "c", "a"})
		same(t, "the first", list(2), []string{"b", "d"})
		same(t, "a limit below one", list(0), []string{"b"})
	}},
	{"old messages go, those that wait stay", func(t *testing.T, s store.Store) {
		old, recent, waits := message("old", day), message("recent", day), message("waits", day)
		old.State, recent.State, recent.CreatedAt = store.MessageGivenUp, store.MessageSent, day.Add(time.Hour)
		commit(t, s, &store.Batch{Messages: []store.Message{old, recent, waits}})
		commit(t, s, &store.Batch{Purge: day.Add(time.Hour)})
		v := see(t, s, usual)
		same(t, "what is left", v.Messages, map[string][]store.Message{"sent": {recent}, "waiting": {waits}})
	}},
}
