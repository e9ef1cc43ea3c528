package expression

import (
	"strings"
	"testing"

	"github.com/ax-scheduler/ax/dsl"
)

// forms are all that can hold other expressions: i stands for a number, s for a
// string, b for a bool, l for a list, m for a map, each in $ $.
var forms = []string{
	"-$i$", "not $b$", "$i$ + 1", "1 + $i$", "$i$ < 1", "1 < $i$", "$i$ == 1", "1 != $i$", "$b$ and true", "true and $b$", "false or $b$",
	"$i$ ?? 1", "nil ?? $i$", "default(nil, $i$)", "$i$ in [1]", "1 in $l$", "$i$..1", "1..$i$", "$s$ contains 'a'", "'a' endsWith $s$", "$s$ matches 'a'",
	"$b$ ? 1 : 2", "true ? $i$ : 2", "false ? 1 : $i$", "[1, $i$]", "{a: $i$}", "{($s$): 1}", "$l$[0]", "[1][$i$]", "$m$.a", "$m$?.a", "$l$[:1]", "[1][$i$:]", "[1][:$i$]",
	"upper($s$)", "replace('a', 'b', $s$)", "min(1, $i$)", "filter($l$, true)", "filter([1], $b$)", "map([1], $i$)", "all([1], $b$)", "any([1], $b$)",
	"none([1], $b$)", "count([1], $b$)", "find([1], $b$)", "len($l$)", "sort($l$)", "toJSON($m$)", "$s$ | upper()",
}

// filled puts an expression into a form, in the type that it needs there, and
// tells where it stands.
func filled(form, number string) (code string, from, to int) {
	casts := map[byte][2]string{'i': {"int(", ")"}, 's': {"string(", ")"}, 'b': {"(", " == 1)"}, 'l': {"[", "]"}, 'm': {"{a: ", "}"}}
	before, rest, _ := strings.Cut(form, "$")
	cast := casts[rest[0]]
	from = len(before) + len(cast[0])
	return before + cast[0] + number + cast[1] + rest[2:], from, from + len(number)
}

func TestAFaultIsFoundHoweverDeepItIs(t *testing.T) {
	for _, form := range forms {
		code, from, to := filled(form, "params.nix")
		_, err := Compile(code, WantText, inTask())
		if err == nil {
			t.Errorf("%s compiled", code)
			continue
		}
		if e := asError(t, err); e.Kind != UnknownReference || e.Offset != from || e.Offset+e.Width != to {
			t.Errorf("%s: %s at %d+%d", code, e.Message, e.Offset, e.Width)
		}
	}
}

func TestAFailureIsReportedHoweverDeepItIs(t *testing.T) {
	for _, form := range forms {
		code, from, to := filled(form, "1 / 0")
		p, err := Compile(code, WantText, inTask())
		if err != nil {
			t.Errorf("%s: %v", code, err)
			continue
		}
		v, err := p.Eval(&Values{})
		if err == nil {
			t.Errorf("%s is %v", code, v)
			continue
		}
		if e := asError(t, err); e.Error() != "division by zero" || e.Kind != Failed || e.Offset != from || e.Offset+e.Width != to {
			t.Errorf("%s: %s at %d+%d", code, e.Message, e.Offset, e.Width)
		}
	}
}

func TestAMissingValueIsMissingHoweverDeepItIs(t *testing.T) {
	for _, form := range forms {
		if strings.Contains(form, "??") || strings.Contains(form, "default") || strings.Contains(form, "?.") {
			continue
		}
		code, _, _ := filled(form, "int(env.NONE)")
		p, err := Compile("("+code+") ?? 'none'", WantText, inTask())
		if err != nil {
			t.Errorf("%s: %v", code, err)
			continue
		}
		if v, err := p.Eval(&Values{}); v != "none" || err != nil {
			t.Errorf("%s is %v, %v", code, v, err)
		}
	}
}

func TestMessagesStayShort(t *testing.T) {
	long := strings.Repeat("é", 100)
	p, err := Compile("int('"+long+"')", WantText, inTask())
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Eval(&Values{})
	if e := asError(t, err); e.Message != `"`+strings.Repeat("é", 20)+`…" is no integer` {
		t.Error(e.Message)
	}
	wf := &dsl.Workflow{}
	for _, name := range strings.Fields("a1 b2 c3 d4 e5 f6 g7 h8 i9") {
		wf.Params = append(wf.Params, param(name, dsl.ParamString))
	}
	_, err = Compile("params.something", WantText, NewScope(wf))
	if e := asError(t, err); e.Hint != "" {
		t.Error(e.Hint)
	}
	_, err = Compile("params.something", WantText, NewScope(&dsl.Workflow{}))
	if e := asError(t, err); e.Hint != "the workflow has no params" {
		t.Error(e.Hint)
	}
}
