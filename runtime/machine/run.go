// Package machine decides what happens next in one run: a pure state machine
// over a plan, with a counter of unresolved upstream edges for every task.
//
// It has no I/O, no clock, no goroutine, no randomness and no map iteration
// that shows: the same events give the same run. Apply turns an event into
// changes and commands; the caller stores the event before it carries the
// commands out (runtime does).
package machine

import (
	"fmt"
	"time"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dsl"
)

// maxInterruptions is how often in a row an attempt of a task may be cut off
// before the task fails (DESIGN.md, promise 3).
const maxInterruptions = 3

// Run is the state of one run. It is not safe for concurrent use.
type Run struct {
	id    string
	plan  *dag.Plan
	tasks []task

	state      RunState
	reason     Reason
	err        string
	startedAt  time.Time
	finishedAt time.Time
	deadline   time.Time // of the run; zero for none

	open     int  // members that are not late and have not ended
	openLate int  // handlers of the workflow, and theirs, that have not ended
	ends     int  // tasks that have ended so far, in all courses
	decided  bool // every member that is not late has ended; outcome holds
	outcome  RunState
	timedOut bool
	cancels  int      // requests so far
	cause    dag.Task // the first failure that counts

	running     int
	maxParallel int // 0 for no limit
	ready       readyQueue

	// Filled while an event is applied.
	at      time.Time
	endings []dag.Task // ended, and their edges not yet resolved
	cmds    []Command
	changed []Unit
}

// task is the state of one task of a run. What is carried out of one with
// foreach are its instances; its own work is their sum then.
type task struct {
	member bool
	work
	each *instances // of a foreach, once its items have been known

	waiting int32 // unresolved depends_on edges
	callers int32 // unresolved on_failure edges
	held    bool  // a depends_on edge held
	broken  bool  // a depends_on edge did not hold
	called  bool  // an on_failure edge held

	evaluating bool     // its when
	expanding  bool     // its foreach
	root       dag.Task // of a skip with reason upstream: the task at the root of it
	caller     dag.Task // of a handler: the first that failed into it
	endSeq     int      // its place among the ends of the run
}

// work is the state of a unit: of a task, or of an instance.
type work struct {
	state  TaskState
	reason Reason

	readySeq int // its valid entry in the ready queue
	readyAt  time.Time
	placed   bool   // of an instance: it has one of the places of the foreach's max_parallel
	attempt  int    // number of the last attempt; of a foreach, how many its instances had
	tries    int    // attempts charged to retry.max
	cutOff   int    // interruptions in a row
	stopping Reason // why the running attempt is being ended
	exit     *int
	err      string
	outputs  map[string]string
	left     []string

	changed bool // stands in the run's changed

	startedAt  time.Time // of the first attempt since it last began anew
	attemptAt  time.Time // of the last attempt
	retryAt    time.Time
	finishedAt time.Time
}

// New gives a run that has not started. id seeds what looks random, such as
// jitter; only lists the tasks that belong to the run, nil for all. Edges from
// a task that does not belong to it count as held.
func New(id string, plan *dag.Plan, only []dag.Task) *Run {
	r := &Run{
		id: id, plan: plan, cause: dag.None, state: RunQueued,
		tasks:       make([]task, len(plan.Tasks)),
		maxParallel: plan.Workflow.MaxParallel.V,
	}
	for i := range r.tasks {
		r.tasks[i] = task{member: only == nil, root: dag.None, caller: dag.None}
	}
	for _, t := range only {
		r.tasks[t].member = true
	}
	return r
}

// Apply takes in one event and returns the commands that follow from it. A
// late or repeated event changes nothing and is no error; an event that cannot
// be is an error and changes nothing.
func (r *Run) Apply(e Event) ([]Command, error) {
	// As Decode will give it, so that a run is the same before and after a restart.
	r.at, r.cmds = e.when().UTC().Truncate(time.Microsecond), nil
	if err := r.apply(e); err != nil {
		return nil, err
	}
	r.spread()
	return r.cmds, nil
}

func (r *Run) apply(e Event) error {
	if _, known := e.(TakenOver); known {
		return nil
	}
	if _, first := e.(RunStarted); !first && r.startedAt.IsZero() {
		return fmt.Errorf("run %s: %T before its start", r.id, e)
	}
	switch e := e.(type) {
	case RunStarted:
		r.start()
	case Evaluated:
		return r.onTask(e.Task, func(s *task) { r.evaluated(e, s) })
	case Expanded:
		return r.onTask(e.Task, func(s *task) { r.expanded(e, s) })
	case AttemptStarted:
		return r.attemptStarted(e)
	case AttemptEnded:
		return r.onUnit(Unit{e.Task, e.Instance}, func(u Unit, s *work) { r.attemptEnded(e, u, s) })
	case RetryDue:
		return r.onUnit(Unit{e.Task, e.Instance}, func(u Unit, s *work) { r.retryDue(e, u, s) })
	case AttemptTimedOut:
		return r.onUnit(Unit{e.Task, e.Instance}, func(u Unit, s *work) { r.attemptTimedOut(e, u, s) })
	case PoolBusy:
		return r.onUnit(Unit{e.Task, e.Instance}, r.poolBusy)
	case RunTimedOut:
		r.runTimedOut()
	case CancelRequested:
		r.cancel()
	case RunRetried:
		return r.retried(e)
	default:
		return fmt.Errorf("run %s: unknown event %T", r.id, e)
	}
	return nil
}

// has refuses a task that does not belong to the run.
func (r *Run) has(t dag.Task) error {
	if t < 0 || int(t) >= len(r.tasks) || !r.tasks[t].member {
		return fmt.Errorf("run %s has no task %d", r.id, t)
	}
	return nil
}

// onTask does something with a task that belongs to the run.
func (r *Run) onTask(t dag.Task, do func(*task)) error {
	err := r.has(t)
	if err == nil {
		do(&r.tasks[t])
	}
	return err
}

// hasUnit refuses a unit that the run does not have, or that never is carried
// out: a task with foreach is only in its instances.
func (r *Run) hasUnit(u Unit) error {
	if err := r.has(u.Task); err != nil {
		return err
	}
	switch each := r.tasks[u.Task].each; {
	case u.Instance == 0 && r.spec(u.Task).Foreach != nil:
		return fmt.Errorf("run %s: task %d is carried out in instances", r.id, u.Task)
	case u.Instance != 0 && (each == nil || u.Instance < 0 || int(u.Instance) > len(each.units)):
		return fmt.Errorf("run %s: task %d has no instance %d", r.id, u.Task, u.Instance.Index())
	}
	return nil
}

// onUnit does something with a unit that the run has.
func (r *Run) onUnit(u Unit, do func(Unit, *work)) error {
	err := r.hasUnit(u)
	if err == nil {
		do(u, r.work(u))
	}
	return err
}

// work gives the state of a unit that there is.
func (r *Run) work(u Unit) *work {
	if u.Instance == 0 {
		return &r.tasks[u.Task].work
	}
	return &r.tasks[u.Task].each.units[u.Instance.Index()]
}

func (r *Run) start() {
	if !r.Waits() {
		return
	}
	if r.startedAt.IsZero() {
		r.startedAt = r.at
	}
	r.begin()
}

// begin sets the run going from the states that its tasks have: with all of
// them pending, or after a retry with some that have ended.
func (r *Run) begin() {
	r.state = RunRunning
	if d := r.plan.Workflow.Timeout; d.Set() {
		r.deadline = r.at.Add(d.V)
		r.wakeForDeadline()
	}
	r.recount()
	for t := range r.tasks {
		if r.tasks[t].member {
			r.settle(dag.Task(t))
		}
	}
}

// recount computes the counters of all that is pending, and of the run.
func (r *Run) recount() {
	r.open, r.openLate = 0, 0
	for t := range r.tasks {
		s, n := &r.tasks[t], &r.plan.Tasks[t]
		s.waiting, s.callers = n.Upstreams, n.Callers
		if !s.member {
			continue
		}
		if !s.state.Final() {
			r.count(dag.Task(t), 1)
		}
	}
	for t := range r.tasks {
		for _, e := range r.plan.Tasks[t].Downstream {
			switch s := &r.tasks[t]; {
			case s.member && s.state.Final():
				r.resolve(dag.Task(t), e)
			case s.member:
			case e.Kind == dag.Failure:
				r.tasks[e.To].callers--
			default:
				r.tasks[e.To].waiting--
				r.tasks[e.To].held = true
			}
		}
	}
}

func (r *Run) count(t dag.Task, by int) {
	if r.plan.Tasks[t].Late {
		r.openLate += by
	} else {
		r.open += by
	}
}

func (r *Run) command(c Command) { r.cmds = append(r.cmds, c) }

// touch notes that the record of a task or an instance has changed.
func (r *Run) touch(u Unit) {
	if s := r.work(u); !s.changed {
		s.changed = true
		r.changed = append(r.changed, u)
	}
}

// spec gives what the file says of a task.
func (r *Run) spec(t dag.Task) *dsl.Task { return r.plan.Tasks[t].Spec }
