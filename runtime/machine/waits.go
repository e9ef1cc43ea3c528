package machine

import (
	"strings"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dsl"
)

// waitsMark begins the names of the queues of tasks that need no slot, since
// they only wait: see dsl.Kind.Waits. What needs one must not hide them.
const waitsMark = "\x00"

// queueOf names the ready queue of a task: its pool, apart by whether it waits.
func queueOf(t *dsl.Task) string {
	if t.Kind.Waits() {
		return waitsMark + poolOf(t)
	}
	return poolOf(t)
}

// barred tells which queues nothing may be started from.
func barred(slots bool, full func(pool string) bool) func(queue string) bool {
	return func(queue string) bool {
		pool, waits := strings.CutPrefix(queue, waitsMark)
		return !slots && !waits || pool != "" && full != nil && full(pool)
	}
}

// hasSlot tells whether max_parallel allows another attempt that holds a slot.
func (r *Run) hasSlot() bool { return r.maxParallel == 0 || r.running < r.maxParallel }

// tally notes that an attempt has begun or ended, if it holds a slot.
func (r *Run) tally(t dag.Task, by int) {
	if !r.spec(t).Kind.Waits() {
		r.running += by
	}
}
