package lint

import (
	"strings"
	"testing"
)

func TestWhatTheShellRefuses(t *testing.T) {
	for _, c := range []struct{ name, script, want, hint string }{
		{"an operator with nothing behind it", "echo $((1 + ))", "shell-syntax +", ""},
		{"one behind a variable", "echo $(($x * ))", "shell-syntax *", ""},
		{"a status that is a word", "exit abc", "shell-syntax abc", "0 to 255"},
		{"an option that there is not", "set -o pipefial", "shell-syntax pipefial", `did you mean "pipefail"?`},
		{"one behind others", "set -euo errexti", "shell-syntax errexti", `did you mean "errexit"?`},
		{"a signal that there is not", `trap "" FOO`, "shell-syntax FOO", "the signals are"},
		{"a signal with a slip", `trap 'rm f' EXTI`, "shell-syntax EXTI", `did you mean "EXIT"?`},
		{"local outside of all functions", "f() { :; }\nlocal x=1", "shell-syntax local", "a plain assignment"},
		{"a test without a blank before its bracket", `[ "$x" = "a"]`, "shell-syntax \"a\"]", "put a blank"},
		{"one that ends in a variable", "if [ $x -gt $y]; then echo; fi", "shell-syntax $y]", "put a blank"},
		{"a test that is not closed", `[ -n "$x" && echo a`, "shell-syntax [", "close it"},
		{"blanks around an assignment", "rows = 3\necho $rows", "shell-syntax rows", "write rows=… without blanks"},
		{"a blank before one", `day ="$AX_DATE"` + "\necho ${day%-*}", "shell-syntax day", "write day=… without blanks"},
		{"a blank behind a backslash", "cat a b \\ \n  c d", "shell-syntax \\ ", "remove the blank"},
		{"several blanks", "sort a \\   \n  b", "shell-syntax \\ ", "remove the blank"},
		{"the first of several", "exit abc\nset -o pipefial", "shell-syntax abc", ""},
	} {
		for _, shell := range []string{"sh", "bash"} {
			text := inScript(c.script) + "    shell: " + shell + "\n"
			if got := marked(t, text); got != c.want {
				t.Errorf("%s, in %s: got %q, want %q", c.name, shell, got, c.want)
			}
			if ds := diagnose(text, Options{}); len(ds) > 0 && !strings.Contains(ds[0].Hint, c.hint) {
				t.Errorf("%s, in %s: the hint is %q", c.name, shell, ds[0].Hint)
			}
		}
		if got := marked(t, inScript(c.script)+"    shell: zsh\n"); got != "" {
			t.Errorf("%s, in zsh: got %q", c.name, got)
		}
	}
}

func TestWhatTheShellTakes(t *testing.T) {
	for name, script := range map[string]string{
		"a status":                       "f() { exit 3; }\nexit \"$?\"",
		"tests":                          "[ \"$x\" = ] ]\n[ -n \"a b\" ]\n[ $x = ']' \"]\"\n[ x = $y\nif [ a ] && [ b ]; then echo; fi",
		"a sign as an argument":          "tr = _ < f\ngrep = f\nrows == 3\nrows -eq 3\necho $tr $grep",
		"a command that is no variable":  "rows = 3\necho rows",
		"a blank that is meant":          "cut -d \\  -f 1 f\ngrep \\ \n\n# end",
		"a line that goes on":            "cat a \\\n  b",
		"a status from an expression":    "exit ${{ params.n }}",
		"an operator in a variable":      "op=+\necho $((1 $op 2))",
		"a subshell in a substitution":   "x=$((echo a); (echo b))",
		"options":                        "set -o errexit -o nounset\nset +o noglob\nset -- -o foo",
		"signals":                        "trap 'rm f' EXIT INT term 15 0\ntrap - HUP\ntrap INT",
		"a signal in a variable":         `trap "" "$s"`,
		"local in a function":            "f() { if true; then local x=1; fi; }\nf",
		"a function of the script's own": "local() { :; }\nlocal x",
	} {
		if got := marked(t, "params: {n: 1}\n"+inScript(script)); strings.Contains(got, "shell-syntax") {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

func TestWhatOfBashDependsOnTheEnvironment(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a name that the environment may have", inScript("echo $HOSTNAME"), "bash-only $HOSTNAME"},
		{"a number that it does not have", inScript("echo $EUID"), "shell-syntax $EUID"},
		{"assigned", inScript("HOSTNAME=$(hostname)\necho $HOSTNAME"), ""},
		{"assigned where it is not set", inScript(": ${HOSTNAME:=a}\necho $HOSTNAME"), ""},
		{"given by env", inScript("echo $HOSTNAME $EUID") + "    env: {HOSTNAME: a, EUID: 1}\n", ""},
		{"perhaps set by a file", inScript(". /etc/x.sh\necho $HOSTNAME $EUID"), ""},
		{"with a default", inScript("echo ${HOSTNAME:-a} ${EUID-1}"), ""},
		{"a negative status", inScript("exit -1"), "bash-only -1"},
		{"a negative status in bash", inScript("exit -1") + "    shell: bash\n", ""},
	} {
		if got := marked(t, c.text); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestSlipsAreToldInTheWordsOfTheScript(t *testing.T) {
	for _, c := range []struct{ script, want, message, hint string }{
		{"for year in 1 2; echo; done", "shell-syntax f", "`for year in 1 2` must be followed by `do`", ""},
		{"for year month in 1; do echo; done", "shell-syntax f", "`for year` must be followed by `in`", ""},
		{"for in 1 2; do echo; done", "shell-syntax f", "`for` must be followed by a name", "for NAME in"},
		{"for $i in 1 2; do echo; done", "shell-syntax f", "`for` must be followed by a name", "no $"},
		{"echo ${AX_DATE", "shell-syntax ${AX_DATE", "`${AX_DATE` is not closed", "${AX_DATE}"},
		{"echo \"${AX_DATE\"", "shell-syntax ${AX_DATE", "`${AX_DATE` is not closed", "${AX_DATE}"},
		{"[[ -f x ]", "shell-syntax ]", "one bracket does not close `[[`", "]]"},
		{"echo ${ params.n }", "shell-syntax ${ params.n }", "is no variable of the shell", "${{ params.n }}"},
		{"echo \"${params.n}\"", "shell-syntax ${params.n}", "is no variable of the shell", "${{ params.n }}"},
	} {
		text := inScript(c.script) + "    shell: bash\n"
		ds := diagnose("params: {n: 1}\n"+text, Options{})
		if len(ds) == 0 || !strings.Contains(ds[0].Message, c.message) || !strings.Contains(ds[0].Hint, c.hint) {
			t.Errorf("%s: got\n%s", c.script, places(ds))
		}
		if got := marked(t, text); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.script, got, c.want)
		}
	}
	if got := marked(t, inScript("echo ${item")); strings.Contains(got, "expression") {
		t.Errorf("a variable of the shell: got %q", got)
	}
}
