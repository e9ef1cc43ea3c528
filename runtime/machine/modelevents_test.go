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
		if !m.started || m.waits {
			m.started, m.waits = true, false
			m.begin()
		}
	case Evaluated:
		m.evaluated(e)
	case Expanded:
		m.expanded(int(e.Task), e)
	case AttemptStarted:
		if u := (Unit{e.Task, e.Instance}); e.Attempt == m.at(u).attempt+1 {
			m.attemptStarted(u)
		}
	case AttemptEnded:
		if u := (Unit{e.Task, e.Instance}); m.current(u, e.Attempt, Running) {
			m.attemptEnded(u, e.Result)
		}
	case RetryDue:
		if u := (Unit{e.Task, e.Instance}); m.current(u, e.Attempt, Retrying) {
			m.ready(u)
		}
	case AttemptTimedOut:
		if u := (Unit{e.Task, e.Instance}); m.current(u, e.Attempt, Running) && m.at(u).stop == ReasonNone {
			m.at(u).stop = ReasonTimeout
		}
	case PoolBusy:
		if u := (Unit{e.Task, e.Instance}); m.admitted(u) {
			m.finish(u, Skipped, ReasonBusy)
		}
	case RunTimedOut:
		if m.runTimerIsOn() && !m.now.Before(m.deadline) {
			m.timedOut = true
			m.stopAll(ReasonRunTimeout)
		}
	case CancelRequested:
		if m.waits {
			m.waits, m.cancels = false, 1
		}
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
	if m.started && !m.ended && !m.waits {
		m.settle()
	}
}

func (m *model) current(u Unit, attempt int, s TaskState) bool {
	return m.at(u).state == s && m.at(u).attempt == attempt
}

func (m *model) attemptStarted(u Unit) {
	t := m.at(u)
	t.state, t.attemptAt = Running, m.now
	t.attempt++
	t.charged++
	if u.Instance != 0 {
		m.tasks[u.Task].state = Running
		m.tasks[u.Task].attempt++
	}
}

func (m *model) begin() {
	if m.wf.Timeout.Set() {
		m.deadline = m.now.Add(m.wf.Timeout.V)
	}
}

func (m *model) runTimerIsOn() bool {
	return m.started && !m.ended && !m.waits && m.wf.Timeout.Set() && !m.timedOut && m.cancels == 0 && !m.decided
}

func (m *model) evaluated(e Evaluated) {
	i := int(e.Task)
	asked := m.tasks[i].asked
	m.tasks[i].asked = false
	switch {
	case !asked:
	case e.Error != "":
		m.end(i, Failed, ReasonCondition)
	case e.Holds:
		m.enter(i)
	default:
		m.end(i, Skipped, ReasonCondition)
	}
}

// stopAll ends what may no longer go on: at once, or by ending its attempt.
func (m *model) stopAll(why Reason) {
	for i := range m.tasks {
		switch t := &m.tasks[i]; {
		case !t.member || t.state.Final() || !m.over(i):
		case t.known && t.state != Pending:
			m.stopInstances(dag.Task(i), why)
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

func (m *model) attemptEnded(u Unit, r Result) {
	i, t := int(u.Task), m.at(u)
	state, reason := m.meaning(i, r)
	byItself := !r.Stopped && !r.Interrupted
	switch {
	case t.stop == ReasonCancelled:
		if !byItself || state != Succeeded {
			m.finish(u, Cancelled, ReasonCancelled)
			return
		}
	case t.stop != ReasonNone && !byItself:
		state, reason = Failed, t.stop
	case r.Interrupted:
		t.charged--
		t.cutOff++
		if m.wf.Tasks[i].Recovery.V == dsl.RecoveryFail || t.cutOff == 3 || len(r.Left) > 0 {
			m.finish(u, Failed, ReasonInterrupted)
		} else {
			m.ready(u)
		}
		return
	}
	t.cutOff = 0
	retry := m.wf.Tasks[i].Retry
	if state != Failed || retry == nil || t.charged > retry.Max.V || r.NoRetry || len(r.Left) > 0 || m.over(i) ||
		len(retry.ExitCodes) > 0 && !m.worthIt(retry, r) {
		m.finish(u, state, reason)
		return
	}
	t.stop = ReasonNone
	pause := retryDelay(retry, t.charged, m.id, u)
	if pause == 0 {
		m.ready(u)
		return
	}
	t.state, t.retryAt = Retrying, m.now.Add(pause)
}

func (m *model) worthIt(retry *dsl.Retry, r Result) bool {
	return r.StartError == "" && !r.Interrupted &&
		slices.ContainsFunc(retry.ExitCodes, func(v dsl.Value[int]) bool { return v.V == r.ExitCode })
}

// pending gives the commands that are open, in no order.
func (m *model) pending() (cmds []Command) {
	if !m.started || m.waits {
		return nil
	}
	if m.ended {
		return []Command{EndRun{}}
	}
	if m.runTimerIsOn() {
		cmds = append(cmds, WakeAt{TimerRun, dag.None, 0, 0, m.deadline})
	}
	for i, t := range m.tasks {
		if t.asked {
			cmds = append(cmds, Evaluate{dag.Task(i)})
		}
		if t.opening {
			cmds = append(cmds, Expand{dag.Task(i)})
		}
	}
	for _, u := range m.units() {
		switch t := m.at(u); t.state {
		case Retrying:
			cmds = append(cmds, WakeAt{TimerRetry, u.Task, u.Instance, t.attempt, t.retryAt})
		case Running:
			cmds = append(cmds, StartAttempt{u.Task, u.Instance, t.attempt})
			if d := m.wf.Tasks[u.Task].Timeout; d.Set() {
				cmds = append(cmds, WakeAt{TimerAttempt, u.Task, u.Instance, t.attempt, t.attemptAt.Add(d.V)})
			}
			if t.stop != ReasonNone {
				cmds = append(cmds, StopAttempt{u.Task, u.Instance, t.attempt, t.stop})
			}
		}
	}
	return cmds
}

// mayStart tells whether it is right that a unit starts now.
func (m *model) mayStart(u Unit) bool {
	i, t := int(u.Task), m.at(u)
	attempts := 1
	if retry := m.wf.Tasks[i].Retry; retry != nil {
		attempts += retry.Max.V
	}
	return m.tasks[i].member && !m.ended && !m.waits && !m.over(i) && m.admitted(u) &&
		m.upstreamsSay(i) == yes && m.callsSay(i) == yes && !m.wf.Tasks[i].Disabled.V &&
		t.charged < attempts && (m.wf.Tasks[i].Kind.Waits() || m.hasSlot())
}

// hasSlot tells whether max_parallel allows another attempt. What only waits
// needs no slot and takes none.
func (m *model) hasSlot() bool {
	running := 0
	for _, u := range m.units() {
		if m.at(u).state == Running && !m.wf.Tasks[u.Task].Kind.Waits() {
			running++
		}
	}
	return m.wf.MaxParallel.V == 0 || running < m.wf.MaxParallel.V
}
