package runtime

import (
	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/runtime/machine"
)

// What only waits (dsl.Kind.Waits) holds no slot, and nothing of it is lost when
// the engine ends: the next one goes on with the same attempt.

// waits tells whether the attempts of a task only wait.
func (l *live) waits(t dag.Task) bool { return l.run.Plan().Tasks[t].Spec.Kind.Waits() }

// takeSlot counts an attempt in its pool, and where it holds a slot there too.
func (lp *loop) takeSlot(l *live, u machine.Unit) {
	if !l.waits(u.Task) {
		lp.free--
	}
	lp.pools.take(l.run.Plan().Tasks[u.Task].Spec)
}

// giveSlot gives back the slot of an attempt that held one.
func (lp *loop) giveSlot(t *dsl.Task) {
	if !t.Kind.Waits() {
		lp.free++
	}
}

// startWaits starts every ready task that needs no slot.
func (lp *loop) startWaits() {
	if lp.ctx.Err() != nil {
		return
	}
	for _, l := range lp.woken {
		for u, ok := l.run.StartableWaits(lp.closed); ok; u, ok = l.run.StartableWaits(lp.closed) {
			lp.startAttempt(l, u)
		}
	}
}
