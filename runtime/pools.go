package runtime

import (
	"slices"

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

// full tells whether all slots of a pool are taken where others have some of them.
func (p *pools) full(name string, theirs int) bool { return p.used[name]+theirs >= p.slots[name] }

// take and give count one attempt of a task.
func (p *pools) take(t *dsl.Task) { p.count(t, 1) }
func (p *pools) give(t *dsl.Task) { p.count(t, -1) }

func (p *pools) count(t *dsl.Task, by int) {
	if t.Pool != nil {
		p.used[t.Pool.Name.V] += by
	}
}

// impatient lists the pools of a plan with tasks that would rather be skipped
// than wait.
func impatient(p *dag.Plan) []string {
	var pools []string
	for i := range p.Tasks {
		if pool := p.Tasks[i].Spec.Pool; isImpatient(p.Tasks[i].Spec) && !slices.Contains(pools, pool.Name.V) {
			pools = append(pools, pool.Name.V)
		}
	}
	return pools
}

func isImpatient(t *dsl.Task) bool { return t.Pool != nil && t.Pool.Busy.V == dsl.BusySkip }

// skipBusy skips the ready tasks and instances that do not want to wait for their
// full pool, in the runs that have changed. One that has had an attempt waits: it has
// failed, and a skip would hide that. It tells whether there were any.
func (lp *loop) skipBusy() bool {
	changed, any := lp.restless, false
	lp.restless = nil
	for _, l := range changed {
		l.restless = false
	}
	for _, l := range changed {
		for _, pool := range l.impatient {
			if !lp.busy(pool) {
				continue
			}
			for _, u := range l.run.WaitingFor(pool) {
				if isImpatient(l.run.Plan().Tasks[u.Task].Spec) && l.run.View(u).Attempts == 0 {
					lp.apply(l, machine.PoolBusy{Task: u.Task, Instance: u.Instance, At: lp.now()})
					any = true
				}
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
