package expression

import (
	"errors"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/ax-scheduler/ax/dsl"
)

func val(s string) dsl.Value[string] { return dsl.Value[string]{V: s, Pos: dsl.Pos{Line: 1, Col: 1}} }

func param(name string, t dsl.ParamType) dsl.Param {
	return dsl.Param{Name: val(name), Type: dsl.Value[dsl.ParamType]{V: t}}
}

// workflow declares a bit of everything; a, a-b and b exist as parameters, so
// that hyphens are ambiguous.
var workflow = &dsl.Workflow{
	Params: []dsl.Param{
		param("region", dsl.ParamString), param("my-key", dsl.ParamString), param("n", dsl.ParamInt),
		param("a", dsl.ParamInt), param("b", dsl.ParamInt), param("a-b", dsl.ParamInt),
		param("ratio", dsl.ParamFloat), param("on", dsl.ParamBool), param("day", dsl.ParamDate), param("pause", dsl.ParamDuration),
		param("unset", dsl.ParamString),
	},
	Secrets: []dsl.Secret{{Name: val("TOKEN")}},
	Tasks:   []dsl.Task{{ID: val("load")}, {ID: val("my-task")}, {ID: val("later")}, {ID: val("me")}},
}

// inTask is the scope of the task me, which has a foreach and the upstreams
// load and my-task.
func inTask() *Scope {
	return NewScope(workflow).ForTask("me", func(id string) bool { return id == "load" || id == "my-task" }, true)
}

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// someValues fit the workflow. The run is scheduled for 03:00 on the day on
// which New York changes its clocks.
func someValues(t testing.TB) *Values {
	code := 3
	return &Values{
		Params: map[string]string{"region": "cn", "my-key": "k", "n": "7", "a": "10", "b": "3", "a-b": "100",
			"ratio": "2.50", "on": "true", "day": "2026-01-31", "pause": "1h30m"},
		Env:     map[string]string{"HOME": "/root", "EMPTY": ""},
		Secrets: map[string]string{"TOKEN": "s3cret"},
		Run:     Run{ID: "r1", Workflow: "nightly", Trigger: "cron", ScheduledFor: time.Date(2026, 3, 8, 7, 0, 0, 0, time.UTC)},
		Tasks: map[string]Task{
			"load": {State: "succeeded", Outputs: map[string]string{"rows": "12", "my-out": "x", "ok": "true",
				"files": `["a.csv","b.csv"]`, "info": `{"name":"n","size":3,"none":null,"ratio":0.5}`}},
			"my-task": {State: "failed", ExitCode: &code, Error: "exit code 3: no such file"},
		},
		Item:  map[string]any{"name": "first", "size": 2},
		Index: 4,
		Zone:  zone(t, "America/New_York"),
	}
}

// asError takes an error that must be one of this package.
func asError(t testing.TB, err error) *Error {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("error %v (%T), want an *Error", err, err)
	}
	return e
}
