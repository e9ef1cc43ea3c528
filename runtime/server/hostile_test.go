package server

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// send sends bytes as they are and gives the status of the answer, 0 for none, and
// the rest of it.
func (c *client) send(raw string) (status int, rest string) {
	c.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(c.base, "http://"))
	if err != nil {
		c.t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, raw); err != nil {
		c.t.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0, err.Error()
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body) // as far as it comes
	return answer.StatusCode, string(text)
}

func TestTheHostOfARequestIsThisServerInWhateverForm(t *testing.T) {
	c := newClient(t, func(s *Server) { s.Hosts = []string{"AX.example.com"} })
	own := strings.TrimPrefix(c.base, "http://")
	port := own[strings.LastIndexByte(own, ':'):]
	for _, r := range []struct {
		status        int
		line, headers string
	}{
		{200, "/status HTTP/1.1", "Host: " + own},
		{200, "/status HTTP/1.1", "Host: localhost" + port},
		{200, "/status HTTP/1.1", "Host: [::1]" + port},
		{200, "/status HTTP/1.1", "Host: ax.example.com"},
		{200, "/status HTTP/1.1", "Host: aX.eXample.com:443"},
		{200, "http://" + own + "/status HTTP/1.1", "Host: " + own},
		{403, "/status HTTP/1.1", "Host: localhost"},
		{403, "/status HTTP/1.1", "Host: 127.0.0.1:1"},
		{403, "/status HTTP/1.1", "Host: localhost." + port},
		{403, "/status HTTP/1.1", "Host: [::1"},
		{403, "/status HTTP/1.1", "Host: [fe80::1%25lo]" + port},
		{403, "/status HTTP/1.1", "Host: [::ffff:127.0.0.1]" + port},
		{403, "/status HTTP/1.1", "Host: 2130706433" + port},
		{403, "/status HTTP/1.1", "Host: 127.0.0.1.evil.example" + port},
		{403, "/status HTTP/1.1", "Host: evil.example"},
		{403, "/status HTTP/1.1", "Host: x.ax.example.com"},
		{403, "/status HTTP/1.1", "Host: ax.example.com:evil.example:80"},
		{403, "/status HTTP/1.1", "Host:"},
		{403, "/status HTTP/1.0", "Accept: */*"},
		{403, "http://evil.example/status HTTP/1.1", "Host: " + own},
		{400, "/status HTTP/1.1", "Accept: */*"},
		{400, "/status HTTP/1.1", "Host: " + own + "\r\nHost: evil.example"},
		{403, "/status HTTP/1.1", "Host: evil.example\r\nX-Forwarded-Host: " + own},
	} {
		status, text := c.send("GET " + r.line + "\r\n" + r.headers + "\r\nConnection: close\r\n\r\n")
		if status != r.status {
			t.Errorf("%s with %q is answered %d, want %d: %.200s", r.line, r.headers, status, r.status, text)
		}
	}
	// Another site is shown nothing, not even a page that says so.
	if status, text := c.send("GET / HTTP/1.1\r\nHost: evil.example\r\nAccept: text/html\r\nConnection: close\r\n\r\n"); status != 403 || strings.Contains(text, "<html") {
		t.Errorf("a page for another host is %d: %s", status, text)
	}
}

func TestTheOriginOfARequestIsAPageOfThisServer(t *testing.T) {
	c := newClient(t)
	own := strings.TrimPrefix(c.base, "http://")
	for _, r := range []struct {
		status  int
		headers string
	}{
		{201, "Origin: http://" + own}, {201, "Origin: https://" + own}, {201, "Sec-Fetch-Site: same-origin"}, {201, "Sec-Fetch-Site: none"},
		{403, "Origin: HTTP://" + own}, {403, "Origin: //" + own}, {403, "Origin: " + own}, {403, "Origin: file://" + own}, {403, "Origin:"}, {403, "Origin: http://"},
		{403, "Origin: http://evil@" + own}, {403, "Origin: http://" + own + ".evil.example"}, {403, "Origin: http://" + own + "/evil"}, {403, "Origin: http://" + own + "#"},
		{403, "Origin: http://" + own + "\r\nOrigin: http://evil.example"}, {403, "Origin: http://" + own + " http://evil.example"},
		{403, "Origin: http://" + own + "\r\nSec-Fetch-Site: cross-site"},
		{403, "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\nAccept: text/html"},
	} {
		raw := "POST /api/v1/workflows/flow/runs HTTP/1.1\r\nHost: " + own + "\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n" + r.headers + "\r\n\r\n{}"
		if status, text := c.send(raw); status != r.status {
			t.Errorf("with %q it is answered %d, want %d: %.200s", r.headers, status, r.status, text)
		}
	}
}

// A link to a page, as in a message, can be followed from another site; nothing else
// can be had by it.
func TestALinkIsFollowedFromElsewhere(t *testing.T) {
	c := newClient(t, func(s *Server) { s.Tokens = []Token{NewToken(Reader, "look")} })
	ask := c.browse()
	follows := []string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"}
	code, _, h := ask("GET", "/runs", nil, follows...)
	if code != 303 || h.Get("Location") != "/login?next=%2Fruns" {
		t.Errorf("who follows a link is answered %d %s", code, h.Get("Location"))
	}
	// The browser keeps back the cookie of who has signed in, until the page itself asks again.
	if _, text, _ := ask("GET", "/login?next=%2Fruns", nil, follows...); !strings.Contains(text, `data-again="/runs"`) {
		t.Error("the browser is not asked to come again")
	}
	if _, text, _ := ask("GET", "/login?next=%2Fruns", nil); strings.Contains(text, "data-again") {
		t.Error("the browser is asked to come again and again")
	}
	for _, headers := range [][]string{
		follows[:1], follows[:2], {follows[0], follows[1], "Sec-Fetch-Dest: iframe"}, {follows[0], "Sec-Fetch-Mode: cors", "Sec-Fetch-Dest: empty"},
		append([]string{"Accept: */*"}, follows...),
	} {
		if code, _, _ := ask("GET", "/runs", nil, headers...); code != 403 {
			t.Errorf("with %q a page is answered %d", headers, code)
		}
	}
	if code, _, _ := ask("GET", "/api/v1/runs", nil, follows...); code != 403 {
		t.Errorf("the API is answered %d", code)
	}
}

func TestATokenIsNotTakenFromTheAddress(t *testing.T) {
	c := newClient(t, func(s *Server) { s.Tokens = []Token{NewToken(Operator, "act")} })
	for _, query := range []string{"token=act", "access_token=act", "authorization=Bearer+act", "ax_token=act"} {
		if code, _, _ := c.do("GET", "/api/v1/runs?"+query, ""); code != 401 {
			t.Errorf("with %s it is answered %d", query, code)
		}
	}
	for _, path := range []string{"/static/../runs", "/static/%2e%2e/runs", "/static//runs", "/static/x/../../api/v1/runs", "/login/../runs", "/healthz/../status"} {
		own := strings.TrimPrefix(c.base, "http://")
		status, text := c.send("GET " + path + " HTTP/1.1\r\nHost: " + own + "\r\nConnection: close\r\n\r\n")
		if status != 401 && status != 404 && status != 301 && status != 307 {
			t.Errorf("%s is answered %d: %.200s", path, status, text)
		}
	}
}

// Who may only read is shown no form that changes something, and has none taken.
func TestWhoMayOnlyReadChangesNothing(t *testing.T) {
	var s *Server
	c := newClient(t, func(of *Server) { s = of; s.Tokens = []Token{NewToken(Reader, "look"), NewToken(Operator, "act")} })
	reader, operator := c.browse(), c.browse()
	signIn := func(ask func(string, string, url.Values, ...string) (int, string, http.Header), token string) string {
		_, page, _ := ask("GET", "/login", nil)
		form := tokenIn(t, page)
		ask("POST", "/login", url.Values{"form_token": {form}, "token": {token}, "next": {"/"}})
		return form
	}
	form := signIn(operator, "act")
	_, _, h := operator("POST", "/workflows/flow/runs", url.Values{"form_token": {form}, "p.who": {"fail"}, "p.n": {"1"}})
	run := h.Get("Location")
	if _, err := s.Engine.Wait(t.Context(), strings.TrimPrefix(run, "/runs/")); err != nil {
		t.Fatal(err)
	}
	form = signIn(reader, "look")
	for _, path := range []string{"/", "/runs", "/diagnostics", "/workflows/flow", run, run + "/cancel", run + "/tasks/a"} {
		_, text, _ := reader("GET", path, nil)
		for _, m := range strings.Split(text, "<form ")[1:] {
			if tag, _, _ := strings.Cut(m, ">"); strings.Contains(tag, `method="post"`) && !strings.Contains(tag, `action="/logout"`) {
				t.Errorf("%s has a form: %s", path, tag)
			}
		}
	}
	routes := 0
	for route := range actions {
		path := strings.NewReplacer("{name}", "flow", "{id}", strings.TrimPrefix(run, "/runs/")).Replace(route)
		code, _, text := c.do("POST", "/api/v1"+path, "{}", "Authorization: Bearer look")
		if code != 403 || !strings.Contains(text, "operate") {
			t.Errorf("the API answers %s with %d: %s", path, code, text)
		}
		if code, _, _ := reader("POST", path, url.Values{"form_token": {form}, "do": {"fill"}}); code != 403 {
			t.Errorf("the form of %s is answered %d", path, code)
		}
		routes++
	}
	if routes < 7 {
		t.Errorf("only %d routes were tried", routes)
	}
}

func TestABodyThatDoesNotComeAsPromisedIsRefused(t *testing.T) {
	c := newClient(t)
	own := strings.TrimPrefix(c.base, "http://")
	head := "POST /api/v1/workflows/flow/runs HTTP/1.1\r\nHost: " + own + "\r\nContent-Type: application/json\r\nConnection: close\r\n"
	for name, r := range map[string]struct {
		status int
		raw    string
	}{
		"chunks that are none":          {400, head + "Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n"},
		"two lengths":                   {400, head + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}"},
		"a length below nothing":        {400, head + "Content-Length: -1\r\n\r\n{}"},
		"an encoding that is not known": {501, head + "Transfer-Encoding: gzip\r\n\r\n{}"},
		"more than is taken":            {413, head + "Content-Length: 2000000\r\n\r\n" + strings.Repeat(" ", 2_000_000)},
		"headers without end":           {431, "GET /status HTTP/1.1\r\nHost: " + own + "\r\nX: " + strings.Repeat("x", 2*maxHeader) + "\r\n\r\n"},
		"deep nesting":                  {400, head + "Content-Length: 200000\r\n\r\n" + strings.Repeat("[", 200_000)},
	} {
		if status, text := c.send(r.raw); status != r.status {
			t.Errorf("%s: answered %d, want %d: %.200s", name, status, r.status, text)
		}
	}
	var list struct{ Items []any }
	if c.want(200, "GET", "/api/v1/runs", "", &list); len(list.Items) > 0 {
		t.Errorf("%d runs were started", len(list.Items))
	}
}

// What a client does not take it is not waited for: neither an answer that is long,
// nor one that goes on.
func TestAClientThatTakesNothingIsNotWaitedFor(t *testing.T) {
	deadlines := make(chan time.Time, 100)
	w := &limited{header: http.Header{}, deadlines: deadlines}
	bounded(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if _, err := w.Write(make([]byte, 3*sendPiece+1)); err != nil {
			t.Error(err)
		}
		if _, err := w.Write(nil); err != nil {
			t.Error(err)
		}
	})).ServeHTTP(w, nil)
	if len(deadlines) != 5 || w.written != 3*sendPiece+1 || w.most > sendPiece {
		t.Errorf("%d bytes went in %d pieces of up to %d", w.written, len(deadlines), w.most)
	}
	for range len(deadlines) {
		if left := time.Until(<-deadlines); left <= 0 || left > sendLimit {
			t.Errorf("a piece has %s", left)
		}
	}
}

// limited is an answer that notes the limits it is given.
type limited struct {
	header        http.Header
	deadlines     chan time.Time
	written, most int
}

func (w *limited) Header() http.Header { return w.header }
func (w *limited) WriteHeader(int)     {}
func (w *limited) Write(p []byte) (int, error) {
	w.written += len(p)
	w.most = max(w.most, len(p))
	return len(p), nil
}

func (w *limited) SetWriteDeadline(at time.Time) error {
	w.deadlines <- at
	return nil
}

// Names of parameters, tasks and files of a request get nowhere but into texts.
func TestNothingOfARequestGetsIntoAHeaderOrMarkup(t *testing.T) {
	c := newClient(t)
	ask := c.browse()
	id := c.started("flow", "{}")
	c.ended(id)
	const evil = "x\r\nSet-Cookie: evil=1\r\n\r\n<script>alert(1)</script>\"'"
	for _, path := range []string{
		"/workflows/%s", "/runs/%s", "/runs/%s/cancel", "/runs/" + id + "/tasks/%s", "/runs/" + id + "/artifacts/%s", "/?q=%s", "/?after=%s", "/runs?workflow=%s&state=%s&before=%s",
		"/runs/" + id + "?of=%s", "/runs/" + id + "?state=%s", "/runs/" + id + "/tasks/a?q=%s", "/runs/" + id + "/tasks/a?attempt=%s", "/workflows/flow?version=%s", "/workflows/flow?against=%s",
		"/login?next=%s", "/login?next=/%s", "/static/%s",
		"/api/v1/workflows/%s", "/api/v1/runs/%s", "/api/v1/runs?state=%s", "/api/v1/runs?cursor=%s", "/api/v1/runs/" + id + "/tasks/%s/log", "/api/v1/audit?cursor=%s",
	} {
		code, text, h := ask("GET", strings.ReplaceAll(path, "%s", url.PathEscape(evil)), nil)
		page := strings.HasPrefix(h.Get("Content-Type"), "text/html")
		if page && strings.Contains(text, "<script>alert") || strings.Contains(fmt.Sprint(h), "evil=1") && !strings.Contains(h.Get("Location"), "evil%3D1") {
			t.Errorf("%s is answered %d %v: %s", path, code, h, text)
		}
		if code >= 500 {
			t.Errorf("%s is answered %d: %s", path, code, text)
		}
		if kind := h.Get("Content-Type"); h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Content-Security-Policy") == "" || kind == "" && code != 303 && code != 307 {
			t.Errorf("%s is answered %d with %v", path, code, h)
		}
	}
}
