package runtime_test

import (
	"cmp"
	"container/heap"
	"fmt"
	"slices"
	"time"
)

// sim is the pure model of a run: what DSL.md says of a workflow, carried out
// event by event in virtual time, with slots, pools, engines that die, and
// nothing that the engine is made of. It looks at everything anew after each
// event: it is plain, and slow.
//
// What happens at one instant is in this order: an end tells those downstream in
// the order of the file, and what ends by that in turn; then free slots are
// given; then the expressions that were asked for are evaluated.
type sim struct {
	f      *simFlow
	now    time.Duration
	tasks  []simState
	from   [][]*simEdge // out of each task, in the order of the file
	into   [][]*simEdge
	isLate []bool // the handlers of the run, and theirs

	events   simEvents
	endings  []int // tasks that have ended and have told nobody yet
	asked    []int // tasks whose expressions are to be evaluated
	planned  int   // events so far
	seq      int
	running  int
	used     []int // slots of each pool
	decided  bool
	outcome  string
	reason   string
	cause    int
	canceled bool
	timedOut bool
	finished time.Duration
	ties     int // ends of different attempts at one instant: the order is anybody's
}

type simEdge struct {
	from, to       int
	conds          []string
	call           bool // on_failure
	resolved, held bool
}

// simState is the state of a task, with those of its instances, or of an instance.
type simState struct {
	state, reason string
	attempts      int
	charged       int
	cutOff        int // in a row
	exit          *int
	out           *int
	finished      time.Duration
	told          string // the handler's AX_FAILED_TASK, and what it got of an upstream

	stopping string
	endAt    time.Duration
	placed   bool
	seq      int
	since    time.Duration // when it became ready

	asked  bool
	opened bool // the items are known
	each   []simState
	line   []int // instances that wait for a place
	caller int   // the first that failed into it
}

// simUnit names a task, or an instance from 0; -1 for the task itself.
type simUnit struct{ task, instance int }

type simEvent struct {
	at      time.Duration
	kind    string // end, timeout, retry, run_timeout, step
	unit    simUnit
	attempt int
	n       int // keeps the order of what is due at one instant
}

type simEvents []simEvent

func (h simEvents) Len() int { return len(h) }
func (h simEvents) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(h[i].at, h[j].at), cmp.Compare(h[i].n, h[j].n)) < 0
}
func (h simEvents) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *simEvents) Push(x any)   { *h = append(*h, x.(simEvent)) }
func (h *simEvents) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}

func newSim(f *simFlow) *sim {
	n := len(f.tasks)
	m := &sim{
		f: f, tasks: make([]simState, n), used: make([]int, len(f.pools)), cause: -1,
		from: make([][]*simEdge, n), into: make([][]*simEdge, n), isLate: make([]bool, n),
	}
	edge := func(e simEdge) {
		m.from[e.from] = append(m.from[e.from], &e)
		m.into[e.to] = append(m.into[e.to], &e)
	}
	for i, t := range f.tasks {
		m.tasks[i] = simState{state: "pending", caller: -1}
		for _, d := range t.deps {
			edge(simEdge{from: d.on, to: i, conds: d.conds})
		}
		for _, h := range t.handlers {
			edge(simEdge{from: i, to: h, conds: []string{"failed"}, call: true})
		}
	}
	for i := range f.tasks {
		byLate := func(e *simEdge) bool { return e.call && m.handlesRun(e.from) }
		m.isLate[i] = m.handlesRun(i) || slices.ContainsFunc(m.into[i], byLate)
	}
	return m
}

func (m *sim) at(u simUnit) *simState {
	if u.instance < 0 {
		return &m.tasks[u.task]
	}
	return &m.tasks[u.task].each[u.instance]
}

func (m *sim) name(u simUnit) string {
	if u.instance < 0 {
		return m.f.tasks[u.task].id
	}
	return fmt.Sprintf("%s[%d]", m.f.tasks[u.task].id, u.instance)
}

func final(state string) bool {
	return state == "succeeded" || state == "failed" || state == "skipped" || state == "cancelled"
}

func (m *sim) later(at time.Duration, kind string, u simUnit, attempt int) {
	m.planned++
	heap.Push(&m.events, simEvent{at, kind, u, attempt, m.planned})
}

// run carries the run out to its end.
func (m *sim) run() {
	if m.f.timeout > 0 {
		m.later(m.f.timeout, "run_timeout", simUnit{}, 0)
	}
	for i, s := range m.f.steps {
		m.later(s.at, "step", simUnit{}, i)
	}
	for t := range m.tasks {
		m.settle(t)
	}
	m.spread()
	for m.calm(); !m.over(); m.calm() {
		if len(m.events) == 0 {
			panic("nothing is left to happen, and the run has not ended")
		}
		m.now = m.events[0].at
		m.due()
	}
}

// due has everything happen that is due by now.
func (m *sim) due() {
	ended := 0
	for len(m.events) > 0 && m.events[0].at <= m.now && !m.over() {
		e := heap.Pop(&m.events).(simEvent)
		if m.happens(e) && e.kind == "end" {
			ended++
		}
		m.spread()
	}
	m.ties += max(0, ended-1)
}

func (m *sim) happens(e simEvent) bool {
	switch e.kind {
	case "step":
		m.step(m.f.steps[e.attempt])
		return true
	case "run_timeout":
		if !m.canceled && !m.decided {
			m.timedOut = true
			m.stopAll("run_timeout")
		}
		return true
	}
	s := m.at(e.unit)
	switch {
	case s.attempts != e.attempt:
		return false
	case e.kind == "retry" && s.state == "retrying":
		m.ready(e.unit)
	case e.kind == "timeout" && s.state == "running" && s.stopping == "":
		m.stop(e.unit, "timeout")
	case e.kind == "end" && s.state == "running" && s.endAt == e.at:
		m.attemptEnds(e.unit, false)
	default:
		return false
	}
	return true
}

// over tells whether the run has ended.
func (m *sim) over() bool { return m.finished > 0 }

// spread tells the ends of tasks to those downstream, and goes on to the
// handlers of the run and to its end.
func (m *sim) spread() {
	for !m.over() {
		for len(m.endings) > 0 {
			t := m.endings[0]
			m.endings = m.endings[1:]
			for _, e := range m.from[t] {
				m.resolve(e)
				m.settle(e.to)
			}
		}
		switch {
		case m.anyOpen(false):
			return
		case !m.decided:
			m.decide()
		case m.anyOpen(true):
			return
		default:
			m.finished = m.now
		}
	}
}

// anyOpen tells whether one of the ordinary tasks, or of the late ones, has not
// ended.
func (m *sim) anyOpen(late bool) bool {
	for t := range m.tasks {
		if m.isLate[t] == late && !final(m.tasks[t].state) {
			return true
		}
	}
	return false
}

func (m *sim) handlesRun(t int) bool {
	return slices.Contains(m.f.onFailure, t) || slices.Contains(m.f.onSuccess, t) || slices.Contains(m.f.onFinish, t)
}

func (m *sim) resolve(e *simEdge) {
	s, t := m.tasks[e.from], m.f.tasks[e.from]
	outcome := s.state
	if s.reason == "disabled" || s.state == "failed" && t.allowFailure && !e.call {
		outcome = "succeeded"
	}
	e.resolved = true
	e.held = slices.Contains(e.conds, outcome) || slices.Contains(e.conds, "finished")
	if e.call && e.held && m.tasks[e.to].caller < 0 {
		m.tasks[e.to].caller = e.from
	}
}

// gates tells what the edges into a task say: "open", "closed", or "" for not yet.
func (m *sim) gates(t int) (depends, calls string) {
	var all, resolved, held, callers, answered int
	for _, e := range m.into[t] {
		switch {
		case e.call:
			callers++
			if e.resolved {
				answered++
			}
		default:
			all++
			if e.resolved {
				resolved++
			}
			if e.held {
				held++
			}
		}
	}
	switch anyOf := m.f.tasks[t].joinAny; {
	case all == 0, anyOf && held > 0, !anyOf && held == all:
		depends = "open"
	case anyOf && resolved == all, !anyOf && held < resolved:
		depends = "closed"
	}
	wanted := m.outcome == "failed" && slices.Contains(m.f.onFailure, t) ||
		m.outcome == "succeeded" && slices.Contains(m.f.onSuccess, t) ||
		m.decided && slices.Contains(m.f.onFinish, t)
	switch called := m.tasks[t].caller >= 0; {
	case callers == 0 && !m.handlesRun(t), called, wanted:
		calls = "open"
	case m.handlesRun(t) && !m.decided:
	case answered == callers:
		calls = "closed"
	}
	return depends, calls
}

// settle starts or skips a task if its edges say so by now.
func (m *sim) settle(t int) {
	s := &m.tasks[t]
	if s.state != "pending" || s.asked {
		return
	}
	switch depends, calls := m.gates(t); {
	case depends == "closed":
		m.end(t, "skipped", "upstream")
	case calls == "closed":
		m.end(t, "skipped", "condition")
	case depends == "" || calls == "":
	case m.f.tasks[t].disabled:
		m.end(t, "skipped", "disabled")
	case m.f.tasks[t].when != nil || m.f.tasks[t].each != nil:
		s.asked = true
		m.asked = append(m.asked, t)
	default:
		m.ready(simUnit{t, -1})
	}
}

// decide settles how the run ends and calls its handlers.
func (m *sim) decide() {
	m.decided = true
	switch {
	case m.canceled:
		m.outcome, m.reason = "cancelled", "cancelled"
	case m.timedOut:
		m.outcome, m.reason = "failed", "run_timeout"
	case m.cause >= 0:
		m.outcome, m.reason = "failed", m.tasks[m.cause].reason
	default:
		m.outcome = "succeeded"
	}
	for t := range m.tasks {
		if m.handlesRun(t) {
			m.settle(t)
		}
	}
}

// end brings a task into a final state.
func (m *sim) end(t int, state, reason string) {
	s := &m.tasks[t]
	s.state, s.reason, s.finished, s.asked = state, reason, m.now, false
	m.endings = append(m.endings, t)
	if state == "failed" && m.cause < 0 && !m.isLate[t] && !m.f.tasks[t].allowFailure {
		m.cause = t
	}
}

// calm gives slots and evaluates expressions until nothing more happens at this
// instant.
func (m *sim) calm() {
	for !m.over() {
		m.grant()
		asked := m.asked
		m.asked = nil
		if len(asked) == 0 {
			return
		}
		for _, t := range asked {
			if m.tasks[t].asked {
				m.evaluate(t)
				m.spread()
			}
		}
	}
}

// evaluate asks for the condition of a task, or for its items: one at a time.
func (m *sim) evaluate(t int) {
	s, spec := &m.tasks[t], &m.f.tasks[t]
	if spec.when != nil && !s.opened {
		switch holds, known := m.holds(spec.when); {
		case !known:
			m.end(t, "failed", "condition")
		case !holds:
			m.end(t, "skipped", "condition")
		case spec.each != nil:
			s.opened = true
			m.asked = append(m.asked, t)
		default:
			s.asked = false
			m.ready(simUnit{t, -1})
		}
		return
	}
	items := spec.each.items
	if from := spec.each.from; from >= 0 {
		if m.tasks[from].out == nil {
			m.end(t, "failed", "start_error")
			return
		}
		items = *m.tasks[from].out
	}
	s.asked = false
	s.each = make([]simState, items)
	if items == 0 {
		m.sumUp(t)
		return
	}
	s.state = "ready"
	for i := range s.each {
		s.each[i].caller = -1
		m.ready(simUnit{t, i})
	}
}

func (m *sim) holds(w *simWhen) (holds, known bool) {
	switch w.kind {
	case "param":
		return m.f.n > w.k, true
	case "flag":
		return m.f.flag, true
	case "state":
		return m.tasks[w.of].state != "failed", true
	case "exit", "exit_or":
		if exit := m.tasks[w.of].exit; exit != nil {
			return *exit == w.k, true
		}
		return w.k == 0, w.kind == "exit_or"
	}
	out := m.tasks[w.of].out
	return out != nil && *out > w.k, out != nil
}
