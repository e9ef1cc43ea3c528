package machine

import (
	"slices"
	"time"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dsl"
)

// apply takes in an event that the machine did not refuse.
func (m *model) apply(e Event) {
	m.nth++
	m.now = e.when().Truncate(time.Microsecond)
	switch e := e.(type) {
	case RunStarted:
		if !m.started {
			m.started = true
			m.begin()
		}
	case Evaluated:
		m.evaluated(e)
	case AttemptStarted:
		if t := &m.tasks[e.Task]; e.Attempt == t.attempt+1 {
			t.state, t.attempt, t.attemptAt = Running, e.Attempt, m.now
			t.charged++
		}
	case AttemptEnded:
		if m.current(e.Task, e.Attempt, Running) {
			m.attemptEnded(int(e.Task), e.Result)
		}
	case RetryDue:
		if m.current(e.Task, e.Attempt, Retrying) {
			m.ready(int(e.Task))
		}
	case AttemptTimedOut:
		if t := &m.tasks[e.Task]; m.current(e.Task, e.Attempt, Running) && t.stop == ReasonNone {
			t.stop = ReasonTimeout
		}
	case PoolBusy:
		if m.tasks[e.Task].state == Ready {
			m.end(int(e.Task), Skipped, ReasonBusy)
		}
	case RunTimedOut:
		if m.runTimerIsOn() && !m.now.Before(m.deadline) {
			m.timedOut = true
			m.stopAll(ReasonRunTimeout)
		}
	case CancelRequested:
		if !m.ended && m.cancels < 2 {
			m.cancels++
			m.stopAll(ReasonCancelled)
			if m.decided {
				m.decide()
			}
		}
	case RunRetried:
		m.retried(e)
	}
	if m.started && !m.ended {
		m.settle()
	}
}

func (m *model) current(t dag.Task, attempt int, s TaskState) bool {
	return m.tasks[t].state == s && m.tasks[t].attempt == attempt
}

func (m *model) begin() {
	if m.wf.Timeout.Set() {
		m.deadline = m.now.Add(m.wf.Timeout.V)
	}
}

func (m *model) runTimerIsOn() bool {
	return m.started && !m.ended && m.wf.Timeout.Set() && !m.timedOut && m.cancels == 0 && !m.decided
}

func (m *model) evaluated(e Evaluated) {
	switch i := int(e.Task); {
	case !m.tasks[i].asked:
	case e.Error != "":
		m.end(i, Failed, ReasonCondition)
	case e.Holds:
		m.ready(i)
	default:
		m.end(i, Skipped, ReasonCondition)
	}
}

// stopAll ends what may no longer go on: at once, or by ending its attempt.
func (m *model) stopAll(why Reason) {
	for i := range m.tasks {
		switch t := &m.tasks[i]; {
		case !t.member || t.state.Final() || !m.over(i):
		case t.state != Running:
			m.end(i, Cancelled, why)
		case t.stop == ReasonNone || why == ReasonCancelled:
			t.stop = why
		}
	}
}

// meaning tells what the end of an attempt says by itself.
func (m *model) meaning(i int, r Result) (TaskState, Reason) {
	code := func(vs []dsl.Value[int]) bool {
		return slices.ContainsFunc(vs, func(v dsl.Value[int]) bool { return v.V == r.ExitCode })
	}
	success := m.wf.Tasks[i].SuccessCodes
	switch {
	case r.StartError != "":
		return Failed, ReasonStartError
	case r.Signal != "":
		return Failed, ReasonSignal
	case r.Failure != "":
		return Failed, ReasonExit
	case len(success) == 0 && r.ExitCode == 0, code(success):
		return Succeeded, ReasonNone
	case code(m.wf.Tasks[i].SkipCodes):
		return Skipped, ReasonExit
	}
	return Failed, ReasonExit
}

func (m *model) attemptEnded(i int, r Result) {
	t := &m.tasks[i]
	state, reason := m.meaning(i, r)
	byItself := !r.Stopped && !r.Interrupted
	switch {
	case t.stop == ReasonCancelled:
		if !byItself || state != Succeeded {
			m.end(i, Cancelled, ReasonCancelled)
			return
		}
	case t.stop != ReasonNone && !byItself:
		state, reason = Failed, t.stop
	case r.Interrupted:
		t.charged--
		t.cutOff++
		if m.wf.Tasks[i].Recovery.V == dsl.RecoveryFail || t.cutOff == 3 || len(r.Left) > 0 {
			m.end(i, Failed, ReasonInterrupted)
		} else {
			m.ready(i)
		}
		return
	}
	t.cutOff = 0
	retry := m.wf.Tasks[i].Retry
	if state != Failed || retry == nil || t.charged > retry.Max.V || r.NoRetry || len(r.Left) > 0 || m.over(i) ||
		len(retry.ExitCodes) > 0 && !m.worthIt(retry, r) {
		m.end(i, state, reason)
		return
	}
	t.stop = ReasonNone
	pause := retryDelay(retry, t.charged, m.id, i)
	if pause == 0 {
		m.ready(i)
		return
	}
	t.state, t.retryAt = Retrying, m.now.Add(pause)
}

func (m *model) worthIt(retry *dsl.Retry, r Result) bool {
	return r.StartError == "" && !r.Interrupted &&
		slices.ContainsFunc(retry.ExitCodes, func(v dsl.Value[int]) bool { return v.V == r.ExitCode })
}

// retried puts back what is to run again: what did not succeed, or the named
// tasks; what is downstream of those; and the handlers.
func (m *model) retried(e RunRetried) {
	again := make([]bool, len(m.tasks))
	for i, t := range m.tasks {
		again[i] = m.late(i)
		if len(e.Tasks) == 0 {
			again[i] = again[i] || t.state != Succeeded || len(m.callers(i)) > 0
		}
	}
	named := make([]bool, len(m.tasks))
	for _, t := range e.Tasks {
		named[t] = true
	}
	for range m.tasks {
		for i, t := range m.wf.Tasks {
			for _, d := range t.DependsOn {
				named[i] = named[i] || named[m.number(d.Task)]
			}
			for _, c := range m.callers(i) {
				named[i] = named[i] || named[c]
			}
		}
	}
	m.ended, m.decided, m.timedOut, m.cancels, m.cause = false, false, false, 0, -1
	for i := range m.tasks {
		t := &m.tasks[i]
		switch {
		case !t.member:
		case again[i] || named[i]:
			*t = modelTask{member: true, attempt: t.attempt}
		case t.state == Failed && m.matters(i) && (m.cause < 0 || t.endedIn < m.tasks[m.cause].endedIn):
			m.cause = i
		}
	}
	m.begin()
}

// pending gives the commands that are open, in no order.
func (m *model) pending() (cmds []Command) {
	if !m.started {
		return nil
	}
	if m.ended {
		return []Command{EndRun{}}
	}
	if m.runTimerIsOn() {
		cmds = append(cmds, WakeAt{TimerRun, dag.None, 0, m.deadline})
	}
	for i, t := range m.tasks {
		n := dag.Task(i)
		switch {
		case t.asked:
			cmds = append(cmds, Evaluate{n})
		case t.state == Retrying:
			cmds = append(cmds, WakeAt{TimerRetry, n, t.attempt, t.retryAt})
		case t.state == Running:
			cmds = append(cmds, StartAttempt{n, t.attempt})
			if d := m.wf.Tasks[i].Timeout; d.Set() {
				cmds = append(cmds, WakeAt{TimerAttempt, n, t.attempt, t.attemptAt.Add(d.V)})
			}
			if t.stop != ReasonNone {
				cmds = append(cmds, StopAttempt{n, t.attempt, t.stop})
			}
		}
	}
	return cmds
}

// mayStart tells whether it is right that a task starts now.
func (m *model) mayStart(i int) bool {
	t, retry := &m.tasks[i], m.wf.Tasks[i].Retry
	attempts := 1
	if retry != nil {
		attempts += retry.Max.V
	}
	running := 0
	for _, t := range m.tasks {
		if t.state == Running {
			running++
		}
	}
	return t.member && !m.ended && !m.over(i) &&
		m.upstreamsSay(i) == yes && m.callsSay(i) == yes && !m.wf.Tasks[i].Disabled.V &&
		t.charged < attempts && (m.wf.MaxParallel.V == 0 || running < m.wf.MaxParallel.V)
}
