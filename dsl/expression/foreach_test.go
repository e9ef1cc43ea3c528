package expression

import (
	"testing"

	"github.com/ax-scheduler/ax/dsl"
)

// The outputs of a task with foreach are lists; those of the attempt that
// retry.if asks about are texts.
func TestTheOutputsOfAForeachAreLists(t *testing.T) {
	foreach := &dsl.Foreach{Expr: val("[1]")}
	wf := &dsl.Workflow{Tasks: []dsl.Task{{ID: val("each"), Foreach: foreach}, {ID: val("none"), Foreach: foreach}, {ID: val("left-out"), Foreach: foreach}, {ID: val("me"), Foreach: foreach}, {ID: val("absent"), Foreach: foreach}, {ID: val("one")}}}
	scope := NewScope(wf).ForTask("me", func(string) bool { return true }, true)
	values := &Values{Tasks: map[string]Task{
		"each":     {State: "succeeded", Each: &Each{Count: 3, Outputs: map[string][]any{"rows": {"1", nil, "3"}}}},
		"none":     {State: "succeeded", Each: &Each{}},
		"left-out": {State: "skipped"},
		"absent":   {State: "pending", Absent: true},
		"one":      {State: "pending", Absent: true},
		"me":       {State: "failed", Outputs: map[string]string{"rows": "7"}},
	}}
	for _, c := range []struct{ code, want string }{
		{"tasks.each.outputs.rows", `["1",null,"3"]`},
		{"tasks.each.outputs.rows[2]", "3"},
		{"tasks.each.outputs.rows[index]", "1"},
		{"len(tasks.each.outputs.rows)", "3"},
		{`join(filter(tasks.each.outputs.rows, # != nil), "+")`, "1+3"},
		{"tasks.each.outputs", `{"rows":["1",null,"3"]}`},
		{"tasks.none.outputs.rows", "[]"},
		{"tasks.none.outputs", "{}"},
		{"tasks.left-out.outputs", "{}"},
		{`tasks.left-out.outputs.rows ?? "gone"`, "gone"},
		{`tasks.each.outputs.gone ?? "gone"`, "gone"},
		{"tasks.me.outputs.rows", "7"},
	} {
		p, err := Compile(c.code, WantText, scope)
		if err != nil {
			t.Errorf("%s: %v", c.code, err)
			continue
		}
		if got, err := p.text(values); err != nil || got != c.want {
			t.Errorf("%s is %s, %v; want %s", c.code, got, err, c.want)
		}
	}
	for code, want := range map[string]string{
		"tasks.each.outputs.row":          `no instance of task "each" has an output "row"`,
		"tasks.absent.outputs.rows":       `task "absent" is not part of this run and has no output "rows"`,
		"tasks.one.outputs.rows":          `task "one" is not part of this run and has no output "rows"`,
		"tasks.one.exit_code":             `task "one" is not part of this run and has no exit code`,
		"tasks.left-out.outputs.rows":     `task "left-out" has no output "rows"`,
		"int(tasks.each.outputs.rows[1])": "int needs an int, a float or a string, but got nothing",
	} {
		p, err := Compile(code, WantText, scope)
		if err == nil {
			_, err = p.text(values)
		}
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", code, err, want)
		}
	}
	if _, err := Compile("int(tasks.each.outputs.rows)", WantText, scope); err == nil {
		t.Error("a list was taken for a string")
	}
}
