package lint

import (
	"strings"
	"testing"
)

// marked gives what diagnostics of a script point at, each behind its rule.
func marked(t *testing.T, text string) string {
	t.Helper()
	var all []string
	src := Parse("nightly.yaml", []byte(text), "", "").Source
	for _, d := range diagnose(text, Options{}) {
		all = append(all, d.Rule+" "+string(src.Text[src.Offset(d.Pos):src.Offset(d.End)]))
	}
	return strings.Join(all, "; ")
}

func inScript(script string) string {
	return "timeout: 1h\ntasks:\n  t:\n    run: |\n      " + strings.ReplaceAll(script, "\n", "\n      ") + "\n"
}

func TestWhatOnlyBashHasIsFoundInScriptsForSh(t *testing.T) {
	for _, c := range []struct{ name, script, want string }{
		{"a test", "if [[ -f x ]]; then echo; fi", "shell-syntax [["},
		{"a test with a pattern", "[[ $x =~ (a|b) ]] && echo", "shell-syntax [["},
		{"source", "source ./env.sh", "shell-syntax source"},
		{"a count", "i=0\n((i++))", "shell-syntax ((i++))"},
		{"a comparison", "((i < 3)) && echo", "shell-syntax ((i < 3))"},
		{"a counting loop", "for ((i=0; i<3; i++)); do echo; done", "shell-syntax for ((i=0; i<3; i++))"},
		{"an array", "a=(1 2)", "shell-syntax (1 2)"},
		{"an element of one", "echo ${a[0]}", "shell-syntax ${a[0]}"},
		{"an element that is set", "a[1]=2", "shell-syntax a[1]=2"},
		{"appending", "x=a\nx+=b", "shell-syntax x+=b"},
		{"function", "function f {\n  echo\n}\nf", "shell-syntax function f"},
		{"a here-string", "cat <<< x", "shell-syntax <<< x"},
		{"both outputs", "make &> log", "shell-syntax &> log"},
		{"both outputs, appended", "make &>> log", "shell-syntax &>> log"},
		{"both outputs, the other way", "make >& log", "shell-syntax >& log"},
		{"both into a pipe", "if a |& cat; then echo; fi", "shell-syntax |&"},
		{"a process for a file", "diff a <(sort b)", "shell-syntax <(sort b)"},
		{"a process to write to", "make > >(cat)", "shell-syntax >(cat)"},
		{"upper case", "echo ${x^^}", "shell-syntax ${x^^}"},
		{"lower case", "echo ${x,,}", "shell-syntax ${x,,}"},
		{"replacing", "echo \"${x//a/b}\"", "shell-syntax ${x//a/b}"},
		{"slicing", "echo ${x:0:3}", "shell-syntax ${x:0:3}"},
		{"a name in a variable", "echo ${!x}", "shell-syntax ${!x}"},
		{"two equals signs", "[ \"$x\" == y ] || echo", "shell-syntax =="},
		{"two equals signs in test", "test \"$x\" == y || echo", "shell-syntax =="},
		{"a pattern in brackets", "[ \"$x\" =~ y ] || echo", "shell-syntax =~"},
		{"whether a variable is set", "[ -v x ] || echo", "shell-syntax -v"},
		{"reading into an array", "read -r -a x < f", "shell-syntax -a"},
		{"reading for a time", "read -t 5 x < f", "shell-syntax -t"},
		{"declare", "declare -i x=1", "shell-syntax declare"},
		{"shopt", "shopt -s nullglob", "shell-syntax shopt"},
		{"let", "let x=1", "shell-syntax let"},
		{"a local array", "f() { local -a x; }\nf", "shell-syntax -a"},
		{"counting in arithmetic", "echo $((x++))", "shell-syntax x++"},
		{"powers", "echo $((2 ** 3))", "shell-syntax 2 ** 3"},
		{"a choice", "select x in a; do echo; done", "shell-syntax select x"},
		{"falling through", "case a in a) echo;& b) echo;; esac", "shell-syntax ;&"},
		{"an extended glob", "case a in @(a|b)) echo;; esac", "shell-syntax @(a|b)"},
		{"a trap on errors", "trap 'echo no' ERR", "shell-syntax ERR"},
		{"the long name of a signal", "trap 'echo no' SIGTERM", "shell-syntax SIGTERM"},
		{"printf into a variable", "printf -v x a", "shell-syntax -v"},
		{"quoting by printf", "printf '%q' x", "shell-syntax '%q'"},
		{"exporting a function", "f() { echo; }\nexport -f f", "shell-syntax -f"},
		{"a random number", "echo $RANDOM", "shell-syntax $RANDOM"},
		{"the first of several, since one remedy is good for all", "x=a\n[[ $x = a ]] && echo ${x^^}\nsource ./y", "shell-syntax [["},
		{"what fails before what does not", "echo -e a\n[[ a ]]", "shell-syntax [["},

		{"escapes", "echo -e \"a\\tb\"", "bash-only -e"},
		{"escapes without an end", "echo -ne a", "bash-only -ne"},
		{"numbers in braces", "for i in {1..3}; do echo \"$i\"; done", "bash-only {1..3}"},
		{"files in braces", "mv report.{new,csv}", "bash-only report.{new,csv}"},
		{"quotes with a dollar sign", "IFS=$'\\n'", "bash-only $'\\n'"},
		{"a file in a substitution", "x=$(<f)", "bash-only $(<f)"},
		{"pipefail", "set -euo pipefail", "bash-only pipefail"},
	} {
		if got := marked(t, inScript(c.script)); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
		for _, shell := range []string{"bash", "ash", "[/bin/bash, -eu]", "zsh", "python3"} {
			if got := marked(t, inScript(c.script)+"    shell: "+shell+"\n"); strings.Contains(got, "bash-only") || strings.Contains(got, "shell-syntax") {
				t.Errorf("%s, in %s: got %q", c.name, shell, got)
			}
		}
	}
}

func TestWhatShHasOrOnlyLooksLikeBash(t *testing.T) {
	for name, script := range map[string]string{
		"local":                                  "f() { local x=1; echo \"$x\"; }\nf",
		"a loop in a subshell":                   "((echo a); (echo b))\n( (echo a) )\n((echo a; echo b))",
		"arithmetic":                             "x=$((1 << 2))\nx=$(( (1 + 2) * 3 ))\n: $((x += 1)) $((x ? 1 : 2))",
		"expansions of sh":                       "echo \"${x#a}\" ${x%%b} ${#x} ${x:=1} ${x:-2} ${x:+3}",
		"a random number with a default":         "echo ${RANDOM:-4}",
		"a variable that the script sets":        "SECONDS=5\necho $SECONDS",
		"a command that the script defines":      "source() { . \"$1\"; }\nsource ./x",
		"braces that a program understands":      "curl -sf 'http://h/{a,b}' http://h/{c,d}\nfind . -exec echo {} \\;\ngit log @{u}",
		"quoted braces":                          "echo '{1..3}' \"{1..3}\" \\{1..3\\}",
		"a dollar sign before the end of quotes": "grep 'a$' x\necho \"a$\"\nsed 's/$/x/' y",
		"another language in quotes":             "awk '{ a[1] = 2; i++; print $1 }' f\nbash -c '[[ a == b ]]'\nperl -e 'print \"${x[0]}\"'",
		"another language in a here-document":    "bash <<'END'\n[[ a == b ]]\necho {1..3} $'a'\nEND",
		"a class of characters":                  "grep '[[:space:]]' f\nls [[:alpha:]]*",
		"one equals sign":                        "[ \"$x\" = y ] || [ \"$x\" != z ] || [ ! -e f ] || echo",
		"a text of equals signs":                 "[ \"==\" = \"$x\" ] || echo \"==\"",
		"outputs in the old way":                 "make > log 2>&1\nmake >&2 2>&-",
		"reading":                                "read -r x < f\nread -p 'name? ' x < f",
		"echo":                                   "echo -n a\necho \"-e\" a -e",
		"traps":                                  "trap 'rm f' EXIT INT TERM 15",
		"formats":                                "printf '%s %%q\\n' a",
		"the shell is asked what it is":          "if [ -n \"${BASH_VERSION:-}\" ]; then shopt -s nullglob; echo $RANDOM; fi",
		"pipefail where there is one":            "if (set -o pipefail) 2> null; then set -o pipefail; fi",
		"export and readonly":                    "export A=1 B\nreadonly C=2",
	} {
		if got := marked(t, inScript(script)); got != "" {
			t.Errorf("%s: got %q", name, got)
		}
	}
	for name, text := range map[string]string{
		"a variable of the task":     "timeout: 1h\ntasks:\n  t:\n    env: {RANDOM: 4}\n    run: echo $RANDOM\n",
		"a variable of the workflow": "timeout: 1h\nenv: {RANDOM: 4}\ntasks:\n  t:\n    run: echo $RANDOM\n",
		"an expression":              "timeout: 1h\nparams: {x: 1}\ntasks:\n  t:\n    run: echo ${{ params.x }}\n",
	} {
		if got := marked(t, text); got != "" {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

func TestWhatOnlyBashHasIsNamedWithTheRemedy(t *testing.T) {
	for _, c := range []struct{ script, message, hint string }{
		{"[[ a = b ]]", "the script uses `[[`, which bash has and sh does not", `set "shell: bash", or write [ … ]`},
		{"source ./x", "`source`", ". ./FILE"},
		{"make &> log", "`&>`", "> FILE 2>&1"},
		{"function f { echo; }", "`function`", "f() {"},
		{"echo ${x^^}", "upper case", "tr"},
		{"echo -e a", "sh prints the option", "printf"},
		{"shopt -s nullglob", "`shopt`", `set "shell: bash", or write it another way`},
	} {
		ds := diagnose(inScript(c.script), Options{})
		if len(ds) != 1 || !strings.Contains(ds[0].Message, c.message) || !strings.Contains(ds[0].Hint, c.hint) {
			t.Errorf("%s: got\n%s", c.script, places(ds))
		}
	}
}

func TestAVariableOfBashFailsOnlyWhereTheShellIsStrict(t *testing.T) {
	if got := marked(t, "timeout: 1h\ntasks:\n  t: {run: 'echo $RANDOM', shell: [sh, -e]}\n"); got != "bash-only $RANDOM" {
		t.Errorf("got %q", got)
	}
}
