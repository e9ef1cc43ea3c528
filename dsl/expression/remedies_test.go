package expression

import (
	"testing"

	"github.com/ax-scheduler/ax/dsl"
)

func TestTheHelpOfAnExpressionShowsWhatWasMeant(t *testing.T) {
	wf, _ := dsl.Parse("nightly.yaml", []byte("params: {region: eu}\ntasks: {load: {run: ls}, enrich: {run: ls}}\n"))
	scope := NewScope(wf).ForTask("", func(string) bool { return true }, false)
	for _, c := range []struct {
		code, message, hint string
		offset              int
	}{
		{`${{ params.region }} == "eu"`, `"${{" has no place within an expression`, `write it without the brackets: params.region == "eu"`, 0},
		{`params.region == ${{ params.region }}`, `"${{" has no place within an expression`, "write it without the brackets: params.region == params.region", 17},
		{`params.region == eu`, `unknown name "eu"`, `if it is a text, put it into quotes: "eu"`, 17},
		{`params.region == region`, `unknown name "region"`, `did you mean "params.region"?`, 17},
		{`params.region == "a" } … ${{ tasks.enrich.state`, `one "}" does not end an expression`, `write "}}"`, 21},
		{`params.region == $REGION`, `"$" means nothing in an expression`, "a variable is env.REGION", 17},
	} {
		faults := Check(c.code, WantBool, scope)
		if len(faults) != 1 || faults[0].Message != c.message || faults[0].Hint != c.hint || faults[0].Offset != c.offset {
			t.Errorf("%s\ngot  %v\nwant %s (%s)", c.code, faults, c.message, c.hint)
			for _, f := range faults {
				t.Logf("%d %s (%s)", f.Offset, f.Message, f.Hint)
			}
		}
	}
}
