package sim_test

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/runtime/executor"
	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/store"
)

// limits: max_active, pools and max_parallel, by the record.
func (o *observer) limits(starting []*seenRun) {
	active, used := map[string]int{}, map[string]int{}
	slots, queued := map[string]int{}, map[string]bool{}
	for id, r := range o.open {
		if r.rec.State != machine.RunRunning {
			queued[r.rec.Workflow] = queued[r.rec.Workflow] || r.rec.State == machine.RunQueued
			continue
		}
		active[r.rec.Workflow]++
		running := 0
		for k, u := range r.units {
			spec := r.plan.Tasks[k.Task].Spec
			if !u.open {
				continue
			}
			if !spec.Kind.Waits() {
				running++
			}
			if spec.Pool != nil {
				used[spec.Pool.Name.V]++
				slots[spec.Pool.Name.V] = spec.Pool.Slots.V
			}
		}
		if most := r.plan.Workflow.MaxParallel.V; most > 0 && running > most {
			o.broken("run %s of %s does %d things at a time, and max_parallel is %d", id, r.rec.Workflow, running, most)
		}
	}
	for pool, n := range used {
		if n > slots[pool] {
			o.broken("%d attempts use the pool %s, which has %d slots", n, pool, slots[pool])
		}
	}
	o.lines(active, queued)
	groups := map[string]int{}
	for _, r := range o.open {
		if r.rec.State == machine.RunRunning && r.rec.GroupMax > 0 {
			groups[r.rec.Group]++
		}
	}
	// Of versions with different limits those with the larger start last.
	slices.SortStableFunc(starting, func(a, b *seenRun) int { return cmp.Compare(b.most(), a.most()) })
	after := map[string]int{}
	for _, r := range starting {
		if n := groups[r.rec.Group]; n > r.rec.GroupMax && r.rec.GroupMax > 0 {
			o.broken("run %s of %s starts, and %d of its backfill go on; %d may", r.rec.ID, r.rec.Workflow, n, r.rec.GroupMax)
		}
		if most := r.most(); active[r.rec.Workflow]-after[r.rec.Workflow] > most {
			o.broken("run %s of %s starts, and %d go on; max_active is %d", r.rec.ID, r.rec.Workflow, active[r.rec.Workflow]-after[r.rec.Workflow], most)
		}
		after[r.rec.Workflow]++
	}
}

// most gives how many runs of its workflow may go when a run starts.
func (r *seenRun) most() int {
	if most := r.plan.Workflow.MaxActive.Or(1); most > 0 {
		return most
	}
	return math.MaxInt
}

// implied: every run ends as its tasks do, and every task as its upstreams say.
func (o *observer) implied(r *seenRun) {
	if r.rec.StartedAt.IsZero() || r.retried > 0 {
		return
	}
	want, reason := machine.RunSucceeded, machine.ReasonNone
	stopped := false // by its timeout, or by a cancel
	for _, row := range r.tasks {
		stopped = stopped || row.Reason == machine.ReasonRunTimeout
	}
	if stopped && !r.timedOut {
		o.broken("run %s of %s was stopped by its timeout, which has not passed", r.rec.ID, r.rec.Workflow)
	}
	if stopped || o.overran(r) {
		want, reason = machine.RunFailed, machine.ReasonRunTimeout
	}
	for _, row := range r.tasks {
		if row.Reason == machine.ReasonCancelled || r.cancels > 0 && r.rec.State == machine.RunCancelled { // else it came too late
			want, stopped = machine.RunCancelled, true
		}
	}
	if want == machine.RunCancelled && r.cancels == 0 {
		o.broken("run %s of %s was cancelled, and nobody asked for it", r.rec.ID, r.rec.Workflow)
	}
	for t := range r.plan.Tasks {
		n, row := &r.plan.Tasks[t], r.tasks[r.plan.Tasks[t].ID]
		if !r.member(n.ID) {
			continue
		}
		if !row.State.Final() {
			o.broken("run %s of %s has ended, and its task %s is %s", r.rec.ID, r.rec.Workflow, n.ID, row.State)
		}
		if row.State == machine.Failed && !n.Late && !n.Spec.AllowFailure.V && want == machine.RunSucceeded {
			want = machine.RunFailed
		}
		if !stopped {
			o.follows(r, dag.Task(t), row)
		}
	}
	if r.rec.State != want || want == machine.RunFailed && reason != "" && r.rec.Reason != reason {
		o.broken("run %s of %s is %s (%s), and by its tasks it is %s", r.rec.ID, r.rec.Workflow, r.rec.State, r.rec.Reason, want)
	}
}

// overran tells whether a run's time was over before its tasks were, though by
// their records it stopped none: each that was going was being stopped already.
func (o *observer) overran(r *seenRun) bool {
	for t := range r.plan.Tasks {
		n := &r.plan.Tasks[t]
		switch at := r.tasks[n.ID].FinishedAt; {
		case !r.timedOut || n.Late || !r.member(n.ID):
		case at.After(r.overAt), !at.Before(r.overAt) && r.rec.Reason == machine.ReasonRunTimeout:
			return o.steps == 0 || r.rec.Reason == machine.ReasonRunTimeout
		}
	}
	return false
}

func (r *seenRun) member(id string) bool {
	for _, only := range r.rec.Only {
		if only == id {
			return true
		}
	}
	return len(r.rec.Only) == 0
}

// follows: what became of a task is what its edges, its condition and its
// attempts make of it.
func (o *observer) follows(r *seenRun, t dag.Task, row store.Task) {
	spec, held := r.plan.Tasks[t].Spec, 0
	for _, d := range spec.DependsOn {
		if o.holds(r, d) {
			held++
		}
	}
	open := held == len(spec.DependsOn) || spec.Join.V == dsl.JoinAny && held > 0
	handler := r.plan.Tasks[t].Callers > 0 || r.plan.Tasks[t].Handles != 0
	switch {
	case row.Attempts > 0 && !open, row.State == machine.Skipped && row.Reason == machine.ReasonUpstream && open:
		o.broken("%s is %s (%s) after %d attempts, and %d of its %d edges hold", r.name(t, 0), row.State, row.Reason, row.Attempts, held, len(spec.DependsOn))
	case row.State == machine.Skipped && row.Reason == machine.ReasonCondition && !handler && !spec.When.Set():
		o.broken("%s is skipped, and has no condition", r.name(t, 0))
	case row.State == machine.Cancelled:
		o.broken("%s is cancelled, and nobody asked for it", r.name(t, 0))
	}
	failed := row.Reason == machine.ReasonExit || row.Reason == machine.ReasonSignal || row.Reason == machine.ReasonTimeout
	if u := r.unit(t, 0); row.State == machine.Failed && failed && spec.Foreach == nil && (!u.late || handler) && u.charged != retries(spec)+1 &&
		(u.charged > retries(spec) || len(spec.Retry.ExitCodes) == 0 && !spec.Retry.If.Set()) {
		o.broken("%s has failed after %d attempts that count, and is to have %d", r.name(t, 0), u.charged, retries(spec)+1)
	}
}

// holds tells whether an edge holds by what became of the task that it comes from.
func (o *observer) holds(r *seenRun, d dsl.Dependency) bool {
	if !r.member(d.Task.V) {
		return true
	}
	row := r.tasks[d.Task.V]
	up, _ := r.plan.Task(d.Task.V)
	spec := r.plan.Tasks[up].Spec
	outcome := map[machine.TaskState]dsl.Outcomes{machine.Succeeded: dsl.OnSucceeded, machine.Failed: dsl.OnFailed, machine.Skipped: dsl.OnSkipped}[row.State]
	if row.Reason == machine.ReasonDisabled || row.State == machine.Failed && spec.AllowFailure.V {
		outcome = dsl.OnSucceeded
	}
	return d.On&outcome != 0
}

// number gives which of its workflow's texts a version is.
func (o *observer) number(hash string) int {
	for _, files := range o.w.files {
		for i, f := range files {
			if f.Version == hash {
				return i
			}
		}
	}
	return -1
}

// markOf gives which version the words of an attempt are from.
func markOf(a *executor.Attempt) string {
	switch x := a.Action.(type) {
	case executor.Command:
		return x.Argv[1]
	case executor.Script:
		return strings.Fields(x.Text)[1]
	case executor.HTTP:
		return x.URL[strings.LastIndexByte(x.URL, '/')+1:]
	}
	return ""
}

// crowd: the slots of the engine and of pools, by what is carried out.
func (o *observer) crowd(r *seenRun, t dag.Task) {
	if n := len(o.alive); n > o.w.sc.slots {
		o.broken("%d processes go on, and there are %d slots", n, o.w.sc.slots)
	}
	pool := r.plan.Tasks[t].Spec.Pool
	if pool == nil {
		return
	}
	n := 0
	for p := range o.alive {
		other := o.runs[p.Attempt.RunID].plan
		id, _, _ := machine.ParseName(p.Attempt.Task)
		k, _ := other.Task(id)
		if of := other.Tasks[k].Spec.Pool; of != nil && of.Name.V == pool.Name.V {
			n++
		}
	}
	if n > pool.Slots.V {
		o.broken("%d processes use the pool %s, which has %d slots", n, pool.Name.V, pool.Slots.V)
	}
}
