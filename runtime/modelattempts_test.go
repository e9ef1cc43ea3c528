package runtime_test

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// ready has a unit wait for a slot, behind those that wait already; an instance
// for a place among those of its task first.
func (m *sim) ready(u simUnit) {
	s := m.at(u)
	m.seq++
	s.state, s.seq, s.since = "ready", m.seq, m.now
	if u.instance >= 0 {
		s.placed = false
		m.tasks[u.task].line = append(m.tasks[u.task].line, u.instance)
		m.admit(u.task)
	}
}

// admit gives the places of a foreach to those that are first in line.
func (m *sim) admit(t int) {
	s, limit := &m.tasks[t], m.f.tasks[t].each.maxParallel
	placed := 0
	for _, x := range s.each {
		if x.placed {
			placed++
		}
	}
	for len(s.line) > 0 && (limit == 0 || placed < limit) {
		s.each[s.line[0]].placed = true
		s.line = s.line[1:]
		placed++
	}
}

// units gives all tasks and instances that attempts are made of.
func (m *sim) units() (us []simUnit) {
	for t := range m.tasks {
		if m.f.tasks[t].each == nil {
			us = append(us, simUnit{t, -1})
			continue
		}
		for i := range m.tasks[t].each {
			us = append(us, simUnit{t, i})
		}
	}
	return us
}

// turn orders the units that wait: a step of priority counts like a minute.
func (m *sim) turn(u simUnit) time.Duration {
	priority := m.f.priority
	if p := m.f.tasks[u.task].priority; p >= 0 {
		priority = p
	}
	return m.at(u).since - time.Duration(priority)*time.Minute
}

// waiting gives the units that wait for a slot, the next one first.
func (m *sim) waiting() []simUnit {
	us := slices.DeleteFunc(m.units(), func(u simUnit) bool {
		s := m.at(u)
		return s.state != "ready" || u.instance >= 0 && !s.placed
	})
	slices.SortFunc(us, func(a, b simUnit) int {
		return cmp.Or(cmp.Compare(m.turn(a), m.turn(b)), cmp.Compare(m.at(a).seq, m.at(b).seq))
	})
	return us
}

func (m *sim) full(pool int) bool { return pool >= 0 && m.used[pool] >= m.f.pools[pool] }

// grant starts what has a slot, and skips what does not want to wait for its pool.
func (m *sim) grant() {
	limit := m.f.slots
	if m.f.maxParallel > 0 {
		limit = min(limit, m.f.maxParallel)
	}
	for again := true; again; again = m.skipBusy() {
		for _, u := range m.waiting() {
			if m.running < limit && !m.full(m.f.tasks[u.task].pool) {
				m.start(u)
			}
		}
	}
}

func (m *sim) skipBusy() bool {
	var pools []int // as the file names them
	for _, t := range m.f.tasks {
		if t.busySkip && !slices.Contains(pools, t.pool) {
			pools = append(pools, t.pool)
		}
	}
	any := false
	for _, pool := range pools {
		for _, u := range m.waiting() {
			if t := m.f.tasks[u.task]; t.busySkip && t.pool == pool && m.full(pool) && m.at(u).attempts == 0 {
				m.finish(u, "skipped", "busy")
				m.spread()
				any = true
			}
		}
	}
	return any
}

func (m *sim) hold(t, by int) {
	m.running += by
	if pool := m.f.tasks[t].pool; pool >= 0 {
		m.used[pool] += by
	}
}

func (m *sim) start(u simUnit) {
	s, t := m.at(u), &m.f.tasks[u.task]
	m.hold(u.task, 1)
	s.state, s.reason, s.exit = "running", "", nil
	s.attempts++
	s.charged++
	s.told = m.tell(u.task)
	if u.instance >= 0 {
		m.tasks[u.task].state = "running"
		m.tasks[u.task].attempts++
	}
	s.endAt = m.now + m.f.move(m.name(u), s.attempts).took
	m.later(s.endAt, "end", u, s.attempts)
	if t.timeout > 0 {
		m.later(m.now+t.timeout, "timeout", u, s.attempts)
	}
}

// tell gives what an attempt is told of others.
func (m *sim) tell(t int) string {
	by, got := "-", "-"
	switch s := m.tasks[t]; {
	case s.caller >= 0:
		by = m.f.tasks[s.caller].id
	case m.handlesRun(t) && m.cause >= 0:
		by = m.f.tasks[m.cause].id
	case m.handlesRun(t) && m.outcome == "failed":
		by = ""
	}
	if u := m.f.tasks[t].output; u >= 0 {
		if got = "nothing"; m.tasks[u].out != nil {
			got = fmt.Sprint(*m.tasks[u].out)
		}
	}
	return fmt.Sprint(by, " ", got, " ", m.f.n)
}

// stop sends SIGTERM, and SIGKILL once the time for that is over.
func (m *sim) stop(u simUnit, why string) {
	s := m.at(u)
	switch {
	case s.stopping == "":
		s.stopping = why
		after, _, _ := m.f.move(m.name(u), s.attempts).stopped(m.killAfter(u.task))
		s.endAt = m.now + after
		m.later(s.endAt, "end", u, s.attempts)
	case why == "cancelled":
		s.stopping = why
	}
}

func (m *sim) killAfter(t int) time.Duration {
	if d := m.f.tasks[t].killAfter; d > 0 {
		return d
	}
	return 10 * time.Second
}

// attemptEnds says what the end of an attempt means. One that was cut off has
// ended with its engine.
func (m *sim) attemptEnds(u simUnit, cut bool) {
	s, t, move := m.at(u), &m.f.tasks[u.task], m.f.move(m.name(u), m.at(u).attempts)
	m.hold(u.task, -1)
	code, state, reason := move.code, "failed", "exit"
	success := []int{0}
	if t.success != nil {
		success = t.success
	}
	switch {
	case s.stopping != "":
		_, code, _ = move.stopped(m.killAfter(u.task))
		if reason = s.stopping; reason == "cancelled" {
			state = "cancelled"
		}
	case cut:
		reason = "interrupted"
	case move.signal != "":
		reason = "signal"
	case slices.Contains(success, code):
		state, reason = "succeeded", ""
	case slices.Contains(t.skip, code):
		state = "skipped"
	}
	s.exit, s.out = &code, nil
	if cut {
		s.exit = nil
	} else if s.stopping == "" && move.signal == "" {
		s.out = &move.out
	}
	switch {
	case reason == "interrupted":
		m.interrupted(u)
	case state == "failed" && m.triedAgain(u):
		s.cutOff = 0
		m.retry(u, reason)
	default:
		m.finish(u, state, reason)
	}
}

// interrupted: it is not charged to retry.max, and the third in a row fails.
func (m *sim) interrupted(u simUnit) {
	s := m.at(u)
	s.cutOff++
	s.charged--
	if m.f.tasks[u.task].recoveryFail || s.cutOff == 3 {
		m.finish(u, "failed", "interrupted")
		return
	}
	s.reason = "interrupted"
	m.ready(u)
}

func (m *sim) triedAgain(u simUnit) bool {
	s, retry := m.at(u), m.f.tasks[u.task].retry
	switch {
	case retry == nil, s.charged > retry.max, s.stopping == "run_timeout", m.mayNotStart(u.task):
		return false
	case retry.unless >= 0 && s.exit != nil && *s.exit == retry.unless:
		return false
	}
	return retry.codes == nil || s.exit != nil && slices.Contains(retry.codes, *s.exit)
}

func (m *sim) retry(u simUnit, reason string) {
	s, retry := m.at(u), m.f.tasks[u.task].retry
	s.reason, s.stopping = reason, ""
	pause := retry.delay
	switch retry.backoff {
	case "exponential":
		pause <<= s.charged - 1
	case "linear":
		pause *= time.Duration(s.charged)
	}
	if pause = min(pause, retry.maxDelay); pause == 0 {
		m.ready(u)
		return
	}
	s.state = "retrying"
	m.later(m.now+pause, "retry", u, s.attempts)
	if u.instance >= 0 {
		s.placed = false
		m.admit(u.task)
	}
}

// finish brings a unit into a final state, and its task with the last instance.
func (m *sim) finish(u simUnit, state, reason string) {
	if u.instance < 0 {
		m.end(u.task, state, reason)
		return
	}
	s := m.at(u)
	s.state, s.reason, s.finished, s.placed = state, reason, m.now, false
	if slices.ContainsFunc(m.tasks[u.task].each, func(s simState) bool { return !final(s.state) }) {
		m.admit(u.task)
		return
	}
	m.sumUp(u.task)
}

// sumUp ends a task as its instances have ended.
func (m *sim) sumUp(t int) {
	s := &m.tasks[t]
	first := map[string]*simState{}
	count := map[string]int{}
	for i := range s.each {
		x := &s.each[i]
		if count[x.state]++; first[x.state] == nil {
			first[x.state] = x
		}
	}
	state := "succeeded"
	switch {
	case count["cancelled"] > 0 && (count["failed"] == 0 || m.canceled && !m.survivesCancel(t)):
		state = "cancelled"
	case count["failed"] > 0:
		state = "failed"
	case count["skipped"] > 0 && count["skipped"] == len(s.each):
		state = "skipped"
	default:
		s.exit = new(int)
		m.end(t, state, "")
		return
	}
	s.exit = first[state].exit
	m.end(t, state, first[state].reason)
}

// survivesCancel: what handles a cancel goes on after it.
func (m *sim) survivesCancel(t int) bool {
	return m.isLate[t] && (!m.handlesRun(t) || slices.Contains(m.f.onFinish, t))
}

// mayNotStart tells whether nothing of a task may start any more: after the
// run's time is over handlers may.
func (m *sim) mayNotStart(t int) bool {
	handler := m.isLate[t] || slices.ContainsFunc(m.into[t], func(e *simEdge) bool { return e.call })
	return m.canceled && !m.survivesCancel(t) || m.timedOut && !handler
}

// stopAll stops what runs and cancels what waits.
func (m *sim) stopAll(why string) {
	for t := range m.tasks {
		s := &m.tasks[t]
		if final(s.state) || !m.mayNotStart(t) {
			continue
		}
		if s.each == nil || s.state == "pending" {
			m.stopUnit(simUnit{t, -1}, why)
			continue
		}
		s.line = nil
		for i := range s.each {
			m.stopUnit(simUnit{t, i}, why)
		}
	}
}

func (m *sim) stopUnit(u simUnit, why string) {
	switch s := m.at(u); {
	case final(s.state):
	case s.state == "running":
		m.stop(u, why)
	default:
		m.finish(u, "cancelled", why)
	}
}

// step cancels the run, or ends the engine and starts the next: what ran is cut
// off, and what fell due meanwhile happens late.
func (m *sim) step(s simStep) {
	if s.cancel {
		m.canceled = true
		if m.decided {
			m.outcome, m.reason = "cancelled", "cancelled"
		}
		m.stopAll("cancelled")
		return
	}
	m.now += s.gap
	for _, u := range m.units() {
		if m.at(u).state == "running" {
			m.attemptEnds(u, true)
			m.spread()
		}
	}
}
