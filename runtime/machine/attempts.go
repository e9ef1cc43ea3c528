package machine

import (
	"fmt"
	"slices"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dsl"
)

// makeReady has a unit wait for a slot; an instance, for a place among those of
// its task first.
func (r *Run) makeReady(u Unit) {
	s := r.work(u)
	s.state = Ready
	s.readySeq, s.readyAt = r.ready.next(r.at)
	r.touch(u)
	if u.Instance == 0 {
		r.queueUp(u)
		return
	}
	each := r.tasks[u.Task].each
	each.leave(s)
	each.line = append(each.line, u.Instance)
	r.admit(u.Task)
}

func (r *Run) queueUp(u Unit) {
	s := r.work(u)
	r.ready.push(readyUnit{u, Turn(s.readyAt, r.priority(u.Task)), s.readySeq}, queueOf(r.spec(u.Task)))
}

func (r *Run) priority(t dag.Task) int {
	return r.spec(t).Priority.Or(r.plan.Workflow.Priority.Or(5))
}

func poolOf(t *dsl.Task) string {
	if t.Pool == nil {
		return ""
	}
	return t.Pool.Name.V
}

// WhenFalse is the error of a task whose condition did not hold.
const WhenFalse = "when is false"

func (r *Run) evaluated(e Evaluated, s *task) {
	if !s.evaluating {
		return
	}
	s.evaluating = false
	switch {
	case e.Error != "":
		s.err = "when: " + e.Error
		r.end(e.Task, Failed, ReasonCondition)
	case e.Holds:
		r.enter(e.Task)
	default:
		s.err = WhenFalse
		r.end(e.Task, Skipped, ReasonCondition)
	}
}

// CanStart tells whether AttemptStarted may be applied for a unit now.
func (r *Run) CanStart(u Unit) bool {
	return r.hasUnit(u) == nil && r.work(u).queued(u) && (r.spec(u.Task).Kind.Waits() || r.hasSlot())
}

// queued tells whether a unit stands in the ready queue.
func (s *work) queued(u Unit) bool { return s.state == Ready && (s.placed || u.Instance == 0) }

// Startable gives the ready unit that should be started next: that of the
// highest priority, the longest ready first. Those of a pool for which full is
// true are passed over; full may be nil.
func (r *Run) Startable(full func(pool string) bool) (Unit, bool) {
	return r.ready.best(r.stands, barred(r.hasSlot(), full))
}

// StartableWaits gives the next among those that need no slot.
func (r *Run) StartableWaits(full func(pool string) bool) (Unit, bool) {
	return r.ready.best(r.stands, barred(false, full))
}

// WaitingFor gives the ready units of a pool, whose turn it is first; those that
// need no slot come after the others.
func (r *Run) WaitingFor(pool string) []Unit {
	return append(r.ready.waiting(pool, r.stands), r.ready.waiting(waitsMark+pool, r.stands)...)
}

// stands tells whether an entry of the ready queue is still good.
func (r *Run) stands(e readyUnit) bool {
	s := r.work(e.unit)
	return s.queued(e.unit) && s.readySeq == e.seq
}

func (r *Run) attemptStarted(e AttemptStarted) error {
	u := Unit{e.Task, e.Instance}
	if err := r.hasUnit(u); err != nil {
		return err
	}
	s := r.work(u)
	switch {
	case e.Attempt > 0 && e.Attempt <= s.attempt:
		return nil // late or twice
	case !r.CanStart(u):
		return fmt.Errorf("run %s: task %s cannot start now", r.id, u)
	case e.Attempt != s.attempt+1:
		return fmt.Errorf("run %s: attempt %d of task %s after attempt %d", r.id, e.Attempt, u, s.attempt)
	}
	s.state, s.reason, s.err, s.exit = Running, ReasonNone, "", nil
	s.attempt, s.attemptAt = e.Attempt, r.at
	s.tries++
	if s.startedAt.IsZero() {
		s.startedAt = r.at
	}
	if u.Instance != 0 {
		r.instanceStarted(u.Task)
	}
	r.tally(u.Task, 1)
	r.touch(u)
	r.command(StartAttempt{u.Task, u.Instance, e.Attempt})
	r.wakeForTimeout(u)
	return nil
}

func (r *Run) wakeForTimeout(u Unit) {
	if d := r.spec(u.Task).Timeout; d.Set() {
		s := r.work(u)
		r.command(WakeAt{TimerAttempt, u.Task, u.Instance, s.attempt, s.attemptAt.Add(d.V)})
	}
}

func (r *Run) attemptEnded(e AttemptEnded, u Unit, s *work) {
	if s.state != Running || s.attempt != e.Attempt {
		return // late or twice
	}
	res := e.Result
	r.tally(u.Task, -1)
	s.outputs, s.left = res.Outputs, res.Left
	s.exit = nil
	if res.StartError == "" && !res.Interrupted {
		code := res.ExitCode
		s.exit = &code
	}
	state, reason, what := r.classify(u, res)
	switch state {
	case Succeeded:
		s.err = ""
	case Cancelled:
		s.err = what
	default:
		s.err = withLastLine(what, res.LastLine)
	}
	if reason == ReasonInterrupted {
		r.interrupted(u)
		return
	}
	s.cutOff = 0
	if state == Failed && r.retries(u, reason, res) {
		r.retry(u, reason)
		return
	}
	r.finish(u, state, reason)
}

// finish brings a unit into a final state.
func (r *Run) finish(u Unit, state TaskState, reason Reason) {
	if u.Instance == 0 {
		r.end(u.Task, state, reason)
		return
	}
	r.endInstance(u, state, reason)
	if r.tasks[u.Task].each.open == 0 {
		r.sumUp(u.Task)
		return
	}
	r.admit(u.Task)
}

// classify says what the end of an attempt means.
func (r *Run) classify(u Unit, res Result) (TaskState, Reason, string) {
	s, spec := r.work(u), r.spec(u.Task)
	exited := res.Signal == "" && res.StartError == "" && res.Failure == ""
	cut := res.Stopped || res.Interrupted // else it ended by itself before it could be stopped
	switch {
	case s.stopping == ReasonCancelled && (cut || !Succeeds(spec, res)):
		return Cancelled, ReasonCancelled, "cancelled on request"
	case cut && s.stopping == ReasonTimeout:
		return Failed, ReasonTimeout, "not done within the timeout of " + dsl.FormatDuration(spec.Timeout.V)
	case cut && s.stopping == ReasonRunTimeout:
		return Failed, ReasonRunTimeout, "stopped by the run's timeout"
	case res.Interrupted:
		return Failed, ReasonInterrupted, "interrupted: the engine ended while it ran"
	case res.StartError != "":
		return Failed, ReasonStartError, res.StartError
	case res.Signal != "":
		return Failed, ReasonSignal, "killed by " + res.Signal
	case res.Failure != "":
		return Failed, ReasonExit, res.Failure
	case exited && Succeeds(spec, res):
		return Succeeded, ReasonNone, ""
	case exited && hasCode(spec.SkipCodes, res.ExitCode):
		return Skipped, ReasonExit, fmt.Sprintf("exit code %d means skipped", res.ExitCode)
	}
	return Failed, ReasonExit, fmt.Sprintf("exit code %d", res.ExitCode)
}

// Succeeds tells whether an attempt that nobody stopped was a success of its
// task.
func Succeeds(spec *dsl.Task, res Result) bool {
	if res.Signal != "" || res.StartError != "" || res.Failure != "" || res.Interrupted {
		return false
	}
	if len(spec.SuccessCodes) == 0 {
		return res.ExitCode == 0
	}
	return hasCode(spec.SuccessCodes, res.ExitCode)
}

// Describe says in one line how an attempt that nobody stopped has failed.
func Describe(res Result) string {
	what := fmt.Sprintf("exit code %d", res.ExitCode)
	switch {
	case res.StartError != "":
		what = res.StartError
	case res.Signal != "":
		what = "killed by " + res.Signal
	case res.Failure != "":
		what = res.Failure
	}
	return withLastLine(what, res.LastLine)
}

func hasCode(codes []dsl.Value[int], code int) bool {
	return slices.ContainsFunc(codes, func(c dsl.Value[int]) bool { return c.V == code })
}

func withLastLine(what, line string) string {
	if line == "" || what == "" {
		return what
	}
	return what + ": " + line
}

// interrupted deals with an attempt that was cut off by no fault of its own: it
// is not charged to retry.max, but neither is it tried for ever.
func (r *Run) interrupted(u Unit) {
	s := r.work(u)
	s.cutOff++
	s.tries--
	if r.spec(u.Task).Recovery.V == dsl.RecoveryFail || len(s.left) > 0 || s.cutOff >= maxInterruptions {
		r.finish(u, Failed, ReasonInterrupted)
		return
	}
	s.reason = ReasonInterrupted
	r.makeReady(u)
}

// retries tells whether a failed attempt is followed by another: never beside
// what is left of it.
func (r *Run) retries(u Unit, reason Reason, res Result) bool {
	s, rt := r.work(u), r.spec(u.Task).Retry
	if rt == nil || s.tries > rt.Max.V || res.NoRetry || len(res.Left) > 0 || reason == ReasonRunTimeout || r.stopped(u.Task) {
		return false
	}
	return len(rt.ExitCodes) == 0 || s.exit != nil && hasCode(rt.ExitCodes, *s.exit)
}

// stopped tells whether nothing of a task may start any more.
func (r *Run) stopped(t dag.Task) bool {
	return r.cancels > 0 && !r.survivesCancel(t) || r.timedOut && !r.survivesTimeout(t)
}

func (r *Run) retry(u Unit, reason Reason) {
	s := r.work(u)
	s.reason, s.stopping = reason, ReasonNone
	pause := retryDelay(r.spec(u.Task).Retry, s.tries, r.id, u)
	s.retryAt = r.at.Add(pause)
	if pause == 0 {
		r.makeReady(u)
		return
	}
	s.state = Retrying
	r.touch(u)
	r.command(WakeAt{TimerRetry, u.Task, u.Instance, s.attempt, s.retryAt})
	if u.Instance != 0 {
		r.tasks[u.Task].each.leave(s)
		r.admit(u.Task)
	}
}

func (r *Run) retryDue(e RetryDue, u Unit, s *work) {
	if s.state == Retrying && s.attempt == e.Attempt {
		r.makeReady(u)
	}
}

func (r *Run) attemptTimedOut(e AttemptTimedOut, u Unit, s *work) {
	if s.state == Running && s.attempt == e.Attempt && s.stopping == ReasonNone {
		r.stop(u, ReasonTimeout)
	}
}

// stop has a running attempt ended. A cancel takes over from a timeout, never
// the other way round.
func (r *Run) stop(u Unit, why Reason) {
	s := r.work(u)
	if s.stopping == ReasonNone || why == ReasonCancelled {
		s.stopping = why
		r.command(StopAttempt{u.Task, u.Instance, s.attempt, why})
		r.touch(u)
	}
}

func (r *Run) poolBusy(u Unit, s *work) {
	if s.queued(u) {
		s.err = fmt.Sprintf("no free slot in pool %q", poolOf(r.spec(u.Task)))
		r.finish(u, Skipped, ReasonBusy)
	}
}
