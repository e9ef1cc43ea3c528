package expression

import (
	"testing"

	"github.com/ax-scheduler/ax/dsl"
)

func TestAnOutputThatATaskCannotHaveIsUnknown(t *testing.T) {
	wf, ds := dsl.Parse("nightly.yaml", []byte(`tasks:
  child: {workflow: {name: load}}
  ask: {http: {url: "http://x"}}
  arrived: {wait_for: {file: /data/ready}}
  answered: {wait_for: {http: {url: "http://x"}}}
  rows: {sql: {db: "sqlite:x.db", query: select 1}}
  script: {run: ./a}
`))
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	scope := NewScope(wf).ForTask("", func(string) bool { return true }, false)
	for _, c := range []struct{ code, message, hint string }{
		{"tasks.child.outputs.runid", `task "child" never has an output "runid"`, `did you mean "run_id"?`},
		{"tasks.ask.outputs.code", `task "ask" never has an output "code"`, "there is status, body"},
		{"tasks.arrived.outputs.path", `task "arrived" never has an output "path"`, "there is file"},
		{"tasks.answered.outputs.file", `task "answered" never has an output "file"`, "there is status, body"},
		{"tasks.child.outputs.run_id", "", ""},
		{"tasks.ask.outputs.status + tasks.ask.outputs.body", "", ""},
		{"tasks.ask.outputs.code ?? \"none\"", "", ""},
		{"tasks.arrived.outputs.file", "", ""},
		{"tasks.rows.outputs.total", "", ""},
		{"tasks.script.outputs.total", "", ""},
	} {
		faults := Check(c.code, WantText, scope)
		switch {
		case c.message == "" && len(faults) > 0:
			t.Errorf("%s: %v", c.code, faults)
		case c.message != "" && (len(faults) != 1 || faults[0].Message != c.message || faults[0].Hint != c.hint || faults[0].Kind != UnknownReference):
			t.Errorf("%s: got %v, want %s (%s)", c.code, faults, c.message, c.hint)
		}
	}
}
