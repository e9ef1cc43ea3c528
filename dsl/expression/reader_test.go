package expression

import (
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
	"pgregory.net/rapid"

	"github.com/ax-scheduler/ax/dsl"
)

func printed(t rapid.TB, n syntax.Node) string {
	var b strings.Builder
	if err := syntax.DebugPrint(&b, n); err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(b.String(), `\ue000`, "___") // in comments
}

// The tree that serves both the rules and a survey must be the one that either
// would get by itself.
func TestAScriptThatIsReadForBothIsTheSameToEither(t *testing.T) {
	piece := rapid.SampledFrom([]string{
		"${{ x }}", "${{ x }}", "${{ a.b }}", "${{}}", " ", " ", "\n", "\"", "'", "/", ":", ",", "-", ".", "=", "%", "@", ";", ")", "#", "x", "x=", "$y", "$", "${y:", "${y:-", "${y%", "${y/", "}", "\\",
		"echo ", "$(", "$((", "((", "))", "(", "`", "+ 1", "++", "--", "[", "[[ ", " ]]", "] ", "{ ", " }", "for ", "for i in ", "; do ", "done", "case ", " in ", "esac", ";;", "f() ", "() { ", "if ", "then ", "fi",
		" | ", " && ", "&", " > ", "2>", " < ", "<<", "<<-", "<<<", "<<E\n", "\nE\n", "+=", "a[", "=(", "!", "*", "?", "~", "-eq ", "# c\n", "trap ", "eval ", "@(", "coproc ", "let ", "export ", "\ue000", "_____",
	})
	shared := 0
	rapid.Check(t, func(r *rapid.T) {
		text := strings.Join(rapid.SliceOfN(piece, 1, 12).Draw(r, "pieces"), "")
		list, unclosed := dsl.Expressions(text)
		if len(list) == 0 || unclosed >= 0 {
			return
		}
		for _, lang := range []syntax.LangVariant{syntax.LangPOSIX, syntax.LangBash} {
			both, alone := &Reader{}, &Reader{}
			_, tree, err := both.Read(lang, text)
			plain, plainErr := alone.parse(lang, masked(text, list, "_", '_'))
			if (err == nil) != (plainErr == nil) {
				r.Fatalf("%q: %v, but by itself %v", text, err, plainErr)
			}
			if err != nil || !both.shared {
				continue
			}
			shared++
			if got, want := printed(r, tree[0].Node), printed(r, plain); got != want {
				r.Fatalf("%q: the rules see\n%s\ninstead of\n%s", text, got, want)
			}
			own, fault := alone.treeFor(lang, text, list)
			if fault != nil {
				r.Fatalf("%q: a survey by itself has the fault %v", text, fault)
			}
			for i, want := range alone.look(own, text, list) {
				if got := both.look(tree, text, list)[i]; (got.fault == nil) != (want.fault == nil) || got.form != want.form || got.fault != nil && *got.fault != *want.fault {
					r.Errorf("%q: a survey has %+v instead of %+v", text, got, want)
				}
			}
		}
	})
	if shared == 0 {
		t.Error("nothing was shared")
	}
}

// What is compiled again in another task must not keep what was known of the first.
func TestAnExpressionMeansInEachTaskWhatItMeansThere(t *testing.T) {
	r := &Reader{}
	name := func(s string) dsl.Value[string] { return dsl.Value[string]{V: s} }
	scope := NewScope(&dsl.Workflow{Params: []dsl.Param{{Name: name("region")}}, Tasks: []dsl.Task{{ID: name("extract")}, {ID: name("load")}}})
	for _, c := range []struct {
		text  string
		scope *Scope
		want  int // faults
	}{
		{"echo ${{ params.region }} ${{ item }}", scope.ForTask("load", nil, true), 0},
		{"echo ${{ params.region }} ${{ item }}", scope.ForTask("load", nil, false), 1},
		{"echo ${{ tasks.extract.state }}", scope.ForTask("load", func(string) bool { return true }, false), 0},
		{"echo ${{ tasks.extract.state }}", scope.ForTask("load", func(string) bool { return false }, false), 1},
		{"echo ${{ params.region }}", scope.Only("run"), 1},
	} {
		if _, faults := r.CompileScript(Sh, c.text, c.scope); len(faults) != c.want {
			t.Errorf("%q has %v", c.text, faults)
		}
		_, want := CompileScript(Sh, c.text, c.scope)
		_, got := r.CompileScript(Sh, c.text, c.scope)
		if len(got) != len(want) || len(got) > 0 && *got[0] != *want[0] {
			t.Errorf("%q has %v instead of %v", c.text, got, want)
		}
	}
	first, _ := r.CompileScript(Sh, "${{ params.region }}", scope)
	second, _ := r.CompileScript(Sh, "echo x ${{ params.region }}", scope)
	if a, b := first.vars[0].program.by, second.vars[0].program.by; b != a+len("echo x ") {
		t.Errorf("the same expression is at %d and %d", a, b)
	}
}
