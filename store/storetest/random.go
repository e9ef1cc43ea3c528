package storetest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/store"
)

// random writes the same batches to the store and to a store.Memory and
// compares errors and answers. Few names make many collisions.
func random(t *testing.T, open func(t *testing.T) store.Store) {
	rapid.Check(t, func(rt *rapid.T) {
		s, m := open(t), new(store.Memory)
		defer s.Close()
		for range rapid.IntRange(1, 12).Draw(rt, "batches") {
			b := batch(rt, m)
			got, want := s.Commit(context.Background(), b), m.Commit(context.Background(), b)
			if kind(got) != kind(want) {
				rt.Fatalf("commit gave the error %v, in memory %v", got, want)
			}
		}
		same(rt, "the store and memory", see(rt, s, usual), see(rt, m, usual))
		f := store.RunFilter{
			Workflow: rapid.SampledFrom([]string{"", "nightly", "hourly"}).Draw(rt, "workflow"),
			States:   rapid.SliceOfN(runState, 0, 4).Draw(rt, "states"),
			Limit:    rapid.IntRange(0, 4).Draw(rt, "limit"),
			Before:   rapid.SampledFrom([]string{"", "r2", "r9"}).Draw(rt, "before"),
			From:     moment.Draw(rt, "from"),
			To:       moment.Draw(rt, "to"),
		}
		after := rapid.SampledFrom([]string{"", "r1", "r2x"}).Draw(rt, "after")
		same(rt, "unfinished runs", must(s.Unfinished(context.Background(), after, f.Limit))(rt), must(m.Unfinished(context.Background(), after, f.Limit))(rt))
		same(rt, "scheduled runs", must(s.Scheduled(context.Background(), f.Limit))(rt), must(m.Scheduled(context.Background(), f.Limit))(rt))
		same(rt, "queued runs", must(s.Queued(context.Background(), f.Workflow, f.Limit))(rt), must(m.Queued(context.Background(), f.Workflow, f.Limit))(rt))
		same(rt, "filtered runs", must(s.Runs(context.Background(), f))(rt), must(m.Runs(context.Background(), f))(rt))
	})
}

func kind(err error) error {
	for _, k := range []error{store.ErrConflict, store.ErrNotFound} {
		if errors.Is(err, k) {
			return k
		}
	}
	return err
}

var (
	name      = rapid.StringOfN(rapid.Rune(), 0, 6, -1)
	runID     = rapid.SampledFrom([]string{"r1", "r2", "r3", "r4"})
	workflow  = rapid.SampledFrom([]string{"nightly", "hourly"})
	runState  = rapid.Custom(func(t *rapid.T) machine.RunState { return machine.RunState(rapid.IntRange(0, 6).Draw(t, "state")) })
	taskState = rapid.Custom(func(t *rapid.T) machine.TaskState { return machine.TaskState(rapid.IntRange(0, 7).Draw(t, "state")) })
	texts     = rapid.MapOfN(name, name, 0, 3)
	list      = rapid.SliceOfN(name, 0, 3)
	index     = rapid.IntRange(-1, 2)
	moment    = rapid.Custom(func(t *rapid.T) time.Time {
		if rapid.Bool().Draw(t, "unset") {
			return time.Time{}
		}
		return day.Add(time.Duration(rapid.Int64Range(-1e18, 1e18).Draw(t, "nanoseconds"))).In(time.FixedZone("", 3600))
	})
	code = rapid.Custom(func(t *rapid.T) *int {
		if rapid.Bool().Draw(t, "none") {
			return nil
		}
		return new(rapid.IntRange(-1, 300).Draw(t, "code"))
	})
)

var (
	messageID    = rapid.SampledFrom([]string{"m1", "m2"})
	messageState = rapid.SampledFrom([]store.MessageState{store.MessageWaiting, store.MessageSent, store.MessageGivenUp})
)

func batch(t *rapid.T, m *store.Memory) *store.Batch {
	return &store.Batch{
		Versions: few(t, "versions", func() store.Version {
			return store.Version{
				Hash: rapid.SampledFrom(usual.hashes).Draw(t, "hash"), Workflow: workflow.Draw(t, "workflow"),
				Text: rapid.SliceOf(rapid.Byte()).Draw(t, "text"), Tasks: list.Draw(t, "tasks"), CreatedAt: moment.Draw(t, "created"),
			}
		}),
		Create:   few(t, "create", func() store.Run { return randomRun(t) }),
		Update:   few(t, "update", func() store.Run { return randomRun(t) }),
		Append:   few(t, "append", func() store.Appended { return randomAppended(t, m) }),
		Tasks:    few(t, "tasks", func() store.Task { return randomTask(t) }),
		Attempts: few(t, "attempts", func() store.Attempt { return randomAttempt(t) }),
		Ticks: few(t, "ticks", func() store.Tick {
			return store.Tick{
				Workflow: workflow.Draw(t, "workflow"), Schedule: rapid.SampledFrom([]string{"a", "b", "é"}).Draw(t, "schedule"),
				At:      day.Add(time.Duration(rapid.IntRange(0, 3000).Draw(t, "at"))),
				Outcome: store.TickFired, Reason: name.Draw(t, "reason"), RunID: name.Draw(t, "run"),
			}
		}),
		Restate:  few(t, "restate", func() string { return runID.Draw(t, "run") }),
		Remove:   few(t, "remove", func() string { return runID.Draw(t, "run") }),
		Messages: few(t, "messages", func() store.Message { return randomMessage(t) }),
		Tries: few(t, "tries", func() store.Try {
			return store.Try{ID: messageID.Draw(t, "message"), Have: rapid.IntRange(0, 1).Draw(t, "have"), Tries: rapid.IntRange(0, 1).Draw(t, "tries"),
				State: messageState.Draw(t, "state"), Error: name.Draw(t, "error"), NextAt: moment.Draw(t, "next")}
		}),
		Changes: few(t, "changes", func() store.Change {
			return store.Change{At: day.Add(time.Duration(rapid.Int64Range(-1e18, 1e18).Draw(t, "at"))), By: name.Draw(t, "by"), From: name.Draw(t, "from"),
				Action: name.Draw(t, "action"), Workflow: workflow.Draw(t, "workflow"), RunID: runID.Draw(t, "run"), Answer: name.Draw(t, "answer")}
		}),
		PurgeChanges: moment.Draw(t, "purge changes"),
		Pause: few(t, "pauses", func() store.Pause {
			return store.Pause{Workflow: workflow.Draw(t, "workflow"), By: name.Draw(t, "by"),
				Since: day.Add(time.Duration(rapid.IntRange(0, 3000).Draw(t, "since"))), Until: moment.Draw(t, "until")}
		}),
		Purge: moment.Draw(t, "purge"),
		Forget: few(t, "forget", func() store.Forgotten {
			return store.Forgotten{Workflow: workflow.Draw(t, "workflow"), Before: day.Add(time.Duration(rapid.IntRange(0, 3000).Draw(t, "before")))}
		}),
	}
}

// few gives no record more often than not, so that most batches can be written.
func few[T any](t *rapid.T, what string, draw func() T) []T {
	var all []T
	for range max(0, rapid.IntRange(-3, 2).Draw(t, what)) {
		all = append(all, draw())
	}
	return all
}

func randomRun(t *rapid.T) store.Run {
	return store.Run{
		ID: runID.Draw(t, "id"), Workflow: workflow.Draw(t, "workflow"), File: name.Draw(t, "file"), Version: name.Draw(t, "version"),
		State: runState.Draw(t, "state"), Reason: machine.ReasonExit, Error: name.Draw(t, "error"), Trigger: store.TriggerAPI,
		Key: rapid.SampledFrom(usual.keys).Draw(t, "key"), Params: texts.Draw(t, "params"), Only: list.Draw(t, "only"),
		Priority: rapid.Int().Draw(t, "priority"), Group: name.Draw(t, "group"), GroupMax: index.Draw(t, "group max"), Owner: name.Draw(t, "owner"),
		ScheduledFor: moment.Draw(t, "scheduled for"), IntervalFrom: moment.Draw(t, "from"), IntervalTo: moment.Draw(t, "to"),
		NotBefore: moment.Draw(t, "not before"), Turn: moment.Draw(t, "turn"), CreatedAt: moment.Draw(t, "created"), StartedAt: moment.Draw(t, "started"),
		FinishedAt: moment.Draw(t, "finished"), Events: index.Draw(t, "events"),
	}
}

// randomAppended mostly knows how many events there are.
func randomAppended(t *rapid.T, m *store.Memory) store.Appended {
	a := store.Appended{RunID: runID.Draw(t, "run"), Data: rapid.SliceOfN(rapid.SliceOf(rapid.Byte()), 0, 3).Draw(t, "data")}
	switch r, err := m.Run(context.Background(), a.RunID); {
	case rapid.IntRange(0, 4).Draw(t, "guess") == 0:
		a.Have = index.Draw(t, "have")
	case err == nil:
		a.Have = r.Events
	}
	return a
}

func randomTask(t *rapid.T) store.Task {
	return store.Task{
		RunID: runID.Draw(t, "run"), Index: index.Draw(t, "index"), Instance: index.Draw(t, "instance"), ID: name.Draw(t, "id"),
		State: taskState.Draw(t, "state"), Reason: machine.ReasonExit, Attempts: index.Draw(t, "attempts"), ExitCode: code.Draw(t, "code"),
		Error: name.Draw(t, "error"), StartedAt: moment.Draw(t, "started"), FinishedAt: moment.Draw(t, "finished"), Outputs: texts.Draw(t, "outputs"),
	}
}

func randomAttempt(t *rapid.T) store.Attempt {
	return store.Attempt{
		RunID: runID.Draw(t, "run"), Index: index.Draw(t, "index"), Instance: index.Draw(t, "instance"), Number: index.Draw(t, "number"),
		State: taskState.Draw(t, "state"), Reason: machine.ReasonSignal, ExitCode: code.Draw(t, "code"), Error: name.Draw(t, "error"),
		Warnings: list.Draw(t, "warnings"), Log: fmt.Sprintf("%q", name.Draw(t, "log")),
		StartedAt: moment.Draw(t, "started"), FinishedAt: moment.Draw(t, "finished"),
	}
}

func randomMessage(t *rapid.T) store.Message {
	return store.Message{
		ID: messageID.Draw(t, "id"), Workflow: workflow.Draw(t, "workflow"), Version: name.Draw(t, "version"), File: name.Draw(t, "file"),
		Target: index.Draw(t, "target"), Event: name.Draw(t, "event"), RunID: runID.Draw(t, "run"), ScheduledFor: moment.Draw(t, "scheduled for"),
		Body: rapid.SliceOf(rapid.Byte()).Draw(t, "body"), State: messageState.Draw(t, "state"), Tries: rapid.IntRange(0, 1).Draw(t, "tries"),
		Error: name.Draw(t, "error"), CreatedAt: moment.Draw(t, "created"), NextAt: moment.Draw(t, "next"),
	}
}
