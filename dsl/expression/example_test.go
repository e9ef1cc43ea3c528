package expression_test

import (
	"fmt"
	"time"

	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/dsl/expression"
)

// nightly is a workflow with a parameter and two tasks.
func nightly() *dsl.Workflow {
	name := func(s string) dsl.Value[string] { return dsl.Value[string]{V: s} }
	return &dsl.Workflow{
		Params: []dsl.Param{{Name: name("region"), Type: dsl.Value[dsl.ParamType]{V: dsl.ParamString}}},
		Tasks:  []dsl.Task{{ID: name("load")}, {ID: name("report")}},
	}
}

func Example() {
	scope := expression.NewScope(nightly()).ForTask("report", func(id string) bool { return id == "load" }, false)
	when, err := expression.Compile(`tasks.load.state == "succeeded" and int(tasks.load.outputs.rows) > 0`, expression.WantBool, scope)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(when.Eval(&expression.Values{
		Tasks: map[string]expression.Task{"load": {State: "succeeded", Outputs: map[string]string{"rows": "12"}}},
	}))
	// Output: true <nil>
}

func ExampleCompileTemplate() {
	url, faults := expression.CompileTemplate("https://example.com/${{ params.region }}/${{ addDays(run.date, -1) }}", expression.NewScope(nightly()))
	if faults != nil {
		fmt.Println(faults)
		return
	}
	fmt.Println(url.Text(&expression.Values{
		Params: map[string]string{"region": "cn"},
		Run:    expression.Run{ScheduledFor: time.Date(2026, 3, 1, 2, 30, 0, 0, time.UTC)},
	}))
	// Output: https://example.com/cn/2026-02-28 <nil>
}

func ExampleCompileScript() {
	script, faults := expression.CompileScript(expression.Sh, `./extract.sh ${{ params.region }} "for ${{ params.region }}"`, expression.NewScope(nightly()))
	if faults != nil {
		fmt.Println(faults)
		return
	}
	fmt.Println(script.Text())
	fmt.Println(script.Env(&expression.Values{Params: map[string]string{"region": "a; rm -rf /"}}))
	// Output:
	// ./extract.sh "${AX_EXPR_1}" "for ${AX_EXPR_1}"
	// [AX_EXPR_1=a; rm -rf /] <nil>
}

func ExampleError() {
	_, err := expression.Compile("params.regoin", expression.WantText, expression.NewScope(nightly()))
	e := err.(*expression.Error)
	fmt.Printf("%d+%d: %s [%s]\n= help: %s\n", e.Offset, e.Width, e.Message, e.Kind.Rule(), e.Hint)
	// Output:
	// 0+13: unknown parameter "regoin" [unknown-reference]
	// = help: did you mean "params.region"?
}
