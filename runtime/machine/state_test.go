package machine

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// steps gives the states that a task may go to in one event. The worlds hold
// the machine to it.
var steps = map[TaskState][]TaskState{
	Pending:  {Ready, Succeeded, Failed, Skipped, Cancelled},
	Ready:    {Running, Succeeded, Failed, Skipped, Cancelled},
	Running:  {Ready, Retrying, Succeeded, Failed, Skipped, Cancelled},
	Retrying: {Ready, Cancelled},
}

func TestTheCommentOnTaskStatesSaysWhatTheyDo(t *testing.T) {
	var want strings.Builder
	for _, s := range []TaskState{Pending, Ready, Running, Retrying} {
		var to []string
		for _, next := range steps[s] {
			to = append(to, next.String())
		}
		fmt.Fprintf(&want, "//\tfrom %s to %s\n", s, strings.Join(to, ", "))
	}
	source, err := os.ReadFile("state.go")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(source), want.String()) {
		t.Errorf("state.go does not say\n%s", want.String())
	}
}

func TestEveryStepIsTaken(t *testing.T) {
	s := newScript(t, `
max_parallel: 9
tasks:
  asks: {when: "true"}
  breaks: {when: "true"}
  skips: {when: "true"}
  waits: {depends_on: cancelled}
  busy: {pool: {name: db, busy: skip}}
  slot: {pool: db}
  ok: {}
  fails: {}
  code: {skip_codes: [4]}
  cancelled: {}
  again: {retry: {max: 1, delay: 1m}}
  later: {retry: {max: 1, delay: 1m}}
  at_once: {retry: {max: 1, delay: 0}}
`)
	s.full["db"] = true
	for _, event := range []string{
		"start", "asks when true", "breaks when broken", "skips when false", "busy busy", "ok ok", "fails exit 1",
		"code exit 4", "again exit 1", "later exit 1", "again due", "at_once exit 1", "cancel", "cancelled ok stopped",
	} {
		s.apply(s.event(strings.Fields(event)))
		s.startAll()
	}
	each := newScript(t, `
tasks:
  none: {foreach: "[]"}
  mends: {foreach: x, pool: {name: db, busy: skip}}
  fails: {foreach: x, pool: {name: db, busy: skip}}
`)
	each.taken = s.taken
	for _, event := range []string{
		"start", "none items broken", "mends items ab", "fails items ab",
		"mends[0] ok", "mends[1] exit 1", "fails[0] exit 1", "fails[1] exit 1",
	} {
		each.apply(each.event(strings.Fields(event)))
		each.startAll()
	}
	each.full["db"] = true
	for _, event := range []string{
		"retry none mends[1] fails[1]", "mends[1] busy", "fails[1] busy", "none items -",
	} {
		each.apply(each.event(strings.Fields(event)))
		each.startAll()
	}
	for from, tos := range steps {
		for _, to := range tos {
			if !s.taken[[2]TaskState{from, to}] {
				t.Errorf("the step from %s to %s is not taken", from, to)
			}
		}
	}
}

func TestNamesOfStatesAreReadBack(t *testing.T) {
	for s := Pending; s <= Cancelled; s++ {
		if got, err := ParseTaskState(s.String()); err != nil || got != s {
			t.Errorf("%s is read as %s, %v", s, got, err)
		}
	}
	for s := RunScheduled; s <= RunSkipped; s++ {
		if got, err := ParseRunState(s.String()); err != nil || got != s {
			t.Errorf("%s is read as %s, %v", s, got, err)
		}
	}
	if _, err := ParseTaskState("done"); err == nil || err.Error() != `unknown task state "done"` {
		t.Errorf("got %v", err)
	}
	if _, err := ParseRunState(""); err == nil || err.Error() != `unknown run state "": it is one of scheduled, queued, running, succeeded, failed, cancelled, skipped` {
		t.Errorf("got %v", err)
	}
}
