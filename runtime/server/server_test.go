package server

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/runtime/reload"
	"github.com/ax-scheduler/ax/store"
)

// net/http lingers for half a second on a connection that it closes early.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*conn).closeWriteAndWait"))
}

const flow = `
name: flow
params: {who: nobody, n: 1}
tasks:
  a: {run: 'echo "hello $AX_PARAM_WHO $AX_PARAM_N"; test "$AX_PARAM_WHO" != fail'}
  each: {foreach: [x, y], run: 'echo "$AX_ITEM"', depends_on: a}
`

// client talks to a server with an engine behind it.
type client struct {
	t        *testing.T
	base     string
	stopping atomic.Bool
	catalog  atomic.Pointer[reload.Catalog]
	reloaded chan struct{}
}

// catalogChanges has the server see a new catalog, with the same in it.
func (c *client) catalogChanges() {
	now := *c.catalog.Load()
	c.catalog.Store(&now)
	c.reloaded <- struct{}{}
}

func newClient(t *testing.T, set ...func(*Server)) *client {
	t.Helper()
	file := reload.Check("flow.yaml", []byte(flow))
	if file.Plan == nil {
		t.Fatal(file.Diagnostics)
	}
	broken := reload.Check("broken.yaml", []byte("name: broken\ntasks:\n  a: {runn: x}\n"))
	c := &reload.Catalog{
		Workflows: map[string]*reload.Loaded{"flow": file.Keep()},
		Files:     []reload.Found{{Path: "broken.yaml", Diagnostics: broken.Diagnostics}},
	}
	cl := &client{t: t, reloaded: make(chan struct{}, 1)}
	cl.catalog.Store(c)
	data := t.TempDir()
	st := &store.Memory{}
	e := &runtime.Engine{Store: st, Data: data, Env: os.Environ(), Zone: time.UTC}
	s := &Server{
		Engine: e, Store: st, Data: data, Catalog: cl.catalog.Load, Reloaded: cl.reloaded, Zone: time.UTC,
		Version: "test", Log: slog.New(slog.DiscardHandler), Stopping: cl.stopping.Load,
	}
	for _, set := range set {
		set(s)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context())) // it serves until the clean-up, after the browser has gone
	ended := make(chan error, 2)
	go func() { ended <- e.Serve(ctx) }()
	if err := e.Recover(ctx, runtime.StartupRecover); err != nil {
		t.Fatal(err)
	}
	go func() { ended <- s.Serve(ctx, ln) }()
	t.Cleanup(func() {
		stop()
		for range 2 {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
		http.DefaultClient.CloseIdleConnections()
	})
	cl.base = "http://" + ln.Addr().String()
	return cl
}

// do sends a request and gives the answer's code, type and body. Headers are
// "Name: value"; Host is one of them.
func (c *client) do(method, path, body string, headers ...string) (int, string, string) {
	c.t.Helper()
	r, err := http.NewRequest(method, c.base+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
		if name == "Host" {
			r.Host = value
		}
	}
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return a.StatusCode, a.Header.Get("Content-Type"), string(text)
}

// want sends a request and decodes the answer, whose code must be the given one.
func (c *client) want(code int, method, path, body string, into any) {
	c.t.Helper()
	got, kind, text := c.do(method, path, body)
	if got != code {
		c.t.Fatalf("%s %s answered %d, want %d: %s", method, path, got, code, text)
	}
	if code >= 400 && kind != "application/problem+json" {
		c.t.Errorf("%s %s: a problem of type %q", method, path, kind)
	}
	if into != nil {
		if err := json.Unmarshal([]byte(text), into); err != nil {
			c.t.Fatalf("%s %s: %v in %s", method, path, err, text)
		}
	}
}

// started starts a run and gives its id.
func (c *client) started(workflow, body string) string {
	c.t.Helper()
	var run runtime.Report
	c.want(201, "POST", "/api/v1/workflows/"+workflow+"/runs", body, &run)
	return run.ID
}

// ended waits for the end of a run.
func (c *client) ended(id string) runtime.Report {
	c.t.Helper()
	for {
		var rep runtime.Report
		c.want(200, "GET", "/api/v1/runs/"+id, "", &rep)
		if rep.FinishedAt != nil {
			return rep
		}
	}
}

func TestARunIsStartedShownAndReadByTheAPI(t *testing.T) {
	c := newClient(t)
	var run runtime.Report
	c.want(201, "POST", "/api/v1/workflows/flow/runs", `{"params": {"who": "you", "n": 7}, "key": "k"}`, &run)
	// The instances of "each" may be there already, after their task.
	if run.ID == "" || run.Trigger != "api" || len(run.Tasks) < 2 || run.Tasks[0].ID != "a" || run.Tasks[1].ID != "each" {
		t.Errorf("the answer is %+v", run)
	}
	if rep := c.ended(run.ID); rep.State != "succeeded" {
		t.Errorf("the run is %s", rep.State)
	}
	if rep := c.ended(run.ID); len(rep.Tasks) != 4 || rep.Tasks[3].ID != "each[1]" || rep.Tasks[3].State != "succeeded" {
		t.Errorf("the tasks are %+v", rep.Tasks)
	}
	code, _, text := c.do("GET", "/api/v1/runs/"+run.ID+"/tasks/each%5B1%5D/log", "")
	if code != 200 || text != "y\n" {
		t.Errorf("the log of an instance is %d %q", code, text)
	}
	code, kind, text := c.do("GET", "/api/v1/runs/"+run.ID+"/tasks/a/log", "")
	if code != 200 || kind != "text/plain; charset=utf-8" || text != "hello you 7\n" {
		t.Errorf("the log is %d %q %q", code, kind, text)
	}
	var again runtime.Report
	c.want(201, "POST", "/api/v1/workflows/flow/runs", `{"key": "k"}`, &again)
	if again.ID != run.ID {
		t.Error("a second request with the same key gave another run")
	}
	c.want(409, "POST", "/api/v1/runs/"+run.ID+"/cancel", "{}", nil)

	var failed runtime.Report
	c.want(201, "POST", "/api/v1/workflows/flow/runs", `{"params": {"who": "fail"}}`, &failed)
	if rep := c.ended(failed.ID); rep.State != "failed" {
		t.Errorf("the run is %s", rep.State)
	}
	c.want(202, "POST", "/api/v1/runs/"+failed.ID+"/retry", "{}", nil)
	if rep := c.ended(failed.ID); rep.State != "failed" {
		t.Errorf("the retried run is %s", rep.State)
	}

	var list struct {
		Items []runtime.Report
		Next  string `json:"next_cursor"`
	}
	c.want(200, "GET", "/api/v1/runs?limit=1", "", &list)
	if len(list.Items) != 1 || list.Items[0].ID != failed.ID || list.Next == "" {
		t.Fatalf("the first page is %+v", list)
	}
	c.want(200, "GET", "/api/v1/runs?limit=1&cursor="+list.Next, "", &list)
	if list.Items[0].ID != run.ID {
		t.Errorf("the second page is %+v", list)
	}
	c.want(200, "GET", "/jobs/failed", "", &list)
	if len(list.Items) != 1 || list.Items[0].ID != failed.ID {
		t.Errorf("the failed jobs are %+v", list)
	}
}

func TestWhatIsLoadedAndWhatIsWrongIsTold(t *testing.T) {
	c := newClient(t)
	var workflows struct {
		Items []struct{ Name, Version string }
	}
	c.want(200, "GET", "/api/v1/workflows", "", &workflows)
	if len(workflows.Items) != 1 || workflows.Items[0].Name != "flow" || workflows.Items[0].Version == "" {
		t.Errorf("the workflows are %+v", workflows)
	}
	c.want(200, "GET", "/api/v1/workflows/flow", "", nil)
	var diagnostics struct {
		Items []struct {
			File, Rule, Severity string
			Line, Column         int
		}
	}
	c.want(200, "GET", "/api/v1/diagnostics", "", &diagnostics)
	if d := diagnostics.Items; len(d) != 1 || d[0].Rule != "unknown-key" || d[0].Line != 3 || d[0].Column != 7 || d[0].Severity != "error" {
		t.Errorf("the diagnostics are %+v", d)
	}
	c.want(200, "GET", "/healthz", "", nil)
	c.want(200, "GET", "/readyz", "", nil)
	c.want(200, "GET", "/api/v1/openapi.json", "", nil)
}

func TestBadRequestsAreRefused(t *testing.T) {
	c := newClient(t)
	for _, r := range []struct {
		code               int
		method, path, body string
	}{
		{404, "POST", "/api/v1/workflows/gone/runs", "{}"},
		{404, "GET", "/api/v1/workflows/..%2fflow", ""},
		{404, "GET", "/api/v1/runs/gone", ""},
		{404, "POST", "/api/v1/runs/gone/cancel", "{}"},
		{404, "GET", "/api/v1/runs/gone/tasks/a/log", ""},
		{400, "GET", "/api/v1/runs?cursor=nonsense", ""},
		{400, "GET", "/api/v1/runs?state=happy", ""},
		{400, "GET", "/api/v1/runs?stat=failed", ""},
		{400, "POST", "/api/v1/workflows/flow/runs?dry_run=true", "{}"},
		{422, "POST", "/api/v1/workflows/flow/runs", `{"params": {"other": "x"}}`},
		{422, "POST", "/api/v1/workflows/flow/runs", `{"params": {"who": {"a": 1}}}`},
		{422, "POST", "/api/v1/workflows/flow/runs", `{"params": {"n": "many"}}`},
		{422, "POST", "/api/v1/workflows/flow/runs", `{"parms": {}}`},
		{400, "POST", "/api/v1/workflows/flow/runs", `{"params": `},
		{413, "POST", "/api/v1/workflows/flow/runs", `{"key": "` + strings.Repeat("x", 2<<20) + `"}`},
	} {
		c.want(r.code, r.method, r.path, r.body, nil)
	}
	var list struct{ Items []runtime.Report }
	c.want(200, "GET", "/api/v1/runs", "", &list)
	if len(list.Items) > 0 {
		t.Errorf("refused requests left %d runs", len(list.Items))
	}
}

func TestRequestsOfOtherSitesAreRefused(t *testing.T) {
	c := newClient(t)
	own := strings.TrimPrefix(c.base, "http://")
	for _, r := range []struct {
		code   int
		header string
	}{
		{403, "Origin: https://evil.example"},
		{403, "Origin: null"},
		{403, "Origin: http://127.0.0.1:1"},
		{403, "Sec-Fetch-Site: cross-site"},
		{403, "Host: evil.example"},
		{403, "Host: evil.example:" + own[strings.LastIndex(own, ":")+1:]},
		{415, "Content-Type: text/plain"},
		{415, "Content-Type: application/x-www-form-urlencoded"},
		{201, "Origin: " + c.base},
		{201, "Content-Type: application/json; charset=utf-8"},
		{201, "Host: localhost" + own[strings.LastIndex(own, ":"):]},
	} {
		if code, _, text := c.do("POST", "/api/v1/workflows/flow/runs", "{}", r.header); code != r.code {
			t.Errorf("%s: answered %d, want %d: %s", r.header, code, r.code, text)
		}
	}
}

func TestWhileTheEngineStopsEveryAnswerSaysSo(t *testing.T) {
	c := newClient(t)
	c.stopping.Store(true)
	for _, path := range []string{"/healthz", "/readyz", "/jobs/running", "/api/v1/workflows", "/api/v1/runs/nope", "/nothing"} {
		c.want(http.StatusServiceUnavailable, "GET", path, "", nil)
	}
	c.want(http.StatusServiceUnavailable, "POST", "/api/v1/workflows/flow/runs", "{}", nil)
}
