package machine

import (
	"testing"

	"github.com/ax-scheduler/ax/dag"
)

func TestRetryOfARun(t *testing.T) {
	checkRules(t, []rule{
		{"it starts again from what failed or was skipped, keeps what succeeded, and counts on", `
on_finish: fin
tasks:
  a: {}
  b: {retry: {max: 1, delay: 0}, on_failure: h}
  c: {depends_on: [a, b]}
  h: {}
  fin: {}
`, `
start -> a running, b running
a ok -> a succeeded
b exit 1 -> b running
b exit 1 -> b failed(exit), c skipped(upstream), h running
h ok -> h succeeded, fin running
fin ok -> fin succeeded, run failed(exit)
retry -> b running, c pending, h pending, fin pending
b exit 1 -> b running
b has 4 attempts
b#2 ok -> nothing
b exit 1 -> b failed(exit), c skipped(upstream), h running
h ok -> h succeeded, fin running
fin ok -> fin succeeded, run failed(exit)
retry -> b running, c pending, h pending, fin pending
b ok -> b succeeded, c running, h skipped(condition)
c ok -> c succeeded, fin running
fin ok -> fin succeeded, run succeeded
`},
		{"of one task: it and what is downstream of it, a success too", `
tasks:
  a: {}
  b: {depends_on: a}
  c: {depends_on: b}
  d: {depends_on: a}
`, `
start -> a running
a ok -> a succeeded, b running, d running
b ok -> b succeeded, c running
c ok -> c succeeded
d exit 1 -> d failed(exit), run failed(exit)
retry b -> b running, c pending
b ok -> b succeeded, c running
c ok -> c succeeded, run failed(exit)
run says: task "d" failed: exit code 1
`},
		{"of one task: the handler of another's failure is not called again", `
tasks:
  a: {on_failure: h}
  b: {on_failure: h}
  c: {on_failure: g}
  h: {}
  g: {}
`, `
start -> a running, b running, c running
a ok -> a succeeded
b exit 1 -> b failed(exit), h running
h ok -> h succeeded
c exit 1 -> c failed(exit), g running
g ok -> g succeeded, run failed(exit)
retry c -> c running, g pending
c ok -> c succeeded, g skipped(condition), run failed(exit)
run says: task "b" failed: exit code 1
`},
		{"of one task, where others failed first: the first in time is still the cause", `
tasks:
  a: {}
  b: {}
  c: {}
`, `
start -> a running, b running, c running
+1s c exit 3 -> c failed(exit)
+1s b exit 2 -> b failed(exit)
+1s a exit 1 -> a failed(exit), run failed(exit)
retry a -> a running
a exit 1 -> a failed(exit), run failed(exit)
run says: task "c" failed: exit code 3
`},
		{"a run in which tasks stay cancelled does not succeed", `
on_success: good
tasks:
  a: {}
  b: {}
  good: {}
`, `
start -> a running, b running
cancel -> good cancelled(cancelled), stop a#1(cancelled), stop b#1(cancelled)
a ok stopped -> a cancelled(cancelled)
b ok stopped -> b cancelled(cancelled), run cancelled(cancelled)
retry a -> a running, good pending
a ok -> a succeeded, good skipped(condition), run cancelled(cancelled)
run says: task "b" is still cancelled
retry -> b running, good pending
b ok -> b succeeded, good running
good ok -> good succeeded, run succeeded
`},
		{"it has the run's whole time again, and the timer of the first course does not end it", `
timeout: 1h
tasks:
  a: {}
`, `
start -> a running, limit run 1h0m0s
+50m a exit 1 -> a failed(exit), run failed(exit)
+5m retry -> a running, limit run 1h0m0s
+5m run times out -> limit run 55m0s
+55m run times out -> stop a#2(run_timeout)
a ok stopped -> a failed(run_timeout), run failed(run_timeout)
+1h retry -> a running, limit run 1h0m0s
a ok -> a succeeded, run succeeded
`},
		{"it waits for its turn, and has the run's whole time from then on", `
timeout: 1h
on_finish: fin
tasks:
  a: {}
  b: {}
  fin: {}
`, `
start -> a running, b running, limit run 1h0m0s
a ok -> a succeeded
b exit 1 -> b failed(exit), fin running
fin ok -> fin succeeded, run failed(exit)
requeue -> b pending, fin pending, run queued
+5h start -> b running, limit run 1h0m0s
b ok -> b succeeded, fin running
fin ok -> fin succeeded, run succeeded
`},
		{"one that is cancelled while it waits ends at once, its handlers too", `
on_finish: fin
tasks:
  a: {}
  b: {on_failure: sorry}
  c: {depends_on: b}
  sorry: {}
  fin: {}
`, `
start -> a running, b running
a ok -> a succeeded
b exit 1 -> b failed(exit), c skipped(upstream), sorry running
sorry ok -> sorry succeeded, fin running
fin ok -> fin succeeded, run failed(exit)
requeue b -> b pending, c pending, sorry pending, fin pending, run queued
cancel -> b cancelled(cancelled), c cancelled(cancelled), sorry cancelled(cancelled), fin cancelled(cancelled), run cancelled(cancelled)
start -> nothing
retry -> b running, c pending, sorry pending, fin pending
`},
		{"it can be retried from more while it waits", `
tasks:
  a: {}
  b: {}
`, `
start -> a running, b running
a exit 1 -> a failed(exit)
b exit 1 -> b failed(exit), run failed(exit)
requeue a -> a pending, run queued
requeue b -> b pending
start -> a running, b running
`},
		{"of a success without naming a task runs only the handlers again", `
on_finish: fin
tasks:
  a: {}
  fin: {}
`, `
start -> a running
a ok -> a succeeded, fin running
fin ok -> fin succeeded, run succeeded
retry -> fin running
fin ok -> fin succeeded, run succeeded
`},
	})
}

func TestARunOfSomeTasks(t *testing.T) {
	const workflow = `
on_finish: fin
tasks:
  a: {on_failure: h}
  b: {depends_on: a}
  c: {depends_on: [a, b]}
  d: {depends_on: [a, b], join: any}
  h: {}
  fin: {}
`
	checkRules(t, []rule{
		{"edges from a task that does not belong to it count as held", workflow, `
only b c d
start -> b running, d running
b ok -> b succeeded, c running
c exit 1 -> c failed(exit)
d ok -> d succeeded, run failed(exit)
`},
		{"a handler whose callers do not belong to it is not needed", workflow, `
only h fin
start -> h skipped(condition), fin running
fin ok -> fin succeeded, run succeeded
`},
		{"a retry does not bring the others in", workflow, `
only b c
start -> b running
b exit 1 -> b failed(exit), c skipped(upstream), run failed(exit)
retry -> b running, c pending
b ok -> b succeeded, c running
c ok -> c succeeded, run succeeded
`},
		{"a run of no task at all has succeeded", workflow, `
only
start -> run succeeded
`},
	})
}

func TestWhatCannotBeIsRefusedAndChangesNothing(t *testing.T) {
	plan := planOf(t, `
max_parallel: 1
tasks:
  a: {}
  b: {}
  c: {depends_on: a}
`)
	a, b, c := dag.Task(0), dag.Task(1), dag.Task(2)
	fresh := func() *Run { return New("r1", plan, []dag.Task{a, c}) }
	going := func() *Run {
		r := New("r1", plan, []dag.Task{a, b})
		for _, e := range []Event{RunStarted{epoch}, AttemptStarted{a, 0, 1, epoch}} {
			if _, err := r.Apply(e); err != nil {
				t.Fatal(err)
			}
		}
		return r
	}
	for _, x := range []struct {
		name string
		run  func() *Run
		e    Event
		want string
	}{
		{"an event before the start", fresh, AttemptStarted{a, 0, 1, epoch}, "run r1: machine.AttemptStarted before its start"},
		{"a task that is not ready", going, AttemptStarted{b, 0, 2, epoch}, "run r1: task 1 cannot start now"},
		{"a task without a slot", going, AttemptStarted{b, 0, 1, epoch}, "run r1: task 1 cannot start now"},
		{"a task that does not belong to the run", going, AttemptEnded{Task: c, Attempt: 1, At: epoch}, "run r1 has no task 2"},
		{"the start of such a task", going, AttemptStarted{c, 0, 1, epoch}, "run r1 has no task 2"},
		{"a task that is not in the plan", going, PoolBusy{3, 0, epoch}, "run r1 has no task 3"},
		{"a task below all", going, Evaluated{Task: dag.None, At: epoch}, "run r1 has no task -1"},
		{"a retry of a run that goes on", going, RunRetried{At: epoch}, "run r1 is running: only a run that has ended can be retried"},
	} {
		t.Run(x.name, func(t *testing.T) {
			r := x.run()
			cmds, err := r.Apply(x.e)
			if err == nil || err.Error() != x.want {
				t.Errorf("got %v, want %s", err, x.want)
			}
			if cmds != nil {
				t.Errorf("commands %v", cmds)
			}
			if err := sameRun(r, x.run()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestARetryOfAnUnknownTaskIsRefused(t *testing.T) {
	r := New("r1", planOf(t, "tasks:\n  a: {disabled: true}\n"), nil)
	if _, err := r.Apply(RunStarted{epoch}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Apply(RunRetried{[]dag.Task{0, 1}, nil, false, epoch}); err == nil || err.Error() != "run r1 has no task 1" {
		t.Errorf("got %v", err)
	}
	if state, _, _ := r.State(); state != RunSucceeded {
		t.Errorf("the run is %s", state)
	}
}
