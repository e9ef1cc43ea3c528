package machine

import (
	"slices"
	"time"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dsl"
)

// model is a run as DSL.md tells it: plain and slow. It reads the workflow, not
// the plan, and has no counters: after every event it asks of every task anew
// what follows from those that have ended. The machine must always agree.
type model struct {
	wf        *dsl.Workflow
	id        string
	now       time.Time
	lastReady time.Time
	nth       int // events so far

	turns int // how often something became ready

	tasks []modelTask

	started, ended, decided, timedOut bool
	waits                             bool // for its turn after a retry

	outcome  RunState
	reasons  []Reason // that the run may have ended for
	deadline time.Time
	cancels  int
	cause    int // the first task whose failure counts, -1 for none
}

// modelTask is a task, or an instance of one.
type modelTask struct {
	member bool
	state  TaskState

	opening bool        // the items of its foreach are being evaluated
	known   bool        // and are known
	items   int         // how many there are
	inst    []modelTask // as many, or more that once were

	reasons []Reason // that a final state may have: which of two edges was first is not told
	asked   bool     // its when is being evaluated
	attempt int
	charged int
	cutOff  int    // in a row
	stop    Reason // why its attempt is being ended
	readyIn int    // the event that made it ready
	readyAt time.Time
	turn    int // its place among all that became ready
	endedIn int // and the one that ended it

	attemptAt, retryAt, endedAt time.Time
}

func newModel(id string, wf *dsl.Workflow, only []dag.Task) *model {
	m := &model{wf: wf, id: id, tasks: make([]modelTask, len(wf.Tasks)), cause: -1}
	for i := range m.tasks {
		m.tasks[i].member = only == nil || slices.Contains(only, dag.Task(i))
	}
	return m
}

func (m *model) number(v dsl.Value[string]) int {
	return slices.IndexFunc(m.wf.Tasks, func(t dsl.Task) bool { return t.ID.V == v.V })
}

func (m *model) names(vs []dsl.Value[string], i int) bool {
	return slices.ContainsFunc(vs, func(v dsl.Value[string]) bool { return v.V == m.wf.Tasks[i].ID.V })
}

// callers gives the tasks that name i in their on_failure.
func (m *model) callers(i int) (is []int) {
	for j, t := range m.wf.Tasks {
		if m.names(t.OnFailure, i) {
			is = append(is, j)
		}
	}
	return is
}

func (m *model) handlesRun(i int) bool {
	return m.names(m.wf.OnFailure, i) || m.names(m.wf.OnSuccess, i) || m.names(m.wf.OnFinish, i)
}

// late tells whether a task is a handler of the workflow, or of such a handler.
func (m *model) late(i int) bool {
	return m.handlesRun(i) || slices.ContainsFunc(m.callers(i), m.late)
}

// answer is what a group of edges says.
type answer int

const (
	unknown answer = iota
	yes
	no
)

// upstreamsSay tells what the depends_on of a task says.
func (m *model) upstreamsSay(i int) answer {
	held, open, total := 0, 0, len(m.wf.Tasks[i].DependsOn)
	for _, d := range m.wf.Tasks[i].DependsOn {
		switch u := m.number(d.Task); {
		case !m.tasks[u].member, m.holds(u, d.On):
			held++
		case !m.tasks[u].state.Final():
			open++
		}
	}
	if m.wf.Tasks[i].Join.V == dsl.JoinAny && total > 0 {
		switch {
		case held > 0:
			return yes
		case open == 0:
			return no
		}
		return unknown
	}
	switch {
	case held+open < total:
		return no
	case open == 0:
		return yes
	}
	return unknown
}

// holds tells whether an edge with a condition holds behind an ended task.
func (m *model) holds(u int, on dsl.Outcomes) bool {
	t := &m.tasks[u]
	succeeded := t.state == Succeeded ||
		t.state == Skipped && slices.Contains(t.reasons, ReasonDisabled) ||
		t.state == Failed && m.wf.Tasks[u].AllowFailure.V
	switch {
	case !t.state.Final():
		return false
	case on == dsl.OnFinished:
		return true
	case succeeded:
		return on&dsl.OnSucceeded != 0
	case t.state == Failed:
		return on&dsl.OnFailed != 0
	}
	return t.state == Skipped && on&dsl.OnSkipped != 0
}

// callsSay tells whether a task is wanted: handlers have to be called.
func (m *model) callsSay(i int) answer {
	callers := m.callers(i)
	if !m.handlesRun(i) && len(callers) == 0 {
		return yes
	}
	if m.handlesRun(i) {
		if !m.decided {
			return unknown
		}
		if m.names(m.wf.OnFinish, i) ||
			m.outcome == RunSucceeded && m.names(m.wf.OnSuccess, i) ||
			m.outcome == RunFailed && m.names(m.wf.OnFailure, i) {
			return yes
		}
	}
	result := no
	for _, c := range callers {
		switch t := &m.tasks[c]; {
		case !t.member:
		case t.state == Failed:
			return yes
		case !t.state.Final():
			result = unknown
		}
	}
	return result
}

// settle draws all conclusions.
func (m *model) settle() {
	var skipped []int
	for again := true; again; {
		again = false
		for i := range m.tasks {
			t := &m.tasks[i]
			if !t.member || t.state != Pending || t.asked || t.opening {
				continue
			}
			up, call := m.upstreamsSay(i), m.callsSay(i)
			switch {
			case up == no || call == no:
				m.end(i, Skipped)
				skipped = append(skipped, i)
			case up == unknown || call == unknown:
				continue
			case m.wf.Tasks[i].Disabled.V:
				m.end(i, Skipped, ReasonDisabled)
			case m.wf.Tasks[i].When.Set():
				t.asked = true
			default:
				m.enter(i)
			}
			again = true
		}
		if !m.decided && !m.open(func(i int) bool { return !m.late(i) }) {
			m.decide()
			again = true
		}
	}
	for _, i := range skipped {
		if m.upstreamsSay(i) == no {
			m.tasks[i].reasons = append(m.tasks[i].reasons, ReasonUpstream)
		}
		if m.callsSay(i) == no {
			m.tasks[i].reasons = append(m.tasks[i].reasons, ReasonCondition)
		}
		for k := range m.tasks[i].inst {
			if in := &m.tasks[i].inst[k]; in.endedIn == m.nth {
				in.reasons = m.tasks[i].reasons
			}
		}
	}
	m.ended = m.decided && !m.open(func(int) bool { return true })
}

func (m *model) open(of func(int) bool) bool {
	for i, t := range m.tasks {
		if t.member && !t.state.Final() && of(i) {
			return true
		}
	}
	return false
}

func (m *model) decide() {
	m.decided = true
	m.outcome, m.reasons = RunSucceeded, []Reason{ReasonNone}
	for i, t := range m.tasks {
		if t.state == Cancelled && !m.late(i) {
			m.outcome, m.reasons = RunCancelled, []Reason{ReasonCancelled, ReasonRunTimeout}
		}
	}
	if m.cause >= 0 {
		m.outcome, m.reasons = RunFailed, m.tasks[m.cause].reasons
	}
	if m.timedOut {
		m.outcome, m.reasons = RunFailed, []Reason{ReasonRunTimeout}
	}
	if m.cancels > 0 {
		m.outcome, m.reasons = RunCancelled, []Reason{ReasonCancelled}
	}
}

func (m *model) ready(u Unit) {
	t := m.at(u)
	m.turns++
	if m.now.After(m.lastReady) {
		m.lastReady = m.now
	}
	t.state, t.readyIn, t.readyAt, t.turn = Ready, m.nth, m.lastReady, m.turns
}

// end ends a task, with those of its instances that have not ended.
func (m *model) end(i int, s TaskState, reasons ...Reason) {
	t := &m.tasks[i]
	t.ends(m, s, reasons)
	for k := range t.inst[:t.items] {
		if in := &t.inst[k]; !in.state.Final() {
			in.ends(m, s, reasons)
		}
	}
	if s == Failed && m.cause < 0 && m.matters(i) {
		m.cause = i
	}
}

func (t *modelTask) ends(m *model, s TaskState, reasons []Reason) {
	t.state, t.reasons, t.asked, t.opening, t.stop = s, reasons, false, false, ReasonNone
	t.endedAt, t.endedIn = m.now, m.nth
}

// matters tells whether a failure fails the run.
func (m *model) matters(i int) bool { return !m.late(i) && !m.wf.Tasks[i].AllowFailure.V }

// over tells whether nothing of a task may start any more.
func (m *model) over(i int) bool {
	switch {
	case m.cancels > 1:
		return true
	case m.cancels == 1:
		return !m.late(i) || m.handlesRun(i) && !m.names(m.wf.OnFinish, i)
	}
	return m.timedOut && !m.late(i) && len(m.callers(i)) == 0
}
