package storetest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/store"
)

// parts: what lists and pages show a part of.
var parts = []check{
	{"the versions of a workflow are listed without their texts, the last first", func(t *testing.T, s store.Store) {
		b := &store.Batch{}
		for i, hash := range []string{"c", "a", "d", "b"} {
			workflow := "w"
			if hash == "d" {
				workflow = "v"
			}
			b.Versions = append(b.Versions, store.Version{
				Hash: hash, Workflow: workflow, Text: []byte("x"), Tasks: []string{"t"}, CreatedAt: day.Add(time.Duration(i/2) * time.Hour),
			})
		}
		b.Versions = append(b.Versions, store.Version{Hash: "0", Workflow: "w"}) // of no time
		commit(t, s, b)
		got := must(s.Versions(context.Background(), "w", store.Version{}, 9))(t)
		same(t, "versions", got, []store.Version{
			{Hash: "b", Workflow: "w", Tasks: []string{"t"}, CreatedAt: day.Add(time.Hour)},
			{Hash: "c", Workflow: "w", Tasks: []string{"t"}, CreatedAt: day},
			{Hash: "a", Workflow: "w", Tasks: []string{"t"}, CreatedAt: day},
			{Hash: "0", Workflow: "w"},
		})
		if n := len(must(s.Versions(context.Background(), "w", store.Version{}, 2))(t)); n != 2 {
			t.Fatalf("at most two versions are %d", n)
		}
		for limit := 1; limit <= 4; limit++ {
			joined := ""
			for last := (store.Version{}); ; {
				page := must(s.Versions(context.Background(), "w", last, limit))(t)
				for _, v := range page {
					joined += v.Hash
				}
				if len(page) < limit {
					break
				}
				last = page[len(page)-1]
			}
			same(t, fmt.Sprintf("versions by %d", limit), joined, "bca0")
		}
		same(t, "the text", must(s.Version(context.Background(), "a"))(t).Text, []byte("x"))
	}},
	{"the last runs of some workflows are those that each has alone", func(t *testing.T, s store.Store) {
		history(t, s)
		ctx := context.Background()
		for _, workflows := range [][]string{
			nil, {"none"}, {"nightly"}, {"nightly", "hourly"}, {"nightly", "none", "hourly", "nightly"}, {"a\xff", "", "hourly"},
		} {
			for i, limit := range []int{0, 1, 5, 40, store.MaxLimit + 1} {
				states := []machine.RunState{machine.RunFailed, machine.RunQueued, machine.RunFailed}[:max(0, i-1)]
				var want []store.Run
				for _, w := range []string{"hourly", "nightly"} {
					if slices.Contains(workflows, w) {
						want = append(want, must(s.Runs(ctx, store.RunFilter{Workflow: w, States: states, Limit: limit}))(t)...)
					}
				}
				same(t, fmt.Sprintf("the last %d runs of %q in %v", limit, workflows, states), must(s.LastRuns(ctx, workflows, states, limit))(t), want)
			}
		}
	}},
	{"marks tell what the records of tasks tell", func(t *testing.T, s store.Store) {
		all := crowd(t, s)
		ctx := context.Background()
		for _, f := range []store.MarkFilter{
			{}, {Runs: []string{"none"}}, {Runs: []string{"r1"}}, {Runs: []string{"r2", "none", "r1", "r2"}}, {Runs: []string{"r1", "r2"}, Whole: true},
			{Runs: []string{"r1", "r2"}, Whole: true, Apart: true}, {Runs: []string{"none"}, Whole: true, Apart: true},
			{Runs: []string{"r1", "r2"}, States: []machine.TaskState{machine.Failed, machine.Running, machine.Failed}},
			{Runs: []string{"r2"}, Whole: true, States: []machine.TaskState{machine.Succeeded}},
		} {
			want := map[string][]store.Mark{}
			for _, task := range all {
				if slices.Contains(f.Runs, task.RunID) && (!f.Whole || task.Instance < 0) && (f.States == nil || slices.Contains(f.States, task.State)) {
					want[task.RunID] = append(want[task.RunID], store.Mark{
						Place: store.Place{Index: task.Index, Instance: task.Instance}, State: task.State, Reason: task.Reason,
						Tried: task.Attempts > 0, Gave: len(task.Outputs) > 0,
					})
				}
			}
			same(t, fmt.Sprintf("marks of %+v", f), must(s.Marks(ctx, f))(t), want)
		}
	}},
	{"records are found by where they stand", func(t *testing.T, s store.Store) {
		all := crowd(t, s)
		ctx := context.Background()
		for _, places := range [][]store.Place{
			nil, {{Index: 99, Instance: -1}}, {{Index: 0, Instance: -1}}, {{Index: 3, Instance: 7}, {Index: 1, Instance: -1}, {Index: 3, Instance: -1}, {Index: 3, Instance: 7}, {Index: 0, Instance: 2}},
		} {
			in := func(index, instance int) bool {
				return slices.Contains(places, store.Place{Index: index, Instance: instance})
			}
			tasks := slices.DeleteFunc(slices.Clone(all), func(task store.Task) bool { return task.RunID != "r2" || !in(task.Index, task.Instance) })
			same(t, fmt.Sprintf("tasks at %v", places), must(s.TasksAt(ctx, "r2", places))(t), tasks)
			same(t, fmt.Sprintf("tasks of no run at %v", places), must(s.TasksAt(ctx, "none", places))(t), []store.Task{})
			attempts := slices.DeleteFunc(must(s.Attempts(ctx, "r2"))(t), func(a store.Attempt) bool { return !in(a.Index, a.Instance) })
			same(t, fmt.Sprintf("attempts at %v", places), must(s.AttemptsAt(ctx, "r2", places))(t), attempts)
		}
	}},
}

// crowd stores two runs whose tasks, some with instances, are in all states, and
// gives their records in order.
func crowd(t *testing.T, s store.Store) (all []store.Task) {
	b := &store.Batch{}
	for _, id := range []string{"r1", "r2"} {
		b.Create = append(b.Create, run(id, "w", machine.RunRunning))
		for i := range 12 {
			last := -1
			if i%3 == 0 {
				last = 10
			}
			for k := -1; k <= last; k++ {
				task := store.Task{RunID: id, Index: i, Instance: k, ID: "t", State: machine.TaskState((i + k + 1) % 8), Attempts: (i + k + 1) % 3}
				if task.State == machine.Failed {
					task.Reason = machine.ReasonExit
				}
				if k%4 == 1 {
					task.Outputs = map[string]string{"rows": "1"}
				}
				all = append(all, task)
				for n := 1; n <= task.Attempts; n++ {
					b.Attempts = append(b.Attempts, store.Attempt{RunID: id, Index: i, Instance: k, Number: n, State: machine.Failed})
				}
			}
		}
	}
	b.Tasks = slices.Clone(all)
	slices.Reverse(b.Tasks) // the order of writing is not the order of places
	commit(t, s, b)
	return all
}
