package machine

import "testing"

func TestAttempts(t *testing.T) {
	checkRules(t, []rule{
		{"max: 3 is four attempts, each after its pause, and no pause after the last", `
tasks:
  a: {retry: {max: 3, delay: 1s}}
`, `
start -> a running
a exit 1 -> a retrying, wake a#1 1s
+1s a due -> a running
a exit 1 -> a retrying, wake a#2 2s
+2s a due -> a running
a exit 1 -> a retrying, wake a#3 4s
+4s a due -> a running
a exit 1 saying enough -> a failed(exit), run failed(exit)
a says: exit code 1: enough
a has 4 attempts
`},
		{"a timer of an earlier pause does not end a later one", `
tasks:
  a: {retry: {max: 2, delay: 1s}}
`, `
start -> a running
a exit 1 -> a retrying, wake a#1 1s
+1s a due -> a running
a exit 1 -> a retrying, wake a#2 2s
a#1 due -> nothing
a due -> a running
`},
		{"retry: 0, and none, is one attempt", `
tasks:
  a: {retry: 0}
  b: {}
`, `
start -> a running, b running
a exit 1 -> a failed(exit)
b exit 1 -> b failed(exit), run failed(exit)
`},
		{"exit_codes says which failures are worth another try", `
tasks:
  a: {retry: {max: 5, delay: 0, exit_codes: [75, 143]}}
`, `
start -> a running
a exit 75 -> a running
a signal SIGTERM -> a running
a exit 76 -> a failed(exit), run failed(exit)
`},
		{"a start that fails has no exit code, so exit_codes does not name it", `
tasks:
  a: {retry: {max: 5, delay: 0, exit_codes: [75]}}
  b: {retry: {max: 1, delay: 0}}
`, `
start -> a running, b running
a unstartable -> a failed(start_error)
b unstartable -> b running
`},
		{"retry.if may say that another attempt is not worth it", `
tasks:
  a: {retry: {max: 5, delay: 0, if: "true"}}
`, `
start -> a running
a exit 1 -> a running
a exit 1 no-retry -> a failed(exit), run failed(exit)
`},
		{"no attempt begins beside what could not be ended of the one before", `
tasks:
  a: {retry: 5}
  b: {}
`, `
start -> a running, b running
a exit 1 leaving sh -> a failed(exit)
b interrupted leaving sh -> b failed(interrupted), run failed(exit)
`},
		{"success_codes and skip_codes say what an exit code means", `
tasks:
  a: {success_codes: [0, 3], skip_codes: [4], retry: 9}
  b: {success_codes: [3], skip_codes: [4]}
  c: {skip_codes: [0]}
  d: {skip_codes: [4]}
  e: {depends_on: {d: skipped}}
`, `
start -> a running, b running, c running, d running
a exit 3 -> a succeeded
b ok -> b failed(exit)
c ok -> c succeeded
d exit 4 -> d skipped(exit), e running
d says: exit code 4 means skipped
`},
		{"a signal and a failure beside the exit code are never a success", `
tasks:
  a: {success_codes: [0, 143]}
  b: {}
`, `
start -> a running, b running
a signal SIGTERM -> a failed(signal)
b ok flooded -> b failed(exit), run failed(signal)
b says: more than 1 MiB in AX_OUTPUT
`},
		{"a timeout ends one attempt, which is retried like any other failure", `
tasks:
  a: {timeout: 10s, retry: {max: 1, delay: 5s}}
`, `
start -> a running, limit a#1 10s
+10s a times out -> stop a#1(timeout)
a times out -> nothing
a signal SIGKILL stopped -> a retrying, wake a#1 5s
+5s a due -> a running, limit a#2 10s
a#1 times out -> nothing
+10s a times out -> stop a#2(timeout)
a ok stopped -> a failed(timeout), run failed(timeout)
`},
		{"what ends by itself before it could be stopped keeps its own end", `
tasks:
  a: {timeout: 10s}
  b: {timeout: 10s}
`, `
start -> a running, b running, limit a#1 10s, limit b#1 10s
+10s a times out -> stop a#1(timeout)
b times out -> stop b#1(timeout)
a ok -> a succeeded
b exit 4 -> b failed(exit), run failed(exit)
`},
		{"late and repeated events change nothing", `
tasks:
  a: {retry: {max: 1, delay: 1s}}
  b: {depends_on: a}
`, `
start -> a running
start -> nothing
a#1 due -> nothing
a exit 1 -> a retrying, wake a#1 1s
a#1 ok -> nothing
a#1 times out -> nothing
a busy -> nothing
+1s a#1 due -> a running
a#1 due -> nothing
a#1 exit 1 -> nothing
a#2 ok -> a succeeded, b running
a#2 exit 1 -> nothing
b ok -> b succeeded, run succeeded
b#1 exit 1 -> nothing
cancel -> nothing
run times out -> nothing
`},
	})
}

func TestInterruptions(t *testing.T) {
	checkRules(t, []rule{
		{"an interruption is not charged to retry.max", `
tasks:
  a: {retry: {max: 1, delay: 0}}
`, `
start -> a running
a interrupted -> a running
a exit 1 -> a running
a interrupted -> a running
a exit 1 -> a failed(exit), run failed(exit)
a has 4 attempts
`},
		{"the third in a row fails the task, retries or not", `
tasks:
  a: {retry: 9}
`, `
start -> a running
a interrupted -> a running
a interrupted -> a running
a interrupted -> a failed(interrupted), run failed(interrupted)
a says: interrupted: the engine ended while it ran
`},
		{"an attempt that ends by itself begins the row anew", `
tasks:
  a: {retry: {max: 1, delay: 0}}
`, `
start -> a running
a interrupted -> a running
a interrupted -> a running
a exit 1 -> a running
a interrupted -> a running
a interrupted -> a running
a ok -> a succeeded, run succeeded
`},
		{"with recovery: fail the first one fails the task", `
tasks:
  a: {recovery: fail, retry: 9}
`, `
start -> a running
a interrupted -> a failed(interrupted), run failed(interrupted)
`},
		{"what was being stopped for its timeout has that end, not an interruption", `
tasks:
  a: {timeout: 1s}
`, `
start -> a running, limit a#1 1s
+1s a times out -> stop a#1(timeout)
a interrupted -> a failed(timeout), run failed(timeout)
`},
	})
}

func TestSlots(t *testing.T) {
	checkRules(t, []rule{
		{"max_parallel bounds the tasks of one run, and the highest priority comes first", `
max_parallel: 2
priority: 4
tasks:
  a: {}
  b: {priority: 3}
  c: {priority: 9}
  d: {}
  e: {priority: 5}
`, `
start -> a ready, b ready, c running, d ready, e running
e ok -> a running, e succeeded
c ok -> c succeeded, d running
d ok -> b running, d succeeded
`},
		{"among equals the longest ready comes first, and a retry stands at the end again", `
max_parallel: 1
tasks:
  a: {retry: {max: 2, delay: 0}}
  b: {}
  c: {}
`, `
start -> a running, b ready, c ready
a exit 1 -> a ready, b running
b ok -> b succeeded, c running
c ok -> a running, c succeeded
`},
		{"a waiting retry holds no slot", `
max_parallel: 1
tasks:
  a: {retry: {max: 1, delay: 1s}}
  b: {}
`, `
start -> a running, b ready
a exit 1 -> a retrying, b running, wake a#1 1s
+1s a due -> a ready
b ok -> a running, b succeeded
`},
		{"a full pool does not hide the tasks of others", `
max_parallel: 1
tasks:
  a: {pool: db, priority: 9}
  b: {pool: files}
  c: {}
`, `
pool db is full
start -> a ready, b running, c ready
b ok -> b succeeded, c running
pool db is free
c ok -> a running, c succeeded
`},
		{"what only waits takes no slot and needs none", `
max_parallel: 1
tasks:
  w: {wait_for: {until: "08:00"}, priority: 1}
  a: {}
  b: {}
  v: {wait_for: {until: "08:00"}, depends_on: w}
  c: {workflow: {name: other}, pool: db}
`, `
pool db is full
start -> w running, a running, b ready, c ready
w ok -> w succeeded, v running
pool db is free
v ok -> v succeeded, c running
a ok -> a succeeded, b running
`},
		{"busy: skip skips the task instead of waiting", `
tasks:
  a: {pool: {name: db, busy: skip}}
  b: {depends_on: a}
`, `
pool db is full
start -> a ready
a busy -> a skipped(busy), b skipped(upstream), run succeeded
a says: no free slot in pool "db"
`},
	})
}
