package expression

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestATemplateGivesItsTextWithTheValuesInIt(t *testing.T) {
	values := someValues(t)
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"plain $ { } }} text", "plain $ { } }} text"},
		{"${{ params.region }}", "cn"},
		{"${{params.region}}", "cn"},
		{"a ${{ params.region }} b ${{ params.n + 1 }} c", "a cn b 8 c"},
		{"${{ params.region }}${{ params.region }}", "cncn"},
		{"${{ '}}' }}|${{ \"}}\" }}|${{ `}}` }}", "}}|}}|}}"},
		{`${{ '\'}}' }}`, "'}}"},
		{`${{ toJSON({"a": {"b": 1}}) }}`, `{"a":{"b":1}}`},
		{"${{\n  params.region\n}}", "cn"},
		{`${{ "${{" }} x }}`, "${{ x }}"},
		{"é${{ 'é' }}é", "ééé"},
		{"${{ [1, 2] }} ${{ params.pause }}", "[1,2] 1h30m"},
	} {
		x, faults := CompileTemplate(c.text, inTask())
		if faults != nil {
			t.Errorf("%q: %v", c.text, faults)
			continue
		}
		if got, err := x.Text(values); got != c.want || err != nil {
			t.Errorf("%q gives %q, %v, want %q", c.text, got, err, c.want)
		}
		if x.Constant() != !strings.Contains(c.text, "${{") {
			t.Errorf("%q is constant: %v", c.text, x.Constant())
		}
	}
}

func TestAllFaultsOfATemplateAreGivenWithTheirPlaces(t *testing.T) {
	text := "é ${{ params.regoin }} and ${{ }}, ${{ params.region }} ${{ 1 + 'a' }} ${{ tasks.later.state"
	_, faults := CompileTemplate(text, inTask())
	var got []string
	for _, e := range faults {
		got = append(got, fmt.Sprintf("%q: %s", under(text, e), e.Message))
	}
	want := `"params.regoin": unknown parameter "regoin"
"${{ }}": the expression is empty
"1 + 'a'": cannot apply "+" to an int and a string
"${{": "${{" has no "}}"`
	if strings.Join(got, "\n") != want {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
	if err := faults.Err(); err == nil || strings.Count(err.Error(), "\n") != 3 {
		t.Errorf("the faults as an error: %v", err)
	}
	if Errors(nil).Err() != nil {
		t.Error("no faults are an error")
	}
}

func TestATemplateWithoutAValueNamesThePlace(t *testing.T) {
	text := "é ${{ params.region }} ${{ 'é' + tasks.load.outputs.none }}"
	x, faults := CompileTemplate(text, inTask())
	if faults != nil {
		t.Fatal(faults)
	}
	_, err := x.Text(someValues(t))
	if at := under(text, asError(t, err)); at != "tasks.load.outputs.none" {
		t.Errorf("it points at %q", at)
	}
	if got := fmt.Sprint(x.References()); got != "[[params region] [tasks load outputs none]]" {
		t.Errorf("references %s", got)
	}
}

func TestEachArgumentStaysOne(t *testing.T) {
	var templates []*Template
	for _, text := range []string{"sh", "-c", "a ${{ params.region }}", "${{ '' }}", "${{ env.ODD }}"} {
		x, faults := CompileTemplate(text, inTask())
		if faults != nil {
			t.Fatal(faults)
		}
		templates = append(templates, x)
	}
	values := someValues(t)
	values.Env["ODD"] = "a b\n*'\""
	args, bad, err := Args(templates, values)
	if got, want := fmt.Sprintf("%q", args), `["sh" "-c" "a cn" "" "a b\n*'\""]`; got != want || bad != -1 || err != nil {
		t.Errorf("got %s, %d, %v, want %s", got, bad, err, want)
	}
	values.Env["ODD"] = "a\x00b"
	_, bad, err = Args(templates, values)
	if e := asError(t, err); bad != 4 || e.Message != "argument 4 holds a NUL character" {
		t.Errorf("argument %d: %s", bad, e.Message)
	}
	delete(values.Env, "ODD")
	_, bad, err = Args(templates, values)
	if e := asError(t, err); bad != 4 || e.Kind != Missing || e.Offset != 4 {
		t.Errorf("argument %d: %s at %d", bad, e.Message, e.Offset)
	}
}

// jsonValue draws what JSON can hold.
func jsonValue(depth int) *rapid.Generator[any] {
	plain := []*rapid.Generator[any]{
		rapid.Just[any](nil), rapid.Bool().AsAny(), rapid.Int().AsAny(), rapid.String().AsAny(),
		rapid.Custom(func(t *rapid.T) any { return float64(rapid.IntRange(-1e6, 1e6).Draw(t, "n")) + 0.5 }),
	}
	if depth > 0 {
		plain = append(plain, rapid.SliceOfN(jsonValue(depth-1), 0, 3).AsAny(),
			rapid.MapOfN(rapid.String(), jsonValue(depth-1), 0, 3).AsAny())
	}
	return rapid.OneOf(plain...)
}

func TestJSONComesBackAsItWas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := jsonValue(3).Draw(t, "value")
		text, err := JSON(v)
		if err != nil {
			t.Fatal(err)
		}
		back, err := ParseJSON(text)
		if err != nil {
			t.Fatal(err)
		}
		m := &machine{left: budget}
		if same, err := m.equal(v, back); !same || err != nil {
			t.Fatalf("%#v became %s and then %#v", v, text, back)
		}
	})
}
