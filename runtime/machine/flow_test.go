package machine

import (
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dsl"
)

// set is a value that the file has.
func set[V any](v V) dsl.Value[V] { return dsl.Value[V]{V: v, Pos: dsl.Pos{Line: 1, Col: 1}} }

// chance is true one time in n.
func chance(t *rapid.T, n int, what string) bool { return rapid.IntRange(1, n).Draw(t, what) == n }

func pick[V any](t *rapid.T, what string, of ...V) V {
	return of[rapid.IntRange(0, len(of)-1).Draw(t, what)]
}

// drawFlow gives any workflow without cycles, of up to nine tasks.
func drawFlow(t *rapid.T) (*dsl.Workflow, *dag.Plan) {
	n := rapid.IntRange(1, 9).Draw(t, "tasks")
	wf := &dsl.Workflow{Source: dsl.NewSource("w.yaml", nil), Tasks: make([]dsl.Task, n)}
	for i := range wf.Tasks {
		drawTask(t, &wf.Tasks[i], fmt.Sprint("t", i))
	}
	drawEdges(t, wf)
	if chance(t, 3, "run timeout") {
		wf.Timeout = set(time.Hour)
	}
	if chance(t, 2, "max_parallel") {
		wf.MaxParallel = set(rapid.IntRange(0, 3).Draw(t, "parallel"))
	}
	if chance(t, 3, "priority") {
		wf.Priority = set(rapid.IntRange(0, 9).Draw(t, "of workflow"))
	}
	plan, ds := dag.Compile(wf)
	if ds.Errors() {
		t.Fatalf("%v", ds)
	}
	return wf, plan
}

func drawTask(t *rapid.T, task *dsl.Task, id string) {
	task.ID = set(id)
	if chance(t, 6, "waits") {
		task.Kind = dsl.KindWaitFor
	}
	if chance(t, 3, "join any") {
		task.Join = set(dsl.JoinAny)
	}
	if chance(t, 5, "allow_failure") {
		task.AllowFailure = set(true)
	}
	if chance(t, 10, "disabled") {
		task.Disabled = set(true)
	}
	if chance(t, 6, "when") {
		task.When = set("x")
	}
	if chance(t, 4, "timeout") {
		task.Timeout = set(time.Minute)
	}
	if chance(t, 6, "codes") {
		task.SuccessCodes = []dsl.Value[int]{set(1), set(3)}
		task.SkipCodes = []dsl.Value[int]{set(0), set(4)}
	}
	if chance(t, 4, "pool") {
		task.Pool = &dsl.Pool{Name: set(pick(t, "of name", "p", "q"))}
		if chance(t, 2, "busy") {
			task.Pool.Busy = set(dsl.BusySkip)
		}
	}
	if chance(t, 4, "foreach") {
		task.Foreach = &dsl.Foreach{Expr: set("x")}
		if chance(t, 2, "of so many at a time") {
			task.Foreach.MaxParallel = set(rapid.IntRange(1, 3).Draw(t, "at a time"))
		}
	}
	if chance(t, 3, "priority") {
		task.Priority = set(rapid.IntRange(0, 9).Draw(t, "of task"))
	}
	if chance(t, 8, "recovery") {
		task.Recovery = set(dsl.RecoveryFail)
	}
	if chance(t, 2, "retry") {
		task.Retry = &dsl.Retry{
			Max:     set(rapid.IntRange(0, 3).Draw(t, "max")),
			Delay:   set(pick(t, "delay", 0, time.Second, time.Minute)),
			Backoff: set(pick(t, "backoff", dsl.Exponential, dsl.Constant, dsl.Linear)),
			Jitter:  set(pick(t, "jitter", 0, time.Second)),
		}
		if chance(t, 3, "exit_codes") {
			task.Retry.ExitCodes = []dsl.Value[int]{set(1), set(137)}
		}
	}
}

// drawEdges draws edges that lead forwards in an order that is not that of the
// file, and makes the last tasks of it handlers of the workflow.
func drawEdges(t *rapid.T, wf *dsl.Workflow) {
	n := len(wf.Tasks)
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	order = rapid.Permutation(order).Draw(t, "order")
	late := map[int]bool{}
	for range rapid.IntRange(0, 3).Draw(t, "handlers") {
		at := rapid.IntRange(n/2, n-1).Draw(t, "handler")
		late[order[at]] = true
		list := pick(t, "handles", &wf.OnFailure, &wf.OnSuccess, &wf.OnFinish)
		if id := wf.Tasks[order[at]].ID; !slices.ContainsFunc(*list, func(v dsl.Value[string]) bool { return v.V == id.V }) {
			*list = append(*list, id)
		}
	}
	density := rapid.IntRange(1, 5).Draw(t, "density")
	for i, from := range order {
		for _, to := range order[i+1:] {
			if !chance(t, 1+density, "edge") {
				continue
			}
			if chance(t, 4, "on_failure") {
				wf.Tasks[from].OnFailure = append(wf.Tasks[from].OnFailure, wf.Tasks[to].ID)
				late[to] = late[to] || late[from]
			}
		}
	}
	for i, from := range order {
		for _, to := range order[i+1:] {
			if late[from] && !late[to] || !chance(t, 1+density, "edge") {
				continue
			}
			on := pick(t, "condition", dsl.OnSucceeded, dsl.OnSucceeded, dsl.OnSucceeded, dsl.OnFailed,
				dsl.OnSkipped, dsl.OnFinished, dsl.OnSucceeded|dsl.OnSkipped, dsl.OnFailed|dsl.OnSkipped)
			wf.Tasks[to].DependsOn = append(wf.Tasks[to].DependsOn, dsl.Dependency{Task: wf.Tasks[from].ID, On: on})
		}
	}
}

// drawOnly gives the tasks of a run: all of them, what some roots need, or any.
func drawOnly(t *rapid.T, plan *dag.Plan) []dag.Task {
	kind := rapid.IntRange(0, 5).Draw(t, "only")
	if kind > 1 {
		return nil
	}
	all := make([]dag.Task, len(plan.Tasks))
	for i := range all {
		all[i] = dag.Task(i)
	}
	some := rapid.SliceOfNDistinct(rapid.SampledFrom(all), 1, 3, rapid.ID).Draw(t, "roots")
	if kind == 0 {
		return some
	}
	return plan.Members(some...)
}

// drawResult gives the end of an attempt. One that is being stopped has mostly
// been stopped.
func drawResult(t *rapid.T, stopping bool) Result {
	var r Result
	switch rapid.IntRange(0, 15).Draw(t, "result") {
	case 0, 1:
		r = Result{ExitCode: 1, LastLine: "oops"}
	case 2:
		r = Result{ExitCode: pick(t, "code", 2, 3, 4)}
	case 3:
		r = Result{ExitCode: 137, Signal: "SIGKILL"}
	case 4:
		r = Result{StartError: "no such program"}
	case 5:
		r = Result{Failure: "more than 1 MiB in AX_OUTPUT"}
	case 6:
		r = Result{ExitCode: 1, NoRetry: true}
	case 7, 8:
		r = Result{Interrupted: true}
	default:
		r = Result{Outputs: map[string]string{"rows": "1"}}
	}
	if chance(t, 12, "left") {
		r.Left = []string{"4711 sleep"}
	}
	r.Stopped = stopping && !chance(t, 4, "by itself")
	return r
}

// drawItems gives the items of a foreach, as Decode gives them: none is nil.
func drawItems(t *rapid.T) (items []string) {
	for i := range rapid.IntRange(0, 4).Draw(t, "items") {
		items = append(items, fmt.Sprint(i))
	}
	return items
}
