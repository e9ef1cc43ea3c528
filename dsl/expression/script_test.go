package expression

import (
	"fmt"
	"strings"
	"testing"
)

func TestAScriptRefersToVariables(t *testing.T) {
	for _, c := range []struct{ name, text, want, env string }{
		{"none", "echo ok # $x", "echo ok # $x", "[]"},
		{"a bare word", "echo ${{ params.region }}", `echo "${AX_EXPR_1}"`, "[AX_EXPR_1=cn]"},
		{"in double quotes", `echo "a ${{ params.region }}"`, `echo "a ${AX_EXPR_1}"`, "[AX_EXPR_1=cn]"},
		{"one that stands twice", "echo ${{ params.n }} ${{ params.region }} ${{ params.n }}",
			`echo "${AX_EXPR_1}" "${AX_EXPR_2}" "${AX_EXPR_1}"`, "[AX_EXPR_1=7 AX_EXPR_2=cn]"},
		{"on several lines", "echo ${{\n  params.n +\n  1 }} b", `echo "${AX_EXPR_1}" b`, "[AX_EXPR_1=8]"},
		{"a name that the script has", "AX_EXPR_1=x AX_EXPR__=y; echo ${{ params.n }}",
			`AX_EXPR_1=x AX_EXPR__=y; echo "${AX_EXPR___1}"`, "[AX_EXPR___1=7]"},
		{"a comment", "echo 1 # ${{ params.nothing }} it's\necho ${{ params.n }}",
			"echo 1 # ${{ params.nothing }} it's\necho \"${AX_EXPR_1}\"", "[AX_EXPR_1=7]"},
		{"beside other letters", "echo é${{ params.region }}é", `echo é"${AX_EXPR_1}"é`, "[AX_EXPR_1=cn]"},
		{"brackets in a string", `echo "${{ '}}' }}" '}}'`, `echo "${AX_EXPR_1}" '}}'`, "[AX_EXPR_1=}}]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, shell := range []Shell{Sh, Bash} {
				s, faults := CompileScript(shell, c.text, inTask())
				if faults != nil {
					t.Fatal(faults)
				}
				env, err := s.Env(someValues(t))
				if s.Text() != c.want || fmt.Sprint(env) != c.env || err != nil {
					t.Errorf("got %s\n%v, %v\nwant %s\n%s", s.Text(), env, err, c.want, c.env)
				}
			}
		})
	}
}

// refusals are places in which no expression may stand, written ¤.
var refusals = []struct {
	script string
	sh     string // what is said for sh; empty where it is allowed
	bash   string // what is said for bash, if something else: "-" where it is allowed
}{
	{script: "echo 'a ¤ b'", sh: "an expression within single quotes does not expand"},
	{script: "echo $'¤'", sh: "an expression within single quotes does not expand"},
	{script: `echo $"¤"`, sh: `an expression within $"…" would be translated`},
	{script: `echo \¤`, sh: "a backslash right before an expression"},
	{script: `echo "\¤"`, sh: "a backslash right before an expression"},
	{script: `echo \\\¤`, sh: "a backslash right before an expression"},
	{script: "echo $¤", sh: `a "$" right before an expression`},
	{script: `echo "~$¤"`, sh: `a "$" right before an expression`},
	{script: `echo \\$¤`, sh: `a "$" right before an expression`},
	{script: "cat <<E\n\\¤\nE", sh: "a backslash right before an expression"},
	{script: "cat <<'E'\n¤\nE", sh: "an expression in a here-document whose delimiter is quoted does not expand"},
	{script: "cat <<\\E\n¤\nE", sh: "an expression in a here-document whose delimiter is quoted does not expand"},
	{script: "cat <<E\"F\"\n¤\nEF", sh: "an expression in a here-document whose delimiter is quoted does not expand"},
	{script: "cat <<¤\nx\n¤", sh: "an expression in the delimiter of a here-document does not expand"},
	{script: "cat <<E\n${x:-\"¤\"}\nE", sh: nestQuotes},
	{script: `echo "${x:-"¤"}"`, sh: nestQuotes},
	{script: "echo $((1 + ¤))", sh: asNumber},
	{script: "echo $(( ${x:-¤} ))", sh: asNumber},
	{script: "echo $[ ¤ ]", sh: asNumber},
	{script: "(( ¤ > 1 ))", sh: asNumber},
	{script: "let x=¤", sh: asNumber},
	{script: "echo ${x#¤}", sh: asPattern},
	{script: `echo "${x%%¤}"`, sh: asPattern},
	{script: "echo ${x:=¤}", sh: "an expression cannot be assigned in an expansion"},
	{script: "echo ${¤}", sh: "an expression cannot stand here"},
	{script: "echo ${¤:-1}", sh: "an expression cannot stand here"},
	{script: "echo `echo ¤`", sh: "an expression within backquotes"},
	{script: "echo \"`echo \"¤\"`\"", sh: "an expression within backquotes"},
	{script: "echo `echo $(echo ¤)`", sh: "an expression within backquotes"},
	{script: "f¤() { :; }", sh: "an expression cannot stand here", bash: asName},
	{script: "for ¤ in a; do :; done", sh: asName},
	{script: "a[¤]=1", sh: asNumber},
	{script: "[[ $x -eq ¤ ]]", sh: asNumber},
	{script: "[[ -v ¤ ]]", sh: asName},
	{script: "declare -i x=¤", sh: asNumber},
	{script: "declare -i n\nn=¤", sh: asNumber},
	{script: "declare -n x=¤", sh: asNumber},
	{script: "export ¤", sh: asName},
	{script: "readonly a¤=1", sh: "an expression cannot stand here"},
	{script: "eval ¤", sh: asCode},
	{script: `command eval "echo ¤"`, sh: asCode},
	{script: "trap \"rm ¤\" EXIT", sh: asCode},
	{script: "sh -c \"echo ¤\"", sh: asCode},
	{script: "env X=1 /bin/bash -euo pipefail -xc \"echo ¤\"", sh: asCode},
	{script: "bash -o pipefail -c ¤", sh: asCode},
	{script: "sh <<E\necho ¤\nE", sh: asCode},
	{script: "ssh host bash -s <<E\necho ¤\nE", sh: asCode},
	{script: "unset ¤", sh: asName},
	{script: "read -r ¤", sh: asName},
	{script: "printf -v ¤ x", sh: asName},
	{script: "[ -v ¤ ]", sh: asName},
	{script: "echo 1 # ${{ params.n +\n 1 }}", sh: "an expression of several lines in a comment"},

	{script: "echo ${x/¤/b}", sh: "search and replace is not available in sh", bash: asPattern},
	{script: "echo ${x:¤:2}", sh: "slicing is not available in sh", bash: asNumber},
	{script: "echo ${x[¤]}", sh: "arrays are not available in sh", bash: asNumber},
	{script: "a=([¤]=1)", sh: "arrays are not available in sh", bash: asNumber},
	{script: "for ((i=¤; i<1; i++)); do :; done", sh: "c-style fors are not available in sh", bash: asNumber},
	{script: "echo @(a|b¤)", sh: "extended globs are not available in sh", bash: asPattern},
	{script: "bash <<< ¤", sh: "herestrings are not available in sh", bash: asCode},
	{script: "coproc ¤ { :; }", sh: "\"}\" can only be used to close a block", bash: asName},

	// These look alike, but are fine.
	{script: "bash -s ¤ <script"},
	{script: "sh -c 'echo \"$1\"' sh ¤"},
	{script: "sh script ¤"},
	{script: "bash script <<E\n¤\nE"},
	{script: "cat <<E\n'¤'\nE"},
	{script: "declare -x x=¤"},
	{script: "[ \"$x\" -eq ¤ ]"},
	{script: "echo eval ¤"},
	{script: "printf %s ¤"},
	{script: "((echo ¤); echo)", bash: "not a valid arithmetic operator: \"${{ … }}\""},
	{script: "x[1]=¤", bash: "-"},
}

func TestAPlaceWhereAValueWouldNotBeAValueIsRefused(t *testing.T) {
	for _, r := range refusals {
		text := strings.ReplaceAll(r.script, "¤", "${{ params.region }}")
		for shell, want := range map[Shell]string{Sh: r.sh, Bash: r.bash} {
			if shell == Bash && want == "" {
				want = r.sh
			}
			got, at := "", ""
			_, faults := CompileScript(shell, text, inTask())
			if faults != nil {
				got, at = faults[0].Message, under(text, faults[0])
			}
			if got != strings.Trim(want, "-") {
				t.Errorf("shell %d, %s\ngot  %s\nwant %s", shell, r.script, got, want)
			}
			if got != "" && !strings.HasPrefix(at, "${{") && faults[0].Kind != ShellSyntax {
				t.Errorf("%s: it points at %q", r.script, at)
			}
		}
	}
}

func TestAFaultOfAScriptIsGivenOnce(t *testing.T) {
	for _, c := range []struct {
		name  string
		shell Shell
		text  string
		want  string
	}{
		{"the shell's syntax", Sh, "if true; then echo ${{ params.x }}", `shell-syntax "if": "if" statement must end with "fi"
unknown-reference "params.x": unknown parameter "x"`},
		{"a quote that is never closed", Bash, "echo 'a ${{ params.n }}", `shell-syntax "'": reached EOF without closing quote "'"`},
		{"an expression", Sh, "echo ${{ params.x }} '${{ params.y }}' ${{ 1 + }}", `unknown-reference "params.x": unknown parameter "x"
bad-expression "${{ params.y }}": an expression within single quotes does not expand
bad-expression "}": the expression ends too early`},
		{"another shell", Other, "print(${{ params.n }}, '${{ params.x }}')", `bad-expression "${{ params.n }}": an expression in a script for another shell than sh and bash
bad-expression "${{ params.x }}": an expression in a script for another shell than sh and bash`},
		{"an expression without an end", Sh, "echo ${{ params.n", `bad-expression "${{": "${{" has no "}}"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, faults := CompileScript(c.shell, c.text, inTask())
			var got []string
			for _, e := range faults {
				got = append(got, fmt.Sprintf("%s %q: %s", e.Kind.Rule(), under(c.text, e), e.Message))
			}
			if strings.Join(got, "\n") != c.want {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), c.want)
			}
		})
	}
}

func TestTheSyntaxOfAScriptIsChecked(t *testing.T) {
	for _, c := range []struct {
		shell Shell
		text  string
		want  string
	}{
		{Sh, "echo ok", ""},
		{Sh, "echo ${{ nonsense } }}", ""},
		{Sh, "echo (", `"foo(" must be followed by ")"`},
		{Sh, "a=(1 2)", "arrays are not available in sh"},
		{Bash, "a=(1 2)", ""},
		{Bash, "while true; do", `"do" must be followed by a statement list`},
		{Other, "print(", ""},
	} {
		got := ""
		if e := CheckScript(c.shell, c.text); e != nil {
			got = e.Message
		}
		if got != c.want {
			t.Errorf("%s: got %s, want %s", c.text, got, c.want)
		}
	}
}

func TestAValueThatCannotBeAVariableIsAnError(t *testing.T) {
	text := "echo ${{ params.n }} ${{ env.ODD }}"
	s, faults := CompileScript(Sh, text, inTask())
	if faults != nil {
		t.Fatal(faults)
	}
	values := someValues(t)
	_, err := s.Env(values)
	if e := asError(t, err); e.Kind != Missing || under(text, e) != "env.ODD" {
		t.Errorf("%s at %q", e.Message, under(text, e))
	}
	values.Env["ODD"] = "a\x00"
	_, err = s.Env(values)
	if e := asError(t, err); e.Message != "the value holds a NUL character" || under(text, e) != "env.ODD" {
		t.Errorf("%s at %q", e.Message, under(text, e))
	}
	if got := fmt.Sprint(s.References()); got != "[[params n] [env ODD]]" {
		t.Errorf("references %s", got)
	}
}

func TestTheReaderOfAScriptIsKnownByItsName(t *testing.T) {
	for _, c := range []struct {
		argv []string
		want Shell
	}{
		{nil, Sh}, {[]string{"sh"}, Sh}, {[]string{"/bin/dash", "-e"}, Sh}, {[]string{"bash"}, Bash},
		{[]string{"/usr/bin/bash", "-x"}, Bash}, {[]string{"python3"}, Other}, {[]string{"docker", "run", "x", "sh"}, Other},
	} {
		if got := ShellOf(c.argv); got != c.want {
			t.Errorf("%q is %d, want %d", c.argv, got, c.want)
		}
	}
}
