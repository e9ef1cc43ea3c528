package lint

import (
	"strings"
	"testing"
)

// withTask is a file with a task of each sort that matters to variables.
func withTask(script string) string {
	return `timeout: 1h
params: {region: eu, batch-size: {type: int}}
env: {AX_MINE: x}
secrets: {AX_TOKEN: {env: TOKEN}}
on_finish: tidy
tasks:
  load:
    on_failure: page
    run: |
      : "$AX_PARAM_REGION" "${AX_PARAM_BATCH_SIZE:-1}"
` + indented(script, 6) + `  each: {foreach: [a], run: 'echo "$AX_ITEM $AX_INDEX"'}
  page: {run: 'echo "$AX_FAILED_TASK $AX_FAILED_EXIT_CODE"'}
  tidy: {run: 'echo "$AX_FAILED_ERROR $AX_RUN_STATE"'}
`
}

func indented(text string, by int) string {
	var b strings.Builder
	for line := range strings.Lines(text + "\n") {
		b.WriteString(strings.Repeat(" ", by) + line)
	}
	return b.String()
}

func TestAVariableThatNobodySetsIsTold(t *testing.T) {
	for _, c := range []struct{ name, script, want string }{
		{"a slip in its name", `ls "$AX_ARTEFACTS"`, `11:11-11:24 warning unset-variable: ax sets no variable "AX_ARTEFACTS" (did you mean "AX_ARTIFACTS"?)`},
		{"in braces", `echo x >> ${AX_OUTPUTS}`, `11:17-11:30 warning unset-variable: ax sets no variable "AX_OUTPUTS" (did you mean "AX_OUTPUT"?)`},
		{"its length", `echo ${#AX_RUNID}`, `11:12-11:24 warning unset-variable: ax sets no variable "AX_RUNID" (did you mean "AX_RUN_ID"?)`},
		{"twice", `echo "$AX_RUNID" "$AX_RUNID"`, `11:13-11:22 warning unset-variable: ax sets no variable "AX_RUNID" (did you mean "AX_RUN_ID"?)`},
		{"a parameter that there is not", `echo "$AX_PARAM_REGIN"`, `11:13-11:28 warning unset-variable: no parameter arrives as $AX_PARAM_REGIN (did you mean "AX_PARAM_REGION"?)`},
		{"a slip in the beginning of a parameter's", `echo "$AX_PARM_REGION"`, `11:13-11:28 warning unset-variable: ax sets no variable "AX_PARM_REGION" (did you mean "AX_PARAM_REGION"?)`},
		{"one like no other", `echo "$AX_PARAM_TABLE_NAME"`, `11:13-11:33 warning unset-variable: no parameter arrives as $AX_PARAM_TABLE_NAME (declare it in params)`},
		{"a hyphen that stayed", `echo "$AX_PARAM_BATCH-SIZE"`, `11:13-11:28 warning unset-variable: no parameter arrives as $AX_PARAM_BATCH (did you mean "AX_PARAM_BATCH_SIZE"?)`},
		{"an item without foreach", `echo "$AX_ITEM"`, `11:13-11:21 warning unset-variable: $AX_ITEM is set only in a task with foreach ()`},
		{"a failure without one", `echo "$AX_FAILED_TASK $AX_FAILED_ERROR"`, `11:13-11:28 warning unset-variable: $AX_FAILED_TASK is set only in handlers of a failure (name "load" in on_failure, of a task or of the workflow)`},
		{"the state of the run", `echo "$AX_RUN_STATE"`, `11:13-11:26 warning unset-variable: $AX_RUN_STATE is set only in handlers of the workflow (name "load" in on_finish of the workflow)`},
		{"in a here-document", "cat <<END\n$AX_RUNID\nEND", `12:7-12:16 warning unset-variable: ax sets no variable "AX_RUNID" (did you mean "AX_RUN_ID"?)`},
		{"awk", `awk 'BEGIN { print ENVIRON["AX_DAT"] }'`, `11:35-11:41 warning unset-variable: ax sets no variable "AX_DAT" (did you mean "AX_DATE"?)`},
		{"Python in a script", `python3 -c 'import os; print(os.environ["AX_DAY"])'`, `11:48-11:54 warning unset-variable: ax sets no variable "AX_DAY" (did you mean "AX_DATE"?)`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := places(diagnose(withTask(c.script), Options{})); got != "nightly.yaml:"+c.want+"\n" {
				t.Errorf("got  %swant %s", got, c.want)
			}
		})
	}
}

func TestAVariableThatMayBeSetIsLetPass(t *testing.T) {
	for _, script := range []string{
		`echo "$AX_DATE $AX_RUN_ID $AX_MINE $AX_TOKEN $AX_PARAM_REGION $AX_PROCESS_OF"`,
		`echo "${AX_ITEM:-none} ${AX_FAILED_TASK-} ${AX_RUNID:+x}"`,
		`if [ -n "${AX_ITEM-}" ]; then echo "$AX_ITEM"; fi`,
		"AX_X=1; echo $AX_X",
		"export AX_X=1\necho $AX_X",
		"read -r AX_X < /dev/null\necho $AX_X",
		"for AX_X in a b; do echo $AX_X; done",
		"eval \"$(cat /etc/defaults)\"\necho $AX_X",
		". /etc/defaults\necho $AX_X",
		`echo '$AX_RUNID' \$AX_RUNID "AX_RUNID"`,
		"# $AX_RUNID",
		`env AX_X=1 sh -c 'echo $AX_X'`,
		`cat <<'END'
$AX_RUNID
END`,
		`awk 'BEGIN { print ENVIRON["AX_DATE"], ENVIRON["HOME"] }'`,
	} {
		if got := places(diagnose(withTask(script), Options{})); got != "" && !strings.Contains(got, "missing-file") {
			t.Errorf("%s\n%s", script, got)
		}
	}
}

func TestAVariableInATextThatNoShellReadsIsTold(t *testing.T) {
	stays := func(variable, hint string) string {
		return `"` + variable + `" stays as it is here: no shell reads this text (` + hint + `)`
	}
	for _, c := range []struct{ name, text, place, says string }{
		{"the environment of the workflow", "env: {DAY: $AX_DATE}\ntasks: {a: {run: ./a, timeout: 1m}}", "1:12-1:20", stays("$AX_DATE", "write ${{ run.date }}")},
		{"that of a task", "tasks: {a: {run: ./a, timeout: 1m, env: {DIR: \"/data/${AX_ARTIFACTS}\"}}}", "1:54-1:69", stays("${AX_ARTIFACTS}", "only a script has it: take run")},
		{"that of defaults, once", "defaults: {timeout: 1m, env: {ID: $AX_RUN_ID}}\ntasks: {a: {run: ./a}, b: {run: ./b}}", "1:35-1:45", stays("$AX_RUN_ID", "write ${{ run.id }}")},
		{"a command", "tasks: {a: {command: [./load, $AX_DATE], timeout: 1m}}", "1:31-1:39", stays("$AX_DATE", "write ${{ run.date }}")},
		{"a parameter in an address", "params: {my-region: eu}\ntasks: {a: {http: {url: \"http://x/$AX_PARAM_MY_REGION\"}, timeout: 1m}}", "2:35-2:54", stays("$AX_PARAM_MY_REGION", "write ${{ params.my-region }}")},
		{"a query", "tasks: {a: {sql: {db: \"sqlite:x.db\", query: \"select '$AX_DATE'\"}, timeout: 1m}}", "1:54-1:62", stays("$AX_DATE", "write ${{ run.date }}")},
		{"a path to write", "tasks: {a: {http: {url: \"http://x\", save: out/$AX_DATE.json}, timeout: 1m}}", "1:47-1:55", stays("$AX_DATE", "write ${{ run.date }}")},
		{"a file to wait for", "tasks: {a: {wait_for: {file: inbox/$AX_DATE.csv}, timeout: 1m}}", "1:36-1:44", stays("$AX_DATE", "write ${{ run.date }}")},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := "nightly.yaml:" + c.place + " warning unset-variable: " + c.says + "\n"
			if got := places(diagnose(c.text, Options{})); got != want {
				t.Errorf("got  %swant %s", got, want)
			}
		})
	}
}

func TestAVariableThatSomethingElseExpandsIsLetPass(t *testing.T) {
	for _, text := range []string{
		"tasks: {a: {command: [sh, -c, 'echo $AX_DATE'], timeout: 1m}}",
		"tasks: {a: {http: {url: \"http://x\", save: $AX_ARTIFACTS/x.json}, timeout: 1m}}",
		"tasks: {a: {sql: {db: \"sqlite:$AX_ARTIFACTS/x.db\", query: select 1}, timeout: 1m}}",
		"tasks: {a: {run: 'eval \"$DO\"', env: {DO: 'echo $AX_DATE'}, timeout: 1m}}",
		"description: $AX_DATE\ntasks: {a: {run: ./a, description: $AX_DATE, timeout: 1m}}",
		"env: {PRICE: $5, DIR: $HOME}\ntasks: {a: {run: ./a, timeout: 1m}}",
	} {
		if got := places(diagnose(text, Options{})); got != "" {
			t.Errorf("%s\n%s", text, got)
		}
	}
}
