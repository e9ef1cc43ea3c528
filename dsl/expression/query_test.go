package expression_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/dsl/expression"
	"github.com/ax-scheduler/ax/dsl/statement"
)

func queryScope(t *testing.T) *expression.Scope {
	t.Helper()
	wf, ds := dsl.Parse("q.yaml", []byte("params: {n: 5, who: \"o'brien\", since: 2026-01-31, full: true, note: {type: string}}\ntasks: {a: {run: x}}\n"))
	if ds.Errors() {
		t.Fatal(ds)
	}
	return expression.NewScope(wf)
}

var queryValues = expression.Values{Params: map[string]string{"n": "5", "who": "o'brien", "since": "2026-01-31", "full": "true"}}

func TestExpressionsOfAQueryAreValuesInTheirOrder(t *testing.T) {
	text := "select ${{ params.who }}, ${{ params.n + 1 }} -- ${{ nonsense\n}}\n; select ${{ params.since }}, :x, ${{ params.full }}, ${{ 0.5 }}"
	q, faults := expression.CompileQuery(text, statement.SQLite, queryScope(t))
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	got, err := q.Values(&queryValues)
	if want := []any{"o'brien", 6, "2026-01-31", true, 0.5}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %#v, %v", got, err)
	}
	if q.Text() != text {
		t.Error("the text has changed")
	}
	if refs := q.References(); len(refs) != 4 || refs[0].Name() != "who" {
		t.Errorf("references %v", refs)
	}
}

func TestWhereNoValueCanBeBoundIsAFault(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"select '${{ params.n }}'", "an expression within quotes"},
		{"select * from \"${{ params.n }}\"", "an expression within quotes"},
		{"select ${{ params.m }}", `unknown parameter "m"`},
		{"select ?", `the placeholder ? has no value`},
		{"select ${{ params.n", `has no "}}"`},
	} {
		_, faults := expression.CompileQuery(c.text, statement.SQLite, queryScope(t))
		if len(faults) != 1 || !strings.Contains(faults[0].Error(), c.want) {
			t.Errorf("%s: got %v", c.text, faults)
		}
	}
}

func TestAnExpressionOfAQueryWithoutAValueIsAnError(t *testing.T) {
	q, _ := expression.CompileQuery("select 1, ${{ params.note }}", statement.Any, queryScope(t))
	_, err := q.Values(&queryValues)
	if fault, ok := err.(*expression.Error); !ok || fault.Kind != expression.Missing || fault.Offset < 10 {
		t.Errorf("got %v", err)
	}
}

func TestATextThatIsOneExpressionHasItsType(t *testing.T) {
	for text, want := range map[string]any{
		"${{ params.n }}": 5, "${{ params.n }} ": "5 ", "${{ params.full }}": true, "5": "5", "${{ params.since }}": "2026-01-31",
		"${{ params.n }}${{ params.n }}": "55", "${{ [1, 2] }}": "[1,2]",
	} {
		tpl, faults := expression.CompileTemplate(text, queryScope(t))
		if len(faults) > 0 {
			t.Fatal(faults)
		}
		if got, err := tpl.Value(&queryValues); err != nil || got != want {
			t.Errorf("%s: got %#v, %v", text, got, err)
		}
	}
}
