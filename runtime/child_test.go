package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/runtime/executor"
	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/runtime/reload"
	"github.com/ax-scheduler/ax/store"
)

// mixed carries out what is in the engine's own process for real, and the rest
// by the book.
type mixed struct {
	script
	real executor.Executor
}

func (m *mixed) Execute(ctx context.Context, a executor.Attempt) executor.Outcome {
	switch a.Action.(type) {
	case executor.Func, executor.Wait, executor.SQL, executor.HTTP:
		return m.real.Execute(ctx, a)
	}
	return m.script.Execute(ctx, a)
}

// library finds workflows by name.
func library(t testing.TB, texts map[string]string) func(string) (*dag.Plan, error) {
	plans := map[string]*dag.Plan{}
	for name, text := range texts {
		f := reload.Compile(filepath.Join("testdata", name+".yaml"), []byte(text))
		if f.Plan == nil {
			t.Fatalf("%s: %v", name, f.Diagnostics)
		}
		plans[name] = f.Plan
	}
	return func(name string) (*dag.Plan, error) {
		if p := plans[name]; p != nil {
			return p, nil
		}
		return nil, fmt.Errorf("there is no workflow %q", name)
	}
}

// family runs engines on one store in virtual time, one after another.
type family struct {
	*testing.T
	st   *store.Memory
	data string
	x    *mixed
	find func(string) (*dag.Plan, error)
}

func withFamily(t *testing.T, texts map[string]string, do func(f *family)) {
	find := library(t, texts)
	synctest.Test(t, func(t *testing.T) {
		x := &mixed{}
		x.t0 = time.Now()
		do(&family{t, &store.Memory{}, t.TempDir(), x, find})
	})
}

// serve runs an engine for as long as do takes.
func (f *family) serve(owner string, env []string, do func(ctx context.Context, e *runtime.Engine)) {
	e := &runtime.Engine{Store: f.st, Executor: f.x, Data: f.data, Zone: time.UTC, Owner: owner, Workflows: f.find, MaxParallel: 1, Env: env}
	serve(f.T, e, do)
}

// start starts a workflow that is in the library.
func (f *family) start(ctx context.Context, e *runtime.Engine, name string, params map[string]string) store.Run {
	p, err := f.find(name)
	if err != nil {
		f.Fatal(err)
	}
	run, err := e.Start(ctx, runtime.Request{Plan: p, Params: params, ScheduledFor: time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC)})
	if err != nil {
		f.Fatal(err)
	}
	return run
}

func (f *family) end(ctx context.Context, e *runtime.Engine, id string) runtime.Report {
	if _, err := e.Wait(ctx, id); err != nil {
		f.Fatal(err)
	}
	rep, err := runtime.ReadReport(ctx, f.st, id)
	if err != nil {
		f.Fatal(err)
	}
	return rep
}

// runs gives the runs of a workflow, oldest first.
func (f *family) runs(name string) []store.Run {
	runs, err := f.st.Runs(context.Background(), store.RunFilter{Workflow: name, Limit: 100})
	if err != nil {
		f.Fatal(err)
	}
	for i, j := 0, len(runs)-1; i < j; i, j = i+1, j-1 {
		runs[i], runs[j] = runs[j], runs[i]
	}
	return runs
}

const parent = "tasks:\n  a: {workflow: {name: child, params: {day: '${{ run.date }}', n: '3'}}, timeout: 10m, retry: {max: 1, delay: 1s}}\n"

const child = `
params: {day: {type: date, required: true}, n: 1}
on_finish: tidy
tasks:
  b: {run: "true"}
  tidy: {run: "true"}
`

func TestATaskEndsAsTheRunOfTheOtherWorkflowEnds(t *testing.T) {
	withFamily(t, map[string]string{"parent": parent, "child": child}, func(f *family) {
		f.x.took = map[string]time.Duration{"b": 3 * time.Minute}
		f.serve("e1", nil, func(ctx context.Context, e *runtime.Engine) {
			run := f.start(ctx, e, "parent", nil)
			rep := f.end(ctx, e, run.ID)
			kids := f.runs("child")
			if rep.State != "succeeded" || len(kids) != 1 || rep.Tasks[0].Outputs["run_id"] != kids[0].ID {
				t.Fatalf("%+v, children %+v", rep, kids)
			}
			kid := kids[0]
			if kid.Trigger != store.TriggerWorkflow || !kid.ScheduledFor.Equal(run.ScheduledFor) || kid.Params["day"] != "2026-01-31" || kid.Params["n"] != "3" {
				t.Errorf("the child is %+v", kid)
			}
			if took := rep.FinishedAt.Sub(*rep.StartedAt); took != 3*time.Minute {
				t.Errorf("it took %s", took) // though the engine has one slot
			}
		})
	})
}

func TestEachInstanceHasARunOfItsOwn(t *testing.T) {
	many := "tasks:\n  a: {foreach: [x, y, z], workflow: {name: child, params: {day: '2026-01-3${{ index }}'}}}\n"
	withFamily(t, map[string]string{"parent": many, "child": strings.Replace(child, "\nparams", "max_active: 0\nparams", 1)}, func(f *family) {
		f.x.took = map[string]time.Duration{"b": time.Minute}
		var id string
		f.serve("e1", nil, func(ctx context.Context, e *runtime.Engine) {
			p, _ := f.find("parent")
			run, err := e.Start(ctx, runtime.Request{Plan: p})
			if err != nil {
				t.Fatal(err)
			}
			id = run.ID
			time.Sleep(30 * time.Second)
		})
		f.serve("e2", nil, func(ctx context.Context, e *runtime.Engine) {
			if err := e.Recover(ctx, runtime.StartupRecover); err != nil {
				t.Fatal(err)
			}
			rep := f.end(ctx, e, id)
			if kids := f.runs("child"); len(kids) != 2 || rep.State != "failed" {
				t.Errorf("%v, children %+v", states(rep), kids) // there is no 32nd of January
			}
		})
	})
}

func TestARetryStartsAnotherRun(t *testing.T) {
	withFamily(t, map[string]string{"parent": parent, "child": child}, func(f *family) {
		f.x.fail = map[string]int{"b": -1}
		f.serve("e1", nil, func(ctx context.Context, e *runtime.Engine) {
			rep := f.end(ctx, e, f.start(ctx, e, "parent", nil).ID)
			kids := f.runs("child")
			if len(kids) != 2 || rep.Tasks[0].Attempts != 2 || rep.Tasks[0].Outputs["run_id"] != kids[1].ID {
				t.Fatalf("%+v, children %+v", rep, kids)
			}
			want := fmt.Sprintf(`run %s of workflow "child" failed: task "b" failed: exit code 3: no luck`, kids[1].ID)
			if rep.State != "failed" || rep.Tasks[0].Error != want || rep.Tasks[0].Reason != "exit" {
				t.Errorf("the error is %q, want %q", rep.Tasks[0].Error, want)
			}
		})
	})
}

func TestATimeoutAndACancelReachTheOtherRun(t *testing.T) {
	for _, c := range []struct{ name, state, reason string }{{"timeout", "failed", "timeout"}, {"cancel", "cancelled", "cancelled"}} {
		withFamily(t, map[string]string{"parent": strings.Replace(parent, "max: 1", "max: 0", 1), "child": child}, func(f *family) {
			f.x.took = map[string]time.Duration{"b": time.Hour, "tidy": 2 * time.Minute}
			f.serve("e1", nil, func(ctx context.Context, e *runtime.Engine) {
				run := f.start(ctx, e, "parent", nil)
				if c.name == "cancel" {
					time.Sleep(time.Minute)
					if err := e.Cancel(ctx, run.ID, "me"); err != nil {
						t.Fatal(err)
					}
				}
				rep := f.end(ctx, e, run.ID)
				kid := f.runs("child")[0]
				if kid.State != machine.RunCancelled || rep.Tasks[0].State != c.state || rep.Tasks[0].Reason != c.reason {
					t.Errorf("%s: the child is %s, the task %+v", c.name, kid.State, rep.Tasks[0])
				}
				if !rep.FinishedAt.Equal(kid.FinishedAt) {
					t.Errorf("%s: the parent ended at %s, the child at %s", c.name, rep.FinishedAt, kid.FinishedAt)
				}
			})
		})
	}
}

func TestARestartGoesOnWithTheSameRunAndTheSameAttempt(t *testing.T) {
	withFamily(t, map[string]string{"parent": parent, "child": child}, func(f *family) {
		f.x.took = map[string]time.Duration{"b": 4 * time.Minute}
		var id string
		f.serve("e1", nil, func(ctx context.Context, e *runtime.Engine) {
			id = f.start(ctx, e, "parent", nil).ID
			time.Sleep(time.Minute)
		})
		time.Sleep(time.Minute)
		f.serve("e2", nil, func(ctx context.Context, e *runtime.Engine) {
			if err := e.Recover(ctx, runtime.StartupRecover); err != nil {
				t.Fatal(err)
			}
			rep := f.end(ctx, e, id)
			if kids := f.runs("child"); len(kids) != 1 || rep.State != "succeeded" || rep.Tasks[0].Attempts != 1 {
				t.Errorf("%+v, children %+v", rep, kids)
			}
		})
	})
}

// One process may go on with the parent alone: it takes the child over as well.
func TestWhoGoesOnWithTheParentTakesTheChildOver(t *testing.T) {
	withFamily(t, map[string]string{"parent": parent, "child": child}, func(f *family) {
		f.x.took = map[string]time.Duration{"b": 4 * time.Minute}
		var id string
		f.serve("e1", nil, func(ctx context.Context, e *runtime.Engine) {
			id = f.start(ctx, e, "parent", nil).ID
			time.Sleep(time.Minute)
		})
		f.serve("e2", nil, func(ctx context.Context, e *runtime.Engine) {
			if err := e.Resume(ctx, id); err != nil {
				t.Fatal(err)
			}
			if rep := f.end(ctx, e, id); rep.State != "succeeded" || f.runs("child")[0].State != machine.RunSucceeded {
				t.Errorf("%+v", rep)
			}
		})
	})
}

func TestWhatCannotBeStartedIsToldBeforeOrAtItsTask(t *testing.T) {
	withFamily(t, map[string]string{
		"unknown": "tasks: {a: {workflow: {name: nobody}}}", "child": child,
		"bad":    "params: {n: '0'}\ntasks: {a: {workflow: {name: child, params: {day: '2026-01-3${{ params.n }}', n: x}}}}",
		"leaky":  "secrets: {S: {env: S}}\ntasks: {a: {workflow: {name: child, params: {day: '2026-01-30', n: '${{ secrets.S }}'}}}}",
		"itself": "max_active: 0\ntasks: {a: {workflow: {name: itself}}}",
	}, func(f *family) {
		f.serve("e1", []string{"S=correct-horse"}, func(ctx context.Context, e *runtime.Engine) {
			p, _ := f.find("unknown")
			if _, err := e.Start(ctx, runtime.Request{Plan: p}); !errors.Is(err, runtime.ErrRefused) || !strings.Contains(err.Error(), `unknown.yaml:1:30: task "a": there is no workflow "nobody"`) {
				t.Errorf("the error is %v", err)
			}
			for name, want := range map[string]string{"bad": `workflow "child": parameter "n"`, "leaky": `parameter "n" of workflow "child" holds a secret`} {
				rep := f.end(ctx, e, f.start(ctx, e, name, nil).ID)
				if task := rep.Tasks[0]; task.Reason != "start_error" || !strings.Contains(task.Error, want) || strings.Contains(task.Error, "horse") {
					t.Errorf("%s: %+v", name, task)
				}
			}
			rep := f.end(ctx, e, f.start(ctx, e, "itself", nil).ID)
			if runs := f.runs("itself"); len(runs) != 16 || !strings.Contains(rep.Tasks[0].Error, "failed") {
				t.Errorf("%d runs, %+v", len(runs), rep)
			}
		})
	})
}

func TestWhatWaitsHoldsNoSlotAndGoesOnAfterARestart(t *testing.T) {
	flow := `
max_parallel: 1
timezone: Europe/Berlin
tasks:
  until: {wait_for: {until: "05:00"}, timeout: 20m, retry: {max: 1, delay: 0}}
  later: {wait_for: {until: "${{ run.scheduled_for + duration('2h') }}"}, pool: lock}
  locked: {run: "true", pool: lock}
  work: {run: "true"}
`
	withFamily(t, map[string]string{"flow": flow}, func(f *family) {
		began := time.Now()
		var id string
		f.serve("e1", nil, func(ctx context.Context, e *runtime.Engine) {
			p, _ := f.find("flow")
			run, err := e.Start(ctx, runtime.Request{Plan: p}) // midnight in UTC, 01:00 in Berlin
			if err != nil {
				t.Fatal(err)
			}
			id = run.ID
			time.Sleep(15 * time.Minute)
			synctest.Wait()
			rep, err := runtime.ReadReport(ctx, f.st, id)
			if err != nil || rep.Tasks[0].State != "running" || rep.Tasks[3].State != "succeeded" || rep.Tasks[2].State != "ready" {
				t.Errorf("%v, %v", states(rep), err)
			}
		})
		f.serve("e2", nil, func(ctx context.Context, e *runtime.Engine) {
			if err := e.Recover(ctx, runtime.StartupRecover); err != nil {
				t.Fatal(err)
			}
			rep := f.end(ctx, e, id)
			until, later := rep.Tasks[0], rep.Tasks[1]
			if until.State != "failed" || until.Reason != "timeout" || until.Attempts != 2 || until.FinishedAt.Sub(began) != 40*time.Minute {
				t.Errorf("until: %+v", until)
			}
			if later.State != "succeeded" || later.Attempts != 1 || later.FinishedAt.Sub(began) != 2*time.Hour {
				t.Errorf("later: %+v", later)
			}
			if rep.Tasks[2].State != "succeeded" || rep.Tasks[2].StartedAt.Before(*later.FinishedAt) {
				t.Errorf("locked: %+v", rep.Tasks[2])
			}
		})
	})
}

// The time of the parent is over before its attempt can be gone on with.
func TestAChildIsCancelledWhoseParentIsStoppedAsTheNextEngineStarts(t *testing.T) {
	for _, policy := range []runtime.Startup{runtime.StartupRecover, runtime.StartupCancel} {
		withFamily(t, map[string]string{"parent": parental, "child": childish}, func(f *family) {
			f.x.took = map[string]time.Duration{"a": time.Hour}
			var id string
			f.serve("one", nil, func(ctx context.Context, e *runtime.Engine) {
				id = f.start(ctx, e, "parent", nil).ID
				time.Sleep(time.Minute)
			})
			time.Sleep(10 * time.Minute)
			f.serve("two", nil, func(ctx context.Context, e *runtime.Engine) {
				if err := e.Recover(ctx, policy); err != nil {
					f.Fatal(err)
				}
				time.Sleep(2 * time.Minute)
				endsWithItsParent(f.T, f.st, id)
			})
		})
	}
}

// The end of the child is on disk, that of its parent is not.
func TestAChildThatEndedByItselfIsTakenInThoughTheTimeOfItsParentIsOver(t *testing.T) {
	withFamily(t, map[string]string{"parent": parental, "child": childish}, func(f *family) {
		f.x.took = map[string]time.Duration{"a": 2 * time.Minute}
		var id string
		f.serve("one", nil, func(ctx context.Context, e *runtime.Engine) {
			id = f.start(ctx, e, "parent", nil).ID
			time.Sleep(time.Minute)
		})
		f.serve("two", nil, func(ctx context.Context, e *runtime.Engine) {
			if err := e.Resume(ctx, f.runs("child")[0].ID); err != nil {
				f.Fatal(err)
			}
			time.Sleep(10 * time.Minute)
		})
		f.serve("three", nil, func(ctx context.Context, e *runtime.Engine) {
			if err := e.Recover(ctx, runtime.StartupRecover); err != nil {
				f.Fatal(err)
			}
			if rep := f.end(ctx, e, id); rep.Tasks[0].State != "succeeded" {
				f.Errorf("the child succeeded, and the task %s: %s", rep.Tasks[0].State, rep.Tasks[0].Error)
			}
		})
	})
}
