package machine

import "testing"

func TestEdges(t *testing.T) {
	checkRules(t, []rule{
		{"a task is ready when its counter is 0 and every edge held", `
tasks:
  a: {}
  b: {}
  c: {depends_on: [a, b]}
`, `
start -> a running, b running
a ok -> a succeeded
b ok -> b succeeded, c running
c ok -> c succeeded, run succeeded
`},
		{"the first edge that does not hold skips the task at once, and the root is named, not the skipped one in between", `
tasks:
  a: {}
  b: {}
  c: {depends_on: [a, b]}
  d: {depends_on: c}
`, `
start -> a running, b running
a exit 1 -> a failed(exit), c skipped(upstream), d skipped(upstream)
c says: upstream "a" failed
d says: upstream "a" failed
d has root a
d has 0 attempts
b ok -> b succeeded, run failed(exit)
`},
		{"a task that was skipped stays skipped, whatever its other upstreams do", `
tasks:
  a: {}
  b: {}
  c: {depends_on: {a: succeeded, b: finished}}
`, `
start -> a running, b running
a exit 1 -> a failed(exit), c skipped(upstream)
b ok -> b succeeded, run failed(exit)
`},
		{"one task's failure stops no sibling", `
tasks:
  a: {}
  b: {}
  after_b: {depends_on: b}
`, `
start -> a running, b running
a exit 1 -> a failed(exit)
b ok -> b succeeded, after_b running
after_b ok -> after_b succeeded, run failed(exit)
`},
		{"join any starts at the first edge that holds, once", `
tasks:
  a: {}
  b: {}
  c: {}
  d: {depends_on: [a, b, c], join: any}
`, `
start -> a running, b running, c running
a exit 1 -> a failed(exit)
b ok -> b succeeded, d running
d ok -> d succeeded
c ok -> c succeeded, run failed(exit)
d has 1 attempts
`},
		{"join any is skipped when the counter is 0 and no edge held", `
tasks:
  a: {}
  b: {}
  c: {depends_on: [a, b], join: any}
`, `
start -> a running, b running
b exit 1 -> b failed(exit)
a exit 1 -> a failed(exit), c skipped(upstream), run failed(exit)
c says: upstream "b" failed
c has root b
`},
		{"join any without upstreams is a root like any other", `
tasks:
  a: {join: any}
`, `
start -> a running
a ok -> a succeeded, run succeeded
`},
		{"an edge holds on the condition that it names", `
tasks:
  good: {}
  bad: {}
  g1: {depends_on: {good: succeeded}}
  g2: {depends_on: {good: failed}}
  g3: {depends_on: {good: skipped}}
  g4: {depends_on: {good: finished}}
  b1: {depends_on: {bad: succeeded}}
  b2: {depends_on: {bad: failed}}
  b3: {depends_on: {bad: [skipped, failed]}}
  s1: {depends_on: {b1: succeeded}}
  s2: {depends_on: {b1: skipped}}
  s3: {depends_on: {b1: [succeeded, skipped]}}
  s4: {depends_on: {b1: [succeeded, failed]}}
  s5: {depends_on: {b1: finished}}
`, `
start -> good running, bad running
good ok -> good succeeded, g1 running, g2 skipped(upstream), g3 skipped(upstream), g4 running
g2 says: upstream "good" succeeded
bad exit 1 -> bad failed(exit), b1 skipped(upstream), b2 running, b3 running, s1 skipped(upstream), s2 running, s3 running, s4 skipped(upstream), s5 running
s1 has root bad
`},
		{"a retry is not final: edges resolve only after the last attempt", `
tasks:
  a: {retry: {max: 1, delay: 0}, on_failure: h}
  b: {depends_on: a}
  c: {depends_on: {a: finished}}
  h: {}
`, `
start -> a running
a exit 1 -> a running
a exit 1 -> a failed(exit), b skipped(upstream), c running, h running
h is told of a
`},
		{"a task that healed calls no handler", `
tasks:
  a: {retry: {max: 2, delay: 0}, on_failure: h}
  h: {}
`, `
start -> a running
a exit 1 -> a running
a ok -> a succeeded, h skipped(condition), run succeeded
h says: not needed: no task failed into it
`},
		{"death by a signal, a timeout and a start that fails are failures like any other", `
tasks:
  a: {on_failure: h}
  b: {timeout: 10s, on_failure: h}
  c: {on_failure: h}
  after_a: {depends_on: {a: failed}}
  after_b: {depends_on: {b: failed}}
  after_c: {depends_on: {c: failed}}
  h: {}
`, `
start -> a running, b running, c running, limit b#1 10s
+10s b times out -> stop b#1(timeout)
b signal SIGTERM stopped -> b failed(timeout), after_b running, h running
b says: not done within the timeout of 10s
a signal SIGSEGV -> a failed(signal), after_a running
a says: killed by SIGSEGV
c unstartable -> c failed(start_error), after_c running
c says: no such program
h is told of b
`},
		{"a skipped task does not fail a run by itself", `
tasks:
  a: {when: "false"}
  b: {depends_on: a}
`, `
start -> evaluate a
a when false -> a skipped(condition), b skipped(upstream), run succeeded
b says: upstream "a" was skipped (condition)
`},
		{"a run is failed when any task failed, even where a handler dealt with it", `
tasks:
  a: {on_failure: h}
  h: {}
`, `
start -> a running
a exit 3 saying oops -> a failed(exit), h running
h ok -> h succeeded, run failed(exit)
run says: task "a" failed: exit code 3: oops
`},
		{"the run tells of the first failure in time", `
tasks:
  a: {}
  b: {}
`, `
start -> a running, b running
b signal SIGKILL -> b failed(signal)
a exit 1 -> a failed(exit), run failed(signal)
run says: task "b" failed: killed by SIGKILL
`},
	})
}

func TestHandlersOfTasks(t *testing.T) {
	checkRules(t, []rule{
		{"edges into a handler are joined by any, and it runs once, told of the first", `
tasks:
  a: {on_failure: h}
  b: {on_failure: h}
  c: {on_failure: h}
  h: {join: all}
`, `
start -> a running, b running, c running
a ok -> a succeeded
b exit 1 -> b failed(exit), h running
c exit 1 -> c failed(exit)
h is told of b
h ok -> h succeeded, run failed(exit)
h has 1 attempts
`},
		{"a handler that nothing failed into is skipped once the last has ended, which fails nothing", `
tasks:
  a: {on_failure: h}
  b: {on_failure: h}
  h: {}
  after: {depends_on: h}
`, `
start -> a running, b running
a ok -> a succeeded
b ok -> b succeeded, h skipped(condition), after skipped(upstream), run succeeded
after says: upstream "h" was skipped (condition)
`},
		{"a skip and a cancel are no failure", `
tasks:
  a: {when: "false", on_failure: h}
  h: {}
`, `
start -> evaluate a
a when false -> a skipped(condition), h skipped(condition), run succeeded
`},
		{"its depends_on must hold as well", `
tasks:
  a: {on_failure: h}
  token: {}
  h: {depends_on: token}
`, `
start -> a running, token running
a exit 1 -> a failed(exit)
token ok -> token succeeded, h running
h is told of a
`},
		{"where its depends_on does not hold it is skipped, and that is the root of it", `
tasks:
  a: {on_failure: h}
  token: {}
  h: {depends_on: token}
  after: {depends_on: h}
`, `
start -> a running, token running
a exit 1 -> a failed(exit)
token exit 2 -> token failed(exit), h skipped(upstream), after skipped(upstream), run failed(exit)
h says: upstream "token" failed
h has root token
after has root token
`},
		{"its own join says how many of its depends_on must hold, beside a call", `
tasks:
  a: {on_failure: h}
  x: {}
  y: {}
  h: {depends_on: [x, y], join: any}
`, `
start -> a running, x running, y running
x ok -> x succeeded
y ok -> y succeeded
a exit 1 -> a failed(exit), h running
`},
		{"a task may depend on another and handle its failure", `
tasks:
  a: {on_failure: b}
  b: {depends_on: {a: finished}}
`, `
start -> a running
a exit 1 -> a failed(exit), b running
b ok -> b succeeded, run failed(exit)
`},
		{"a handler may have a handler", `
tasks:
  a: {on_failure: h}
  h: {on_failure: g}
  g: {}
`, `
start -> a running
a exit 1 -> a failed(exit), h running
h exit 2 -> h failed(exit), g running
g ok -> g succeeded, run failed(exit)
run says: task "a" failed: exit code 1
`},
		{"the disabled handler of a failure is left out", `
tasks:
  a: {on_failure: h}
  h: {disabled: true}
  after: {depends_on: h}
`, `
start -> a running
a exit 1 -> a failed(exit), h skipped(disabled), after running
`},
	})
}

func TestAllowedFailuresAndDisabledTasks(t *testing.T) {
	checkRules(t, []rule{
		{"an allowed failure is a success for the run and for what depends on it", `
tasks:
  a: {allow_failure: true}
  b: {depends_on: a}
  c: {depends_on: {a: failed}}
`, `
start -> a running
a exit 1 -> a failed(exit), b running, c skipped(upstream)
b ok -> b succeeded, run succeeded
`},
		{"an allowed failure calls its handler all the same", `
tasks:
  a: {allow_failure: true, on_failure: h}
  h: {}
`, `
start -> a running
a exit 1 -> a failed(exit), h running
h ok -> h succeeded, run succeeded
`},
		{"a handler of an allowed failure that fails without leave fails the run", `
tasks:
  a: {allow_failure: true, on_failure: h}
  h: {}
`, `
start -> a running
a exit 1 -> a failed(exit), h running
h exit 2 -> h failed(exit), run failed(exit)
run says: task "h" failed: exit code 2
`},
		{"a disabled task is skipped, and its edges hold as if it had succeeded", `
tasks:
  a: {}
  b: {depends_on: a, disabled: true, on_failure: h}
  c: {depends_on: b}
  d: {depends_on: {b: skipped}}
  h: {}
`, `
start -> a running
a ok -> a succeeded, b skipped(disabled), c running, d skipped(upstream), h skipped(condition)
b says: disabled in the workflow file
c ok -> c succeeded, run succeeded
`},
		{"a disabled task behind a failure is skipped for that, so that nothing runs past the failure", `
tasks:
  a: {}
  b: {depends_on: a, disabled: true}
  c: {depends_on: b}
`, `
start -> a running
a exit 1 -> a failed(exit), b skipped(upstream), c skipped(upstream), run failed(exit)
`},
		{"a run of nothing but disabled tasks succeeds at once", `
tasks:
  a: {disabled: true}
  b: {depends_on: a, disabled: true}
`, `
start -> a skipped(disabled), b skipped(disabled), run succeeded
`},
	})
}

func TestConditions(t *testing.T) {
	checkRules(t, []rule{
		{"when is evaluated once the upstreams are done", `
tasks:
  a: {}
  b: {depends_on: a, when: "true"}
`, `
start -> a running
a ok -> a succeeded, evaluate b
b when true -> b running
b when false -> nothing
b ok -> b succeeded, run succeeded
`},
		{"when is not evaluated where an upstream skips the task", `
tasks:
  a: {}
  b: {depends_on: a, when: "true"}
`, `
start -> a running
a exit 1 -> a failed(exit), b skipped(upstream), run failed(exit)
`},
		{"false skips the task", `
tasks:
  a: {when: "false"}
  b: {depends_on: {a: skipped}}
`, `
start -> evaluate a
a when false -> a skipped(condition), b running
a says: when is false
`},
		{"a condition that cannot be evaluated is a failure, and not tried again", `
tasks:
  a: {when: "true", retry: 3}
  b: {depends_on: a}
`, `
start -> evaluate a
a when broken -> a failed(condition), b skipped(upstream), run failed(condition)
run says: task "a" failed: when: no such name
a has 0 attempts
`},
		{"with join any, when is asked at the first edge that holds and not again", `
tasks:
  a: {}
  b: {}
  c: {depends_on: [a, b], join: any, when: "true"}
`, `
start -> a running, b running
a ok -> a succeeded, evaluate c
b ok -> b succeeded
c when false -> c skipped(condition), run succeeded
`},
		{"the when of a handler is asked once something failed into it", `
tasks:
  a: {on_failure: h}
  h: {when: "true"}
`, `
start -> a running
a exit 1 -> a failed(exit), evaluate h
h when true -> h running
`},
	})
}
