package server

import (
	"cmp"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/store"
)

func TestTheMostUrgentTasksAreThoseThatSortingPutsFirst(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var tasks []taskMark
		for i, st := range rapid.SliceOfN(rapid.IntRange(int(machine.Pending), int(machine.Cancelled)), 0, 40).Draw(rt, "states") {
			tasks = append(tasks, taskMark{Mark: store.Mark{Place: store.Place{Index: i}, State: machine.TaskState(st)}})
		}
		before := slices.Clone(tasks)
		from, most := rapid.IntRange(-1, 45).Draw(rt, "from"), rapid.IntRange(1, 45).Draw(rt, "most")
		want := slices.Clone(tasks)
		if len(want) > most {
			slices.SortStableFunc(want, func(a, b taskMark) int { return cmp.Compare(urgency[a.State], urgency[b.State]) })
		}
		want = want[min(max(from, 0), len(want)):]
		want = want[:min(len(want), most)]
		if got := mostUrgent(tasks, from, most); len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
			rt.Fatalf("from %d the first %d are %v, want %v", from, most, got, want)
		}
		if !reflect.DeepEqual(tasks, before) {
			rt.Fatal("the tasks are in another order")
		}
	})
}
