package server

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/store"
)

// fillable is a store whose disk can be full.
type fillable struct {
	store.Store
	full atomic.Bool
}

func (f *fillable) Commit(ctx context.Context, b *store.Batch) error {
	if f.full.Load() {
		return fmt.Errorf("write: %w; free some space", store.ErrFull)
	}
	return f.Store.Commit(ctx, b)
}

func TestARequestThatFindsTheDiskFullIsToldSoAndCanBeSentAgain(t *testing.T) {
	disk := &fillable{Store: &store.Memory{}}
	c := newClient(t, func(s *Server) { s.Store, s.Engine.Store = disk, disk })
	const starts = "/api/v1/workflows/flow/runs"

	disk.full.Store(true)
	var told struct{ Detail string }
	c.want(http.StatusServiceUnavailable, "POST", starts, "{}", &told)
	if !strings.Contains(told.Detail, store.ErrFull.Error()+"; free some space") {
		t.Errorf("with a full disk the answer says %q", told.Detail)
	}

	disk.full.Store(false)
	c.want(http.StatusCreated, "POST", starts, "{}", nil)
}

func TestEveryChangeThatFindsTheDiskFullIsToldSo(t *testing.T) {
	disk := &fillable{Store: &store.Memory{}}
	c := newClient(t, flows(t, "name: flow\nevery: 1h\nparams: {who: you}\ntasks:\n  a: {run: 'test $AX_PARAM_WHO = you || sleep 60'}\n"),
		func(s *Server) { s.Store, s.Engine.Store, s.Retention = disk, disk, runtime.Retention{Runs: 1} })
	c.ended(c.started("flow", "{}"))
	ended := c.started("flow", "{}")
	c.ended(ended)
	going := c.started("flow", `{"params": {"who": "me"}}`)
	delayed := c.started("flow", `{"delay": "1h"}`)
	ask := c.browse()
	_, page, _ := ask("GET", "/workflows/flow", nil)
	token := tokenIn(t, page)

	disk.full.Store(true)
	for path, body := range map[string]string{
		"/workflows/flow/runs": "{}", "/workflows/flow/backfill": `{"from": "2026-01-01", "to": "2026-01-01"}`, "/workflows/flow/pause": "{}",
		"/runs/" + ended + "/retry": `{"tasks": ["a"]}`, "/runs/" + going + "/cancel": "{}", "/runs/" + delayed + "/cancel": "{}", "/prune": "{}",
	} {
		var told struct{ Detail string }
		if c.want(http.StatusServiceUnavailable, "POST", "/api/v1"+path, body, &told); !strings.Contains(told.Detail, "free some space") {
			t.Errorf("%s says %q", path, told.Detail)
		}
		if path == "/prune" {
			continue
		}
		form := url.Values{"form_token": {token}, "from": {"2026-01-01"}, "to": {"2026-01-01"}, "do": {"fill"}, "task": {"a"}}
		if code, text, _ := ask("POST", path, form); code != http.StatusServiceUnavailable || !strings.Contains(text, "free some space") {
			t.Errorf("the form of %s is answered %d: %s", path, code, text)
		}
	}
	disk.full.Store(false)
	if rep := c.ended(going); rep.State != "cancelled" {
		t.Errorf("once there is room the run is %s", rep.State)
	}
	cancels := 0
	for _, line := range c.audit("?run=" + going) {
		if line == "cancel flow done loopback" {
			cancels++
		}
	}
	if cancels != 2 { // by the API and by the form: the second one stops handlers too
		t.Errorf("of the run is recorded %q", c.audit("?run="+going))
	}
}
