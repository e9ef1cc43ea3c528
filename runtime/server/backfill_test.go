package server

import (
	"bytes"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ax-scheduler/ax/runtime"
)

// journal is a log that may be read while it is written.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

const twoRegions = `name: flow
timezone: UTC
params: {region: eu}
cron: [{cron: "0 6 * * *", params: {region: eu}}, {cron: "0 6 * * *", params: {region: cn}}]
tasks:
  a: {run: "true"}
`

func TestADryBackfillAnswersWithoutRunsAndIsNoChange(t *testing.T) {
	log := &journal{}
	c := newClient(t, flows(t, twoRegions), func(s *Server) { s.Log = slog.New(slog.NewTextHandler(log, nil)) })
	const path = "/api/v1/workflows/flow/backfill"
	tomorrow := time.Now().UTC().AddDate(0, 0, 2).Format(time.DateOnly)
	var l runtime.FilledList
	c.want(200, "POST", path, `{"from": "2026-01-01", "to": "2026-01-02", "dry_run": true}`, &l)
	if len(l.Items) != 4 || l.LeftOut != 0 {
		t.Fatalf("it answers %+v", l)
	}
	for _, i := range l.Items {
		if i.Run != nil || i.State != "would run" || i.Left {
			t.Errorf("a planned run is %+v", i)
		}
	}
	if _, _, text := c.do("POST", path, `{"from": "2026-01-01", "to": "2026-01-01", "dry_run": true}`); !strings.Contains(text, `"run":null`) ||
		!strings.Contains(text, `"schedule":"0 6 * * * region=cn","tasks":[],"params":{"region":"cn"}`) {
		t.Errorf("it answers %s", text)
	}
	c.want(422, "POST", path, `{"from": "2026-01-02", "to": "2026-01-01", "dry_run": true}`, nil)
	c.want(404, "POST", "/api/v1/workflows/gone/backfill", `{"from": "2026-01-01", "to": "2026-01-01", "dry_run": true}`, nil)
	c.want(422, "POST", path, `{"from": "`+tomorrow+`", "to": "`+tomorrow+`", "dry_run": true}`, nil)
	if got := c.audit(""); len(got) > 0 || strings.Contains(log.String(), "msg=change") {
		t.Errorf("recorded is %q, and logged %q", got, log)
	}

	c.want(202, "POST", path, `{"from": "2026-01-01", "to": "2026-01-01"}`, &l)
	for _, i := range l.Items {
		if i.Run == nil || i.State != "queued" {
			t.Fatalf("a run that is made is %+v", i)
		}
		c.ended(*i.Run)
	}
	c.want(200, "POST", path, `{"from": "2026-01-01", "to": "2026-01-02", "dry_run": true}`, &l)
	if l.Items[0].Run == nil || l.Items[0].State != "succeeded" || !l.Items[0].Left || l.Items[2].Run != nil {
		t.Errorf("beside runs that are there it answers %+v", l)
	}
	from := time.Now().UTC().AddDate(0, 0, -2).Format(time.DateOnly)
	c.want(200, "POST", path, `{"from": "`+from+`", "to": "`+tomorrow+`", "dry_run": true}`, &l)
	if l.LeftOut < 4 || !strings.Contains(l.Reason, "still to come") || len(l.Items)+l.LeftOut != 10 {
		t.Errorf("of ticks that are still to come it tells %d, %q", l.LeftOut, l.Reason)
	}
	if got := c.audit(""); len(got) != 1 || !strings.Contains(log.String(), "msg=change") {
		t.Errorf("recorded is %q, and logged %q", got, log)
	}
}

func TestThePageShowsAPlannedBackfillWithoutLinksToRuns(t *testing.T) {
	c := newClient(t, flows(t, twoRegions))
	ask := c.browse()
	_, page, _ := ask("GET", "/workflows/flow", nil)
	form := url.Values{"form_token": {tokenIn(t, page)}, "do": {"plan"}, "from": {"2026-01-01"}, "to": {time.Now().UTC().AddDate(0, 0, 2).Format(time.DateOnly)}}
	_, page, _ = ask("POST", "/workflows/flow/backfill", form)
	for _, want := range []string{"0 6 * * * region=cn region=cn", "left out: still to come"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if strings.Contains(page, `href="/runs/`) {
		t.Error("the page links to a run that is only planned")
	}
	form.Set("do", "fill")
	form.Set("to", "2026-01-01")
	_, page, _ = ask("POST", "/workflows/flow/backfill", form)
	if strings.Count(page, `<a class="mono" href="/runs/`) < 2 {
		t.Error("the page does not link to the runs that were made")
	}
}
