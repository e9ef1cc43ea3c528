package dsl

import (
	"strings"
	"testing"
)

func TestWordsOfOtherToolsAndSlipsAreToldOnceWithTheRemedy(t *testing.T) {
	task := func(s string) string { return "tasks:\n  t: " + s + "\n" }
	top := func(s string) string { return s + "\ntasks:\n  t: {run: x}\n" }
	for _, c := range []struct{ name, text, want string }{
		{"the type integer", top("params: {n: {type: integer, default: 3, min: 1}}"), `bad-value: did you mean "int"?`},
		{"the type number", top("params: {n: {type: number, max: 2.5}}"), `bad-value: did you mean "float"?`},
		{"the type boolean", top("params: {n: {type: boolean}}"), `bad-value: did you mean "bool"?`},
		{"the type datetime", top("params: {n: {type: datetime}}"), `bad-value: did you mean "date"?`},
		{"the type text", top("params: {n: {type: text}}"), `bad-value: did you mean "string"?`},
		{"enum", top("params: {n: {type: string, enum: [a]}}"), `unknown-key: it is called "choices" here`},
		{"catchup: true", top("catchup: true"), `bad-value: did you mean "all"?`},
		{"schedule", top("schedule: 0 0 * * *"), `unknown-key: it is called "cron" here`},
		{"jobs", "jobs:\n  t: {run: x}\n", `unknown-key: it is called "tasks" here`},
		{"steps at the top", "steps:\n  t: {run: x}\n", `unknown-key: it is called "tasks" here`},
		{"steps of a task", task("{steps: [{run: x}]}"), `unknown-key: a task is one step: make a task of each, in order by "depends_on"`},
		{"uses and with", task("{uses: actions/checkout@v4, with: {a: b}}"), `unknown-key: there are no ready-made actions here: write what it does into "run"`},
		{"needs", task("{run: x, needs: []}"), `unknown-key: it is called "depends_on" here`},
		{"if", task("{run: x, if: true}"), `unknown-key: it is called "when" here`},
		{"continue-on-error", task("{run: x, continue-on-error: true}"), `unknown-key: it is called "allow_failure" here`},
		{"timeout-minutes", task("{run: x, timeout-minutes: 30}"), `unknown-key: it is called "timeout" here, with a unit: 30m`},
		{"retries", task("{run: x, retries: 3}"), `unknown-key: it is called "retry" here`},
		{"environment", task("{run: x, environment: {A: b}}"), `unknown-key: it is called "env" here`},
		{"script", task("{script: x}"), `unknown-key: it is called "run" here`},
		{"cmd", task("{cmd: x}"), `unknown-key: it is called "command" here`},
		{"a script as the shell", task("{shell: make all}"), `bad-value: write ["make", "all"]; the script itself stands in "run"`},
		{"a key of what belongs into the task", task(`{url: "https://example.com"}`), `unknown-key: "url" is a key of "http"`},
		{"a task with nothing but a key that nobody knows", task("{zzzz: make}"), `unknown-key: `},
		{"curly quotes around a bool", task("{run: x, disabled: “true”}"), `wrong-type: write straight quotes: "true"`},
		{"curly quotes around a duration", task("{run: x, timeout: “5m”}"), `bad-value: write straight quotes: "5m"`},
		{"curly quotes around a name", top("name: “nightly”"), `bad-name: write straight quotes: "nightly"`},
		{"curly quotes around a word", task("{run: x, join: ‘all’}"), `bad-value: write straight quotes: "all"`},
		{"no blank before the braces of a task", "tasks:\n  t:{run: x}\n", `bad-name: write "t: {run: x}"`},
		{"no blank before those of a parameter", "params:\n  n:{default: x}\ntasks:\n  t: {run: x}\n", `bad-name: write "n: {default: x}"`},
		{"no blank before those of a key", "tasks:\n  t:\n    run: x\n    retry:{max: 3}\n", `unknown-key: put a blank after the colon: retry: {max`},
		{"no blank behind a colon within braces", task("{run: x, timeout:5m}"), `unknown-key: put a blank after the colon: timeout: 5m`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, ds := Parse("x.yaml", []byte(c.text))
			var got []string
			for _, d := range ds {
				got = append(got, d.Rule+": "+d.Hint)
			}
			if strings.Join(got, "\n") != c.want {
				t.Errorf("got\n%s\nwant\n%s\nof\n%s", strings.Join(got, "\n"), c.want, c.text)
			}
		})
	}
}
