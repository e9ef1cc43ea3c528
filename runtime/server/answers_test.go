package server

import (
	"encoding/json"
	"testing"
)

func TestWhatIsNotThereIsToldOnce(t *testing.T) {
	c := newClient(t)
	run := c.started("flow", "{}")
	c.ended(run)
	for _, k := range []struct{ name, method, path, want string }{
		{"a run", "GET", "/api/v1/runs/nosuch", `there is no run "nosuch"`},
		{"a run to cancel", "POST", "/api/v1/runs/nosuch/cancel", `there is no run "nosuch"`},
		{"a run to retry", "POST", "/api/v1/runs/nosuch/retry", `there is no run "nosuch"`},
		{"a workflow whose file has errors", "POST", "/api/v1/workflows/broken/runs", `no workflow "broken" is loaded: broken.yaml:3:7: unknown key "runn" in task "a"`},
		{"a workflow that no file has", "POST", "/api/v1/workflows/nosuch/runs", `no workflow "nosuch" is loaded`},
		{"a task with a log", "GET", "/api/v1/runs/" + run + "/tasks/nosuch/log", "run " + run + ` has no task "nosuch"`},
		{"an attempt", "GET", "/api/v1/runs/" + run + "/tasks/a/log?attempt=9", `task "a" of run ` + run + " has no such attempt"},
	} {
		t.Run(k.name, func(t *testing.T) {
			body := ""
			if k.method == "POST" {
				body = "{}"
			}
			code, _, text := c.do(k.method, k.path, body)
			var problem struct{ Detail string }
			if err := json.Unmarshal([]byte(text), &problem); err != nil || code != 404 || problem.Detail != k.want {
				t.Errorf("it is answered %d %s, want %q", code, text, k.want)
			}
		})
	}
}

func TestARequestWithNothingToSayNeedsNoBody(t *testing.T) {
	c := newClient(t)
	run := c.started("flow", "")
	c.ended(run)
	failed := c.started("flow", `{"params": {"who": "fail"}}`)
	c.ended(failed)
	c.want(202, "POST", "/api/v1/runs/"+failed+"/retry", "", nil)
	if rep := c.ended(failed); rep.Tasks[0].Attempts != 2 {
		t.Errorf("the retried task has %d attempts", rep.Tasks[0].Attempts)
	}
	c.want(422, "POST", "/api/v1/runs/"+failed+"/retry", `{"task": "a"}`, nil)
	c.want(400, "POST", "/api/v1/runs/"+failed+"/retry", "x", nil)
}
