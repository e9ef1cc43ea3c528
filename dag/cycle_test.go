package dag_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dsl"
)

func TestEveryCycleIsNamedOnce(t *testing.T) {
	checkDiagnostics(t, []diagnosticCase{
		{"two tasks", `
tasks:
  a: {run: x, depends_on: b}
  b: {run: x, depends_on: a}
`, []string{`3:27 error cycle: tasks wait for each other: a -> b -> a (drop one of these dependencies)`}},
		{"a ring is told from its first task, in the order of work, and what hangs on it is not blamed", `
tasks:
  start: {run: x}
  inbox: {run: x, depends_on: [start, ship]}
  check: {run: x, depends_on: inbox}
  ship: {run: x, depends_on: check}
  report: {run: x, depends_on: ship}
`, []string{`4:39 error cycle: tasks wait for each other: inbox -> check -> ship -> inbox (drop one of these dependencies)`}},
		{"a self-dependency beside a ring", `
tasks:
  a: {run: x, depends_on: [a, b]}
  b: {run: x, depends_on: a}
`, []string{
			`3:28 error self-dependency: task "a" depends on itself (remove it, or name the task that must come first)`,
			`3:31 error cycle: tasks wait for each other: a -> b -> a (drop one of these dependencies)`,
		}},
		{"a figure of eight is two", `
tasks:
  a: {run: x, depends_on: [b, c]}
  b: {run: x, depends_on: a}
  c: {run: x, depends_on: a}
`, []string{
			`3:28 error cycle: tasks wait for each other: a -> b -> a (drop one of these dependencies)`,
			`3:31 error cycle: tasks wait for each other: a -> c -> a (drop one of these dependencies)`,
		}},
		{"a figure of eight that is entered from the side is two", `
tasks:
  a: {run: x, depends_on: b}
  b: {run: x, depends_on: [a, c]}
  c: {run: x, depends_on: b}
`, []string{
			`3:27 error cycle: tasks wait for each other: a -> b -> a (drop one of these dependencies)`,
			`4:31 error cycle: tasks wait for each other: b -> c -> b (drop one of these dependencies)`,
		}},
		{"a chord is one where one edge closes both ways round, and the shorter is told", `
tasks:
  a: {run: x, depends_on: c}
  b: {run: x, depends_on: a}
  c: {run: x, depends_on: [a, b]}
`, []string{`3:27 error cycle: tasks wait for each other: a -> c -> a (drop one of these dependencies)`}},
		{"two rings apart are two", `
tasks:
  a: {run: x, depends_on: b}
  b: {run: x, depends_on: a}
  c: {run: x, depends_on: [b, d]}
  d: {run: x, depends_on: c}
`, []string{
			`3:27 error cycle: tasks wait for each other: a -> b -> a (drop one of these dependencies)`,
			`5:31 error cycle: tasks wait for each other: c -> d -> c (drop one of these dependencies)`,
		}},
		{"through on_failure", `
tasks:
  one: {run: x, depends_on: two}
  two: {run: x, on_failure: one, depends_on: three}
  three: {run: x, depends_on: one}
`, []string{`3:29 error cycle: tasks wait for each other: one -> three -> two -> one (drop one of these dependencies)`}},
		{"through on_failure alone", `
tasks:
  a: {run: x, on_failure: b}
  b: {run: x, on_failure: a}
`, []string{`4:27 error cycle: tasks wait for each other: a -> b -> a (drop one of these dependencies)`}},
		{"where a condition is given", `
tasks:
  a: {run: x, depends_on: {b: finished}}
  b: {run: x, depends_on: {a: [failed, skipped]}}
`, []string{`3:28 error cycle: tasks wait for each other: a -> b -> a (drop one of these dependencies)`}},
	})
}

func TestWhatWaitsForAHandlerOfTheWorkflowIsACycle(t *testing.T) {
	says := func(h, task string) string {
		return fmt.Sprintf(`error cycle: tasks wait for each other: %s -> %s -> %s (handler %q starts once every other task has ended)`+
			` (make %q a handler of the workflow as well, or drop the dependency)`, h, task, h, h, task)
	}
	checkDiagnostics(t, []diagnosticCase{
		{"a task that depends on a handler of the workflow", `
on_finish: h
tasks:
  a: {run: x, depends_on: h}
  h: {run: x}
`, []string{`4:27 ` + says("h", "a")}},
		{"a task that depends on what handles the failure of such a handler", `
on_success: h
tasks:
  a: {run: x, depends_on: {q: finished}}
  h: {run: x, on_failure: q}
  q: {run: x}
`, []string{`4:28 ` + says("q", "a")}},
		{"where the handler depends on it in turn, it is told once", `
on_finish: h
tasks:
  a: {run: x, depends_on: h}
  h: {run: x, depends_on: a}
`, []string{`4:27 ` + says("h", "a")}},
		{"beside a ring of handlers, none of which is blamed for it", `
on_finish: [g, h, k]
tasks:
  a: {run: x}
  g: {run: x, depends_on: h}
  h: {run: x, depends_on: [g, k]}
  k: {run: x, depends_on: a}
`, []string{`5:27 error cycle: tasks wait for each other: g -> h -> g (drop one of these dependencies)`}},
		{"a handler of the workflow may depend on tasks and on other handlers", `
on_failure: [g, h]
tasks:
  a: {run: x, on_failure: h}
  g: {run: x, depends_on: {a: finished}}
  h: {run: x, depends_on: g}
`, []string{}},
	})
}

// workflow makes one of n tasks t0, t1, … whose edges are drawn by the caller.
func workflow(n int) *dsl.Workflow {
	wf := &dsl.Workflow{Source: dsl.NewSource("w.yaml", nil), Tasks: make([]dsl.Task, n)}
	for i := range wf.Tasks {
		wf.Tasks[i].ID = at(fmt.Sprint("t", i), i)
	}
	return wf
}

// at is a value that stands in the line of a task.
func at[T any](v T, task int) dsl.Value[T] {
	return dsl.Value[T]{V: v, Pos: dsl.Pos{Line: int32(task + 1), Col: 1}}
}

// depend lets a task depend on another.
func depend(wf *dsl.Workflow, task, on int) {
	wf.Tasks[task].DependsOn = append(wf.Tasks[task].DependsOn,
		dsl.Dependency{Task: at(wf.Tasks[on].ID.V, task), On: dsl.OnSucceeded})
}

func cyclesOf(wf *dsl.Workflow) []string {
	_, ds := dag.Compile(wf)
	var ways []string
	for _, d := range ds {
		ways = append(ways, strings.TrimPrefix(d.Message, "tasks wait for each other: "))
	}
	return ways
}

func TestAKnotOfFiftyIsToldByTenCycles(t *testing.T) {
	wf := workflow(50)
	for i := range 50 {
		for j := range 50 {
			if i != j {
				depend(wf, i, j)
			}
		}
	}
	ways := cyclesOf(wf)
	if len(ways) != 10 {
		t.Fatalf("%d cycles are told: %v", len(ways), ways)
	}
	for i, way := range ways {
		if strings.Count(way, "->") != 2 {
			t.Errorf("cycle %d is not a shortest one: %s", i, way)
		}
	}
}

func TestFiftyThousandCyclesAreAllTold(t *testing.T) {
	const pairs = 50_000
	wf := workflow(2 * pairs)
	for i := range pairs {
		depend(wf, 2*i, 2*i+1)
		depend(wf, 2*i+1, 2*i)
		if i > 0 {
			depend(wf, 2*i, 2*i-1) // all of them downstream of the first
		}
	}
	if ways := cyclesOf(wf); len(ways) != pairs || ways[pairs-1] != "t99998 -> t99999 -> t99998" {
		t.Errorf("%d cycles are told", len(ways))
	}
}

func TestLookingForACycleDoesNotLeaveItsKnot(t *testing.T) {
	const rings, around, behind = 300, 20, 10_000
	wf := workflow(rings*around + behind)
	for r := range rings {
		for i := range around {
			depend(wf, r*around+i, r*around+(i+around-1)%around)
		}
		depend(wf, rings*around, r*around)
	}
	for i := 1; i < behind; i++ { // a wide field downstream of every ring
		depend(wf, rings*around+i, rings*around)
	}
	if ways := cyclesOf(wf); len(ways) != rings {
		t.Errorf("%d cycles are told", len(ways))
	}
}

func TestARingOfManyTasksIsNamedWhole(t *testing.T) {
	const n = 20_000
	wf := workflow(n)
	for i := range n {
		depend(wf, i, (i+n-1)%n)
	}
	ways := cyclesOf(wf)
	if len(ways) != 1 || strings.Count(ways[0], "->") != n {
		t.Errorf("%d cycles are told", len(ways))
	}
}

func TestManyUnknownNamesAreQuicklyTold(t *testing.T) {
	const n = 20_000
	wf := workflow(n)
	for i := range n {
		wf.Tasks[i].DependsOn = []dsl.Dependency{{Task: at(fmt.Sprintf("u%d", i), i)}}
	}
	_, ds := dag.Compile(wf)
	hints := 0
	for _, d := range ds {
		if d.Hint != "" {
			hints++
		}
	}
	if len(ds) != n || hints != 100 {
		t.Errorf("%d of %d unknown names are told, %d with a suggestion", len(ds), n, hints)
	}
}
