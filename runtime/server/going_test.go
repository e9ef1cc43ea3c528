package server

import (
	"maps"
	"slices"
	"testing"

	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/runtime/reload"
)

// What is going is among the running jobs and counted by the health, until it is
// cancelled.
func TestWhatIsGoingIsToldUntilItIsCancelled(t *testing.T) {
	c := newClient(t)
	now := *c.catalog.Load()
	now.Workflows = maps.Clone(now.Workflows)
	now.Workflows["long"] = reload.Check("long.yaml", []byte("name: long\ntasks:\n  a: {run: sleep 600, retry: {max: 1}}\n  b: {run: 'true', depends_on: a}\n")).Keep()
	c.catalog.Store(&now)
	type health struct {
		QueueDepth    int     `json:"queue_depth"`
		ActiveWorkers int     `json:"active_workers"`
		SuccessRate   float64 `json:"success_rate"`
	}
	going := func() (ids []string) {
		var jobs struct{ Items []runtime.Report }
		c.want(200, "GET", "/jobs/running", "", &jobs)
		for _, r := range jobs.Items {
			ids = append(ids, r.ID)
		}
		return ids
	}
	told := func(want health) {
		t.Helper()
		var h health
		for { // an attempt begins and ends a moment after its run is known
			if c.want(200, "GET", "/healthz", "", &h); h.ActiveWorkers == want.ActiveWorkers {
				break
			}
		}
		if h != want {
			t.Errorf("the health is %+v, want %+v", h, want)
		}
	}
	told(health{0, 0, 1})
	id := c.started("long", "{}")
	second := c.started("long", "{}") // waits behind max_active
	told(health{1, 1, 1})
	if ids := going(); !slices.Equal(ids, []string{second, id}) {
		t.Errorf("going is %q, want %s, which waits its turn, and %s", ids, second, id)
	}
	for _, id := range []string{second, id} {
		c.want(202, "POST", "/api/v1/runs/"+id+"/cancel", "{}", nil)
		if rep := c.ended(id); rep.State != "cancelled" || rep.Tasks[0].State != "cancelled" || rep.Tasks[1].State != "cancelled" {
			t.Errorf("the cancelled run is %+v", rep)
		}
	}
	told(health{0, 0, 0})
	if ids := going(); len(ids) > 0 {
		t.Errorf("still going is %q", ids)
	}
}
