package machine

import (
	"slices"

	"github.com/ax-scheduler/ax/dag"
)

// at gives what the model knows of a unit.
func (m *model) at(u Unit) *modelTask {
	if u.Instance == 0 {
		return &m.tasks[u.Task]
	}
	return &m.tasks[u.Task].inst[u.Instance.Index()]
}

// units gives all that may have attempts: tasks without foreach, and instances.
func (m *model) units() (us []Unit) {
	for i := range m.tasks {
		if m.wf.Tasks[i].Foreach == nil {
			us = append(us, whole(dag.Task(i)))
		}
		us = append(us, m.instances(dag.Task(i))...)
	}
	return us
}

func (m *model) instances(t dag.Task) (us []Unit) {
	for k := range m.tasks[t].items {
		us = append(us, Unit{t, InstanceOf(k)})
	}
	return us
}

// enter lets a task go.
func (m *model) enter(i int) {
	switch t := &m.tasks[i]; {
	case m.wf.Tasks[i].Foreach == nil:
		m.ready(whole(dag.Task(i)))
	case t.known:
		m.spawn(dag.Task(i))
	default:
		t.opening = true
	}
}

func (m *model) expanded(i int, e Expanded) {
	t := &m.tasks[i]
	switch {
	case !t.opening:
		return
	case e.Error != "":
		m.end(i, Failed, ReasonStartError)
		return
	}
	t.opening, t.known, t.items = false, true, len(e.Items)
	for len(t.inst) < t.items {
		t.inst = append(t.inst, modelTask{})
	}
	m.spawn(dag.Task(i))
}

func (m *model) spawn(t dag.Task) {
	m.tasks[t].state = Ready
	for _, u := range m.instances(t) {
		if !m.at(u).state.Final() {
			m.ready(u)
		}
	}
	m.sum(t)
}

// finish ends a unit; with the last instance, the task.
func (m *model) finish(u Unit, s TaskState, reasons ...Reason) {
	if u.Instance == 0 {
		m.end(int(u.Task), s, reasons...)
		return
	}
	m.at(u).ends(m, s, reasons)
	m.sum(u.Task)
}

// sum ends a task once all its instances have ended: as the first of those that
// were cancelled, if a cancel hit it; else as the first that failed, that was
// cancelled, or if there is nothing else that was skipped.
func (m *model) sum(t dag.Task) {
	by := map[TaskState][]*modelTask{}
	for _, u := range m.instances(t) {
		if s := m.at(u); s.state.Final() {
			by[s.state] = append(by[s.state], s)
		} else {
			return
		}
	}
	order := []TaskState{Failed, Cancelled}
	if m.cancels > 0 && m.over(int(t)) {
		order = []TaskState{Cancelled, Failed}
	}
	if len(by[Succeeded]) == 0 {
		order = append(order, Skipped)
	}
	for _, s := range order {
		if len(by[s]) > 0 {
			m.end(int(t), s, by[s][0].reasons...)
			return
		}
	}
	m.end(int(t), Succeeded, ReasonNone)
}

func (m *model) stopInstances(t dag.Task, why Reason) {
	for _, u := range m.instances(t) {
		switch s := m.at(u); {
		case s.state.Final():
		case s.state != Running:
			m.finish(u, Cancelled, why)
		case s.stop == ReasonNone || why == ReasonCancelled:
			s.stop = why
		}
	}
}

// admitted tells whether a unit is ready, and if it is an instance, whether it
// is among the first for which there are places.
func (m *model) admitted(u Unit) bool {
	if m.at(u).state != Ready || m.wf.Tasks[u.Task].Foreach == nil {
		return u.Instance == 0 && m.at(u).state == Ready
	}
	limit := m.wf.Tasks[u.Task].Foreach.MaxParallel.V
	before := 0
	for _, o := range m.instances(u.Task) {
		if s := m.at(o); s.state == Running || s.state == Ready && s.turn < m.at(u).turn {
			before++
		}
	}
	return u.Instance != 0 && (limit == 0 || before < limit)
}

// retried puts back what is to run again: what did not succeed, or what is
// named; what is downstream of that; and the handlers. Of a foreach that is not
// downstream it is the instances that did not succeed, or that are named; all,
// and the items too, where that is none.
func (m *model) retried(e RunRetried) {
	all := len(e.Tasks)+len(e.Instances) == 0
	below := m.below(e)
	m.ended, m.decided, m.timedOut, m.cancels, m.cause = false, false, false, 0, -1
	for i := range m.tasks {
		t, n := &m.tasks[i], dag.Task(i)
		named := slices.Contains(e.Tasks, n)
		single := slices.ContainsFunc(e.Instances, func(u Unit) bool { return u.Task == n })
		again := func(u Unit) bool {
			return (all || named) && m.at(u).state != Succeeded || slices.Contains(e.Instances, u)
		}
		some := slices.ContainsFunc(m.instances(n), again)
		switch {
		case !t.member:
		case below[i] || m.late(i) || all && len(m.callers(i)) > 0,
			!some && (named || single || all && t.state != Succeeded):
			inst := t.inst
			*t = modelTask{member: true, attempt: t.attempt, inst: inst}
			for k := range inst {
				inst[k] = modelTask{attempt: inst[k].attempt}
			}
		case some:
			for _, u := range m.instances(n) {
				if again(u) {
					*m.at(u) = modelTask{attempt: m.at(u).attempt}
				}
			}
			*t = modelTask{member: true, attempt: t.attempt, inst: t.inst, items: t.items, known: true}
		case t.state == Failed && m.matters(i) && (m.cause < 0 || t.endedIn < m.tasks[m.cause].endedIn):
			m.cause = i
		}
	}
	if m.waits = e.Waits; !m.waits {
		m.begin()
	}
}

// below marks what is downstream of what a retry names.
func (m *model) below(e RunRetried) []bool {
	named, below := make([]bool, len(m.tasks)), make([]bool, len(m.tasks))
	for _, t := range e.Tasks {
		named[t] = true
	}
	for _, u := range e.Instances {
		named[u.Task] = true
	}
	for range m.tasks {
		for i, t := range m.wf.Tasks {
			for _, d := range t.DependsOn {
				u := m.number(d.Task)
				below[i] = below[i] || named[u] || below[u]
			}
			for _, c := range m.callers(i) {
				below[i] = below[i] || named[c] || below[c]
			}
		}
	}
	return below
}
