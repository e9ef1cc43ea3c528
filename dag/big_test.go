package dag_test

import (
	"slices"
	"testing"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dsl"
)

const large = 100_000

// chain lets each task depend on the one behind it in the file, so that the
// order is the reverse of the file's.
func chain(n int) *dsl.Workflow {
	wf := workflow(n)
	for i := range n - 1 {
		depend(wf, i, i+1)
	}
	return wf
}

// fan is one task, n-2 that depend on it, and one that depends on them all.
func fan(n int) *dsl.Workflow {
	wf := workflow(n)
	for i := 1; i < n-1; i++ {
		depend(wf, i, 0)
		depend(wf, n-1, i)
	}
	return wf
}

func TestALongChainAndAWideFanCompile(t *testing.T) {
	plan, _ := dag.Compile(chain(large))
	for i, task := range plan.Order {
		if int(task) != large-1-i {
			t.Fatalf("place %d of a chain has task %d", i, task)
		}
	}
	if got := plan.Downstream(large - 1); len(got) != large {
		t.Errorf("%d tasks are downstream of the first of a chain", len(got))
	}
	if got := plan.Members(0); len(got) != large {
		t.Errorf("the last of a chain needs %d tasks", len(got))
	}

	plan, _ = dag.Compile(fan(large))
	if !slices.IsSorted(plan.Order) {
		t.Error("the order of a fan is not that of the file")
	}
	if n := plan.Tasks[large-1].Upstreams; n != large-2 {
		t.Errorf("the end of a fan has %d upstreams", n)
	}
}

func TestCompilingCostsTheSameForEachTaskOfAnySize(t *testing.T) {
	for name, shape := range map[string]func(int) *dsl.Workflow{"chain": chain, "fan": fan} {
		small, big := shape(3000), shape(30_000)
		each := func(wf *dsl.Workflow) float64 {
			return testing.AllocsPerRun(1, func() { dag.Compile(wf) }) / float64(len(wf.Tasks))
		}
		if a, b := each(small), each(big); b > 1.1*a {
			t.Errorf("%s: %.2f allocations a task with 3,000 tasks, %.2f with 30,000", name, a, b)
		}
	}
}

func BenchmarkCompile(b *testing.B) {
	for name, shape := range map[string]func(int) *dsl.Workflow{"chain": chain, "fan": fan} {
		wf := shape(large)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if plan, _ := dag.Compile(wf); plan == nil {
					b.Fatal("no plan")
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/large, "ns/task")
		})
	}
}

func BenchmarkMembers(b *testing.B) {
	plan, _ := dag.Compile(fan(large))
	for b.Loop() {
		plan.Members(1)
	}
}
