package machine

import "testing"

func TestForeach(t *testing.T) {
	checkRules(t, []rule{
		{"there is one instance an item, and downstream waits for all", `
tasks:
  a: {}
  b: {depends_on: a, foreach: x}
  c: {depends_on: b}
`, `
start -> a running
a ok -> a succeeded, expand b
b items xyz -> b running, b[0] running, b[1] running, b[2] running
b[1] ok -> b[1] succeeded
b[0] ok -> b[0] succeeded
b has 3 attempts
b[2] ok -> b succeeded, b[2] succeeded, c running
b[1] ok -> nothing
c ok -> c succeeded, run succeeded
`},
		{"no items are a success", `
tasks:
  a: {foreach: x}
  b: {depends_on: a}
`, `
start -> expand a
a items - -> a succeeded, b running
`},
		{"items that cannot be had fail the task", `
tasks:
  a: {foreach: x, retry: 3}
`, `
start -> expand a
a items broken -> a failed(start_error), run failed(start_error)
a says: foreach: no list
`},
		{"when is asked once, for the task, before the items", `
tasks:
  a: {foreach: x, when: "true"}
  b: {foreach: x, when: "true"}
`, `
start -> evaluate a, evaluate b
a when true -> expand a
b when false -> b skipped(condition)
a when true -> nothing
a items x -> a running, a[0] running
a items xyz -> nothing
`},
		{"one instance's failure stops no other, and the task tells of the first in the order of the items", `
tasks:
  a: {foreach: x}
`, `
start -> expand a
a items xyzw -> a running, a[0] running, a[1] running, a[2] running, a[3] running
a[3] exit 4 -> a[3] failed(exit)
a[1] signal SIGKILL saying oops -> a[1] failed(signal)
a[0] ok -> a[0] succeeded
a[2] ok -> a failed(signal), a[2] succeeded, run failed(signal)
a says: 2 of 4 instances failed, first a[1]: killed by SIGKILL: oops
run says: task "a" failed: 2 of 4 instances failed, first a[1]: killed by SIGKILL: oops
`},
		{"it is skipped only if all instances are", `
tasks:
  a: {foreach: x, skip_codes: [4]}
  b: {foreach: x, skip_codes: [4]}
`, `
start -> expand a, expand b
a items xy -> a running, a[0] running, a[1] running
b items xy -> b running, b[0] running, b[1] running
a[0] exit 4 -> a[0] skipped(exit)
a[1] ok -> a succeeded, a[1] succeeded
b[0] exit 4 -> b[0] skipped(exit)
b[1] exit 4 -> b skipped(exit), b[1] skipped(exit), run succeeded
b says: 2 of 2 instances were skipped, first b[0]: exit code 4 means skipped
`},
		{"an allowed failure is one of the task", `
tasks:
  a: {foreach: x, allow_failure: true}
  b: {depends_on: a}
`, `
start -> expand a
a items x -> a running, a[0] running
a[0] exit 1 -> a failed(exit), a[0] failed(exit), b running
b ok -> b succeeded, run succeeded
`},
		{"a handler is told of the task, once all instances have ended", `
tasks:
  a: {foreach: x, on_failure: h}
  h: {}
`, `
start -> expand a
a items xy -> a running, a[0] running, a[1] running
a[0] exit 1 -> a[0] failed(exit)
a[1] ok -> a failed(exit), a[1] succeeded, h running
h is told of a
`},
	})
}

func TestAttemptsOfInstances(t *testing.T) {
	checkRules(t, []rule{
		{"each has attempts, pauses and a timeout of its own", `
tasks:
  a: {foreach: x, timeout: 1m, retry: {max: 1, delay: 1s}}
`, `
start -> expand a
a items xy -> a running, a[0] running, a[1] running, limit a[0]#1 1m0s, limit a[1]#1 1m0s
+10s a[0] exit 1 -> a[0] retrying, wake a[0]#1 1s
+1s a[0] due -> a[0] running, limit a[0]#2 1m0s
+49s a[1] times out -> stop a[1]#1(timeout)
a[1] ok stopped -> a[1] retrying, wake a[1]#1 1s
a[0] exit 1 -> a[0] failed(exit)
+1s a[1] due -> a[1] running, limit a[1]#2 1m0s
a[1] ok -> a failed(exit), a[1] succeeded, run failed(exit)
a has 4 attempts
a[0] has 2 attempts
`},
		{"the third interruption in a row fails one instance", `
tasks:
  a: {foreach: x}
`, `
start -> expand a
a items xy -> a running, a[0] running, a[1] running
a[0] exit 0 interrupted -> a[0] running
a[1] exit 0 interrupted -> a[1] running
a[0] exit 0 interrupted -> a[0] running
a[0] exit 0 interrupted -> a[0] failed(interrupted)
a[1] ok -> a failed(interrupted), a[1] succeeded, run failed(interrupted)
`},
		{"max_parallel of the foreach: the others wait in the order of the items, and one that is tried again waits behind them", `
tasks:
  a: {foreach: {items: x, max_parallel: 2}, retry: {max: 1, delay: 0}}
`, `
start -> expand a
a items wxyz -> a running, a[0] running, a[1] running, a[2] ready, a[3] ready
a[1] ok -> a[1] succeeded, a[2] running
a[0] exit 1 -> a[0] ready, a[3] running
a[2] ok -> a[0] running, a[2] succeeded
`},
		{"a pause is no place taken", `
tasks:
  a: {foreach: {items: x, max_parallel: 1}, retry: {max: 1, delay: 1s}}
`, `
start -> expand a
a items xy -> a running, a[0] running, a[1] ready
a[0] exit 1 -> a[0] retrying, a[1] running, wake a[0]#1 1s
+1s a[0] due -> a[0] ready
a[1] ok -> a[0] running, a[1] succeeded
`},
		{"max_parallel of the run counts instances", `
max_parallel: 2
tasks:
  a: {foreach: x}
  b: {}
`, `
start -> b running, expand a
a items xy -> a running, a[0] running, a[1] ready
b ok -> a[1] running, b succeeded
`},
		{"a full pool holds back its instances alone; busy: skip skips those that could start otherwise", `
tasks:
  a: {foreach: {items: x, max_parallel: 2}, pool: {name: db, busy: skip}}
  b: {}
`, `
pool db is full
start -> b running, expand a
a items wxyz -> a ready, a[0] ready, a[1] ready, a[2] ready, a[3] ready
a[2] busy -> nothing
a[0] busy -> a[0] skipped(busy)
a[2] busy -> a[2] skipped(busy)
pool db is free
b ok -> a running, a[1] running, a[3] running, b succeeded
a[1] ok -> a[1] succeeded
a[3] ok -> a succeeded, a[3] succeeded, run succeeded
`},
	})
}

func TestStoppingInstances(t *testing.T) {
	checkRules(t, []rule{
		{"a cancel stops those that run and cancels those that wait", `
tasks:
  a: {foreach: {items: x, max_parallel: 2}}
  b: {depends_on: a}
`, `
start -> expand a
a items wxyz -> a running, a[0] running, a[1] running, a[2] ready, a[3] ready
a[0] exit 1 -> a[0] failed(exit), a[2] running
cancel -> a[3] cancelled(cancelled), b cancelled(cancelled), stop a[1]#1(cancelled), stop a[2]#1(cancelled)
a[1] signal SIGTERM stopped -> a[1] cancelled(cancelled)
a[2] ok -> a cancelled(cancelled), a[2] succeeded, run cancelled(cancelled)
a says: 2 of 4 instances were cancelled, first a[1]: cancelled on request
`},
		{"a cancel ends the task at once where none runs", `
tasks:
  a: {foreach: x, pool: db}
  b: {foreach: x}
`, `
pool db is full
start -> expand a, expand b
a items xy -> a ready, a[0] ready, a[1] ready
cancel -> a cancelled(cancelled), a[0] cancelled(cancelled), a[1] cancelled(cancelled), b cancelled(cancelled), run cancelled(cancelled)
b items xy -> nothing
`},
		{"the run's timeout stops those that run and cancels those that wait", `
timeout: 1m
tasks:
  a: {foreach: {items: x, max_parallel: 1}, retry: 3}
`, `
start -> limit run 1m0s, expand a
a items xy -> a running, a[0] running, a[1] ready
+1m run times out -> a[1] cancelled(run_timeout), stop a[0]#1(run_timeout)
a[0] signal SIGTERM stopped -> a failed(run_timeout), a[0] failed(run_timeout), run failed(run_timeout)
`},
	})
}

func TestRetryOfInstances(t *testing.T) {
	const each = `
tasks:
  a: {}
  b: {depends_on: {a: finished}, foreach: x, skip_codes: [4]}
  c: {depends_on: b}
`
	const failed = `
start -> a running
a ok -> a succeeded, expand b
b items xyzw -> b running, b[0] running, b[1] running, b[2] running, b[3] running
b[0] exit 1 -> b[0] failed(exit)
b[1] ok -> b[1] succeeded
b[2] exit 4 -> b[2] skipped(exit)
b[3] exit 1 -> b failed(exit), b[3] failed(exit), c skipped(upstream), run failed(exit)
`
	checkRules(t, []rule{
		{"what succeeded is kept with its item, the others run again and count on", each, failed + `
retry -> b running, b[0] running, b[2] running, b[3] running, c pending
`},
		{"the task named is the same", each, failed + `
retry b -> b running, b[0] running, b[2] running, b[3] running, c pending
b[0] has 2 attempts
b[0] ok -> b[0] succeeded
b[2] ok -> b[2] succeeded
b[3] ok -> b succeeded, b[3] succeeded, c running
b has 7 attempts
`},
		{"an instance named is that one alone, and what is downstream", each, failed + `
retry b[3] -> b running, b[3] running, c pending
b[3] ok -> b failed(exit), b[3] succeeded, c skipped(upstream), run failed(exit)
b says: 1 of 4 instances failed, first b[0]: exit code 1
`},
		{"with what is upstream named, the items are had anew", each, failed + `
retry a -> a running, b pending, c pending
a ok -> a succeeded, expand b
b items xy -> b running, b[0] running, b[1] running
b[1] has 2 attempts
b[0] ok -> b[0] succeeded
b[1] ok -> b succeeded, b[1] succeeded, c running
`},
		{"a task named of which all instances succeeded runs again as a whole", `
tasks:
  a: {foreach: x}
`, `
start -> expand a
a items x -> a running, a[0] running
a[0] ok -> a succeeded, a[0] succeeded, run succeeded
retry a -> a pending, expand a
a items xy -> a running, a[0] running, a[1] running
a[0] has 2 attempts
`},
		{"when is asked again, and where it is false now the rest is skipped", `
tasks:
  a: {foreach: x, when: "true"}
`, `
start -> evaluate a
a when true -> expand a
a items xy -> a running, a[0] running, a[1] running
a[0] ok -> a[0] succeeded
a[1] exit 1 -> a failed(exit), a[1] failed(exit), run failed(exit)
retry -> a pending, a[1] pending, evaluate a
a when false -> a skipped(condition), a[1] skipped(condition), run succeeded
a[1] says: when is false
`},
	})
}
