package expression

import (
	"slices"
	"testing"

	"github.com/ax-scheduler/ax/dsl"
)

// messages gives what faults say, and where.
func messages(text string, faults Errors) []string {
	var got []string
	for _, e := range faults {
		got = append(got, under(text, e)+": "+e.Message)
	}
	return got
}

func TestEveryFaultOfAnExpressionIsTold(t *testing.T) {
	for _, c := range []struct {
		code string
		want Want
		told []string
	}{
		{"params.x + params.y", WantText, []string{`params.x: unknown parameter "x"`, `params.y: unknown parameter "y"`}},
		{"params.x > 1 and params.x < 5", WantBool, []string{`params.x: unknown parameter "x"`}},
		{"tasks.later.state == 'failed' or tasks.nobody.state == 'failed'", WantBool,
			[]string{`tasks.later: task "later" may not have ended when this is evaluated`, `tasks.nobody: unknown task "nobody"`}},
		{"secrets.NONE ?? run.nothing", WantText, []string{`secrets.NONE: unknown secret "NONE"`, `run.nothing: a run has no "nothing"`}},
		{"(1 + 'a') == (2 + 'b')", WantBool, []string{`1 + 'a': cannot apply "+" to an int and a string`, `2 + 'b': cannot apply "+" to an int and a string`}},
		{"uper(params.x)", WantText, []string{`uper: unknown function "uper"`, `params.x: unknown parameter "x"`}},
		{"upper(1, params.x)", WantText, []string{`upper: upper has too many arguments`, `params.x: unknown parameter "x"`}},
		{"params.region ? params.x : params.y", WantText, []string{
			`params.region: a condition needs a bool, but this is a string`, `params.x: unknown parameter "x"`, `params.y: unknown parameter "y"`}},
		{"{a: params.x}[params.y]", WantText, []string{`params.x: unknown parameter "x"`, `params.y: unknown parameter "y"`}},
		{"filter(params.x, # == params.y)", WantList, []string{`params.x: unknown parameter "x"`, `params.y: unknown parameter "y"`}},
		{"params.region matches params.x", WantBool, []string{`params.x: unknown parameter "x"`}},
		{"not params.x", WantBool, []string{`params.x: unknown parameter "x"`}},
		{"params.x", WantList, []string{`params.x: unknown parameter "x"`}},
		{"params.region", WantText, nil},
	} {
		t.Run(c.code, func(t *testing.T) {
			if got := messages(c.code, Check(c.code, c.want, inTask())); !slices.Equal(got, c.told) {
				t.Errorf("got %q, want %q", got, c.told)
			}
		})
	}
}

func TestEveryFaultOfATextIsTold(t *testing.T) {
	for _, c := range []struct {
		text string
		told []string
	}{
		{"${{ params.x + params.y }} ${{ 1 + 'a' }}", []string{`params.x: unknown parameter "x"`, `params.y: unknown parameter "y"`, `1 + 'a': cannot apply "+" to an int and a string`}},
		{"${{ params.x }} ${{ params.y", []string{`params.x: unknown parameter "x"`, `${{: "${{" has no "}}"`}},
	} {
		_, template := CompileTemplate(c.text, inTask())
		_, script := CompileScript(Sh, "echo "+c.text, inTask())
		if got := messages(c.text, template); !slices.Equal(got, c.told) {
			t.Errorf("the text %s: got %q, want %q", c.text, got, c.told)
		}
		if got := messages("echo "+c.text, script); !slices.Equal(got, c.told) {
			t.Errorf("the script %s: got %q, want %q", c.text, got, c.told)
		}
	}
}

func TestAScriptThatNoShellReadsHasItsExpressionsCheckedButNotThoseInComments(t *testing.T) {
	text := "if true; then\necho ${{ params.x }}\n# ${{ params.y }}\n"
	_, faults := CompileScript(Sh, text, inTask())
	want := []string{`if: "if" statement must end with "fi"`, `params.x: unknown parameter "x"`}
	if got := messages(text, faults); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestANameThatAMistakeMayHaveHiddenIsLetPass(t *testing.T) {
	wf, _ := dsl.Parse("w.yaml", []byte("params: {region: a, region: b, n: {type: zzzz}}\nsecrets: []\ntasks: {t: {run: x}, t: {run: y}}\n"))
	scope := NewScope(wf).ForTask("t", nil, false)
	for code, want := range map[string][]string{
		"params.qwertzuiop":        nil,
		"params.regin":             {`params.regin: unknown parameter "regin"`},
		"secrets.QWERTZUIOP":       nil,
		"tasks.qwertzuiop.state":   nil,
		"params.n > 3":             nil, // its type is not known
		"params.n > 3 and 'a' > 3": {`'a' > 3: cannot apply ">" to a string and an int`},
	} {
		if got := messages(code, Check(code, WantText, scope)); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", code, got, want)
		}
	}
}
