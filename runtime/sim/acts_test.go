package sim_test

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/runtime/reload"
	"github.com/ax-scheduler/ax/runtime/sim"
	"github.com/ax-scheduler/ax/store"
)

// do carries out one act.
func (w *world) do(a act) {
	var e *engine
	ready := false
	w.set(func() {
		if e = w.now; e != nil {
			ready = e.ready
		}
	})
	switch a.kind {
	case "step":
		w.step.Add(int64(a.wait))
		w.history.Add(stepped{a.wait})
		return
	case "full":
		w.set(func() { w.full = time.Now().Add(a.wait) })
		w.history.Add(filled{a.wait})
		return
	case "edit", "remove", "break":
		w.edit(a, e)
		return
	}
	if !ready {
		if a.kind == "trigger" {
			w.leave(a)
		}
		return
	}
	switch a.kind {
	case "crash", "stop":
		w.set(func() { w.outage = a.wait })
		if a.kind == "crash" {
			e.plug.Pull()
		}
		e.stop()
	case "trigger", "part":
		w.trigger(a, e)
	case "cancel", "retry", "rerun", "latest":
		w.again(a, e)
	case "pause", "resume":
		w.pause(a, e)
	case "backfill":
		w.backfill(a, e)
	}
}

// edit changes a file, takes it away, or spoils it: its last good version stays.
func (w *world) edit(a act, e *engine) {
	if w.sc.flows[a.flow].gone {
		return
	}
	c := &reload.Catalog{Workflows: map[string]*reload.Loaded{}}
	name := w.sc.flows[a.flow].name
	w.set(func() {
		for n, f := range w.catalog.Workflows {
			c.Workflows[n] = f
		}
		switch a.kind {
		case "remove":
			delete(c.Workflows, name)
		case "break":
			w.broken[name] = c.Workflows[name] != nil
		default:
			versions := w.files[name]
			c.Workflows[name] = versions[a.n%len(versions)]
			w.last[name] = c.Workflows[name]
		}
		w.broken[name] = w.broken[name] && a.kind == "break"
		for n, f := range c.Workflows {
			c.Files = append(c.Files, reload.Found{Path: f.Head.Source.File, Name: n, Stale: w.broken[n]})
		}
		w.catalog = c
	})
	w.load(e)
}

func (w *world) trigger(a act, e *engine) {
	name := w.sc.flows[a.flow].name
	plan, err := w.workflow(name)
	if err != nil {
		return
	}
	q := w.request(a, plan)
	if a.kind == "part" { // from a task on, or a task alone
		t := dag.Task(a.n % len(plan.Tasks))
		if q.Only = []dag.Task{t}; a.at%2 == 0 {
			q.Only = plan.Downstream(t)
		}
	}
	run, err := e.Start(e.ctx, q)
	if err == nil && !e.plug.Dead() {
		w.history.Add(handed{run.ID, name, a.key, q.NotBefore})
	}
}

func (w *world) request(a act, plan *dag.Plan) runtime.Request {
	q := runtime.Request{Plan: plan, Params: map[string]string{"n": fmt.Sprint(a.n)}, Key: a.key}
	if a.wait > 0 {
		q.NotBefore = w.history.Clock().Add(a.wait)
	}
	return q
}

// leave makes a run while no engine is there: the next finds it.
func (w *world) leave(a act) {
	var file *reload.Loaded
	name := w.sc.flows[a.flow].name
	w.set(func() { file = w.catalog.Workflows[name] })
	if file == nil {
		return
	}
	by := runtime.Engine{Store: sim.NewPlug(-1, w.disk, w.procs), Data: w.data, Zone: time.UTC, Clock: w.clock, Workflows: w.workflow}
	q := w.request(a, file.Plan())
	if run, err := by.Leave(context.Background(), q); err == nil {
		w.history.Add(handed{run.ID, name, a.key, q.NotBefore})
	}
}

// pause keeps the schedules of a workflow from starting it, or lets them again.
func (w *world) pause(a act, e *engine) {
	name := w.sc.flows[a.flow].name
	if a.kind == "resume" {
		w.history.Add(resumes{name})
		_, _ = e.Unpause(e.ctx, name) // else it stays as it is
	} else if _, err := e.Pause(e.ctx, name, "an operator"); err == nil && !e.plug.Dead() {
		w.history.Add(paused{name})
	}
}

// backfill has what was due in the last while run once more, or for once.
func (w *world) backfill(a act, e *engine) {
	name, now := w.sc.flows[a.flow].name, w.history.Clock()
	plan, err := w.workflow(name)
	if err != nil {
		return
	}
	filled, err := e.Backfill(e.ctx, runtime.Backfill{
		Plan: plan, From: now.Add(-a.wait).UTC().Format(time.RFC3339), To: now.UTC().Format(time.RFC3339),
		MaxParallel: a.n % 3, Redo: []runtime.Redo{runtime.RedoNone, runtime.RedoFailed, runtime.RedoAll}[a.n%3],
	})
	if err != nil || e.plug.Dead() {
		return
	}
	for _, f := range filled.Ticks {
		w.history.Add(handed{id: f.Run.ID, workflow: name})
	}
}

// again cancels a run that goes, or has one that has ended go on: from what
// failed, from what is named, or in another version.
func (w *world) again(a act, e *engine) {
	runs, err := w.disk.Runs(e.ctx, store.RunFilter{Limit: 100})
	runs = slices.DeleteFunc(runs, func(r store.Run) bool {
		if a.kind == "cancel" {
			return r.State.Final()
		}
		return !r.State.Final() || r.State == machine.RunSucceeded && a.kind != "rerun"
	})
	if err != nil || len(runs) == 0 {
		return
	}
	run := runs[a.flow%len(runs)]
	switch a.kind { // it may have gone on meanwhile
	case "retry":
		_ = e.Retry(e.ctx, run.ID, nil)
	case "rerun":
		if rows, err := w.disk.Tasks(e.ctx, run.ID); err == nil && len(rows) > 0 {
			_ = e.Retry(e.ctx, run.ID, []string{rows[a.n%len(rows)].ID})
		}
	case "latest":
		if plan, err := w.workflow(run.Workflow); err == nil {
			_ = e.RetryLatest(e.ctx, run.ID, nil, plan)
		}
	default:
		if err := e.Cancel(e.ctx, run.ID, "an operator"); err == nil && !e.plug.Dead() {
			w.history.Add(cancelled{run.ID})
		}
	}
}
