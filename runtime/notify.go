package runtime

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/runtime/executor"
	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/runtime/reload"
	"github.com/ax-scheduler/ax/store"
)

// The events that `notify` tells of.
const (
	eventFailed    = "failed"
	eventRecovered = "recovered"
	eventLate      = "late"
	eventSucceeded = "succeeded"
	eventBroken    = "broken"
)

// wants tells whether a target is to be told of an event. One that names none
// is told of all that somebody may have to act on.
func wants(n *dsl.Notify, event string) bool {
	if len(n.On) == 0 {
		return event != eventSucceeded
	}
	return slices.ContainsFunc(n.On, func(on dsl.Value[string]) bool { return on.V == event })
}

func wanted(wf *dsl.Workflow, events ...string) bool {
	for i := range wf.Notify {
		for _, e := range events {
			if wants(&wf.Notify[i], e) {
				return true
			}
		}
	}
	return false
}

// runEnd is the end of a run that somebody wants to be told of. Nothing in it
// belongs to the loop.
type runEnd struct {
	run   store.Run
	plan  *dag.Plan
	mask  *executor.Mask // nil, and then no parameters are told, where the run has not got so far
	tasks []TaskReport
}

// endOf gives the end of a live run whose record says that it has one.
func endOf(l *live) []runEnd {
	plan := l.run.Plan()
	if !l.rec.State.Final() || !wanted(plan.Workflow, eventFailed, eventRecovered, eventSucceeded) {
		return nil
	}
	end := runEnd{run: l.rec, plan: plan, mask: l.env.mask}
	if l.rec.State == machine.RunFailed {
		end.tasks = failedTasks(l.run)
	}
	return []runEnd{end}
}

func failedTasks(r *machine.Run) (failed []TaskReport) {
	note := func(u machine.Unit) {
		if v := r.View(u); v.Member && v.State == machine.Failed && len(failed) < maxNoted {
			failed = append(failed, NewTaskReport(store.Task{
				ID: r.Name(u), State: v.State, Reason: v.Reason, Attempts: v.Attempts, ExitCode: v.ExitCode, Error: v.Error,
				StartedAt: v.StartedAt, FinishedAt: v.FinishedAt,
			}))
		}
	}
	for t := range r.Plan().Tasks {
		note(machine.Unit{Task: dag.Task(t)})
		for i := range r.Instances(dag.Task(t)) {
			note(machine.Unit{Task: dag.Task(t), Instance: machine.InstanceOf(i)})
		}
	}
	return failed
}

// tellEnds puts what is to be told of ends into the batch that makes them
// durable.
func (e *Engine) tellEnds(ctx context.Context, b *store.Batch, ends []runEnd) {
	stored := map[string][]pastEnd{}
	for i := range ends {
		end := &ends[i]
		run, wf := &end.run, end.plan.Workflow
		n := Notice{Workflow: run.Workflow, At: run.FinishedAt, Error: end.mask.Text(run.Error), Run: end.report()}
		events := []string{eventFailed}
		switch run.State {
		case machine.RunFailed:
			n.Summary = fmt.Sprintf("%s failed: %s", run.Workflow, n.Error)
		case machine.RunSucceeded:
			events = []string{eventSucceeded}
			n.Summary = fmt.Sprintf("%s succeeded in %s", run.Workflow, run.FinishedAt.Sub(run.WentAt()).Round(time.Millisecond))
			if wanted(wf, eventRecovered) && e.recovers(ctx, run, stored, b) {
				events = []string{eventRecovered, eventSucceeded}
			}
		default:
			continue
		}
		e.tell(b, end.plan, run, n, events, run.ID, "end", strconv.FormatInt(run.FinishedAt.UnixMicro(), 10))
	}
}

// report gives the run of a notice.
func (end *runEnd) report() *Report {
	r := NewReport(end.run)
	r.Params = nil
	if end.mask != nil || len(end.plan.Workflow.Secrets) == 0 {
		r.Params = map[string]string{}
		for name, value := range end.run.Params {
			r.Params[name] = end.mask.Text(value)
		}
	}
	r.Tasks = slices.Clone(end.tasks)
	for i := range r.Tasks {
		r.Tasks[i].Error = end.mask.Text(r.Tasks[i].Error)
	}
	return &r
}

// ownTime is how long the engine of one run has its messages for itself, since
// it may know secrets that the serving one does not.
const ownTime = 15 * time.Second

// tell puts a message for each target that wants one of the events into a
// batch, the first of them. about identifies what is told, so that it is told
// once; run says what it belongs to.
func (e *Engine) tell(b *store.Batch, plan *dag.Plan, run *store.Run, n Notice, events []string, about ...string) {
	now := e.now()
	next := now
	if !e.delivers.Load() {
		next = now.Add(ownTime)
	}
	told := false
	for i := range plan.Workflow.Notify {
		at := slices.IndexFunc(events, func(event string) bool { return wants(&plan.Workflow.Notify[i], event) })
		if at < 0 {
			continue
		}
		n := n
		n.ID, n.Event = messageID(append(about, run.Workflow, strconv.Itoa(i))...), events[at]
		if n.Event == eventRecovered {
			n.Summary = run.Workflow + " has recovered: it " + strings.TrimPrefix(n.Summary, run.Workflow+" ")
		}
		body, err := json.Marshal(n)
		if err != nil {
			e.Log.Error("a message cannot be written", "workflow", run.Workflow, "run", run.ID, "error", err)
			continue
		}
		told = true
		if !e.delivers.Load() {
			e.own.Store(n.ID, true)
		}
		b.Messages = append(b.Messages, store.Message{
			ID: n.ID, Workflow: run.Workflow, Version: plan.Workflow.Source.Hash(), File: absolute(plan.Workflow.Source.File), Target: i,
			Event: n.Event, RunID: run.ID, ScheduledFor: run.ScheduledFor, Body: body, State: store.MessageWaiting, CreatedAt: now, NextAt: next,
		})
	}
	if told && run.ID == "" { // no run has brought the version
		b.Versions = append(b.Versions, versionOf(plan, now))
	}
}

func messageID(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:16])
}

// pastEnd is a failure or a success that a run had.
type pastEnd struct {
	run    string
	at     time.Time
	failed bool
}

func pastEndOf(r *store.Run) pastEnd {
	return pastEnd{r.ID, r.FinishedAt, r.State == machine.RunFailed}
}

// compare orders ends by time. Of those of one instant, in which all may end that
// wait for one time, failures are the last: whoever is told of one is then told of
// a recovery, in whatever order they are written.
func (p pastEnd) compare(q pastEnd) int {
	rank := map[bool]int{true: 1}
	return cmp.Or(p.at.Compare(q.at), rank[p.failed]-rank[q.failed], strings.Compare(p.run, q.run))
}

// recovers tells whether the last end of a workflow before the success of a run was
// a failure: of those in the store, which are kept by workflow, and of those in the
// batch. Where that cannot be found out it was: a message too many is better than one
// too few.
func (e *Engine) recovers(ctx context.Context, run *store.Run, stored map[string][]pastEnd, b *store.Batch) bool {
	ends, err := e.earlierEnds(ctx, run)
	others, known := stored[run.Workflow]
	if !known && err == nil {
		others, err = e.pastEnds(ctx, run.Workflow)
	}
	if err != nil {
		e.Log.Error("it cannot be found out whether a workflow failed before", "workflow", run.Workflow, "run", run.ID, "error", err)
		return true
	}
	stored[run.Workflow] = others
	self := pastEndOf(run)
	for _, p := range others {
		if p.run != run.ID && !(p.failed && p.at.Equal(self.at)) { // the clock may have put others later, though they were before
			ends = append(ends, p)
		}
	}
	for _, rows := range [][]store.Run{b.Create, b.Update} {
		for i := range rows {
			p, state := pastEndOf(&rows[i]), rows[i].State
			if rows[i].Workflow == run.Workflow && (state == machine.RunFailed || state == machine.RunSucceeded) && p.compare(self) < 0 {
				ends = append(ends, p)
			}
		}
	}
	return len(ends) > 0 && slices.MaxFunc(ends, pastEnd.compare).failed
}

// pastEnds gives the last ends of the runs of a workflow, and those before their
// retries of runs whose last course has not ended or was cancelled.
func (e *Engine) pastEnds(ctx context.Context, workflow string) (ends []pastEnd, err error) {
	ended, err := e.Store.Runs(ctx, store.RunFilter{
		Workflow: workflow, States: []machine.RunState{machine.RunFailed, machine.RunSucceeded}, Limit: 100,
	})
	if err != nil {
		return nil, err
	}
	for i := range ended {
		ends = append(ends, pastEndOf(&ended[i]))
	}
	others, err := e.Store.Runs(ctx, store.RunFilter{
		Workflow: workflow, States: []machine.RunState{machine.RunQueued, machine.RunRunning, machine.RunCancelled}, Limit: 100,
	})
	for i := range others {
		o := &others[i]
		if o.StartedAt.IsZero() || o.State != machine.RunQueued && o.WentAt().Equal(o.StartedAt) {
			continue // it goes for the first time
		}
		more, failed := e.earlierEnds(ctx, o)
		ends, err = append(ends, more...), errors.Join(err, failed)
	}
	return ends, err
}

// earlierEnds gives those that a run had before it was retried, the first first.
func (e *Engine) earlierEnds(ctx context.Context, run *store.Run) (ends []pastEnd, err error) {
	events, err := e.Store.Events(ctx, run.ID)
	if err != nil || !slices.ContainsFunc(events, func(ev store.Event) bool { return bytes.Contains(ev.Data, []byte("run-retried")) }) {
		return nil, err
	}
	_, err = e.replayEach(ctx, *run, func(r *machine.Run, ev machine.Event) {
		if _, retried := ev.(machine.RunRetried); retried {
			if state, _, _ := r.State(); state == machine.RunFailed || state == machine.RunSucceeded {
				ends = append(ends, pastEnd{run.ID, r.FinishedAt(), state == machine.RunFailed})
			}
		}
	})
	return ends, err
}

// startFailures gives the ends of runs that failed before they could start.
func (e *Engine) startFailures(ctx context.Context, runs []store.Run) (ends []runEnd) {
	for _, r := range runs {
		if r.State != machine.RunFailed {
			continue
		}
		if plan, err := e.planOf(ctx, r, r.Version); err == nil { // else nobody knows whom to tell
			ends = append(ends, runEnd{run: r, plan: plan})
		}
	}
	return ends
}

// tellBroken tells of the files that have stopped to compile since before. Their
// last good versions say whom.
func (e *Engine) tellBroken(ctx context.Context, c, before *reload.Catalog) error {
	was := map[string]bool{}
	if before != nil {
		for i := range before.Files {
			if f := &before.Files[i]; f.Stale {
				was[f.Name] = true
			}
		}
	}
	b := &store.Batch{}
	for i := range c.Files {
		f := &c.Files[i]
		if !f.Stale || was[f.Name] || c.Workflows[f.Name] == nil {
			continue
		}
		n := Notice{Workflow: f.Name, At: e.now(), File: f.Path, Diagnostics: flaws(f.Diagnostics)}
		n.Summary = f.Name + " is broken: its last good version stays scheduled"
		if len(n.Diagnostics) > 0 {
			d := n.Diagnostics[0]
			n.Summary = fmt.Sprintf("%s is broken: %s:%d:%d: %s", f.Name, f.Path, d.Line, d.Column, d.Message)
		}
		run := store.Run{Workflow: f.Name, ScheduledFor: n.At}
		e.tell(b, c.Workflows[f.Name].Plan(), &run, n, []string{eventBroken}, eventBroken, strconv.FormatInt(n.At.UnixMicro(), 10))
	}
	if b.Empty() {
		return nil
	}
	return e.persist(ctx, b)
}
