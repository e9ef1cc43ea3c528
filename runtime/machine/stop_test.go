package machine

import (
	"testing"
	"time"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dsl"
)

func TestHandlersOfTheWorkflow(t *testing.T) {
	const workflow = `
on_failure: bad
on_success: good
on_finish: [end, bad2]
tasks:
  a: {}
  b: {}
  bad: {}
  good: {}
  end: {}
  bad2: {depends_on: {bad: [succeeded, skipped]}}
`
	checkRules(t, []rule{
		{"they start once every other task has ended, on success", workflow, `
start -> a running, b running
a ok -> a succeeded
b ok -> b succeeded, bad skipped(condition), good running, end running, bad2 running
bad says: not needed: the run ended as succeeded
good ok -> good succeeded
bad2 ok -> bad2 succeeded
end ok -> end succeeded, run succeeded
`},
		{"and on failure, told of the first", workflow, `
start -> a running, b running
b exit 1 -> b failed(exit)
a exit 2 -> a failed(exit), bad running, good skipped(condition), end running
bad is told of b
end is told of b
bad ok -> bad succeeded, bad2 running
`},
		{"one that fails changes neither the outcome nor the first cause", workflow, `
start -> a running, b running
a ok -> a succeeded
b exit 5 -> b failed(exit), bad running, good skipped(condition), end running
bad exit 1 -> bad failed(exit), bad2 skipped(upstream)
end signal SIGKILL -> end failed(signal), run failed(exit)
run says: task "b" failed: exit code 5
`},
		{"one that fails after a success leaves a success", `
on_success: good
tasks:
  a: {}
  good: {on_failure: sorry}
  sorry: {}
`, `
start -> a running
a ok -> a succeeded, good running
good exit 1 -> good failed(exit), sorry running
sorry is told of good
sorry exit 1 -> sorry failed(exit), run succeeded
`},
		{"one may be the handler of a task as well, and waits for the run then", `
on_failure: h
tasks:
  a: {allow_failure: true, on_failure: h}
  b: {}
  h: {}
`, `
start -> a running, b running
a exit 1 -> a failed(exit)
b ok -> b succeeded, h running
h is told of a
h ok -> h succeeded, run succeeded
`},
		{"one that depends on a task which does not end so is skipped", `
on_finish: h
tasks:
  a: {}
  b: {}
  h: {depends_on: a}
`, `
start -> a running, b running
a exit 1 -> a failed(exit), h skipped(upstream)
b ok -> b succeeded, run failed(exit)
`},
		{"a workflow of handlers alone has succeeded before it begins", `
on_finish: a
on_failure: b
tasks:
  a: {}
  b: {}
`, `
start -> a running, b skipped(condition)
a ok -> a succeeded, run succeeded
`},
		{"they wait for a slot like any other task", `
max_parallel: 1
on_finish: [x, y]
tasks:
  a: {}
  x: {}
  y: {when: "true"}
`, `
start -> a running
a ok -> a succeeded, x running, evaluate y
y when true -> y ready
x ok -> x succeeded, y running
`},
	})
}

func TestCancel(t *testing.T) {
	checkRules(t, []rule{
		{"a cancel makes everything not yet final cancelled; on_finish runs, on_failure does not", `
on_finish: fin
on_failure: bad
max_parallel: 3
tasks:
  done: {}
  runs: {on_failure: h}
  waits: {depends_on: runs}
  slot: {priority: 0}
  again: {retry: {max: 1, delay: 1m}}
  asks: {when: "true"}
  h: {}
  always: {depends_on: {waits: finished}}
  bad: {}
  fin: {}
`, `
start -> done running, runs running, slot ready, again running, evaluate asks
done ok -> done succeeded, slot running
again exit 1 -> again retrying, wake again#1 1m0s
cancel -> waits cancelled(cancelled), again cancelled(cancelled), asks cancelled(cancelled), h cancelled(cancelled), always cancelled(cancelled), bad cancelled(cancelled), stop runs#1(cancelled), stop slot#1(cancelled)
again says: cancelled on request: exit code 1
asks when true -> nothing
again due -> nothing
slot signal SIGTERM stopped -> slot cancelled(cancelled)
runs signal SIGKILL stopped -> runs cancelled(cancelled), fin running
runs says: cancelled on request
fin ok -> fin succeeded, run cancelled(cancelled)
run says: cancelled on request
`},
		{"an attempt that succeeded before it could be stopped has succeeded; one that failed is cancelled", `
tasks:
  a: {}
  b: {retry: 5}
  c: {depends_on: a}
`, `
start -> a running, b running
cancel -> c cancelled(cancelled), stop a#1(cancelled), stop b#1(cancelled)
a ok -> a succeeded
b exit 1 -> b cancelled(cancelled), run cancelled(cancelled)
`},
		{"a cancel takes over from a timeout", `
tasks:
  a: {timeout: 1s}
`, `
start -> a running, limit a#1 1s
+1s a times out -> stop a#1(timeout)
cancel -> stop a#1(cancelled)
a times out -> nothing
a signal SIGKILL stopped -> a cancelled(cancelled), run cancelled(cancelled)
`},
		{"a second cancel stops the handlers too that the first one lets run", `
on_finish: [fin, last]
tasks:
  a: {}
  fin: {}
  last: {depends_on: fin}
`, `
start -> a running
cancel -> stop a#1(cancelled)
a ok stopped -> a cancelled(cancelled), fin running
cancel -> last cancelled(cancelled), stop fin#1(cancelled)
cancel -> nothing
fin ok stopped -> fin cancelled(cancelled), run cancelled(cancelled)
`},
		{"a second cancel before the handlers start keeps them from it", `
on_finish: fin
tasks:
  a: {}
  fin: {}
`, `
start -> a running
cancel -> stop a#1(cancelled)
cancel -> fin cancelled(cancelled), stop a#1(cancelled)
a ok stopped -> a cancelled(cancelled), run cancelled(cancelled)
`},
		{"a cancel while handlers run stops those that are not for a cancel", `
on_success: good
on_finish: fin
tasks:
  a: {}
  good: {}
  fin: {}
`, `
start -> a running
a ok -> a succeeded, good running, fin running
cancel -> stop good#1(cancelled)
good ok stopped -> good cancelled(cancelled)
fin ok -> fin succeeded, run cancelled(cancelled)
`},
		{"a handler that runs for the cancel is interrupted and retried as usual", `
on_finish: fin
tasks:
  a: {}
  fin: {retry: {max: 1, delay: 0}, on_failure: sorry}
  sorry: {}
`, `
start -> a running
cancel -> stop a#1(cancelled)
a ok stopped -> a cancelled(cancelled), fin running
fin interrupted -> fin running
fin exit 1 -> fin running
fin exit 1 -> fin failed(exit), sorry running
sorry ok -> sorry succeeded, run cancelled(cancelled)
`},
		{"a cancelled attempt that a crash cuts off is cancelled", `
tasks:
  a: {}
`, `
start -> a running
cancel -> stop a#1(cancelled)
a interrupted -> a cancelled(cancelled), run cancelled(cancelled)
`},
	})
}

func TestTimeoutOfARun(t *testing.T) {
	checkRules(t, []rule{
		{"running tasks are stopped, what waits is cancelled, the run fails, handlers still run under their own timeouts", `
timeout: 1h
on_failure: bad
tasks:
  a: {on_failure: h, retry: 3}
  b: {depends_on: a}
  c: {depends_on: {h: succeeded}}
  h: {timeout: 1m}
  bad: {}
`, `
start -> a running, limit run 1h0m0s
+1h run times out -> b cancelled(run_timeout), c cancelled(run_timeout), stop a#1(run_timeout)
run times out -> nothing
a signal SIGTERM stopped -> a failed(run_timeout), h running, limit h#1 1m0s
b says: the run's time was over before it started
a says: stopped by the run's timeout
h ok -> h succeeded, bad running
bad ok -> bad succeeded, run failed(run_timeout)
run says: not done within the run's timeout of 1h
`},
		{"what fails by itself then is not tried again", `
timeout: 1h
tasks:
  a: {retry: {max: 3, delay: 0}}
`, `
start -> a running, limit run 1h0m0s
+1h run times out -> stop a#1(run_timeout)
a exit 1 -> a failed(exit), run failed(run_timeout)
`},
		{"what succeeds before it can be stopped has succeeded, and the run has failed", `
timeout: 1h
tasks:
  a: {}
`, `
start -> a running, limit run 1h0m0s
+1h run times out -> stop a#1(run_timeout)
a ok -> a succeeded, run failed(run_timeout)
`},
		{"a cancel takes over from it, never the other way round", `
timeout: 1h
tasks:
  a: {}
`, `
start -> a running, limit run 1h0m0s
+1h run times out -> stop a#1(run_timeout)
cancel -> stop a#1(cancelled)
a exit 1 stopped -> a cancelled(cancelled), run cancelled(cancelled)
`},
		{"after a cancel, and once only handlers are left, it is not looked at", `
timeout: 1h
on_finish: fin
tasks:
  a: {}
  fin: {}
`, `
start -> a running, limit run 1h0m0s
a ok -> a succeeded, fin running
+1h run times out -> nothing
fin ok -> fin succeeded, run succeeded
`},
		{"one that comes too early waits again", `
timeout: 1h
tasks:
  a: {}
`, `
start -> a running, limit run 1h0m0s
+59m run times out -> limit run 1m0s
+1m run times out -> stop a#1(run_timeout)
`},
		{"a run without a timeout does not time out", `
tasks:
  a: {}
`, `
start -> a running
+1h run times out -> nothing
`},
	})
}

// A cancel takes over the reason also from what an earlier course left behind.
func TestACancelIsTheReasonAlsoOfARunWithCancelledTasksKept(t *testing.T) {
	wf, ds := dsl.Parse("f.yaml", []byte("name: f\ntimeout: 1h\non_success: h\non_finish: h\ntasks:\n  a: {run: x}\n  h: {run: x}\n"))
	plan, more := dag.Compile(wf)
	if plan == nil {
		t.Fatal(ds, more)
	}
	r := New("r", plan, nil)
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, e := range []Event{
		RunStarted{at},
		RunTimedOut{at.Add(2 * time.Hour)},
		AttemptStarted{1, 0, 1, at.Add(2 * time.Hour)},
		AttemptEnded{Task: 1, Attempt: 1, At: at.Add(2 * time.Hour)},
		RunRetried{[]dag.Task{1}, nil, false, at.Add(3 * time.Hour)},
		AttemptStarted{1, 0, 2, at.Add(3 * time.Hour)},
		CancelRequested{"a test", at.Add(3 * time.Hour)},
		CancelRequested{"a test", at.Add(3 * time.Hour)},
		AttemptEnded{Task: 1, Attempt: 2, Result: Result{Stopped: true}, At: at.Add(3 * time.Hour)},
	} {
		if _, err := r.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	if state, reason, _ := r.State(); state != RunCancelled || reason != ReasonCancelled {
		t.Errorf("the run is %s (%s)", state, reason)
	}
}
