package runtime_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/runtime/executor"
	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/store"
)

func task(rep runtime.Report, id string) runtime.TaskReport {
	i := slices.IndexFunc(rep.Tasks, func(t runtime.TaskReport) bool { return t.ID == id })
	if i < 0 {
		return runtime.TaskReport{}
	}
	return rep.Tasks[i]
}

func has(env []string, want ...string) bool {
	for _, v := range want {
		if !slices.Contains(env, v) {
			return false
		}
	}
	return true
}

func TestEachInstanceHasItsItemAndDownstreamHasAllOutputs(t *testing.T) {
	x := &script{outputs: map[string]map[string]string{
		"list":    {"files": `[{"name": "a.csv", "tags": ["x"]}, {"name": "b <&>"}, "plain", 7, null]`},
		"load[0]": {"rows": "1"}, "load[2]": {"rows": "<3>"},
	}}
	inEngine(t, x, func(ctx context.Context, e *runtime.Engine) {
		rep := runAll(ctx, t, e, `
name: flow
tasks:
  list: {run: one}
  load:
    depends_on: list
    foreach: json(tasks.list.outputs.files)
    run: two
    env: {NAME: "${{ item ?? 'none' }}", NTH: "${{ index + 1 }}"}
  sum:
    depends_on: load
    run: three
    env:
      ROWS: ${{ tasks.load.outputs.rows }}
      COUNT: "${{ count(tasks.load.outputs.rows, # != nil) }}"
      CODE: ${{ tasks.load.exit_code }}
  again:
    depends_on: load
    foreach: "filter(tasks.load.outputs.rows, # != nil)"
    run: four
`)
		equal(t, states(rep), []string{
			"list succeeded", "load succeeded", "load[0] succeeded", "load[1] succeeded", "load[2] succeeded",
			"load[3] succeeded", "load[4] succeeded", "sum succeeded",
			"again succeeded", "again[0] succeeded", "again[1] succeeded",
		})
		for unit, want := range map[string][]string{
			"load[0]":  {`NAME={"name":"a.csv","tags":["x"]}`, "NTH=1", "AX_TASK=load", "AX_INDEX=0", `AX_ITEM={"name":"a.csv","tags":["x"]}`},
			"load[1]":  {"NTH=2", "AX_INDEX=1", `AX_ITEM={"name":"b <&>"}`},
			"load[2]":  {"NAME=plain", "AX_ITEM=plain"},
			"load[3]":  {"NAME=7", "AX_ITEM=7"},
			"load[4]":  {"NAME=none", "AX_ITEM=null"},
			"sum":      {`ROWS=["1",null,"<3>",null,null]`, "COUNT=2", "CODE=0"},
			"again[1]": {"AX_ITEM=<3>"},
		} {
			if !has(x.told(unit), want...) {
				t.Errorf("%s has not %q: %q", unit, want, x.told(unit))
			}
		}
		if got := task(rep, "load").Outputs["rows"]; got != `["1",null,"<3>",null,null]` {
			t.Errorf("the outputs of the task are %s", got)
		}
	})
}

func TestTheIdempotencyKeyIsThatOfTheInstance(t *testing.T) {
	x := &script{fail: map[string]int{"a[0]": 1}}
	inEngine(t, x, func(ctx context.Context, e *runtime.Engine) {
		rep := runAll(ctx, t, e, `
name: flow
tasks:
  a: {run: one, foreach: [x, y], retry: {max: 1, delay: 0}}
`)
		for i := range 2 {
			if want := fmt.Sprintf("AX_IDEMPOTENCY_KEY=%s/a[%d]", rep.ID, i); !has(x.told(fmt.Sprintf("a[%d]", i)), want) {
				t.Errorf("instance %d has not %s", i, want)
			}
		}
		attempts, err := e.Store.Attempts(ctx, rep.ID)
		if err != nil {
			t.Fatal(err)
		}
		var logs []string
		for _, a := range attempts {
			logs = append(logs, strings.TrimPrefix(a.Log, "logs/"+rep.ID+"/"))
		}
		equal(t, logs, []string{"0-a[0].1.log", "0-a[0].2.log", "0-a[1].1.log"})
	})
}

func TestRetriesAndMaxParallelAreExact(t *testing.T) {
	x := &script{
		took: map[string]time.Duration{"a[0]": time.Minute, "a[1]": time.Hour, "a[2]": time.Minute},
		fail: map[string]int{"a[0]": 1, "a[1]": -1},
	}
	inEngine(t, x, func(ctx context.Context, e *runtime.Engine) {
		rep := runAll(ctx, t, e, `
name: flow
tasks:
  a: {run: one, timeout: 30m, foreach: {items: [x, y, z], max_parallel: 2}, retry: {max: 1, delay: 10s, if: "tasks.a.exit_code == 3 and index == 0"}}
`)
		notes := x.noted()
		slices.Sort(notes[:2]) // at one instant
		equal(t, notes, []string{
			"0s a[0]#1 start", "0s a[1]#1 start", "1m0s a[0]#1 end", "1m0s a[2]#1 start",
			"2m0s a[2]#1 end", "2m0s a[0]#2 start", "3m0s a[0]#2 end", "30m0s a[1]#1 end",
		})
		equal(t, states(rep), []string{"a failed timeout", "a[0] succeeded", "a[1] failed timeout", "a[2] succeeded"})
		if got := task(rep, "a").Error; got != "1 of 3 instances failed, first a[1]: not done within the timeout of 30m" {
			t.Errorf("the task says %q", got)
		}
	})
}

func TestAForeachThatCannotBeEvaluatedFailsTheTask(t *testing.T) {
	for _, c := range []struct{ foreach, want string }{
		{"json(tasks.list.outputs.map)", `foreach needs a list, but got a map`},
		{"json(tasks.list.outputs.text)", `"none at all" is no JSON: invalid character 'o' in literal null (expecting 'u')`},
		{"json(tasks.list.outputs.gone)", `task "list" has no output "gone"`},
		{"1 .. 100001", "a range has at most 100000 numbers"},
		{`map(1 .. 100000, json(tasks.list.outputs.large))`, "the expression does too much work"},
		{`map(1 .. 100000, tasks.list.outputs.large)`, "the items are larger than 16 MiB together: put what is large into files"},
		{`split(tasks.list.outputs.commas, ",")`, "there are 100001 items, at most 100000 are allowed: let one instance take several of them"},
	} {
		x := &script{outputs: map[string]map[string]string{"list": {
			"map": `{"a": 1}`, "text": "none at all", "large": `"` + strings.Repeat("x", 1000) + `"`, "commas": strings.Repeat(",", 100_000),
		}}}
		inEngine(t, x, func(ctx context.Context, e *runtime.Engine) {
			rep := runAll(ctx, t, e, fmt.Sprintf(`
name: flow
tasks:
  list: {run: one}
  each: {depends_on: list, foreach: %q, run: two, retry: 3}
  after: {depends_on: each, run: three}
`, c.foreach))
			equal(t, states(rep), []string{"list succeeded", "each failed start_error", "after skipped upstream"})
			if got := task(rep, "each").Error; !strings.HasPrefix(got, "foreach: ") || !strings.Contains(got, "flow.yaml:5:") || !strings.Contains(got, c.want) {
				t.Errorf("%s: the task says %q", c.foreach, got)
			}
		})
	}
}

func TestAPoolHoldsBackInstancesAndBusySkipsThem(t *testing.T) {
	x := &script{took: map[string]time.Duration{"a[0]": time.Hour, "a[1]": time.Hour, "b[0]": time.Hour}}
	inEngine(t, x, func(ctx context.Context, e *runtime.Engine) {
		rep := runAll(ctx, t, e, `
name: flow
tasks:
  a: {run: one, foreach: [x, y], pool: {name: db, slots: 1}, priority: 9}
  b: {run: two, foreach: {items: [x, y, z], max_parallel: 2}, pool: {name: db, slots: 1, busy: skip}}
`)
		equal(t, states(rep), []string{
			"a succeeded", "a[0] succeeded", "a[1] succeeded",
			"b skipped busy", "b[0] skipped busy", "b[1] skipped busy", "b[2] skipped busy",
		})
		equal(t, x.noted(), []string{"0s a[0]#1 start", "1h0m0s a[0]#1 end", "1h0m0s a[1]#1 start", "2h0m0s a[1]#1 end"})
	})
}

func TestARetryOfARunKeepsTheInstancesThatSucceeded(t *testing.T) {
	x := &script{fail: map[string]int{"a[1]": 2, "a[3]": 1}}
	inEngine(t, x, func(ctx context.Context, e *runtime.Engine) {
		rep := runAll(ctx, t, e, `
name: flow
tasks:
  a: {run: one, foreach: [w, x, y, z]}
  b: {run: two, depends_on: a}
`)
		again := func(tasks ...string) runtime.Report {
			if err := e.Retry(ctx, rep.ID, tasks); err != nil {
				t.Fatal(err)
			}
			if _, err := e.Wait(ctx, rep.ID); err != nil {
				t.Fatal(err)
			}
			return reportOf(ctx, t, e, rep.ID)
		}
		equal(t, states(again("a[3]")), []string{
			"a failed exit", "a[0] succeeded", "a[1] failed exit", "a[2] succeeded", "a[3] succeeded", "b skipped upstream",
		})
		again()
		rep = again()
		equal(t, states(rep), []string{
			"a succeeded", "a[0] succeeded", "a[1] succeeded", "a[2] succeeded", "a[3] succeeded", "b succeeded",
		})
		var counts []int
		for _, t := range rep.Tasks {
			counts = append(counts, t.Attempts)
		}
		if !slices.Equal(counts, []int{7, 1, 3, 1, 2, 1}) {
			t.Errorf("the attempts are %v", counts)
		}
		if err := e.Retry(ctx, rep.ID, []string{"a[4]"}); err == nil || !strings.Contains(err.Error(), `has no task "a[4]"`) {
			t.Errorf("an instance that there is not: %v", err)
		}
	})
}

func TestFewerItemsAfterARetryUpstreamAreFewerInTheReport(t *testing.T) {
	x := &script{outputs: map[string]map[string]string{"list": {"n": "3"}}, fail: map[string]int{"a[2]": -1}}
	inEngine(t, x, func(ctx context.Context, e *runtime.Engine) {
		rep := runAll(ctx, t, e, `
name: flow
tasks:
  list: {run: one}
  a: {run: two, depends_on: list, foreach: 1 .. int(tasks.list.outputs.n)}
`)
		x.outputs["list"]["n"] = "1"
		if err := e.Retry(ctx, rep.ID, []string{"list"}); err != nil {
			t.Fatal(err)
		}
		if _, err := e.Wait(ctx, rep.ID); err != nil {
			t.Fatal(err)
		}
		equal(t, states(reportOf(ctx, t, e, rep.ID)), []string{"list succeeded", "a succeeded", "a[0] succeeded"})
	})
}

// An engine that dies in the middle leaves a run that the next one goes on with:
// no instance that has succeeded runs again, and the items are not evaluated anew.
func TestARunGoesOnInTheMiddleOfAForeach(t *testing.T) {
	x := &script{took: map[string]time.Duration{}, fail: map[string]int{"a[7]": 1}}
	for i := range 40 {
		x.took[fmt.Sprintf("a[%d]", i)] = time.Minute
	}
	var id string
	succession(t, x,
		func(ctx context.Context, e *runtime.Engine) {
			run, err := e.Start(ctx, runtime.Request{Plan: plan(t, `
name: flow
tasks:
  a: {run: one, foreach: {items: 1 .. 40, max_parallel: 4}, retry: {max: 1, delay: 1h}}
  b: {run: two, depends_on: a}
`)})
			if err != nil {
				t.Fatal(err)
			}
			id = run.ID
			time.Sleep(5*time.Minute + 30*time.Second)
		},
		func(ctx context.Context, e *runtime.Engine) {
			if err := e.Resume(ctx, id); err != nil {
				t.Fatal(err)
			}
			time.Sleep(90 * time.Second)
		},
		func(ctx context.Context, e *runtime.Engine) {
			if err := e.Resume(ctx, id); err != nil {
				t.Fatal(err)
			}
			if _, err := e.Wait(ctx, id); err != nil {
				t.Fatal(err)
			}
			rep := reportOf(ctx, t, e, id)
			if rep.State != "succeeded" {
				t.Errorf("the run is %s: %v", rep.State, states(rep))
			}
			again := 0
			for _, t := range rep.Tasks {
				if strings.HasPrefix(t.ID, "a[") {
					again += t.Attempts - 1
				}
			}
			if again != 4+4+1 {
				t.Errorf("%d attempts more than instances: 4 for each engine that died and 1 for a failure", again)
			}
		})
}

func TestACancelReachesAllInstances(t *testing.T) {
	x := &script{took: map[string]time.Duration{"a[0]": time.Hour, "a[1]": time.Hour}}
	inEngine(t, x, func(ctx context.Context, e *runtime.Engine) {
		run, err := e.Start(ctx, runtime.Request{Plan: plan(t, `
name: flow
tasks:
  a: {run: one, foreach: {items: 1 .. 1000, max_parallel: 2}}
`)})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if err := e.Cancel(ctx, run.ID, "test"); err != nil {
			t.Fatal(err)
		}
		if _, err := e.Wait(ctx, run.ID); err != nil {
			t.Fatal(err)
		}
		rep := reportOf(ctx, t, e, run.ID)
		cancelled := 0
		for _, t := range rep.Tasks {
			if t.State == "cancelled" && t.Reason == "cancelled" {
				cancelled++
			}
		}
		if rep.State != "cancelled" || cancelled != 1001 {
			t.Errorf("the run is %s with %d of 1001 cancelled", rep.State, cancelled)
		}
	})
}

// counter is a store that counts the records that are written.
type counter struct {
	store.Memory
	tasks, events int
}

func (c *counter) Commit(ctx context.Context, b *store.Batch) error {
	c.tasks += len(b.Tasks)
	for _, a := range b.Append {
		c.events += len(a.Data)
	}
	return c.Memory.Commit(ctx, b)
}

// instant carries out attempts that take a second and tell nothing.
type instant struct{}

func (instant) Execute(ctx context.Context, a executor.Attempt) executor.Outcome {
	started := time.Now()
	time.Sleep(time.Second)
	return executor.Outcome{Started: started, Finished: time.Now()}
}

func TestTenThousandItemsAreLinear(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		s := &counter{}
		e := &runtime.Engine{Store: s, Executor: instant{}, Data: t.TempDir(), Zone: time.UTC, Owner: "test"}
		ctx, stop := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- e.Serve(ctx) }()
		const n = 10_000
		rep := runAll(ctx, t, e, fmt.Sprintf(`
name: flow
tasks:
  a: {run: one, foreach: {items: 1 .. %d, max_parallel: 5}}
  b: {run: two, depends_on: a}
`, n))
		if rep.State != "succeeded" || len(rep.Tasks) != n+2 {
			t.Errorf("the run is %s with %d tasks", rep.State, len(rep.Tasks))
		}
		if took := time.Since(began); took != (n/5+1)*time.Second {
			t.Errorf("it took %s", took)
		}
		// Of an instance three records: ready, running, ended; and the task's
		// own, whose attempts are counted, at most once with each start.
		if s.tasks > 4*n+10 || s.events != 2*n+4 {
			t.Errorf("%d records of tasks and %d events were written", s.tasks, s.events)
		}
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
}

func TestSecretsAreNotAmongTheItems(t *testing.T) {
	x := &script{}
	inEngine(t, x, func(ctx context.Context, e *runtime.Engine) {
		e.Env = []string{"KEYS=abcd,efgh"}
		_, err := e.Start(ctx, runtime.Request{Plan: plan(t, `
name: flow
secrets: {keys: {env: KEYS}}
tasks:
  a: {run: one, foreach: 'split(secrets.keys, ",")'}
`)})
		if err == nil || !strings.Contains(err.Error(), `"secrets" is not available here`) {
			t.Errorf("got %v", err)
		}
	})
}

func TestTheStoredRecordOfAnInstanceHasItsPlace(t *testing.T) {
	inEngine(t, &script{}, func(ctx context.Context, e *runtime.Engine) {
		rep := runAll(ctx, t, e, "name: flow\ntasks:\n  z: {run: one}\n  a: {run: one, foreach: [x, y]}\n")
		tasks, err := e.Store.Tasks(ctx, rep.ID)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range tasks {
			got = append(got, fmt.Sprintf("%d/%d %s %s", r.Index, r.Instance, r.ID, r.State))
		}
		ok := machine.Succeeded.String()
		equal(t, got, []string{"0/-1 z " + ok, "1/-1 a " + ok, "1/0 a[0] " + ok, "1/1 a[1] " + ok})
	})
}
