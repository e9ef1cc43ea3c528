package dsl

import (
	"fmt"
	"strings"
	"testing"
)

// top is a file with some keys at the top, from line 1 on.
func top(text string) string { return text + "\ntasks: {t: {run: x}}\n" }

// inTask is a file with a task that has some keys more, from line 4 on, in
// column 5.
func inTask(text string) string {
	return "tasks:\n  t:\n    run: x\n    " + strings.ReplaceAll(text, "\n", "\n    ") + "\n"
}

// as is a file with a task that does one thing, said from line 3 on.
func as(text string) string {
	return "tasks:\n  t:\n    " + strings.ReplaceAll(text, "\n", "\n    ") + "\n"
}

// mistake is "LINE:COL-COL rule: what the message or the hint says".
func compare(t *testing.T, ds Diagnostics, want []string) {
	t.Helper()
	for i := range max(len(ds), len(want)) {
		switch {
		case i >= len(want):
			t.Errorf("unwanted: %v", ds[i])
		case i >= len(ds):
			t.Errorf("missing: %s", want[i])
		default:
			place, says, _ := strings.Cut(want[i], ": ")
			d := ds[i]
			got := fmt.Sprintf("%d:%d-%d %s", d.Pos.Line, d.Pos.Col, d.End.Col, d.Rule)
			if got != place || !strings.Contains(d.Message+"\n"+d.Hint, says) {
				t.Errorf("got  %s: %s (%s)\nwant %s", got, d.Message, d.Hint, want[i])
			}
			if d.Severity != Error {
				t.Errorf("%s is no error", got)
			}
		}
	}
}

func TestEveryMistakeIsReportedOnceAtItsPlace(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		// unknown-key
		{"a slip of the pen", as("runn: make"), []string{`3:5-9 unknown-key: did you mean "run"?`}},
		{"an unknown key at the top", top("crn: x"), []string{`1:1-4 unknown-key: did you mean "cron"?`}},
		{"the message names the task", inTask("runs: y"), []string{`4:5-9 unknown-key: unknown key "runs" in task "t"`}},
		{"the message names the mapping", inTask("retry: {max: 1, dealy: 1s}"), []string{`4:21-26 unknown-key: unknown key "dealy" in "retry" of task "t"`}},
		{"a word of another tool", inTask("needs: t"), []string{`4:5-10 unknown-key: it is called "depends_on" here`}},
		{"another spelling", inTask("dependsOn: t"), []string{`4:5-14 unknown-key: did you mean "depends_on"?`}},
		{"retries", inTask("retries: 2"), []string{`4:5-12 unknown-key: it is called "retry" here`}},
		{"schedule", top("schedule: x"), []string{`1:1-9 unknown-key: it is called "cron" here`}},
		{"continue_on_error", inTask("continue_on_error: true"), []string{`4:5-22 unknown-key: it is called "allow_failure" here`}},
		{"continue-on-error", inTask("continue-on-error: true"), []string{`4:5-22 unknown-key: it is called "allow_failure" here`}},
		{"steps for tasks is one mistake", "steps: {t: {run: x}}\n", []string{`1:1-6 unknown-key: it is called "tasks" here`}},
		{"script for run is one mistake", as("script: x"), []string{`3:5-11 unknown-key: it is called "run" here`}},
		{"a key of the workflow in a task", inTask("catchup: all"), []string{`4:5-12 unknown-key: "catchup" is a key of the workflow`}},
		{"a key of retry in a task", inTask("delay: 1s"), []string{`4:5-10 unknown-key: "delay" is a key of "retry"`}},
		{"a key of tasks at the top", top("depends_on: t"), []string{`1:1-11 unknown-key: "depends_on" is a key of a task`}},
		{"nothing near in a small mapping", inTask("pool: {name: p, colour: red}"), []string{`4:21-27 unknown-key: allowed are name, slots and busy`}},
		{"an own key in a task", inTask("x-note: 1"), []string{`4:5-11 unknown-key: at the top of the file`}},
		{"a key of another script", inTask("größe: 1"), []string{`4:5-10 unknown-key: unknown key "größe"`}},
		{"an unknown key in defaults", top("defaults: {run: x}"), []string{`1:12-15 unknown-key: "run" is a key of a task`}},
		{"an unknown key in a parameter", top("params: {p: {typ: int}}"), []string{`1:14-17 unknown-key: did you mean "type"?`}},
		{"an unknown key in a secret", top("secrets: {A: {envv: B}}"), []string{`1:15-19 unknown-key: did you mean "env"?`}},

		// duplicate-key
		{"a key twice", top("priority: 1\nowner: me\npriority: 2"), []string{`3:1-9 duplicate-key: in line 1`}},
		{"a task twice", "tasks:\n  a: {run: x}\n  b: {run: y}\n  a: {run: z}\n", []string{`4:3-4 duplicate-key: key "a" is given twice in "tasks", first in line 2`}},
		{"a key of a task thrice", inTask("run: y\nrun: z"), []string{`4:5-8 duplicate-key: first in line 3`, `5:5-8 duplicate-key: first in line 3`}},
		{"a key deep inside", as("call: f\nwith: {a: [{b: 1, b: 2}]}"), []string{`4:23-24 duplicate-key: in line 4`}},
		{"a variable twice", top("env: {A: 1, A: 2}"), []string{`1:13-14 duplicate-key: "A"`}},
		{"the same text in quotes", top("env: {A: 1, \"A\": 2}"), []string{`1:13-16 duplicate-key: "A"`}},
		{"numbers that differ in text", as("call: f\nwith: {1: a, 0x1: b, 01: c}"), nil},
		{"an unknown key twice", inTask("foo: 1\nfoo: 2"), []string{"4:5-8 unknown-key: ", "5:5-8 duplicate-key: "}},
		{"two merges", "x-a: &a {run: x}\ntasks:\n  t:\n    <<: *a\n    <<: *a\n", []string{`5:5-7 duplicate-key: key "<<" is given twice in task "t", first in line 4`}},

		// missing-key
		{"no tasks", "name: a\n", []string{`1:1-5 missing-key: no "tasks"`}},
		{"a task that does nothing", "tasks:\n  a: {run: x}\n  idle: {timeout: 5m}\n", []string{`3:3-7 missing-key: task "idle" does nothing`}},
		{"a task of nothing", "tasks:\n  idle:\n", []string{`2:3-7 missing-key: it needs one of run, command`}},
		{"sql without a database", as("sql: {query: select 1}"), []string{`3:5-8 missing-key: "sql" of task "t" has no "db"`}},
		{"sql without a statement", as("sql: {db: \"sqlite:a\"}"), []string{`3:5-8 missing-key: needs "query" or "file"`}},
		{"sql without anything", as("sql: {}"), []string{`3:5-8 missing-key: has no "db"`, `3:5-8 missing-key: needs "query" or "file"`}},
		{"http without an address", as("http: {method: GET}"), []string{`3:5-9 missing-key: has no "url"`}},
		{"a child without a name", as("workflow: {params: {a: b}}"), []string{`3:5-13 missing-key: has no "name"`}},
		{"a wait for nothing", as("wait_for: {poll: 5s}"), []string{`3:5-13 missing-key: "file", "http", "sql" or "until"`}},
		{"a retry without a number", inTask("retry: {delay: 1s}"), []string{`4:5-10 missing-key: has no "max"`}},
		{"a pool without a name", inTask("pool: {slots: 2}"), []string{`4:5-9 missing-key: has no "name"`}},
		{"a loop without items", inTask("foreach: {max_parallel: 2}"), []string{`4:5-12 missing-key: has no "items"`}},
		{"a schedule without an expression", top("cron: [{timezone: UTC}]"), []string{`1:8-23 missing-key: has no "cron"`}},
		{"a secret without a source", top("secrets: {A: {}}"), []string{`1:11-12 missing-key: needs "env" or "file"`}},
		{"a message without a target", top("notify: [{on: failed}]"), []string{`1:10-22 missing-key: needs "url" or "email"`}},
		{"a retention of nothing", top("retention: {}"), []string{`1:1-10 missing-key: needs "runs" or "age"`}},

		// wrong-type
		{"a list for the file", "- a\n", []string{`1:1-2 wrong-type: expected a map with the keys of a workflow for the workflow, got a list`}},
		{"a text for the file", "hello\n", []string{`1:1-6 wrong-type: got "hello"`}},
		{"a list for tasks", "tasks: [a]\n", []string{`1:8-11 wrong-type: expected a map of ids to tasks for "tasks", got a list`}},
		{"a text for a task", "tasks: {a: make}\n", []string{`1:12-16 wrong-type: expected a map with the keys of a task for task "a", got "make"`}},
		{"a list for a text", top("description: [a]"), []string{`1:14-17 wrong-type: expected a text for "description", got a list`}},
		{"a map in a list of texts", top("tags: [a, {b: c}]"), []string{`1:11-17 wrong-type: expected a text for "tags", got a map`}},
		{"a text for a list", top("tags: a"), []string{`1:7-8 wrong-type: write [a]`}},
		{"a number for a list of codes", inTask("skip_codes: 3"), []string{`4:17-18 wrong-type: write [3]`}},
		{"a key without a value", inTask("timeout:"), []string{`4:5-12 wrong-type: expected a duration`}},
		{"null for a duration", inTask("timeout: null"), []string{`4:14-18 wrong-type: "timeout" has no value`}},
		{"null for a number", inTask("priority: ~"), []string{`4:15-16 wrong-type: "priority" has no value`}},
		{"null for a boolean", inTask("disabled: null"), []string{`4:15-19 wrong-type: "disabled" has no value`}},
		{"null for a text", inTask("description: ~"), []string{`4:18-19 wrong-type: "description" has no value`}},
		{"null for a script", as("run: null"), []string{`3:10-14 wrong-type: leave it out, or write "null" if it is text`}},
		{"null for a word", inTask("recovery: Null"), []string{`4:15-19 wrong-type: "recovery" has no value`}},
		{"null for a task id", inTask("depends_on: null"), []string{`4:17-21 wrong-type: "depends_on" has no value`}},
		{"null for an expression", inTask("when: ~"), []string{`4:11-12 wrong-type: "when" has no value`}},
		{"null for an argument", as("command: [echo, null]"), []string{`3:21-25 wrong-type: "command" has no value`}},
		{"null for variables", top("env: {A: null, B: ~}"), []string{`1:10-14 wrong-type: "A" has no value`, `1:19-20 wrong-type: "B" has no value`}},
		{"null for an argument of a function", as("call: f\nwith: {a: ~}"), []string{`4:15-16 wrong-type: "a" has no value`}},
		{"null in quotes is text", as("run: \"null\""), nil},
		{"null for ids", inTask("depends_on:"), []string{`4:5-15 wrong-type: "depends_on" has no value`}},
		{"no variables", inTask("env:"), []string{`4:5-8 wrong-type: "env" has no value`}},
		{"a variable without a value", top("env: {A: , B: c}"), []string{`1:7-8 wrong-type: write "" for an empty text`}},
		{"yes for a boolean", inTask("disabled: yes"), []string{`4:15-18 wrong-type: write true`}},
		{"off for a boolean", inTask("disabled: off"), []string{`4:15-18 wrong-type: write false`}},
		{"a word for a boolean", inTask("disabled: maybe"), []string{`4:15-20 wrong-type: expected true or false for "disabled", got "maybe"`}},
		{"a word for an integer", inTask("priority: high"), []string{`4:15-19 wrong-type: expected an integer for "priority", got "high"`}},
		{"a hexadecimal integer", inTask("priority: 0x5"), []string{`4:15-18 wrong-type: decimal digits`}},
		{"an integer with a point", inTask("priority: 5.0"), []string{`4:15-18 wrong-type: decimal digits`}},
		{"an integer with an underscore", top("max_active: 1_000"), []string{`1:13-18 wrong-type: decimal digits`}},
		{"a list for a duration", inTask("timeout: [5m]"), []string{`4:14-18 wrong-type: expected a duration for "timeout", got a list`}},
		{"a line of shell for a command", as("command: make all"), []string{`3:14-22 wrong-type: use "run" for a line of shell`}},
		{"a name for a child", as("workflow: other"), []string{`3:15-20 wrong-type: write {name: other}`}},
		{"a map in a list of ids", inTask("depends_on: [{t: failed}]"), []string{`4:18-29 wrong-type: expected a task id`}},
		{"a map for a handler", inTask("on_failure: {t: failed}"), []string{`4:17-28 wrong-type: expected a task id or a list of task ids`}},
		{"one map for cron", top("cron: {cron: x}"), []string{`1:7-16 wrong-type: begin it with a dash`}},
		{"braces that were meant as text", as("run: {{ x }}"), []string{`3:10-17 wrong-type: put it into quotes`}},
		{"a tag", top("description: !!binary aGk="), []string{`1:14-27 wrong-type: tag "!!binary" means nothing`}},
		{"a tag of one's own", top("env: !load x.env"), []string{`1:6-17 wrong-type: tag "!load"`}},
		{"a map as a key", "? {a: b}\n: c\ntasks: {t: {run: x}}\n", []string{`1:3-9 wrong-type: expected a text as a key of the workflow, got a map`}},
		{"a merge of a text", "tasks:\n  t:\n    <<: x\n    run: y\n", []string{`3:9-10 wrong-type: for "<<", got "x"`}},
		{"a default without a value", top("params: {a: , b: 1}"), []string{`1:10-11 wrong-type: required: true`}},
		{"a list for a default", top("params: {a: [1]}"), []string{`1:13-16 wrong-type: expected a single value`}},

		// bad-name
		{"a task with a blank", "tasks: {\"a b\": {run: x}}\n", []string{`1:9-14 bad-name: letters A-Z and a-z`}},
		{"a task of another script", "tasks: {größe: {run: x}}\n", []string{`1:9-14 bad-name: "größe" cannot be a task id`}},
		{"a task with a digit first", "tasks: {1st: {run: x}}\n", []string{`1:9-12 bad-name: `}},
		{"a task without a name", "tasks: {\"\": {run: x}}\n", []string{`1:9-11 bad-name: `}},
		{"a long name", top("name: " + strings.Repeat("x", 65)), []string{`1:7-72 bad-name: 64 characters at most`}},
		{"a dependency with a bad name is for others to say", "tasks:\n  a: {run: x, depends_on: [größe, \"a \"]}\n", nil},
		{"a dependency by expression", "tasks:\n  a: {run: x, depends_on: [\"${{ params.x }}\"]}\n", []string{`2:28-45 bad-name: cannot be expressions`}},
		{"an empty dependency", inTask("depends_on: \"\""), []string{`4:17-19 bad-name: `}},
		{"a condition on an expression", inTask("depends_on: {\"${{ x }}\": failed}"), []string{`4:18-28 bad-name: `}},
		{"a workflow to follow", top("after: a/b"), []string{`1:8-11 bad-name: cannot be a workflow name`}},
		{"a child by expression", as("workflow: {name: \"${{ params.x }}\"}"), []string{`3:22-39 bad-name: `}},
		{"a parameter", top("params: {\"A;B\": x}"), []string{`1:10-15 bad-name: cannot be a parameter name`}},
		{"parameters that collide", top("params: {my-key: a, MY_KEY: b}"), []string{`1:21-27 bad-name: "my-key" and "MY_KEY" would both be AX_PARAM_MY_KEY`}},
		{"a variable", top("env: {A-B: x}"), []string{`1:7-10 bad-name: environment variable`}},
		{"a secret", top("secrets: {\"A B\": {env: C}}"), []string{`1:11-16 bad-name: `}},
		{"the source of a secret", top("secrets: {A: {env: B=C}}"), []string{`1:20-23 bad-name: `}},
		{"a pool", inTask("pool: a/b"), []string{`4:11-14 bad-name: cannot be a pool name`}},
		{"a header", as("http: {url: \"http://a\", headers: {\"A B\": c}}"), []string{`3:39-44 bad-name: `}},

		// bad-value
		{"an unknown word", top("catchup: lastest"), []string{`1:10-17 bad-value: did you mean "latest"?`}},
		{"a word in capitals", top("overlap: Skip"), []string{`1:10-14 bad-value: did you mean "skip"?`}},
		{"what is allowed", inTask("join: none"), []string{`4:11-15 bad-value: must be all or any`}},
		{"a condition", inTask("depends_on: {t: success}"), []string{`4:21-28 bad-value: must be succeeded, failed, skipped or finished`}},
		{"no condition", inTask("depends_on: {t: []}"), []string{`4:21-23 bad-value: no condition`}},
		{"a priority", inTask("priority: 10"), []string{`4:15-17 bad-value: from 0 to 9`}},
		{"a negative number", inTask("retry: -1"), []string{`4:12-14 bad-value: at least 0`}},
		{"a number beyond all", top("max_active: 99999999999999999999"), []string{`1:13-33 bad-value: from 0 to 2147483647`}},
		{"a number below all", top("max_active: -99999999999999999999"), []string{`1:13-34 bad-value: at least 0`}},
		{"no slots", inTask("pool: {name: p, slots: 0}"), []string{`4:28-29 bad-value: at least 1`}},
		{"no parallel tasks", top("max_parallel: 0"), []string{`1:15-16 bad-value: at least 1`}},
		{"an exit code", inTask("success_codes: [0, 256]"), []string{`4:24-27 bad-value: from 0 to 255`}},
		{"an exit code that means two things", inTask("success_codes: [0, 3]\nskip_codes: [3]"), []string{`5:18-19 bad-value: "success_codes" too`}},
		{"a status", as("http: {url: \"http://a\", expect: [99]}"), []string{`3:38-40 bad-value: from 100 to 599`}},
		{"two actions", as("run: x\ncommand: [y]"), []string{`4:5-12 bad-value: both "run" and "command"`}},
		{"three actions", as("run: x\ncommand: [y]\ncall: z"), []string{`4:5-12 bad-value: both "run" and "command"`, `5:5-9 bad-value: both "run" and "call"`}},
		{"with, but no call", inTask("with: {a: b}"), []string{`4:5-9 bad-value: only for "call"`}},
		{"an empty script", as("run: \" \""), []string{`3:10-13 bad-value: "run" is empty`}},
		{"an empty block", as("run: |\ntimeout: 5m"), []string{`3:10-11 bad-value: "run" is empty`}},
		{"an empty command", as("command: []"), []string{`3:14-16 bad-value: "command" is empty`}},
		{"an empty program", as("command: [\"\", a]"), []string{`3:15-17 bad-value: "command" is empty`}},
		{"no tasks in the map", "tasks: {}\n", []string{`1:8-10 bad-value: at least one task`}},
		{"no items", inTask("foreach: []"), []string{`4:14-16 bad-value: no items`}},
		{"no time at all", inTask("timeout: 0"), []string{`4:14-15 bad-value: longer than 0`}},
		{"no delay is fine", inTask("retry: {max: 1, delay: 0}\nkill_after: 0s"), nil},
		{"an interval of nothing", top("every: 0"), []string{`1:8-9 bad-value: at least 1s`}},
		{"an interval that is too short", top("every: 500ms"), []string{`1:8-13 bad-value: at least 1s`}},
		{"a negative interval", top("every: -5s"), []string{`1:8-11 bad-value: negative`}},
		{"a unit in words", inTask("timeout: 5 minutes"), []string{`4:14-23 bad-value: did you mean "5m"?`}},
		{"a number without a unit in the middle", inTask("timeout: 1m30"), []string{`4:14-18 bad-value: a number has no unit`}},
		{"a clock", inTask("timeout: 1:30"), []string{`4:14-18 bad-value: no number with a unit`}},
		{"an age of centuries", inTask("timeout: 99999999999h"), []string{`4:14-26 bad-value: the longest is 36500d`}},
		{"a date", top("valid_from: 2026-02-30"), []string{`1:13-23 bad-value: no date`}},
		{"a date in another form", top("valid_until: 31.12.2026"), []string{`1:14-24 bad-value: like 2026-01-31`}},
		{"an exception", top("except: [2026-02-30, holidays.txt, 2026-1-5]"), []string{`1:10-20 bad-value: no date`, `1:36-44 bad-value: no date`}},
		{"an empty cron expression", top("cron: \" \""), []string{`1:7-10 bad-value: five fields`}},
		{"an empty zone", top("timezone: \"\""), []string{`1:11-13 bad-value: "timezone" is empty`}},
		{"a shell with options", inTask("shell: bash -x"), []string{`4:12-19 bad-value: write ["bash", "-x"]`}},
		{"a database", as("sql: {db: orders.db, query: select 1}"), []string{`3:15-24 bad-value: sqlite:PATH`}},
		{"a file for rows", as("sql: {db: \"sqlite:a\", query: select 1, save: rows.xlsx}"), []string{`3:50-59 bad-value: .csv or .json`}},
		{"two statements", as("sql: {db: \"sqlite:a\", query: select 1, file: a.sql}"), []string{`3:44-48 bad-value: both "query" and "file"`}},
		{"an address", as("http: {url: example.com}"), []string{`3:17-28 bad-value: http://`}},
		{"a method", as("http: {url: \"http://a\", method: post}"), []string{`3:37-41 bad-value: did you mean "POST"?`}},
		{"a header of two lines", as("http: {url: \"http://a\", headers: {A: \"b\\nc\"}}"), []string{`3:42-48 bad-value: more than one line`}},
		{"two targets", top("notify: [{url: \"http://a\", email: a@b}]"), []string{`1:28-33 bad-value: both "url" and "email"`}},
		{"two conditions to wait for", as("wait_for: {file: a, until: b}"), []string{`3:25-30 bad-value: both "file" and "until"`}},
		{"an event", top("notify: [{url: \"http://a\", on: [failed, fail]}]"), []string{`1:41-45 bad-value: did you mean "failed"?`}},
		{"a NUL", as("command: [a, \"b\\0c\"]"), []string{`3:20-22 bad-value: NUL`}},
		{"a value that merges itself", "x-a: &a {<<: *a, run: x}\ntasks: {t: *a}\n", []string{`1:14-16 bad-value: merged into itself`}},

		// parameters
		{"a default that is no choice", top("params: {a: {choices: [b, c], default: d}}"), []string{`1:40-41 bad-value: "d" is none of b, c`}},
		{"a default of another type", top("params: {a: {type: int, default: x}}"), []string{`1:34-35 bad-value: the default of parameter "a": "x" is no integer`}},
		{"a default beyond the bounds", top("params: {a: {type: int, default: 9, max: 5}}"), []string{`1:34-35 bad-value: "9" is above 5`}},
		{"a default that does not match", top("params: {a: {default: ab, pattern: \"[0-9]+|a\"}}"), []string{`1:23-25 bad-value: does not match`}},
		{"a choice of another type", top("params: {a: {type: date, choices: [2026-01-31, x]}}"), []string{`1:48-49 bad-value: "x" is no date`}},
		{"bounds in the wrong order", top("params: {a: {type: duration, min: 1h, max: 5m}}"), []string{`1:44-46 bad-value: below its "min", 1h`}},
		{"bounds of a text", top("params: {a: {default: x, min: 1}}"), []string{`1:26-29 bad-value: set the type`}},
		{"a bound of another type", top("params: {a: {type: float, min: low}}"), []string{`1:32-35 bad-value: "low" is no number`}},
		{"a pattern of a number", top("params: {a: {type: int, pattern: x}}"), []string{`1:25-32 bad-value: it is for strings`}},
		{"a bad pattern", top("params: {a: {pattern: \"(\"}}"), []string{`1:23-26 bad-value: missing closing )`}},
		{"a type", top("params: {a: {type: integer}}"), []string{`1:20-27 bad-value: must be string, int, float`}},
		{"a date that is none", top("params: {a: 2026-02-30}"), []string{`1:13-23 bad-value: "2026-02-30" is no date`}},

		// bad-expression
		{"an expression without an end", as("run: echo ${{ params.x"), []string{`3:15-18 bad-expression: no "}}"`}},
		{"an expression without an end in a block", as("run: |\n  a\n  b ${{ c }} ${{ d }"), []string{`5:18-21 bad-expression: `}},
		{"an expression without an end in a value", as("call: f\nwith: {a: [\"${{ b\"]}"), []string{`4:17-20 bad-expression: `}},
		{"an expression without an end in a variable", top("env: {A: '${{ it''s'}"), []string{`1:11-14 bad-expression: `}},

		// outdented keys
		{"tasks in the column of their key", "tasks:\nload: {run: x}\nstore: {run: y, depends_on: load}\n", []string{`1:1-6 wrong-type: indent the lines below`}},
		{"variables in the column of their key", inTask("env:\nA: b\nC: d"), []string{`4:5-8 wrong-type: "env" has no value`}},
		{"a retry in the column of its key", inTask("retry:\nmax: 3\ndelay: 5s"), []string{`4:5-10 wrong-type: indent the lines below`}},
		{"a task in the column of its id", "tasks:\n  a:\n  run: x\n  timeout: 5s\n  b: {run: y}\n", []string{`2:3-4 missing-key: indent the lines below`}},
		{"a task within the one above", "on_failure: b\ntasks:\n  a:\n    run: x\n    b:\n      run: y\n", []string{`5:5-6 unknown-key: a task that is indented too deeply`}},

		// names
		{"a name that is refused is known", "tasks:\n  year 2013: {run: x}\n  b: {run: y, depends_on: year_2013}\n", []string{`2:3-12 bad-name: `}},
		{"an equals sign for the colon", top("env: {A=b}"), []string{`1:7-10 bad-name: write A: b`}},
		{"a blank for the colon", top("params: {region cn}"), []string{`1:10-19 bad-name: write region: cn`}},
		{"nothing for the colon", "tasks: {a: {run\"x\"}}\n", []string{`1:13-19 unknown-key: write run: "x"`}},
		{"two letters of tasks swapped", "taks:\n  a: {run: x}\n", []string{`1:1-5 unknown-key: did you mean "tasks"?`}},
		{"null beside what a task does", as("run: x\ncommand: null"), []string{`4:14-18 wrong-type: "command" has no value`}},

		// several-documents
		{"a second document", "tasks: {t: {run: x}}\n---\nname: b\n", []string{`2:1-4 several-documents: a file of its own`}},
		{"an empty second document", "tasks: {t: {run: x}}\n---\n", []string{`2:1-4 several-documents: `}},
		{"a slip behind a second document's mark", "tasks: {t: {run: x}}\n---\nb: [\n", []string{`2:1-4 several-documents: `}},
		{"a mark above the tasks", "on_failure: t\n---\ntasks: {t: {run: x}}\n", []string{`2:1-4 several-documents: `}},
		{"a third document", "tasks: {t: {run: x}}\n---\na: 1\n---\nb: 1\n", []string{`2:1-4 several-documents: `}},
		{"a second document and a mistake", "tasks: {t: {runn: x}}\n---\nname: b\n", []string{`1:13-17 unknown-key: `, `2:1-4 several-documents: `}},

		// aliases
		{"one mistake in a shared value", "x-r: &r {max: -1}\ntasks:\n  a: {run: x, retry: *r}\n  b: {run: x, retry: *r}\n", []string{`1:15-17 bad-value: `}},
		{"one mistake in a merged map", "x-r: &r {runn: y, run: z}\ntasks:\n  a: {<<: *r}\n  b: {<<: *r}\n", []string{`1:10-14 unknown-key: task "a"`}},
		{"an alias of the wrong type", "x-s: &s {a: b}\ntasks:\n  a: {run: *s}\n  b: {run: *s}\n", []string{`3:12-14 wrong-type: got a map`}},
		{"an own key that is not used", "x-r: &r {max: -1, max: 2}\ntasks: {a: {run: x}}\n", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, ds := Parse("w.yaml", []byte(c.text))
			if w == nil {
				t.Error("no workflow")
			}
			compare(t, ds, c.want)
		})
	}
}

func TestWhatIsWrongWithAWholeFile(t *testing.T) {
	for _, c := range []struct {
		name, file, text string
		want             []string
	}{
		{"an empty file", "w.yaml", "", []string{`0:0-0 missing-key: declares no workflow`}},
		{"a file of comments", "w.yaml", "# nothing\n", []string{`0:0-0 missing-key: declares no workflow`}},
		{"a file of null", "w.yaml", "---\n", []string{`0:0-0 missing-key: declares no workflow`}},
		{"a file's name that is no name", "dir/my file.yaml", "tasks: {t: {run: x}}\n", []string{`1:1-6 bad-name: add "name:"`}},
		{"a file's name that does not matter", "dir/my file.yaml", top("name: fine"), nil},
		{"a file's name beside a bad name", "dir/my file.yaml", top("name: not fine"), []string{`1:7-15 bad-name: `}},
		{"a file's name without an extension", "dir/nightly", "tasks: {t: {run: x}}\n", nil},
		{"too large", "w.yaml", strings.Repeat("#", MaxSize+1), []string{`0:0-0 too-large: 16 MiB`}},
		{"UTF-16", "w.yaml", "\xff\xfen\x00a\x00", []string{`1:1-2 syntax: UTF-16 (little-endian), not as UTF-8`}},
		{"UTF-16 from the other end", "w.yaml", "\xfe\xff\x00n\x00a", []string{`1:1-2 syntax: UTF-16 (big-endian)`}},
		{"UTF-16 without a mark", "w.yaml", "n\x00a\x00m\x00e\x00", []string{`1:1-2 syntax: UTF-16 (little-endian)`}},
		{"UTF-32", "w.yaml", "\x00\x00\xfe\xff\x00\x00\x00n", []string{`1:1-2 syntax: UTF-32 (big-endian)`}},
		{"UTF-32 without a mark", "w.yaml", "n\x00\x00\x00a\x00\x00\x00", []string{`1:1-2 syntax: UTF-32 (little-endian)`}},
		{"Latin-1", "w.yaml", "name: a\ndescription: übrig caf\xe9\n", []string{`2:23-24 syntax: byte 0xe9`}},
		{"a NUL", "w.yaml", "name: a\nx: b\x00\n", []string{`2:5-6 syntax: control character U+0000`}},
		{"an escape character", "w.yaml", "\ufeffname: \x1b[0m\n", []string{`1:7-8 syntax: control character U+001B`}},
		{"a control character of two bytes", "w.yaml", "a: \u0080\n", []string{`1:4-5 syntax: control character U+0080`}},
		{"a place behind line separators", "w.yaml", "description: \"a\u2028b\u2029c\u0085d\"\npriority: x\ntasks: {t: {run: x}}\n", []string{`2:11-12 wrong-type: "x"`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, ds := Parse(c.file, []byte(c.text))
			compare(t, ds, c.want)
		})
	}
}
