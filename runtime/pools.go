package runtime

import (
	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/runtime/machine"
)

// pools counts the slots of the pools that live runs use.
type pools struct {
	configured map[string]int // by ax.yaml
	slots      map[string]int
	used       map[string]int
}

func newPools(configured map[string]int) *pools {
	return &pools{configured: configured, slots: map[string]int{}, used: map[string]int{}}
}

// declare takes in what a workflow says of its pools: a pool has the slots that
// ax.yaml gives it, else those of the workflow, else one; where several say
// something, the smallest holds. It gives the names for which workflows differ.
func (p *pools) declare(wf *dsl.Workflow) (differ []string) {
	for i := range wf.Tasks {
		pool := wf.Tasks[i].Pool
		if pool == nil {
			continue
		}
		name, slots := pool.Name.V, 1
		if n, ok := p.configured[name]; ok {
			slots = n
		}
		if pool.Slots.Set() {
			slots = pool.Slots.V
			if n, ok := p.configured[name]; ok && n != slots {
				slots = min(n, slots)
				differ = append(differ, name)
			}
		}
		if n, known := p.slots[name]; known && n != slots {
			slots = min(n, slots)
			differ = append(differ, name)
		}
		p.slots[name] = slots
	}
	return differ
}

func (p *pools) full(name string) bool { return p.used[name] >= p.slots[name] }

// take and give count one attempt of a task.
func (p *pools) take(t *dsl.Task) { p.count(t, 1) }
func (p *pools) give(t *dsl.Task) { p.count(t, -1) }

func (p *pools) count(t *dsl.Task, by int) {
	if t.Pool != nil {
		p.used[t.Pool.Name.V] += by
	}
}

// impatient lists the tasks of a plan that would rather be skipped than wait for
// their pool.
func impatient(p *dag.Plan) []dag.Task {
	var ts []dag.Task
	for i := range p.Tasks {
		if pool := p.Tasks[i].Spec.Pool; pool != nil && pool.Busy.V == dsl.BusySkip {
			ts = append(ts, dag.Task(i))
		}
	}
	return ts
}

// skipBusy skips the ready tasks that do not want to wait for their full pool,
// in the runs that have changed. One that has had an attempt waits: it has
// failed, and a skip would hide that. It tells whether there were any.
func (lp *loop) skipBusy() bool {
	changed, any := lp.restless, false
	lp.restless = nil
	for _, l := range changed {
		l.restless = false
	}
	for _, l := range changed {
		for _, t := range l.impatient {
			v := l.run.Task(t)
			if v.State == machine.Ready && v.Attempts == 0 && lp.pools.full(l.run.Plan().Tasks[t].Spec.Pool.Name.V) {
				lp.apply(l, machine.PoolBusy{Task: t, At: lp.now()})
				any = true
			}
		}
	}
	return any
}

// givePool frees the slot of a task's pool. Any run may have waited for it.
func (lp *loop) givePool(t *dsl.Task) {
	lp.pools.give(t)
	if t.Pool != nil {
		for _, l := range lp.live {
			lp.wake(l)
		}
	}
}
