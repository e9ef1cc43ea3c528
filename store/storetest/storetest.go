// Package storetest is the contract of store.Store as a set of tests: what every
// store must do whatever it is built on. It must know nothing of any of them.
package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/store"
)

// Run holds a store to the contract. open gives a new, empty store for each
// test and closes it at the test's end.
func Run(t *testing.T, open func(t *testing.T) store.Store) {
	for _, group := range [][]check{records, writes, lists, parts, messages, pauses, audit, together} {
		for _, c := range group {
			t.Run(c.name, func(t *testing.T) { c.test(t, open(t)) })
		}
	}
	t.Run("random batches give the same answers as in memory", func(t *testing.T) { random(t, open) })
}

type check struct {
	name string
	test func(t *testing.T, s store.Store)
}

// tb is what *testing.T and *rapid.T have in common.
type tb interface {
	Helper()
	Fatalf(format string, args ...any)
}

var day = time.Date(2026, 3, 29, 0, 59, 59, 123456000, time.UTC)

// full gives one of each record with no field left at its zero value.
func full() *store.Batch {
	three := 3
	run := store.Run{
		ID: "r1", Workflow: "nightly", File: "workflows/nightly.yaml", Version: "c0ffee",
		State: machine.RunFailed, Reason: machine.ReasonTimeout, Error: "it took too long", Trigger: store.TriggerBackfill,
		Key: "k1", Params: map[string]string{"day": "2026-03-29", "empty": ""}, Only: []string{"b", "a"},
		Priority: -7, Group: "g1", GroupMax: 3, Owner: "engine-1",
		ScheduledFor: day, IntervalFrom: day.Add(-24 * time.Hour), IntervalTo: day.Add(time.Microsecond), NotBefore: day.Add(time.Second), Turn: day.Add(time.Minute),
		CreatedAt: day.Add(2 * time.Second), StartedAt: day.Add(3 * time.Second), FinishedAt: day.Add(4 * time.Second),
		Events: 2,
	}
	message := store.Message{
		ID: "m1", Workflow: "nightly", Version: "c0ffee", File: "workflows/nightly.yaml", Target: 1, Event: "failed", RunID: "r1", ScheduledFor: day,
		Body: []byte(`{"event":"failed"}`), State: store.MessageWaiting, Tries: 2, Error: "no answer", CreatedAt: day.Add(time.Second), NextAt: day.Add(time.Hour),
	}
	return &store.Batch{
		Versions: []store.Version{{Hash: "c0ffee", Workflow: "nightly", Text: []byte("name: nightly\n"), Tasks: []string{"b", "a"}, CreatedAt: day}},
		Create:   []store.Run{run},
		Update:   []store.Run{run},
		Append:   []store.Appended{{RunID: "r1", Have: 0, Data: [][]byte{[]byte(`{"kind":"started"}`), {0, 1, 0xff, '\n', 0}}}},
		Tasks: []store.Task{{
			RunID: "r1", Index: 1, Instance: 2, ID: "a", State: machine.Failed, Reason: machine.ReasonExit, Attempts: 3, ExitCode: &three,
			Error: "exit code 3", StartedAt: day, FinishedAt: day.Add(time.Hour), Outputs: map[string]string{"rows": "12"},
		}},
		Attempts: []store.Attempt{{
			RunID: "r1", Index: 1, Instance: 2, Number: 3, State: machine.Failed, Reason: machine.ReasonExit, ExitCode: &three,
			Error: "exit code 3", Warnings: []string{"w2", "w1"}, Log: "logs/r1/a.3.log", StartedAt: day, FinishedAt: day.Add(time.Hour),
		}},
		Ticks:    []store.Tick{{Workflow: "nightly", Schedule: "0 2 * * *", At: day, Outcome: store.TickSkipped, Reason: "overlap", RunID: "r1"}},
		Restate:  []string{"r1"},
		Messages: []store.Message{message},
		Tries:    []store.Try{{ID: "m1", Have: 2, Tries: 3, State: store.MessageWaiting, Error: "still no answer", NextAt: day.Add(2 * time.Hour)}},
		Pause:    []store.Pause{{Workflow: "nightly", By: "loopback", Since: day, Until: day.Add(time.Hour)}},
		Changes:  []store.Change{{N: 7, At: day, By: "operate token 2", From: "127.0.0.1:4711", Action: "start", Workflow: "nightly", RunID: "r1", Answer: "done"}},
		Remove:   []string{"gone"},
		Forget:   []store.Forgotten{{Workflow: "gone", Before: day}},
		Purge:    day.AddDate(-1, 0, 0),

		PurgeChanges: day.AddDate(-1, 0, 0),
	}
}

// names are the things that a view asks for by name.
type names struct{ workflows, keys, hashes []string }

var usual = names{workflows: []string{"nightly", "hourly", ""}, keys: []string{"", "k1", "k2", "k3"}, hashes: []string{"c0ffee", "beef", ""}}

// view is everything that a store answers.
type view struct {
	Runs, Unfinished []store.Run
	Scheduled        []store.Run
	ByWorkflow       map[string][]store.Run
	Queued           map[string][]store.Run
	ByKey            map[string]string
	Tasks            map[string][]store.Task
	Attempts         map[string][]store.Attempt
	Events           map[string][]store.Event
	Versions         []store.Version
	Ticks            map[string][]store.Tick
	Spans            map[string][]store.Span
	Messages         map[string][]store.Message
	Waiting          int
	Pauses           []store.Pause
	Changes          []store.Change // without their numbers, which may have gaps
}

// see asks a store for everything. Empty answers are left out, since nil and
// empty slices are the same answer.
func see(t tb, s store.Store, n names) view {
	t.Helper()
	ctx := context.Background()
	v := view{
		Runs:       must(s.Runs(ctx, store.RunFilter{Limit: store.MaxLimit}))(t),
		Unfinished: must(s.Unfinished(ctx, "", store.MaxLimit))(t),
		Scheduled:  must(s.Scheduled(ctx, store.MaxLimit))(t),
		ByWorkflow: map[string][]store.Run{}, Queued: map[string][]store.Run{}, ByKey: map[string]string{},
		Tasks: map[string][]store.Task{}, Attempts: map[string][]store.Attempt{}, Events: map[string][]store.Event{},
		Ticks: map[string][]store.Tick{}, Spans: map[string][]store.Span{},
		Messages: map[string][]store.Message{}, Waiting: must(s.Waiting(ctx))(t),
		Pauses: must(s.Pauses(ctx))(t),
	}
	v.Changes = must(s.Changes(ctx, store.ChangeFilter{Limit: store.MaxLimit}))(t)
	for i := range v.Changes {
		v.Changes[i].N = 0
	}
	for _, st := range []store.MessageState{store.MessageWaiting, store.MessageSent, store.MessageGivenUp, ""} {
		answer(v.Messages, string(st), must(s.Messages(ctx, st, store.MaxLimit))(t))
	}
	for _, r := range v.Runs {
		same(t, "one run and the same in a list", must(s.Run(ctx, r.ID))(t), r)
		answer(v.Tasks, r.ID, must(s.Tasks(ctx, r.ID))(t))
		answer(v.Attempts, r.ID, must(s.Attempts(ctx, r.ID))(t))
		answer(v.Events, r.ID, must(s.Events(ctx, r.ID))(t))
	}
	for _, w := range n.workflows {
		answer(v.ByWorkflow, w, must(s.Runs(ctx, store.RunFilter{Workflow: w, Limit: store.MaxLimit}))(t))
		answer(v.Queued, w, must(s.Queued(ctx, w, store.MaxLimit))(t))
		answer(v.Ticks, w, must(s.Ticks(ctx, w, day.AddDate(-100, 0, 0), day.AddDate(100, 0, 0), 0))(t))
		answer(v.Spans, w, must(s.Schedules(ctx, w))(t))
		for _, k := range n.keys {
			switch r, err := s.RunByKey(ctx, w, k); {
			case err == nil:
				v.ByKey[w+"/"+k] = r.ID
			case !errors.Is(err, store.ErrNotFound):
				t.Fatalf("run of %q with key %q: %v", w, k, err)
			}
		}
	}
	for _, h := range n.hashes {
		switch found, err := s.Version(ctx, h); {
		case err == nil:
			v.Versions = append(v.Versions, found)
		case !errors.Is(err, store.ErrNotFound):
			t.Fatalf("version %q: %v", h, err)
		}
	}
	return v
}

func answer[T any](to map[string][]T, k string, all []T) {
	if len(all) > 0 {
		to[k] = all
	}
}

// must(f())(t) is what f gives, or the end of the test.
func must[T any](v T, err error) func(tb) T {
	return func(t tb) T {
		t.Helper()
		if err != nil {
			t.Fatalf("unexpected error: %v", err)
		}
		return v
	}
}

func commit(t tb, s store.Store, b *store.Batch) {
	t.Helper()
	if err := s.Commit(context.Background(), b); err != nil {
		t.Fatalf("commit: %v", err)
	}
}

// refuse commits a batch that must fail for a reason and change nothing.
func refuse(t tb, s store.Store, b *store.Batch, want error) {
	t.Helper()
	before := see(t, s, usual)
	if err := s.Commit(context.Background(), b); !errors.Is(err, want) {
		t.Fatalf("commit gave the error %v, expected %v", err, want)
	}
	same(t, "the store after a batch that was refused", see(t, s, usual), before)
}

func same(t tb, what string, got, want any) {
	t.Helper()
	g, w := reflect.ValueOf(got), reflect.ValueOf(want)
	if g.Kind() == reflect.Slice && g.Len() == 0 && w.Len() == 0 {
		return
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%s:\n got %s\nwant %s", what, text(got), text(want))
	}
}

func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// run gives a run that has only what a list needs.
func run(id, workflow string, state machine.RunState) store.Run {
	return store.Run{ID: id, Workflow: workflow, State: state, CreatedAt: day}
}

func ids(runs []store.Run) []string {
	var all []string
	for _, r := range runs {
		all = append(all, r.ID)
	}
	return all
}
