package server

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

type audited struct {
	Items []auditItem
	Next  string `json:"next_cursor"`
}

// audit gives what is recorded, the last first, as "action workflow answer by".
func (c *client) audit(query string) (all []string) {
	c.t.Helper()
	var a audited
	c.want(200, "GET", "/api/v1/audit"+query, "", &a)
	for _, i := range a.Items {
		if i.At.IsZero() || !strings.HasPrefix(i.From, "127.0.0.1:") {
			c.t.Errorf("the record %+v lacks its time or its address", i)
		}
		all = append(all, fmt.Sprintf("%s %s %s %s", i.Action, i.Workflow, i.Answer, i.By))
	}
	return all
}

func TestEveryChangeIsRecordedOnceWithWhoMadeIt(t *testing.T) {
	c := newClient(t)
	const flow = "/api/v1/workflows/flow"
	id := c.started("flow", `{"params": {"who": "fail"}}`)
	c.ended(id)
	c.want(202, "POST", "/api/v1/runs/"+id+"/retry", "{}", nil)
	c.ended(id)
	c.want(409, "POST", "/api/v1/runs/"+id+"/cancel", "{}", nil)
	c.want(404, "POST", "/api/v1/runs/gone/cancel", "{}", nil)
	c.want(422, "POST", flow+"/runs", `{"params": {"n": "many"}}`, nil)
	c.want(200, "POST", flow+"/pause", "{}", nil)
	c.want(200, "POST", flow+"/pause", "{}", nil)
	c.do("POST", flow+"/resume", "{}", "Ax-User: alice")
	c.want(200, "POST", "/api/v1/prune", `{"dry_run": true}`, nil)
	c.want(200, "POST", "/api/v1/prune", `{"workflows": ["nobody"]}`, nil)
	c.do("POST", flow+"/pause", "{}", "Origin: https://evil.example") // does not come in

	want := []string{
		"prune  done loopback", "resume flow done command line (alice)", "pause flow done loopback", "pause flow done loopback", "start flow refused loopback",
		"cancel  refused loopback", "cancel flow refused loopback", "retry flow done loopback", "start flow done loopback",
	}
	if got := c.audit(""); !slices.Equal(got, want) {
		t.Errorf("recorded is %q, want %q", got, want)
	}
	if got := c.audit("?run=" + id); !slices.Equal(got, []string{want[6], want[7], want[8]}) {
		t.Errorf("of the run %q is recorded", got)
	}
	if got := c.audit("?workflow=flow&limit=1"); !slices.Equal(got, []string{want[1]}) {
		t.Errorf("of the workflow %q is the first page", got)
	}
	var page audited
	var all []string
	for cursor := ""; ; cursor = "&cursor=" + page.Next {
		c.want(200, "GET", "/api/v1/audit?limit=2"+cursor, "", &page)
		for _, i := range page.Items {
			all = append(all, i.Action)
		}
		if page.Next == "" {
			break
		}
	}
	if len(all) != len(want) {
		t.Errorf("page by page there are %q", all)
	}
	for _, cursor := range []string{"x", "-1", "0"} {
		c.want(400, "GET", "/api/v1/audit?cursor="+cursor, "", nil)
	}
}

func TestWhatIsChangedByFormsIsRecordedAndShown(t *testing.T) {
	c := newClient(t)
	ask := c.browse()
	_, text, _ := ask("GET", "/workflows/flow", nil)
	form := url.Values{"form_token": {tokenIn(t, text)}}
	code, text, h := ask("POST", "/workflows/flow/runs", form)
	if code != http.StatusSeeOther {
		t.Fatalf("the form answers %d: %s", code, text)
	}
	form.Set("do", "plan")
	form.Set("from", "2026-01-01")
	form.Set("to", "2026-01-01")
	ask("POST", "/workflows/flow/backfill", form) // changes nothing
	if got := c.audit(""); !slices.Equal(got, []string{"start flow done loopback"}) {
		t.Errorf("recorded is %q", got)
	}
	for _, path := range []string{"/workflows/flow", h.Get("Location")} {
		if _, text, _ := ask("GET", path, nil); !strings.Contains(text, "Who did what") || !strings.Contains(text, "start</a> by loopback") {
			t.Errorf("%s does not say who started it", path)
		}
	}
}

func TestSignInsAndWhatIsOnlyAskedAreNotRecorded(t *testing.T) {
	c := newClient(t, func(s *Server) { s.Tokens = []Token{NewToken(Operator, "act")} })
	c.browse()("POST", "/login", url.Values{"token": {"wrong"}})
	c.do("POST", "/api/v1/workflows/flow/pause", "{}") // nobody
	var a audited
	if code, _, text := c.do("GET", "/api/v1/audit", "", "Authorization: Bearer act"); code != 200 || !strings.Contains(text, `"items":[]`) {
		t.Errorf("the audit is %d %s %+v", code, text, a)
	}
}

func TestEveryRouteThatChangesSomethingHasAnAction(t *testing.T) {
	c := newClient(t)
	var doc struct{ Paths map[string]map[string]any }
	c.want(200, "GET", "/api/v1/openapi.json", "", &doc)
	for path, methods := range doc.Paths {
		for method := range methods {
			if method != "get" && actions[strings.TrimPrefix(path, "/api/v1")] == "" {
				t.Errorf("%s %s changes something, and is recorded as nothing", method, path)
			}
		}
	}
	source, err := os.ReadFile("ui.go")
	if err != nil {
		t.Fatal(err)
	}
	forms := regexp.MustCompile(`"POST (/[^"]*)"`).FindAllStringSubmatch(string(source), -1)
	for _, m := range forms {
		if m[1] != "/login" && m[1] != "/logout" && actions[m[1]] == "" {
			t.Errorf("the form of %s changes something, and is recorded as nothing", m[1])
		}
	}
	if len(forms) < 8 {
		t.Errorf("only %d forms were found", len(forms))
	}
}
