package server

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/ax-scheduler/ax/runtime/reload"
)

// records is where a server's log goes.
type records struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (r *records) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.all.Write(p)
}

func (r *records) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.all.String()
}

// browse asks as a browser does, and keeps cookies.
func (c *client) browse() func(method, path string, form url.Values, headers ...string) (int, string, http.Header) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		c.t.Fatal(err)
	}
	browser := &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	c.t.Cleanup(browser.CloseIdleConnections)
	return func(method, path string, form url.Values, headers ...string) (int, string, http.Header) {
		c.t.Helper()
		r, err := http.NewRequest(method, c.base+path, strings.NewReader(form.Encode()))
		if err != nil {
			c.t.Fatal(err)
		}
		r.Header.Set("Accept", "text/html,*/*")
		if method == "POST" {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		for _, h := range headers {
			name, value, _ := strings.Cut(h, ": ")
			r.Header.Set(name, value)
		}
		a, err := browser.Do(r)
		if err != nil {
			c.t.Fatal(err)
		}
		defer a.Body.Close()
		text, err := io.ReadAll(a.Body)
		if err != nil {
			c.t.Fatal(err)
		}
		return a.StatusCode, string(text), a.Header
	}
}

var formToken = regexp.MustCompile(`name="form_token" value="([^"]+)"`)

func tokenIn(t *testing.T, page string) string {
	t.Helper()
	m := formToken.FindStringSubmatch(page)
	if m == nil {
		t.Fatalf("the page has no form: %.500s", page)
	}
	return m[1]
}

func TestFormsAreOnlyTakenFromThePagesOfThisServer(t *testing.T) {
	var log records
	c := newClient(t, func(s *Server) { s.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	mine, theirs := c.browse(), c.browse()
	_, page, _ := mine("GET", "/workflows/flow", nil)
	_, other, _ := theirs("GET", "/workflows/flow", nil)
	good := tokenIn(t, page)
	for _, f := range []struct {
		code   int
		token  string
		header string
	}{
		{403, "", "A: b"},
		{403, "x", "A: b"},
		{403, tokenIn(t, other), "A: b"},
		{403, good, "Origin: https://evil.example"},
		{403, good, "Origin: null"},
		{403, good, "Sec-Fetch-Site: cross-site"},
		{415, good, "Content-Type: text/plain"},
		{415, good, "Content-Type: multipart/form-data; boundary=x"},
		{303, good, "Origin: " + c.base},
		{422, good, "Params: bad"},
	} {
		form := url.Values{"form_token": {f.token}, "p.who": {"you"}, "p.n": {"1"}}
		if f.code == 422 {
			form.Set("p.n", "many")
		}
		code, text, h := mine("POST", "/workflows/flow/runs", form, f.header)
		if code != f.code {
			t.Errorf("with the token %q and %s it answered %d, want %d", f.token, f.header, code, f.code)
		}
		if code == 422 && (!strings.Contains(text, "many") || !strings.Contains(text, `value="you"`)) {
			t.Errorf("the form does not come back as it was sent: %s", text)
		}
		if policy := h.Get("Content-Security-Policy"); strings.Contains(policy, "unsafe") || !strings.Contains(policy, "frame-ancestors 'none'") {
			t.Errorf("the policy is %q", policy)
		}
	}
	// The API takes no forms, whatever is in them.
	if code, _, _ := mine("POST", "/api/v1/workflows/flow/runs", url.Values{"form_token": {good}}); code != 415 {
		t.Errorf("the API answered a form with %d", code)
	}
	var list struct {
		Items []struct{ Params map[string]string }
	}
	c.want(200, "GET", "/api/v1/runs", "", &list)
	if len(list.Items) != 1 || list.Items[0].Params["who"] != "you" {
		t.Errorf("the runs are %+v", list.Items)
	}
	if text := log.String(); strings.Count(text, "msg=change by=loopback") != 2 || !strings.Contains(text, "path=/workflows/flow/runs answer=303") {
		t.Errorf("the log of changes is %s", text)
	}
}

func TestASessionHasTheRoleOfItsToken(t *testing.T) {
	var log records
	c := newClient(t, func(s *Server) {
		s.Tokens = []Token{NewToken(Reader, "look"), NewToken(Operator, "act")}
		s.Log = slog.New(slog.NewTextHandler(&log, nil))
	})
	browser := c.browse()
	code, _, h := browser("GET", "/runs?state=failed", nil)
	if code != 303 || h.Get("Location") != "/login?next=%2Fruns%3Fstate%3Dfailed" {
		t.Errorf("a page without a token answered %d %s", code, h.Get("Location"))
	}
	_, page, _ := browser("GET", "/login?next=//evil.example", nil)
	if strings.Contains(page, "evil") {
		t.Error("signing in leads to another site")
	}
	for _, want := range []struct {
		token string
		code  int
	}{{"look", 403}, {"act", 303}} {
		code, _, h := browser("POST", "/login", url.Values{"form_token": {tokenIn(t, page)}, "token": {want.token}, "next": {"/runs"}})
		cookie := h.Get("Set-Cookie")
		if code != 303 || h.Get("Location") != "/runs" || !strings.Contains(cookie, "HttpOnly") || !strings.Contains(cookie, "SameSite=Strict") || strings.Contains(cookie, want.token) {
			t.Errorf("signing in answered %d to %s with %s", code, h.Get("Location"), cookie)
		}
		form := url.Values{"form_token": {tokenIn(t, page)}, "p.who": {"you"}, "p.n": {"1"}}
		if code, _, _ := browser("POST", "/workflows/flow/runs", form); code != want.code {
			t.Errorf("with the token %q a run answered %d", want.token, code)
		}
	}
	if text := log.String(); strings.Contains(text, "token=") || strings.Contains(text, "act ") || !strings.Contains(text, `by="operate token 2"`) {
		t.Errorf("the log of changes is %s", text)
	}
	browser("POST", "/logout", url.Values{"form_token": {tokenIn(t, page)}})
	if code, _, _ := browser("GET", "/runs", nil); code != 303 {
		t.Error("after signing out pages are shown")
	}
}

func TestWhatThereIsNoRouteForIsAProblemOrAPage(t *testing.T) {
	c := newClient(t)
	for _, r := range []struct {
		code         int
		method, path string
		allow        string
	}{
		{404, "GET", "/api/v1/nothing", ""}, {404, "POST", "/nothing", ""}, {404, "GET", "/static/..%2fui.go", ""}, {404, "GET", "/static/nothing.js", ""},
		{405, "DELETE", "/api/v1/runs", "GET, HEAD"}, {405, "GET", "/api/v1/workflows/flow/runs", "POST"}, {405, "PUT", "/healthz", "GET, HEAD"},
	} {
		code, kind, text := c.do(r.method, r.path, "{}", "Content-Type: application/json")
		if code != r.code || kind != "application/problem+json" {
			t.Errorf("%s %s answered %d %q: %s", r.method, r.path, code, kind, text)
		}
	}
	browser := c.browse()
	code, text, h := browser("GET", "/<script>alert(1)</script>", nil)
	if code != 404 || !strings.HasPrefix(h.Get("Content-Type"), "text/html") || strings.Contains(text, "<script>alert") {
		t.Errorf("a browser got %d %s", code, text)
	}
}

func TestEveryRouteOfTheAPIIsDescribed(t *testing.T) {
	c := newClient(t)
	var doc struct {
		OpenAPI string
		Paths   map[string]map[string]struct{ Responses map[string]any }
	}
	c.want(200, "GET", "/api/v1/openapi.json", "", &doc)
	if !strings.HasPrefix(doc.OpenAPI, "3.1") {
		t.Errorf("it is OpenAPI %s", doc.OpenAPI)
	}
	for _, route := range []string{
		"get /healthz", "get /readyz", "get /status", "get /jobs/running", "get /jobs/failed", "get /api/v1/workflows", "get /api/v1/workflows/{name}",
		"post /api/v1/workflows/{name}/runs", "post /api/v1/workflows/{name}/backfill", "get /api/v1/workflows/{name}/versions",
		"get /api/v1/workflows/{name}/source", "get /api/v1/workflows/{name}/ticks", "get /api/v1/runs", "get /api/v1/runs/{id}",
		"post /api/v1/runs/{id}/cancel", "post /api/v1/runs/{id}/retry", "get /api/v1/runs/{id}/tasks/{task}/log", "get /api/v1/events",
		"get /api/v1/diagnostics", "post /api/v1/prune",
	} {
		method, path, _ := strings.Cut(route, " ")
		if len(doc.Paths[path][method].Responses) == 0 {
			t.Errorf("%s is not described", route)
		}
	}
}

func TestThePastOfAWorkflowIsToldByTheAPI(t *testing.T) {
	c := newClient(t)
	c.ended(c.started("flow", "{}"))
	var versions struct {
		Items []struct {
			Version string
			Tasks   int
		}
	}
	c.want(200, "GET", "/api/v1/workflows/flow/versions", "", &versions)
	if len(versions.Items) != 1 || versions.Items[0].Tasks != 2 {
		t.Fatalf("the versions are %+v", versions)
	}
	for _, query := range []string{"", "?version=" + versions.Items[0].Version} {
		if code, kind, text := c.do("GET", "/api/v1/workflows/flow/source"+query, ""); code != 200 || kind != "text/plain; charset=utf-8" || text != flow {
			t.Errorf("the source is %d %q %q", code, kind, text)
		}
	}
	c.want(404, "GET", "/api/v1/workflows/flow/source?version=beef", "", nil)
	c.want(404, "GET", "/api/v1/workflows/other/source", "", nil)
	c.want(400, "GET", "/api/v1/workflows/flow/ticks?cursor=nonsense", "", nil)
	var ticks struct{ Items []struct{ Outcome string } }
	c.want(200, "GET", "/api/v1/workflows/flow/ticks", "", &ticks)
	if len(ticks.Items) != 0 {
		t.Errorf("a workflow without a schedule has the ticks %+v", ticks)
	}
}

func TestEveryListComesInPartsThatJoin(t *testing.T) {
	c := newClient(t, func(s *Server) {
		all := &reload.Catalog{Workflows: map[string]*reload.Loaded{}}
		for _, name := range []string{"a", "b-2", "c"} {
			f := reload.Check(name+".yaml", []byte("name: "+name+"\nevery: 1h\ntasks:\n  t: {run: 'false'}\n"))
			all.Workflows[name] = f.Keep()
		}
		all.Files = append(all.Files, reload.Found{Path: "x.yaml", Diagnostics: reload.Check("x.yaml", []byte("name: x\ntasks:\n  t: {runn: a}\n  u: {run: a, depends_on: v}\n")).Diagnostics})
		s.Catalog = func() *reload.Catalog { return all }
	})
	for range 3 {
		c.ended(c.started("a", "{}"))
	}
	type paged struct {
		Items []any
		Next  string `json:"next_cursor"`
	}
	for path, want := range map[string]int{
		"/status": 3, "/api/v1/workflows": 3, "/api/v1/runs": 3, "/jobs/failed": 3, "/jobs/running": 0, "/api/v1/audit": 3,
		"/api/v1/diagnostics": 2, "/api/v1/workflows/a/versions": 1, "/api/v1/workflows/a/ticks": 0,
	} {
		var whole paged
		c.want(200, "GET", path, "", &whole)
		if len(whole.Items) != want || whole.Next != "" {
			t.Fatalf("%s has %d items and the cursor %q, %d are wanted", path, len(whole.Items), whole.Next, want)
		}
		var joined []any
		for cursor, n := "", 0; n <= want; n++ {
			var page paged
			c.want(200, "GET", path+"?limit=1"+cursor, "", &page)
			joined = append(joined, page.Items...)
			if page.Next == "" {
				break
			}
			cursor = "&cursor=" + url.QueryEscape(page.Next)
		}
		if !reflect.DeepEqual(joined, append([]any(nil), whole.Items...)) {
			t.Errorf("%s in parts is %v, as a whole %v", path, joined, whole.Items)
		}
		c.want(400, "GET", path+"?cursor=%21", "", nil)
	}
}

// Of a file with errors the first page tells how many these are; what is no error
// is none there.
func TestTheFirstPageCountsErrorsAlone(t *testing.T) {
	check := func(path, text string) reload.Found {
		return reload.Found{Path: path, Diagnostics: reload.Check(path, []byte(text)).Diagnostics}
	}
	c := newClient(t, func(s *Server) {
		all := &reload.Catalog{Files: []reload.Found{
			check("two.yaml", "name: two\ntasks:\n  t: {runn: a}\n  u: {run: a, depends_on: v}\n  w: {run: a}\n"),
			check("one.yaml", "name: one\ntasks:\n  t: {runn: a}\n  w: {run: a}\n"),
			check("none.yaml", "name: none\ncron: '0 0 1 * 1'\ntasks:\n  w: {run: a}\n"),
		}}
		for i := range 12 {
			all.Files = append(all.Files, check(fmt.Sprintf("more%d.yaml", i), "tasks: {t: {runn: a}}\n"))
		}
		s.Catalog = func() *reload.Catalog { return all }
	})
	_, text, _ := c.browse()("GET", "/", nil)
	if n := strings.Count(text, "more error"); n != 1 || !strings.Contains(text, "and 1 more error<") || strings.Contains(text, "none.yaml") {
		t.Errorf("the page tells of more errors %d times", n)
	}
	if !strings.Contains(text, "4 more files") || !strings.Contains(text, `>14<span class="sr"> with errors`) {
		t.Errorf("the page does not count the files: %s", text)
	}
	_, text, _ = c.browse()("GET", "/diagnostics", nil)
	if strings.Contains(text, `<li class="info">`) || !strings.Contains(text, "none.yaml") {
		t.Error("the page of files shows what is info, or leaves out a warning")
	}
}
