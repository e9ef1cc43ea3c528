package storetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/store"
)

func contains(s, part string) bool { return strings.Contains(s, part) }

// history is 56 runs: of two workflows, in each state, four of each kind.
func history(t *testing.T, s store.Store) {
	b := &store.Batch{}
	for i := range 56 {
		workflow := "nightly"
		if i%2 == 1 {
			workflow = "hourly"
		}
		b.Create = append(b.Create, run(fmt.Sprintf("r%02d", i), workflow, machine.RunState(i/2%7)))
	}
	// the order of writing is not the order of ids
	slices.Reverse(b.Create)
	commit(t, s, b)
}

// lists: what finds which runs and ticks, in which order.
var lists = []check{
	{"runs are found by workflow and states, newest first", func(t *testing.T, s store.Store) {
		history(t, s)
		all := see(t, s, usual).Runs
		if len(all) != 56 || all[0].ID != "r55" {
			t.Fatalf("got the runs %v", ids(all))
		}
		for _, workflow := range []string{"", "nightly", "hourly", "none"} {
			for mask := range 1 << 7 {
				f := store.RunFilter{Workflow: workflow, Limit: 1000}
				for i := range 7 {
					if mask>>i&1 == 1 {
						f.States = append(f.States, machine.RunState(i))
					}
				}
				var want []store.Run
				for _, r := range all {
					if (workflow == "" || r.Workflow == workflow) && (mask == 0 || mask>>r.State&1 == 1) {
						want = append(want, r)
					}
				}
				same(t, fmt.Sprintf("runs of %+v", f), must(s.Runs(context.Background(), f))(t), want)
			}
		}
	}},
	{"a state that is asked for twice gives its runs once", func(t *testing.T, s store.Store) {
		history(t, s)
		f := store.RunFilter{States: []machine.RunState{machine.RunFailed, machine.RunQueued, machine.RunFailed}, Limit: 1000}
		got := ids(must(s.Runs(context.Background(), f))(t))
		if len(got) != 16 {
			t.Fatalf("got %d runs, expected 16: %v", len(got), got)
		}
	}},
	{"pages by the last id join without gap or overlap", func(t *testing.T, s store.Store) {
		history(t, s)
		for _, f := range []store.RunFilter{
			{}, {Workflow: "hourly"}, {States: []machine.RunState{machine.RunFailed, machine.RunScheduled}},
			{Workflow: "nightly", States: []machine.RunState{machine.RunFailed, machine.RunRunning, machine.RunSkipped}},
		} {
			f.Limit = 1000
			whole := must(s.Runs(context.Background(), f))(t)
			for f.Limit = 1; f.Limit <= 9; f.Limit++ {
				var joined []store.Run
				for f.Before = ""; ; f.Before = joined[len(joined)-1].ID {
					page := must(s.Runs(context.Background(), f))(t)
					joined = append(joined, page...)
					if len(page) < f.Limit {
						break
					}
				}
				same(t, fmt.Sprintf("joined pages of %+v", f), joined, whole)
			}
		}
	}},
	{"the cursor need not be a run's id", func(t *testing.T, s store.Store) {
		history(t, s)
		for before, first := range map[string]string{"r10x": "r10", "r10": "r09", "zzz": "r55", "r0": ""} {
			got := ids(must(s.Runs(context.Background(), store.RunFilter{Limit: 1, Before: before}))(t))
			if strings.Join(got, " ") != first {
				t.Fatalf("before %q comes %v, expected %q", before, got, first)
			}
		}
	}},
	{"a limit out of bounds is brought into them", func(t *testing.T, s store.Store) {
		b := &store.Batch{}
		for i := range store.MaxLimit + 1 {
			b.Create = append(b.Create, run(fmt.Sprintf("r%04d", i), "w", machine.RunQueued))
		}
		commit(t, s, b)
		for limit, want := range map[int]int{-1: 1, 0: 1, 1: 1, 999: 999, store.MaxLimit: store.MaxLimit, store.MaxLimit + 1: store.MaxLimit} {
			for _, f := range []store.RunFilter{{Limit: limit}, {Limit: limit, Workflow: "w"}, {Limit: limit, States: []machine.RunState{machine.RunQueued}}} {
				if n := len(must(s.Runs(context.Background(), f))(t)); n != want {
					t.Fatalf("the limit %d gave %d runs, expected %d", limit, n, want)
				}
			}
		}
	}},
	{"queued and running runs are listed oldest first, page by page", func(t *testing.T, s store.Store) {
		history(t, s)
		commit(t, s, &store.Batch{Update: []store.Run{run("r02", "hourly", machine.RunSucceeded), run("r06", "nightly", machine.RunQueued)}})
		var want []string
		for i := range 56 {
			if st := machine.RunState(i / 2 % 7); i != 2 && (i == 6 || st == machine.RunQueued || st == machine.RunRunning) {
				want = append(want, fmt.Sprintf("r%02d", i))
			}
		}
		for limit := 1; limit <= 5; limit++ {
			var got []string
			for after := ""; ; after = got[len(got)-1] {
				page := ids(must(s.Unfinished(context.Background(), after, limit))(t))
				got = append(got, page...)
				if len(page) < limit {
					break
				}
			}
			same(t, fmt.Sprintf("unfinished by %d", limit), got, want)
		}
	}},
	{"what waits is listed in the order in which it starts", func(t *testing.T, s store.Store) {
		b := &store.Batch{}
		for i, minutes := range []int{3, 1, 2, 1} {
			for _, st := range []machine.RunState{machine.RunScheduled, machine.RunQueued, machine.RunRunning} {
				r := run(fmt.Sprintf("r%d-%d", i, st), "w", st)
				r.NotBefore = day.Add(time.Duration(minutes) * time.Minute)
				r.Turn = day.Add(time.Duration(-minutes) * time.Minute)
				b.Create = append(b.Create, r)
			}
		}
		b.Create = append(b.Create, run("other", "v", machine.RunQueued))
		commit(t, s, b)
		ctx := context.Background()
		same(t, "scheduled", ids(must(s.Scheduled(ctx, 3))(t)), []string{"r1-0", "r3-0", "r2-0"})
		same(t, "queued", ids(must(s.Queued(ctx, "w", 9))(t)), []string{"r0-1", "r2-1", "r1-1", "r3-1"})
		same(t, "queued at a limit of none", ids(must(s.Queued(ctx, "w", 0))(t)), []string{"r0-1"})
	}},
	{"a run that is removed goes with all that belongs to it", func(t *testing.T, s store.Store) {
		b := full()
		commit(t, s, b)
		other := full()
		other.Create[0].ID, other.Create[0].Key = "r2", "k2"
		other.Update, other.Ticks, other.Restate, other.Tries = nil, nil, nil, nil
		other.Append[0].RunID, other.Tasks[0].RunID, other.Attempts[0].RunID = "r2", "r2", "r2"
		commit(t, s, other)
		commit(t, s, &store.Batch{Remove: []string{"r1", "gone"}})
		v := see(t, s, usual)
		same(t, "runs that are left", ids(v.Runs), []string{"r2"})
		if len(v.Tasks["r2"]) != 1 || len(v.Attempts["r2"]) != 1 || len(v.Events["r2"]) != 2 || len(v.Ticks["nightly"]) != 1 {
			t.Fatalf("what belongs to another run has gone: %s", text(v))
		}
		commit(t, s, &store.Batch{Create: b.Create}) // the id and the key are free again, and nothing of before comes back
		if v := see(t, s, usual); len(v.Tasks["r1"])+len(v.Attempts["r1"])+len(v.Events["r1"]) > 0 {
			t.Fatalf("a run with the id of a removed one has its records: %s", text(v))
		}
	}},
	{"what is told anew of a run takes the place of what was told before", func(t *testing.T, s store.Store) {
		commit(t, s, full())
		b := &store.Batch{Restate: []string{"r1"}, Tasks: full().Tasks}
		b.Tasks[0].Index = 7
		commit(t, s, b)
		v := see(t, s, usual)
		if len(v.Tasks["r1"]) != 1 || v.Tasks["r1"][0].Index != 7 || len(v.Attempts["r1"]) != 0 || len(v.Events["r1"]) != 2 {
			t.Fatalf("after it was told anew the run has %s", text(v))
		}
		refuse(t, s, &store.Batch{Restate: []string{"gone"}}, store.ErrNotFound)
	}},
	{"ticks are forgotten but for the first and the last of each schedule", func(t *testing.T, s store.Store) {
		b := &store.Batch{}
		for i := range 10 {
			at := day.Add(time.Duration(i) * time.Hour)
			b.Ticks = append(b.Ticks, store.Tick{Workflow: "w", Schedule: "a", At: at}, store.Tick{Workflow: "v", Schedule: "a", At: at})
			if i < 4 {
				b.Ticks = append(b.Ticks, store.Tick{Workflow: "w", Schedule: "b", At: at})
			}
		}
		commit(t, s, b)
		commit(t, s, &store.Batch{Forget: []store.Forgotten{{Workflow: "w", Before: day.Add(5 * time.Hour)}}})
		var got []string
		for _, tick := range must(s.Ticks(context.Background(), "w", day, day.Add(24*time.Hour), 0))(t) {
			got = append(got, fmt.Sprintf("%s%d", tick.Schedule, int(tick.At.Sub(day).Hours())))
		}
		same(t, "ticks", got, []string{"a0", "b0", "b3", "a5", "a6", "a7", "a8", "a9"})
		if n := len(must(s.Ticks(context.Background(), "v", day, day.Add(24*time.Hour), 0))(t)); n != 10 {
			t.Fatalf("another workflow has %d ticks left, expected 10", n)
		}
	}},
	{"the last ticks come page by page, the last first", func(t *testing.T, s store.Store) {
		b := &store.Batch{}
		for i := range 10 {
			at := day.Add(time.Duration(i/2) * time.Hour) // two schedules at each time
			b.Ticks = append(b.Ticks, store.Tick{Workflow: "w", Schedule: "ab"[i%2 : i%2+1], At: at, Outcome: store.TickFired, RunID: fmt.Sprint(i)},
				store.Tick{Workflow: "v", Schedule: "a", At: at.Add(time.Duration(i) * time.Minute)})
		}
		commit(t, s, b)
		for limit := 0; limit <= 11; limit++ {
			var got []string
			for last := (store.Tick{}); ; {
				page := must(s.LastTicks(context.Background(), "w", last, limit))(t)
				for _, tick := range page {
					got = append(got, tick.RunID)
				}
				if len(page) < max(limit, 1) {
					break
				}
				last = page[len(page)-1]
			}
			same(t, fmt.Sprintf("ticks by %d", limit), strings.Join(got, ""), "9876543210")
		}
	}},
	{"tasks are found by their states", func(t *testing.T, s store.Store) {
		b := &store.Batch{Create: []store.Run{run("r1", "w", machine.RunRunning), run("r2", "w", machine.RunRunning)}}
		for i := range 16 {
			for _, id := range []string{"r1", "r2"} {
				b.Tasks = append(b.Tasks, store.Task{RunID: id, Index: i, Instance: -1, ID: "t", State: machine.TaskState(i % 8)})
			}
		}
		commit(t, s, b)
		for _, c := range []struct {
			states []machine.TaskState
			limit  int
			want   []int
		}{
			{nil, 9, nil}, {[]machine.TaskState{5}, 9, []int{5, 13}}, {[]machine.TaskState{7, 0, 7}, 9, []int{0, 7, 8, 15}},
			{[]machine.TaskState{7, 0}, 3, []int{0, 7, 8}}, {[]machine.TaskState{1}, 0, []int{1}},
		} {
			var got []int
			for _, task := range must(s.TasksIn(context.Background(), "r1", c.states, c.limit))(t) {
				got = append(got, task.Index)
			}
			same(t, fmt.Sprintf("tasks in %v", c.states), got, c.want)
		}
	}},
	{"an id is found by how it begins", func(t *testing.T, s store.Store) {
		b := &store.Batch{}
		for _, id := range []string{"a", "ab", "aba", "ac", "b", "é", "a\xff", "a\xff\xff", "%"} {
			b.Create = append(b.Create, run(id, "w", machine.RunQueued))
		}
		commit(t, s, b)
		for _, c := range []struct {
			prefix string
			limit  int
			want   string
		}{
			{"ab", 9, "ab aba"}, {"a", 2, "a ab"}, {"a\xff", 9, "a\xff a\xff\xff"}, {"é", 9, "é"}, {"\xc3", 9, "é"},
			{"abc", 9, ""}, {"c", 9, ""}, {"%", 9, "%"}, {"_", 9, ""}, {"", 3, "% a ab"}, {"a", 0, ""}, {"a", -1, ""},
		} {
			if got := strings.Join(must(s.Resolve(context.Background(), c.prefix, c.limit))(t), " "); got != c.want {
				t.Fatalf("%q, at most %d, gave %q, expected %q", c.prefix, c.limit, got, c.want)
			}
		}
	}},
	{"ticks are found by time, both ends included, oldest first", func(t *testing.T, s store.Store) {
		b := &store.Batch{}
		for i := range 10 {
			at := day.Add(time.Duration(9-i) * time.Hour)
			b.Ticks = append(b.Ticks,
				store.Tick{Workflow: "w", Schedule: "b", At: at, Outcome: store.TickFired},
				store.Tick{Workflow: "w", Schedule: "a", At: at, Outcome: store.TickMissed},
				store.Tick{Workflow: "v", Schedule: "a", At: at, Outcome: store.TickMerged})
		}
		commit(t, s, b)
		for _, c := range []struct{ from, to, limit, want int }{
			{0, 9, 0, 20}, {0, 9, 3, 3}, {2, 4, 0, 6}, {5, 5, 0, 2}, {5, 4, 0, 0}, {-9, -1, 0, 0}, {9, 99, 9, 2},
		} {
			got := must(s.Ticks(context.Background(), "w", day.Add(time.Duration(c.from)*time.Hour), day.Add(time.Duration(c.to)*time.Hour), c.limit))(t)
			if len(got) != c.want {
				t.Fatalf("%+v gave %d ticks", c, len(got))
			}
			for i, tick := range got {
				want := store.Tick{Workflow: "w", Schedule: "a", At: day.Add(time.Duration(c.from+i/2) * time.Hour), Outcome: store.TickMissed}
				if i%2 == 1 {
					want.Schedule, want.Outcome = "b", store.TickFired
				}
				same(t, fmt.Sprintf("tick %d of %+v", i, c), tick, want)
			}
		}
		spans := must(s.Schedules(context.Background(), "w"))(t)
		same(t, "the spans of schedules", spans, []store.Span{{Schedule: "a", First: day, Last: day.Add(9 * time.Hour)}, {Schedule: "b", First: day, Last: day.Add(9 * time.Hour)}})
	}},
}
