package lint

import "testing"

func TestUnusedParam(t *testing.T) {
	root := diskOf("a.sh", "echo $AX_PARAM_IN_FILE\n", "b.sh", "echo\n", "c.py", "import os\n", "d.awk", `BEGIN { print ENVIRON["AX_PARAM_X"] }`)
	for _, c := range []struct {
		name, text string
		want       bool
	}{
		{"nothing uses it", "run: echo", true},
		{"an expression", `run: "echo ${{ params.x }}"`, false},
		{"an expression with brackets", `run: 'echo ${{ params["x"] }}'`, false},
		{"an expression that puts a name together", `run: 'echo ${{ params[run.trigger] }}'`, false},
		{"a condition", `{run: echo, when: 'params.x == "1"'}`, false},
		{"a longer name", `run: "echo ${{ params.xx }}"`, true},
		{"the variable", `run: echo "$AX_PARAM_X"`, false},
		{"a longer variable", `run: echo "$AX_PARAM_XX"`, true},
		{"all variables", `run: 'set | grep AX_PARAM_'`, false},
		{"a comment", "run: echo # see params.x", false},
		{"a script that does not", "run: ./b.sh", true},
		{"a script of which nothing is known", "run: ./none.sh", false},
		{"a script that imports others", "command: [python3, c.py]", false},
		{"an awk program in a file", "run: awk -f d.awk", false},
		{"a program of which nothing is known", "run: dbt run", false},
		{"the same as a command", "command: [dbt, run]", false},
		{"a program that is not written out", `run: '"$TOOL" x'`, false},
		{"another shell", "{run: 'puts(1)', shell: [ruby]}", false},
		{"Python that asks for nothing", "{run: 'print(1)', shell: python3}", true},
		{"Python that asks for another", `{run: 'import os, sys; print(os.environ["AX_PARAM_XX"], os.environ.get("HOME", 1), os.getenv("A"))', shell: python3}`, true},
		{"Python that asks for it", `{run: 'import os; print(os.environ["AX_PARAM_X"])', shell: python3}`, false},
		{"Python that puts a name together", `{run: 'import os; print(os.environ["AX_PARAM_" + "X"])', shell: python3}`, false},
		{"Python with a name in pieces", `{run: 'import os; a = "AX_"; print(os.environ[a + "PARAM" + "_X"])', shell: python3}`, false},
		{"Python with a template of names", `{run: 'import os; print(os.environ[f"AX_{n}"])', shell: python3}`, false},
		{"Python that goes over all", `{run: 'import os; print(dict(os.environ))', shell: python3}`, false},
		{"Python with all under another name", `{run: 'from os import environ as e; print(e["A"])', shell: python3}`, false},
		{"Python that imports others", "{run: 'import mine; mine.go()', shell: python3}", false},
		{"Python that imports others besides", "{run: 'import os, mine.part as m', shell: python3}", false},
		{"Python that starts a program", "{run: 'import subprocess; subprocess.run(1)', shell: python3}", false},
		{"Python that starts one by os", "{run: 'import os; os.system(1)', shell: python3}", false},
		{"Python with options", "{run: 'print(1)', shell: [python3, -c]}", false},
		{"a function of the script", "run: 'f() { echo; }; f'", true},
		{"a request", "http: {url: 'http://x'}", true},
	} {
		text := "params:\n  x: \"1\"\n  xx: \"2\"\ntasks:\n  t:\n    " + c.text + "\n"
		got := false
		for _, d := range diagnose(text, Options{Root: root}) {
			got = got || d.Rule == "unused-param" && d.Pos.Line == 2
		}
		if got != c.want {
			t.Errorf("%s: reported is %t, want %t:\n%s", c.name, got, c.want, text)
		}
	}
}

func TestAParamIsUsedByTheFileOfAScript(t *testing.T) {
	root := diskOf("a.sh", "echo $AX_PARAM_IN_FILE\n")
	runCases(t, Options{Root: root}, []ruleCase{
		{"one is, one is not", "params: {in-file: a, other: b}\ntasks: {t: {run: ./a.sh}}\n", []string{"1:22 unused-param"}},
	})
}

func TestParametersOfSchedules(t *testing.T) {
	runCases(t, Options{}, []ruleCase{
		{"what is not declared", `
timezone: UTC
cron: [{cron: "0 1 * * *", params: {regoin: cn}}]
params: {region: cn}
tasks: {t: {run: "echo ${{ params.region }}"}}
`, []string{"3:37 unknown-reference"}},
		{"what does not fit", `
timezone: UTC
cron: [{cron: "0 1 * * *", params: {n: many}}]
params: {n: 1}
tasks: {t: {run: "echo ${{ params.n }}"}}
`, []string{"3:40 bad-value"}},
		{"what is known later", `
timezone: UTC
cron: [{cron: "0 1 * * *", params: {d: "${{ run.date }}"}}]
params: {d: 2026-01-01}
tasks: {t: {run: "echo ${{ params.d }}"}}
`, nil},
		{"what is required and not given", `
every: 1h
params: {n: {type: int, required: true}}
tasks: {t: {run: "echo ${{ params.n }}"}}
`, []string{"2:8 missing-key"}},
		{"what is required and given", `
timezone: UTC
cron: [{cron: "0 1 * * *", params: {n: 1}}]
params: {n: {type: int, required: true}}
tasks: {t: {run: "echo ${{ params.n }}"}}
`, nil},
		{"what is required of runs that nobody schedules", `
params: {n: {type: int, required: true}}
tasks: {t: {run: "echo ${{ params.n }}"}}
`, nil},
	})
}
