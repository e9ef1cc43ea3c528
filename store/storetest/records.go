package storetest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/store"
)

// records: what goes in comes out.
var records = []check{
	{"what goes in comes out, every field of every record", func(t *testing.T, s store.Store) {
		b := full()
		noZero(t, "batch", reflect.ValueOf(*b))
		commit(t, s, b)
		got := see(t, s, usual)
		want := full()
		same(t, "versions", got.Versions, want.Versions)
		same(t, "runs", got.Runs, want.Create)
		same(t, "tasks", got.Tasks["r1"], want.Tasks)
		same(t, "attempts", got.Attempts["r1"], want.Attempts)
		same(t, "ticks", got.Ticks["nightly"], want.Ticks)
		tried := want.Messages[0]
		tried.Tries, tried.Error, tried.NextAt = 3, "still no answer", want.Tries[0].NextAt
		same(t, "messages", got.Messages[string(store.MessageWaiting)], []store.Message{tried})
		same(t, "pauses", got.Pauses, want.Pause)
		want.Changes[0].N = 0
		same(t, "changes", got.Changes, want.Changes)
		same(t, "events", got.Events["r1"], []store.Event{{Seq: 1, Data: want.Append[0].Data[0]}, {Seq: 2, Data: want.Append[0].Data[1]}})
	}},
	{"records with nothing in them come out as they are", func(t *testing.T, s store.Store) {
		b := &store.Batch{
			Versions: []store.Version{{}}, Create: []store.Run{{}}, Update: []store.Run{{}},
			Tasks: []store.Task{{}}, Attempts: []store.Attempt{{}}, Ticks: []store.Tick{{}},
			Append: []store.Appended{{Data: [][]byte{nil}}}, Messages: []store.Message{{}}, Tries: []store.Try{{}},
		}
		commit(t, s, b)
		ctx := context.Background()
		same(t, "run", must(s.Run(ctx, ""))(t), store.Run{Events: 1})
		same(t, "version", must(s.Version(ctx, ""))(t), store.Version{})
		same(t, "tasks", must(s.Tasks(ctx, ""))(t), b.Tasks)
		same(t, "attempts", must(s.Attempts(ctx, ""))(t), b.Attempts)
		same(t, "events", must(s.Events(ctx, ""))(t), []store.Event{{Seq: 1}})
		same(t, "ticks", must(s.Ticks(ctx, "", time.Time{}, time.Time{}, 0))(t), b.Ticks)
		same(t, "messages", must(s.Messages(ctx, "", 9))(t), b.Messages)
	}},
	{"empty slices and maps come out nil", func(t *testing.T, s store.Store) {
		b := full()
		b.Update = nil
		b.Versions[0].Text, b.Versions[0].Tasks = []byte{}, []string{}
		b.Create[0].Params, b.Create[0].Only = map[string]string{}, []string{}
		b.Tasks[0].Outputs, b.Attempts[0].Warnings = map[string]string{}, []string{}
		b.Append[0].Data = [][]byte{{}, {1}}
		commit(t, s, b)
		v := see(t, s, usual)
		switch {
		case v.Versions[0].Text != nil, v.Versions[0].Tasks != nil, v.Runs[0].Params != nil, v.Runs[0].Only != nil,
			v.Tasks["r1"][0].Outputs != nil, v.Attempts["r1"][0].Warnings != nil, v.Events["r1"][0].Data != nil:
			t.Fatalf("an empty slice or map is not nil: %s", text(v))
		}
	}},
	{"times come out in UTC with the precision of a microsecond", func(t *testing.T, s store.Store) {
		zone := time.FixedZone("far away", 5*3600+45*60)
		r := run("r1", "nightly", machine.RunQueued)
		r.CreatedAt = time.Date(1969, 12, 31, 23, 59, 59, 999999999, zone)
		r.StartedAt = time.Date(2026, 10, 25, 2, 30, 0, 1999, zone)
		r.FinishedAt = time.Unix(0, 0).In(zone)
		r.NotBefore = time.Time{}.In(zone)
		commit(t, s, &store.Batch{Create: []store.Run{r}, Ticks: []store.Tick{{Workflow: "w", At: r.StartedAt}}})
		got := must(s.Run(context.Background(), "r1"))(t)
		same(t, "before 1970", got.CreatedAt, time.Date(1969, 12, 31, 18, 14, 59, 999999000, time.UTC))
		same(t, "microseconds", got.StartedAt, time.Date(2026, 10, 24, 20, 45, 0, 1000, time.UTC))
		same(t, "the beginning of 1970", got.FinishedAt, time.Unix(0, 0).UTC())
		same(t, "no time", got.NotBefore, time.Time{})
		ticks := must(s.Ticks(context.Background(), "w", r.StartedAt, r.StartedAt, 0))(t)
		same(t, "ticks at a time given with nanoseconds", ticks, []store.Tick{{Workflow: "w", At: got.StartedAt}})
	}},
	{"text and events come out byte by byte", func(t *testing.T, s store.Store) {
		for i, odd := range []string{"naïve 🚀 \u2028 <&>", "a\x00b", "\xff\xfe\xff", `"\'`, "line\nline\r\n", " ", "\U0010ffff", "%_?*;--"} {
			id := fmt.Sprint("r", i) + odd
			b := full()
			b.Update, b.Restate = nil, []string{id}
			r := &b.Create[0]
			r.ID, r.Workflow, r.File, r.Version, r.Error, r.Key, r.Owner = id, odd, odd, odd, odd, odd, odd
			b.Append[0] = store.Appended{RunID: id, Data: [][]byte{[]byte(odd)}}
			b.Tasks[0].RunID, b.Tasks[0].ID, b.Tasks[0].Error = id, odd, odd
			b.Attempts[0].RunID, b.Attempts[0].Error, b.Attempts[0].Log = id, odd, odd
			b.Versions[0].Hash, b.Versions[0].Text, b.Versions[0].Workflow = odd, []byte(odd), odd
			b.Ticks[0].Workflow, b.Ticks[0].Schedule, b.Ticks[0].Reason, b.Ticks[0].RunID = odd, odd, odd, id
			m := &b.Messages[0]
			m.ID, m.Workflow, m.File, m.Event, m.Error, m.Body = id, odd, odd, odd, odd, []byte(odd)
			m.State, b.Tries = store.MessageState(odd), nil
			commit(t, s, b)
			ctx := context.Background()
			r.Events = 1
			same(t, "run", must(s.Run(ctx, id))(t), *r)
			same(t, "run by key", must(s.RunByKey(ctx, odd, odd))(t), *r)
			same(t, "resolved", must(s.Resolve(ctx, id, 9))(t), []string{id})
			same(t, "events", must(s.Events(ctx, id))(t), []store.Event{{Seq: 1, Data: []byte(odd)}})
			same(t, "tasks", must(s.Tasks(ctx, id))(t), b.Tasks)
			same(t, "attempts", must(s.Attempts(ctx, id))(t), b.Attempts)
			same(t, "version", must(s.Version(ctx, odd))(t), b.Versions[0])
			same(t, "ticks", must(s.Ticks(ctx, odd, day, day, 0))(t), b.Ticks)
			same(t, "messages", must(s.Messages(ctx, m.State, 9))(t), b.Messages)
		}
	}},
	{"maps and lists of strings come out as UTF-8, each bad byte replaced", func(t *testing.T, s store.Store) {
		b := full()
		b.Update[0].Params = map[string]string{"naïve\u2028<&>\x00": "🚀\xff\xfe."}
		b.Update[0].Only = []string{"\xffé", ""}
		commit(t, s, b)
		r := must(s.Run(context.Background(), "r1"))(t)
		same(t, "map", r.Params, map[string]string{"naïve\u2028<&>\x00": "🚀\ufffd\ufffd."})
		same(t, "list", r.Only, []string{"\ufffdé", ""})
	}},
	{"what was given and what came out may be changed by the caller", func(t *testing.T, s store.Store) {
		b := full()
		commit(t, s, b)
		spoil(b)
		before := see(t, s, usual)
		same(t, "the store after the batch was changed", before.Runs, full().Create)
		v := see(t, s, usual)
		spoil(&store.Batch{
			Versions: v.Versions, Create: v.Runs, Update: v.Unfinished, Tasks: v.Tasks["r1"], Attempts: v.Attempts["r1"],
			Messages: v.Messages[string(store.MessageWaiting)],
			Append:   []store.Appended{{Data: [][]byte{v.Events["r1"][0].Data}}},
		})
		same(t, "the store after the answers were changed", see(t, s, usual), before)
	}},
	{"what is not there is not found, and what belongs to it is nothing", func(t *testing.T, s store.Store) {
		ctx := context.Background()
		commit(t, s, full())
		_, byID := s.Run(ctx, "r2")
		_, byKey := s.RunByKey(ctx, "hourly", "k1")
		_, byHash := s.Version(ctx, "beef")
		for _, err := range []error{byID, byKey, byHash} {
			if !errors.Is(err, store.ErrNotFound) {
				t.Fatalf("got the error %v, expected %v", err, store.ErrNotFound)
			}
		}
		same(t, "tasks", must(s.Tasks(ctx, "r2"))(t), []store.Task{})
		same(t, "attempts", must(s.Attempts(ctx, "r2"))(t), []store.Attempt{})
		same(t, "events", must(s.Events(ctx, "r2"))(t), []store.Event{})
	}},
}

// noZero sees to it that the sample record has a value for every field, those
// that are added later included.
func noZero(t *testing.T, name string, v reflect.Value) {
	t.Helper()
	switch {
	case v.IsZero() && name != "batch.Append[0].Have":
		t.Fatalf("the sample record has no %s", name)
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Struct:
		for i := range v.Len() {
			noZero(t, fmt.Sprintf("%s[%d]", name, i), v.Index(i))
		}
	case v.Kind() == reflect.Struct && v.Type() != reflect.TypeFor[time.Time]():
		for i := range v.NumField() {
			noZero(t, name+"."+v.Type().Field(i).Name, v.Field(i))
		}
	}
}

// spoil changes all that a batch points to.
func spoil(b *store.Batch) {
	for _, v := range b.Versions {
		v.Text[0], v.Tasks[0] = '!', "!"
	}
	for _, all := range [][]store.Run{b.Create, b.Update} {
		for _, r := range all {
			r.Params["day"], r.Only[0] = "!", "!"
		}
	}
	for _, a := range b.Append {
		a.Data[0][0] = '!'
	}
	for _, task := range b.Tasks {
		task.Outputs["rows"], *task.ExitCode = "!", -1
	}
	for _, a := range b.Attempts {
		a.Warnings[0], *a.ExitCode = "!", -1
	}
	for _, m := range b.Messages {
		m.Body[0] = '!'
	}
}
