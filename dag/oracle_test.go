package dag_test

import (
	"flag"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dsl"
)

// many checks a property a number of times as often as -rapid.checks says.
func many(t *testing.T, times int, prop func(*rapid.T)) {
	t.Helper()
	f := flag.Lookup("rapid.checks")
	before := f.Value.String()
	n, err := strconv.Atoi(before)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Value.Set(strconv.Itoa(n * times)); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Value.Set(before) }()
	rapid.Check(t, prop)
}

// drawWorkflow gives a small workflow whose edges lead anywhere, or mostly
// forwards in an order that is not that of the file. No task names itself.
func drawWorkflow(t *rapid.T) *dsl.Workflow {
	n := rapid.IntRange(1, 9).Draw(t, "tasks")
	wf := workflow(n)
	place := rapid.Permutation(indices(n)).Draw(t, "order")
	density := rapid.IntRange(1, 10).Draw(t, "density")
	back := rapid.SampledFrom([]int{0, 0, 0, 1, 5}).Draw(t, "backward")
	for i := range n {
		for j := range n {
			chance := density
			if place[j] > place[i] {
				chance = min(chance, back)
			}
			if i == j || rapid.IntRange(0, 19).Draw(t, "edge") >= chance {
				continue
			}
			if rapid.IntRange(0, 3).Draw(t, "kind") > 0 {
				depend(wf, i, j)
			} else {
				wf.Tasks[j].OnFailure = append(wf.Tasks[j].OnFailure, at(wf.Tasks[i].ID.V, j))
			}
		}
	}
	if rapid.IntRange(0, 2).Draw(t, "handlers") == 0 {
		last := wf.Tasks[slices.Index(place, n-1)].ID
		other := wf.Tasks[rapid.IntRange(0, n-1).Draw(t, "handler")].ID
		wf.OnFinish, wf.OnFailure = []dsl.Value[string]{last}, []dsl.Value[string]{other}
	}
	return wf
}

func indices(n int) []int {
	is := make([]int, n)
	for i := range is {
		is[i] = i
	}
	return is
}

// graph is what a workflow says, by the plainest means: matrices.
type graph struct {
	n              int
	depends, fails [][]bool // [from][to]
	handles, late  []bool
}

func graphOf(wf *dsl.Workflow) *graph {
	n := len(wf.Tasks)
	g := &graph{n: n, depends: matrix(n), fails: matrix(n), handles: make([]bool, n), late: make([]bool, n)}
	number := func(v dsl.Value[string]) int {
		return slices.IndexFunc(wf.Tasks, func(t dsl.Task) bool { return t.ID.V == v.V })
	}
	for i, task := range wf.Tasks {
		for _, d := range task.DependsOn {
			g.depends[number(d.Task)][i] = true
		}
		for _, h := range task.OnFailure {
			g.fails[i][number(h)] = true
		}
	}
	for _, h := range slices.Concat(wf.OnFailure, wf.OnSuccess, wf.OnFinish) {
		g.handles[number(h)] = true
	}
	called := closure(g.fails)
	for i := range n {
		for h := range n {
			g.late[i] = g.late[i] || g.handles[i] || g.handles[h] && called[h][i]
		}
	}
	return g
}

func matrix(n int) [][]bool {
	m := make([][]bool, n)
	for i := range m {
		m[i] = make([]bool, n)
	}
	return m
}

func closure(m [][]bool) [][]bool {
	c := matrix(len(m))
	for i := range m {
		copy(c[i], m[i])
	}
	for k := range c {
		for i := range c {
			for j := range c {
				c[i][j] = c[i][j] || c[i][k] && c[k][j]
			}
		}
	}
	return c
}

func (g *graph) edge(i, j int) bool { return g.depends[i][j] || g.fails[i][j] }

func (g *graph) edges() [][]bool {
	m := matrix(g.n)
	for i := range g.n {
		for j := range g.n {
			m[i][j] = g.edge(i, j)
		}
	}
	return m
}

// dropWaits takes out the edges that wait for handlers of the workflow, and
// counts them.
func (g *graph) dropWaits() (dropped int) {
	for i := range g.n {
		for j := range g.n {
			if g.depends[i][j] && g.late[i] && !g.late[j] {
				g.depends[i][j] = false
				dropped++
			}
		}
	}
	return dropped
}

func acyclic(m [][]bool) bool {
	for i, row := range closure(m) {
		if row[i] {
			return false
		}
	}
	return true
}

func TestACycleIsToldExactlyWhereOneIs(t *testing.T) {
	many(t, 20, func(t *rapid.T) {
		wf := drawWorkflow(t)
		g := graphOf(wf)
		plan, ds := dag.Compile(wf)
		waits := g.dropWaits()
		left := g.edges()
		if want := waits > 0 || !acyclic(left); (plan == nil) != want || ds.Errors() != want {
			t.Fatalf("a plan: %v, errors: %v, a cycle: %v", plan != nil, ds.Errors(), want)
		}
		for _, d := range ds {
			way, late := strings.CutSuffix(strings.TrimPrefix(d.Message, "tasks wait for each other: "), "ended)")
			if d.Rule != "cycle" || late {
				waits--
				continue
			}
			names := strings.Split(way, " -> ")
			last := len(names) - 1
			if names[0] != names[last] || len(slices.Compact(slices.Sorted(slices.Values(names)))) != last {
				t.Fatalf("no way round: %s", way)
			}
			for i := range last {
				from, to := numberOf(names[i]), numberOf(names[i+1])
				if !g.edge(from, to) {
					t.Fatalf("%s: there is no edge from %s", way, names[i])
				}
				if i == last-1 {
					if !left[from][to] {
						t.Fatalf("%s: its last edge has been told before", way)
					}
					left[from][to] = false
				}
			}
		}
		if waits != 0 || len(ds) < 10 && !acyclic(left) {
			t.Fatalf("something is left untold by %v", told(ds))
		}
	})
}

func numberOf(id string) int {
	n, err := strconv.Atoi(id[1:])
	if err != nil {
		panic(err)
	}
	return n
}

// sound gives workflows that compile.
var sound = rapid.Custom(drawWorkflow).Filter(func(wf *dsl.Workflow) bool {
	plan, _ := dag.Compile(wf)
	return plan != nil
})

// drawPlan gives a workflow without cycles, and its plan.
func drawPlan(t *rapid.T) (*dsl.Workflow, *dag.Plan, *graph) {
	wf := sound.Draw(t, "workflow")
	plan, ds := dag.Compile(wf)
	if plan == nil {
		t.Fatal(told(ds))
	}
	return wf, plan, graphOf(wf)
}

func TestTheOrderIsTopologicalAndOtherwiseThatOfTheFile(t *testing.T) {
	many(t, 10, func(t *rapid.T) {
		_, plan, g := drawPlan(t)
		var want []dag.Task
		done := make([]bool, g.n)
		free := func(j int) bool {
			return !done[j] && !slices.ContainsFunc(indices(g.n), func(i int) bool { return g.edge(i, j) && !done[i] })
		}
		for range g.n {
			next := slices.IndexFunc(indices(g.n), free)
			done[next] = true
			want = append(want, dag.Task(next))
		}
		if !slices.Equal(plan.Order, want) {
			t.Fatalf("order is %v, want %v", plan.Order, want)
		}
	})
}

func TestDownstreamAndMembersAreWhatTheirDefinitionsSay(t *testing.T) {
	many(t, 10, func(t *rapid.T) {
		_, plan, g := drawPlan(t)
		roots := rapid.SliceOfNDistinct(rapid.IntRange(0, g.n-1), 1, g.n, rapid.ID).Draw(t, "roots")
		reach := closure(g.edges())
		down, in := make([]bool, g.n), make([]bool, g.n)
		var tasks []dag.Task
		for _, r := range roots {
			tasks = append(tasks, dag.Task(r))
			down[r] = true
			for j := range g.n {
				down[j] = down[j] || reach[r][j]
			}
		}
		for i := range g.n {
			in[i] = down[i] || g.handles[i]
		}
		for range g.n { // what they need, and whom they call, and what those need
			for i := range g.n {
				for j := range g.n {
					in[i] = in[i] || g.depends[i][j] && in[j] || g.fails[j][i] && in[j]
				}
			}
		}
		if got := plan.Downstream(tasks...); !slices.Equal(got, numbers(down)) {
			t.Fatalf("downstream of %v: %v, want %v", roots, got, numbers(down))
		}
		if got := plan.Members(tasks...); !slices.Equal(got, numbers(in)) {
			t.Fatalf("members from %v: %v, want %v", roots, got, numbers(in))
		}
	})
}

func numbers(in []bool) (ts []dag.Task) {
	for i, ok := range in {
		if ok {
			ts = append(ts, dag.Task(i))
		}
	}
	return ts
}

func TestTheCountersOfAPlanAreThoseOfTheFile(t *testing.T) {
	many(t, 10, func(t *rapid.T) {
		_, plan, g := drawPlan(t)
		for j, n := range plan.Tasks {
			upstreams, callers, down := 0, 0, 0
			for i := range g.n {
				upstreams += count(g.depends[i][j])
				callers += count(g.fails[i][j])
				down += count(g.depends[j][i]) + count(g.fails[j][i])
			}
			if int(n.Upstreams) != upstreams || int(n.Callers) != callers || len(n.Downstream) != down {
				t.Fatalf("task %s has %d upstreams, %d callers, %d edges; want %d, %d, %d",
					n.ID, n.Upstreams, n.Callers, len(n.Downstream), upstreams, callers, down)
			}
			if n.Late != g.late[j] || (n.Handles != 0) != g.handles[j] {
				t.Fatalf("task %s: late %v, handles %v; want %v, %v", n.ID, n.Late, n.Handles, g.late[j], g.handles[j])
			}
		}
	})
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestTheSameFileGivesTheSamePlanAndDiagnostics(t *testing.T) {
	many(t, 5, func(t *rapid.T) {
		wf := drawWorkflow(t)
		plan, ds := dag.Compile(wf)
		plan2, ds2 := dag.Compile(wf)
		if !slices.Equal(told(ds), told(ds2)) {
			t.Fatalf("first\n%v\nthen\n%v", told(ds), told(ds2))
		}
		if !reflect.DeepEqual(plan, plan2) {
			t.Fatal("two plans differ")
		}
	})
}
