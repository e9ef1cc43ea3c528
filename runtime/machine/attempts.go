package machine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dsl"
)

func (r *Run) makeReady(t dag.Task) {
	s := &r.tasks[t]
	s.state, s.evaluating = Ready, false
	s.readySeq = r.ready.push(t, r.priority(t), poolOf(r.spec(t)))
	r.touch(t)
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

func (r *Run) evaluated(e Evaluated, s *task) {
	if !s.evaluating {
		return
	}
	switch {
	case e.Error != "":
		s.err = "when: " + e.Error
		r.end(e.Task, Failed, ReasonCondition)
	case e.Holds:
		r.makeReady(e.Task)
	default:
		s.err = "when is false"
		r.end(e.Task, Skipped, ReasonCondition)
	}
}

// CanStart tells whether AttemptStarted may be applied for a task now.
func (r *Run) CanStart(t dag.Task) bool {
	return r.tasks[t].state == Ready && (r.maxParallel == 0 || r.running < r.maxParallel)
}

// Startable gives the ready task that should get the next slot: that of the
// highest priority, the longest ready first. Tasks of a pool for which full is
// true are passed over; full may be nil.
func (r *Run) Startable(full func(pool string) bool) (dag.Task, bool) {
	if r.maxParallel > 0 && r.running >= r.maxParallel {
		return dag.None, false
	}
	return r.ready.best(func(e readyTask) bool {
		s := &r.tasks[e.task]
		return s.state == Ready && s.readySeq == e.seq
	}, full)
}

func (r *Run) attemptStarted(e AttemptStarted) error {
	if err := r.has(e.Task); err != nil {
		return err
	}
	s := &r.tasks[e.Task]
	switch {
	case e.Attempt > 0 && e.Attempt <= s.attempt:
		return nil // late or twice
	case !r.CanStart(e.Task):
		return fmt.Errorf("run %s: task %d cannot start now", r.id, e.Task)
	case e.Attempt != s.attempt+1:
		return fmt.Errorf("run %s: attempt %d of task %d after attempt %d", r.id, e.Attempt, e.Task, s.attempt)
	}
	s.state, s.reason, s.err, s.exit = Running, ReasonNone, "", nil
	s.attempt, s.attemptAt = e.Attempt, r.at
	s.tries++
	if s.startedAt.IsZero() {
		s.startedAt = r.at
	}
	r.running++
	r.touch(e.Task)
	r.command(StartAttempt{e.Task, e.Attempt})
	r.wakeForTimeout(e.Task)
	return nil
}

func (r *Run) wakeForTimeout(t dag.Task) {
	if d := r.spec(t).Timeout; d.Set() {
		s := &r.tasks[t]
		r.command(WakeAt{TimerAttempt, t, s.attempt, s.attemptAt.Add(d.V)})
	}
}

func (r *Run) attemptEnded(e AttemptEnded, s *task) {
	if s.state != Running || s.attempt != e.Attempt {
		return // late or twice
	}
	t, res := e.Task, e.Result
	r.running--
	s.outputs, s.left = res.Outputs, res.Left
	s.exit = nil
	if res.StartError == "" && !res.Interrupted {
		code := res.ExitCode
		s.exit = &code
	}
	state, reason, what := r.classify(t, res)
	switch state {
	case Succeeded:
		s.err = ""
	case Cancelled:
		s.err = what
	default:
		s.err = withLastLine(what, res.LastLine)
	}
	if reason == ReasonInterrupted {
		r.interrupted(t)
		return
	}
	s.cutOff = 0
	if state == Failed && r.retries(t, reason, res) {
		r.retry(t, reason)
		return
	}
	r.end(t, state, reason)
}

// classify says what the end of an attempt means.
func (r *Run) classify(t dag.Task, res Result) (TaskState, Reason, string) {
	s, spec := &r.tasks[t], r.spec(t)
	exited := res.Signal == "" && res.StartError == "" && res.Failure == ""
	cut := res.Stopped || res.Interrupted // else it ended by itself before it could be stopped
	switch {
	case s.stopping == ReasonCancelled && (cut || !Succeeds(spec, res)):
		return Cancelled, ReasonCancelled, "cancelled on request"
	case cut && s.stopping == ReasonTimeout:
		return Failed, ReasonTimeout, "not done within the timeout of " + brief(spec.Timeout.V)
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

// brief writes a duration as a workflow file does: 10m, not 10m0s.
func brief(d time.Duration) string {
	s := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(s, zero) {
			s = s[:len(s)-2]
		}
	}
	return s
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
func (r *Run) interrupted(t dag.Task) {
	s := &r.tasks[t]
	s.cutOff++
	s.tries--
	if r.spec(t).Recovery.V == dsl.RecoveryFail || len(s.left) > 0 || s.cutOff >= maxInterruptions {
		r.end(t, Failed, ReasonInterrupted)
		return
	}
	s.reason = ReasonInterrupted
	r.makeReady(t)
}

// retries tells whether a failed attempt is followed by another: never beside
// what is left of it.
func (r *Run) retries(t dag.Task, reason Reason, res Result) bool {
	s, rt := &r.tasks[t], r.spec(t).Retry
	if rt == nil || s.tries > rt.Max.V || res.NoRetry || len(res.Left) > 0 || reason == ReasonRunTimeout || r.stopped(t) {
		return false
	}
	return len(rt.ExitCodes) == 0 || s.exit != nil && hasCode(rt.ExitCodes, *s.exit)
}

// stopped tells whether nothing of a task may start any more.
func (r *Run) stopped(t dag.Task) bool {
	return r.cancels > 0 && !r.survivesCancel(t) || r.timedOut && !r.survivesTimeout(t)
}

func (r *Run) retry(t dag.Task, reason Reason) {
	s := &r.tasks[t]
	s.reason, s.stopping = reason, ReasonNone
	pause := retryDelay(r.spec(t).Retry, s.tries, r.id, int(t))
	s.retryAt = r.at.Add(pause)
	if pause == 0 {
		r.makeReady(t)
		return
	}
	s.state = Retrying
	r.touch(t)
	r.command(WakeAt{TimerRetry, t, s.attempt, s.retryAt})
}

func (r *Run) retryDue(e RetryDue, s *task) {
	if s.state == Retrying && s.attempt == e.Attempt {
		r.makeReady(e.Task)
	}
}

func (r *Run) attemptTimedOut(e AttemptTimedOut, s *task) {
	if s.state == Running && s.attempt == e.Attempt && s.stopping == ReasonNone {
		r.stop(e.Task, ReasonTimeout)
	}
}

// stop has a running attempt ended. A cancel takes over from a timeout, never
// the other way round.
func (r *Run) stop(t dag.Task, why Reason) {
	s := &r.tasks[t]
	if s.stopping == ReasonNone || why == ReasonCancelled {
		s.stopping = why
		r.command(StopAttempt{t, s.attempt, why})
		r.touch(t)
	}
}

func (r *Run) poolBusy(e PoolBusy, s *task) {
	if s.state == Ready {
		s.err = fmt.Sprintf("no free slot in pool %q", poolOf(r.spec(e.Task)))
		r.end(e.Task, Skipped, ReasonBusy)
	}
}
