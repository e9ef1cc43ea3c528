package main

// bug is one replacement in a file of runtime/machine. The old text stands
// there once.
type bug struct{ name, file, old, new string }

var bugs = []bug{
	// Edges and counters.
	{"a counter goes down twice for one edge", "edges.go", "next.waiting--", "next.waiting -= 2"},
	{"a counter of callers does not go down", "edges.go", "next.callers--", ""},
	{"join any is taken as all", "edges.go", "Join.V == dsl.JoinAny", "Join.V == 99"},
	{"join all is satisfied by the first edge", "edges.go", "case s.waiting == 0:\n\t\treturn opened", "case s.held:\n\t\treturn opened"},
	{"join all waits for the last edge before it skips", "edges.go", "case s.broken:", "case s.broken && s.waiting == 0:"},
	{"the root of a skip is the task in between", "edges.go", "next.root = true, r.rootOf(t)", "next.root = true, t"},
	{"an allowed failure stops what depends on it", "edges.go", "s.state == Failed && k == dag.Depends && r.spec(t).AllowFailure.V", "false"},
	{"an allowed failure calls no handler", "edges.go", "s.state == Failed && k == dag.Depends &&", "s.state == Failed &&"},
	{"an allowed failure fails the run", "edges.go", " && !r.spec(t).AllowFailure.V", ""},
	{"the edges of a disabled task are those of a skipped one", "edges.go", "s.state == Skipped && s.reason == ReasonDisabled", "false"},
	{"a disabled task is skipped before its upstreams have ended", "edges.go", "case depends == undecided || call == undecided:", "case (depends == undecided || call == undecided) && !r.spec(t).Disabled.V:"},
	{"edges of tasks that are not in the run do not hold", "run.go", "r.tasks[e.To].held = true", "r.tasks[e.To].broken = true"},
	{"when is asked again at every edge", "edges.go", "s.state != Pending || s.evaluating", "s.state != Pending"},

	// Handlers and the outcome.
	{"a handler runs though nothing failed into it", "edges.go", "case s.callers == 0:\n\t\treturn closed", "case s.callers == 0:\n\t\treturn opened"},
	{"a handler waits for all that may call it", "edges.go", "case s.called, n.Handles", "case s.called && s.callers == 0, n.Handles"},
	{"a handler is told of the last failure", "edges.go", "(!next.called || r.tasks", "(next.called || !next.called || r.tasks"},
	{"a handler of the workflow does not wait for the others", "edges.go", "n.Handles != 0 && !r.decided", "false"},
	{"a run is decided with one task open", "edges.go", "r.state != RunRunning || r.open > 0", "r.state != RunRunning || r.open > 1"},
	{"a run ends before its handlers", "edges.go", "if r.openLate == 0 {", "if r.openLate >= 0 {"},
	{"a failing handler of the workflow fails the run", "edges.go", "return !r.plan.Tasks[t].Late && ", "return "},
	{"the cause of a failure is the last one", "edges.go", "state == Failed && r.cause == dag.None && ", "state == Failed && "},

	// Attempts.
	{"one retry too few", "attempts.go", "s.tries > rt.Max.V", "s.tries >= rt.Max.V"},
	{"one retry too many", "attempts.go", "s.tries > rt.Max.V", "s.tries > rt.Max.V+1"},
	{"a late end of an attempt counts for the next", "attempts.go", "s.state != Running || s.attempt != e.Attempt {\n\t\treturn", "s.state != Running {\n\t\treturn"},
	{"a late timer starts the next attempt", "attempts.go", "s.state == Retrying && s.attempt == e.Attempt", "s.state == Retrying"},
	{"a timeout overrides an end that came first", "attempts.go", "case cut && s.stopping == ReasonTimeout:", "case s.stopping == ReasonTimeout:"},
	{"a timeout sticks to the next attempt", "attempts.go", "s.reason, s.stopping = reason, ReasonNone", "s.reason = reason"},
	{"an interruption is charged", "attempts.go", "s.tries--", ""},
	{"four interruptions are allowed", "attempts.go", "s.cutOff >= maxInterruptions", "s.cutOff > maxInterruptions"},
	{"interruptions are counted for ever", "attempts.go", "\ts.cutOff = 0\n", ""},
	{"an attempt is tried again beside what is left of it", "attempts.go", "res.NoRetry || len(res.Left) > 0", "res.NoRetry"},
	{"an interrupted attempt runs again beside what is left of it", "attempts.go", "len(s.left) > 0 || s.cutOff", "s.cutOff"},
	{"recovery: fail is ignored", "attempts.go", "Recovery.V == dsl.RecoveryFail ||", "Recovery.V == 99 ||"},
	{"a slot is not given back", "attempts.go", "\tr.running--\n", ""},
	{"max_parallel is exceeded by one", "attempts.go", "if r.maxParallel > 0 && r.running >= r.maxParallel", "if r.maxParallel > 0 && r.running > r.maxParallel"},
	{"the lowest priority comes first", "ready.go", "return a.priority > b.priority", "return a.priority < b.priority"},
	{"a retry keeps its old place in the queue", "attempts.go", "s.state == Ready && s.readySeq == e.seq", "s.state == Ready"},
	{"a full pool is not passed over", "ready.go", "full != nil && full(p.pool)", "full == nil && full(p.pool)"},
	{"linear pauses do not grow", "retry.go", "pause = delay * time.Duration(n)", "pause = delay"},

	// Stopping and starting again.
	{"a cancel leaves a ready task startable", "stop.go", "s.state.Final() || survives(t):", "s.state.Final() || s.state == Ready || survives(t):"},
	{"a cancel does not end what runs", "stop.go", "case s.state == Running:\n\t\t\tr.stop(t, why)", "case s.state == Running:"},
	{"a cancel stops the handlers that are for it", "stop.go", "n.Handles&dag.RunCancelled != 0)", "false)"},
	{"a second cancel is the same as the first", "stop.go", "return r.cancels < 2 && ", "return "},
	{"what obeyed a cancel has succeeded", "attempts.go", "(cut || !Succeeds(spec, res))", "!Succeeds(spec, res)"},
	{"the timeout of the run stops its handlers", "stop.go", "return n.Late || n.Callers > 0", "return n.Late"},
	{"what the timeout of the run stopped is tried again", "attempts.go", "reason == ReasonRunTimeout || r.stopped(t)", "false"},
	{"the timer of an earlier course ends the run", "stop.go", "case r.at.Before(r.deadline):", "case false:"},
	{"a retry of the run throws successes away", "stop.go", "(s.state != Succeeded || n.Callers > 0)", "true"},
	{"a retry of the run keeps the handlers as they were", "stop.go", "again[t] || n.Late ||", "again[t] ||"},
	{"a run with cancelled tasks succeeds after a retry", "edges.go", "return s.state == Cancelled }", "return false }"},

	// What is told and stored.
	{"pending forgets the timer of a retry", "view.go", "r.command(WakeAt{TimerRetry, t, s.attempt, s.retryAt})", ""},
	{"pending forgets to stop", "view.go", "if s.stopping != ReasonNone {", "if false {"},
	{"pending forgets a condition", "view.go", "r.command(Evaluate{t})", ""},
	{"pending keeps the timer of a run that is being cancelled", "stop.go", "!r.timedOut && r.cancels == 0 &&", "!r.timedOut &&"},
	{"the end of a task is not among the changes", "edges.go", "\tr.touch(t)\n", ""},
	{"a field of a stored event is lost", "encode.go", "\to.flag(\"no_retry\", r.NoRetry)\n", ""},
	{"times are stored in milliseconds", "encode.go", "at.UnixMicro()", "at.UnixMilli()*1000"},
}
