package machine

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dsl"
)

// rule is a rule of the language, shown by one run. The workflow is YAML in
// which every task gets a `run` of its own. Each line of the script is an event
// and what follows from it:
//
//	a exit 1 -> a failed(exit), b skipped(upstream), run failed(exit)
//
// Behind the arrow stand the tasks whose state has changed, in file order; the
// run, if its state has; and the commands, but for those that a change of state
// implies. Whatever may start is started at once. An event may be preceded by
// the time that has passed since the line before (+10s). Lines without an arrow
// look at something or set something up: see (*script).aside.
type rule struct {
	name     string
	workflow string
	script   string
}

func checkRules(t *testing.T, rules []rule) {
	t.Helper()
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			s := newScript(t, r.workflow)
			for line := range strings.Lines(r.script) {
				if line = strings.TrimSpace(line); line != "" {
					s.line(line)
				}
			}
		})
	}
}

var epoch = time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)

var taskLine = regexp.MustCompile(`(?m)^(\s+\w+: \{)`)

func planOf(t testing.TB, workflow string) *dag.Plan {
	t.Helper()
	text := taskLine.ReplaceAllString(workflow, "${1}run: x, ")
	text = strings.NewReplacer("run: x, wait_for:", "wait_for:", "run: x, workflow:", "workflow:").Replace(text)
	wf, ds := dsl.Parse("w.yaml", []byte(text))
	if ds.Errors() {
		t.Fatalf("%v in\n%s", ds, text)
	}
	plan, ds := dag.Compile(wf)
	if ds.Errors() {
		t.Fatalf("%v in\n%s", ds, text)
	}
	return plan
}

type script struct {
	t    *testing.T
	plan *dag.Plan
	run  *Run
	now  time.Time
	full map[string]bool // pools without a free slot

	taken map[[2]TaskState]bool // steps of tasks from state to state
}

func newScript(t *testing.T, workflow string) *script {
	s := &script{t: t, plan: planOf(t, workflow), now: epoch, full: map[string]bool{}, taken: map[[2]TaskState]bool{}}
	s.begin(nil)
	return s
}

func (s *script) begin(only []dag.Task) { s.run = New("r1", s.plan, only) }

func (s *script) line(line string) {
	s.t.Helper()
	happens, want, isEvent := strings.Cut(line, " -> ")
	words := strings.Fields(happens)
	if !isEvent {
		s.aside(line, words)
		return
	}
	if d, ok := strings.CutPrefix(words[0], "+"); ok {
		s.pass(d)
		words = words[1:]
	}
	before := s.states()
	cmds := append(s.apply(s.event(words)), s.startAll()...)
	got := s.changes(before)
	for _, c := range cmds {
		if text := s.show(c); text != "" {
			got = append(got, text)
		}
	}
	if len(got) == 0 {
		got = []string{"nothing"}
	}
	if got := strings.Join(got, ", "); got != want {
		s.t.Errorf("%s\n\tgot  %s\n\twant %s", happens, got, want)
	}
	if err := s.run.check(); err != nil {
		s.t.Errorf("after %q: %v", happens, err)
	}
}

func (s *script) pass(d string) {
	passed, err := time.ParseDuration(d)
	if err != nil {
		s.t.Fatal(err)
	}
	s.now = s.now.Add(passed)
}

func (s *script) apply(e Event) []Command {
	s.t.Helper()
	before := slices.Clone(s.run.tasks)
	cmds, err := s.run.Apply(e)
	if err != nil {
		s.t.Fatalf("%T: %v", e, err)
	}
	for i, was := range before {
		s.taken[[2]TaskState{was.state, s.run.tasks[i].state}] = true
	}
	return cmds
}

func (s *script) startAll() (cmds []Command) {
	for {
		u, ok := s.run.Startable(func(pool string) bool { return s.full[pool] })
		if !ok {
			return cmds
		}
		cmds = append(cmds, s.apply(AttemptStarted{u.Task, u.Instance, s.run.View(u).Attempts + 1, s.now})...)
	}
}

// aside takes the lines without an arrow:
//
//	only a b               the run has these tasks; before its start
//	pool db is full        or free again
//	a says: TEXT           the explanation of a task, or of the run, is TEXT
//	h is told of a         the first failure into a handler is that of a
//	a has root b           the skip of a goes back to b
//	a has 2 attempts
func (s *script) aside(line string, words []string) {
	s.t.Helper()
	switch {
	case words[0] == "only":
		only := []dag.Task{} // none is not all
		for _, id := range words[1:] {
			only = append(only, s.task(id))
		}
		s.begin(only)
	case words[0] == "pool":
		s.full[words[1]] = words[3] == "full"
	case words[1] == "says:":
		_, want, _ := strings.Cut(line, "says: ")
		_, _, got := s.run.State()
		if words[0] != "run" {
			got = s.run.View(s.unit(words[0])).Error
		}
		if got != want {
			s.t.Errorf("%s says %q, want %q", words[0], got, want)
		}
	case words[1] == "is" || words[1] == "has" && words[2] == "root":
		of := s.run.Root
		if words[1] == "is" {
			of = s.run.FailedInto
		}
		if got, ok := of(s.task(words[0])); !ok || got != s.task(words[len(words)-1]) {
			s.t.Errorf("%s: it is task %d, %v", line, got, ok)
		}
	case words[1] == "has":
		if got := s.run.View(s.unit(words[0])).Attempts; strconv.Itoa(got) != words[2] {
			s.t.Errorf("%s has %d attempts, want %s", words[0], got, words[2])
		}
	default:
		s.t.Fatalf("%q?", line)
	}
}

func (s *script) task(id string) dag.Task {
	t, ok := s.plan.Task(id)
	if !ok {
		s.t.Fatalf("no task %q", id)
	}
	return t
}

func (s *script) unit(name string) Unit {
	u, ok := s.run.Named(name)
	if !ok {
		s.t.Fatalf("no task or instance %q", name)
	}
	return u
}

// event reads an event: of the run, or of a task or one of its attempts (a#2);
// without a number it is the last one.
func (s *script) event(words []string) Event {
	switch words[0] {
	case "start":
		return RunStarted{s.now}
	case "cancel":
		return CancelRequested{"somebody", s.now}
	case "run":
		return RunTimedOut{s.now}
	case "retry", "requeue":
		e := RunRetried{At: s.now, Waits: words[0] == "requeue"}
		for _, name := range words[1:] {
			if u := s.unit(name); u.Instance == 0 {
				e.Tasks = append(e.Tasks, u.Task)
			} else {
				e.Instances = append(e.Instances, u)
			}
		}
		return e
	}
	id, number, numbered := strings.Cut(words[0], "#")
	u := s.unit(id)
	t, n := u.Task, s.run.View(u).Attempts
	if numbered {
		n, _ = strconv.Atoi(number)
	}
	switch words[1] {
	case "times":
		return AttemptTimedOut{t, u.Instance, n, s.now}
	case "due":
		return RetryDue{t, u.Instance, n, s.now}
	case "busy":
		return PoolBusy{t, u.Instance, s.now}
	case "items":
		e := Expanded{Task: t, At: s.now}
		if words[2] == "broken" {
			e.Error = "no list"
			return e
		}
		for i := range len(strings.Trim(words[2], "-")) {
			e.Items = append(e.Items, strconv.Quote(words[2][i:i+1]))
		}
		return e
	case "when":
		e := Evaluated{Task: t, Holds: words[2] == "true", At: s.now}
		if words[2] == "broken" {
			e.Error = "no such name"
		}
		return e
	}
	return AttemptEnded{t, u.Instance, n, s.result(words[1:]), s.now}
}

// result reads the end of an attempt: ok, or exit 3, signal SIGKILL, unstartable,
// and behind it what else is known: stopped, interrupted, no-retry, saying WORD, leaving PROCESS.
func (s *script) result(words []string) Result {
	var r Result
	for len(words) > 0 {
		argument := ""
		switch words[0] {
		case "exit", "signal", "saying", "leaving":
			argument, words = words[1], slices.Delete(slices.Clone(words), 1, 2)
		}
		switch words[0] {
		case "ok":
		case "exit":
			r.ExitCode, _ = strconv.Atoi(argument)
		case "signal":
			r.Signal, r.ExitCode = argument, 143
		case "saying":
			r.LastLine = argument
		case "leaving":
			r.Left = []string{argument}
		case "unstartable":
			r.StartError = "no such program"
		case "flooded":
			r.Failure = "more than 1 MiB in AX_OUTPUT"
		case "stopped":
			r.Stopped = true
		case "interrupted":
			r.Interrupted = true
		case "no-retry":
			r.NoRetry = true
		default:
			s.t.Fatalf("end of an attempt: %q?", words[0])
		}
		words = words[1:]
	}
	return r
}

// states gives what can be seen of each task and its instances and, last, of the
// run.
func (s *script) states() []string {
	var all []string
	for i, n := range s.plan.Tasks {
		t := dag.Task(i)
		us := []Unit{whole(t)}
		for k := range s.run.Instances(t) {
			us = append(us, Unit{t, InstanceOf(k)})
		}
		for _, u := range us {
			v := s.run.View(u)
			text := withReason(s.run.Name(u)+" "+v.State.String(), v.Reason, v.State.Final())
			if n.Spec.Foreach == nil || u.Instance != 0 {
				text += strings.Repeat(" ", v.Attempts) // another attempt is a change
			}
			all = append(all, text)
		}
	}
	state, reason, _ := s.run.State()
	return append(all, withReason("run "+state.String(), reason, state.Final()))
}

func withReason(what string, r Reason, final bool) string {
	if final && r != ReasonNone {
		return what + "(" + string(r) + ")"
	}
	return what
}

func (s *script) changes(before []string) (changed []string) {
	for _, now := range s.states() {
		if !slices.Contains(before, now) && now != "run running" {
			changed = append(changed, strings.TrimSpace(now))
		}
	}
	return changed
}

func (s *script) show(c Command) string {
	attempt := func(u Unit, n int) string { return fmt.Sprintf("%s#%d", s.run.Name(u), n) }
	switch c := c.(type) {
	case StopAttempt:
		return fmt.Sprintf("stop %s(%s)", attempt(c.Unit(), c.Attempt), c.Reason)
	case Expand:
		return "expand " + s.plan.Tasks[c.Task].ID
	case Evaluate:
		return "evaluate " + s.plan.Tasks[c.Task].ID
	case WakeAt:
		in := c.At.Sub(s.now)
		switch c.Timer {
		case TimerRun:
			return fmt.Sprintf("limit run %s", in)
		case TimerAttempt:
			return fmt.Sprintf("limit %s %s", attempt(c.Unit(), c.Attempt), in)
		}
		return fmt.Sprintf("wake %s %s", attempt(c.Unit(), c.Attempt), in)
	}
	return ""
}
