package expression

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/expr-lang/expr"
	"pgregory.net/rapid"
)

// term draws an expression of a kind that both this package and the machine of
// expr-lang/expr know. Kinds: i int, f float, b bool, s string, l list of ints.
func term(t *rapid.T, kind byte, depth int) string {
	if depth == 0 {
		return leaf(t, kind)
	}
	sub := func(k byte) string { return term(t, k, depth-1) }
	var forms []string
	switch kind {
	case 'i':
		forms = []string{"(i + i)", "(i - i)", "(i * i)", "-i", "(i % 7)", "(i % -5)", "len(s)", "len(l)", "count(l, p)", "(b ? i : i)", "abs(i)", "(nil ?? i)"}
	case 'f':
		forms = []string{"(f + i)", "(f - f)", "(i / 4)", "(f / 0.3)", "(f * f)", "float(i)"}
	case 'b':
		forms = []string{"(i < i)", "(f >= i)", "(i == i)", "(s != s)", "(b and b)", "(b || b)", "not b", "(s contains s)", "(s startsWith s)",
			"(i in l)", "(i not in l)", "all(l, p)", "any(l, p)", "none(l, p)", "(l == l)", "(s < s)", "(b ? b : b)", "(f == i)"}
	case 's':
		forms = []string{"(s + s)", "upper(s)", "lower(s)", "trim(s)", "(b ? s : s)", "replace(s, 'a', s)", "join(split(s, 'b'), s)", "toJSON(i)"}
	case 'l':
		forms = []string{"[i, i]", "filter(l, p)", "map(l, m)", "(i % 9..i % 9)", "l[:2]", "l[1:]", "(b ? l : l)", "sort(l)"}
	case 'p': // of an item of a list
		forms = []string{"# > i", "# % 2 == 0", "b", "# in l", "# + 1 < i and b"}
	default: // what becomes of an item
		forms = []string{"# + i", "# * 2", "i"}
	}
	var out strings.Builder
	form := rapid.SampledFrom(forms).Draw(t, "form")
	for i := 0; i < len(form); i++ {
		alone := (i == 0 || !isWordByte(form[i-1])) && (i+1 == len(form) || !isWordByte(form[i+1]))
		if c := form[i]; alone && strings.IndexByte("ifbslpm", c) >= 0 && !(i > 0 && form[i-1] == '\'') {
			out.WriteString(sub(c))
			continue
		}
		out.WriteByte(form[i])
	}
	return out.String()
}

func leaf(t *rapid.T, kind byte) string {
	leaves := map[byte][]string{
		'i': {"0", "1", "7", "-3", "42"}, 'f': {"0.5", "2.0", "1e3"}, 'b': {"true", "false"},
		's': {"''", "'a'", "'ab b'", "' Äß '"}, 'l': {"[]", "[1, 2, 3]", "[5]", "(1..4)"}, 'p': {"# > 1", "true"}, 'm': {"#", "# + 1"},
	}
	return rapid.SampledFrom(leaves[kind]).Draw(t, "leaf")
}

// TestTheValueIsTheOneThatTheMachineOfExprGives takes the library, whose
// grammar this is, for the meaning where the two have the same operations.
func TestTheValueIsTheOneThatTheMachineOfExprGives(t *testing.T) {
	compared := 0
	rapid.Check(t, func(t *rapid.T) {
		code := term(t, rapid.SampledFrom([]byte("ifbsl")).Draw(t, "kind"), rapid.IntRange(1, 4).Draw(t, "depth"))
		p, err := Compile(code, WantText, inTask())
		if err != nil {
			if len(code) < 200 {
				t.Fatalf("%s: %v", code, err)
			}
			return // too large
		}
		got, err := p.Eval(&Values{})
		if err != nil {
			if slices.Contains(bounds, err.Error()) {
				return
			}
			t.Fatalf("%s: %v", code, err)
		}
		want, err := expr.Eval(code, nil)
		if err != nil {
			t.Fatalf("%s: expr says %v", code, err)
		}
		compared++
		if !alike(got, want) {
			t.Fatalf("%s is %v, expr says %v", code, got, want)
		}
	})
	if compared < 50 {
		t.Errorf("only %d values were compared", compared)
	}
}

// bounds are what this package refuses: numbers that expr lets wrap around, and
// what is too much.
var bounds = []string{errTooLarge.message, errTooLong.message, errBudget.message}

// alike compares over the many types of lists and numbers that expr has.
func alike(a, b any) bool {
	switch x := a.(type) {
	case float64:
		y, ok := b.(float64)
		return ok && (x == y || math.Abs(x-y) < 1e-9*math.Abs(x))
	case []any:
		return fmt.Sprint(x) == fmt.Sprint(b)
	}
	return a == b
}
