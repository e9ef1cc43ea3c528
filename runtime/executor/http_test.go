package executor

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// serve answers by path; what it got stands in the answer of /echo.
func serve(t *testing.T) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s|%s|%s|%s|%s|%s", r.Method, r.Host, r.Header.Get("Content-Type"), r.Header.Get("Idempotency-Key"),
			r.Header.Get("Traceparent"), r.Header.Get("X-Key"), body)
	})
	mux.HandleFunc("/bad", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, "\n  back soon: secret\nsorry\n")
	})
	mux.HandleFunc("/none", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.HandleFunc("/here", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/echo", http.StatusFound) })
	mux.HandleFunc("/there", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, strings.Replace("http://"+r.Host+"/echo", "127.0.0.1", "localhost", 1), http.StatusTemporaryRedirect)
	})
	mux.HandleFunc("/round", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/round", http.StatusFound) })
	mux.HandleFunc("/bytes", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "image/png")
		_, _ = w.Write([]byte{0, 1, 0xff})
	})
	mux.HandleFunc("/large", func(w http.ResponseWriter, _ *http.Request) {
		for range 3 << 10 {
			_, _ = io.WriteString(w, strings.Repeat("é", 511)+"\n\n")
		}
	})
	mux.HandleFunc("/cut", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, "begun")
	})
	mux.HandleFunc("/slow", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func TestHTTPRequests(t *testing.T) {
	s := serve(t)
	host := strings.TrimPrefix(s.URL, "http://")
	for _, c := range []struct {
		name    string
		h       HTTP
		outputs map[string]string
		log     string
		fails   string
	}{
		{"a request without a body is a GET", HTTP{URL: "/echo"},
			map[string]string{"status": "200", "body": "GET " + host + "|||00-trace||"}, "GET " + s.URL + "/echo gave 200 OK\nGET " + host + "|||00-trace||\n", ""},
		{"one with a body a POST, of JSON where it is some", HTTP{URL: "/echo", Body: `{"a": 1}`},
			map[string]string{"status": "200", "body": "POST " + host + `|application/json|run/task|00-trace||{"a": 1}`}, "", ""},
		{"its own header fields win", HTTP{URL: "/echo", Method: "PUT", Body: "a=b", Headers: []Header{
			{"content-type", "text/csv"}, {"Idempotency-Key", "mine"}, {"Host", "elsewhere"}, {"X-Key", "k"}}},
			map[string]string{"status": "200", "body": "PUT elsewhere|text/csv|mine|00-trace|k|a=b"}, "", ""},
		{"an empty answer", HTTP{URL: "/none"}, map[string]string{"status": "204", "body": ""}, "GET " + s.URL + "/none gave 204 No Content\n", ""},
		{"a status that is not expected", HTTP{URL: "/bad", Method: "POST"}, nil,
			"POST " + s.URL + "/bad gave 503 Service Unavailable\n\n  back soon: ******\nsorry\n", "POST " + s.URL + "/bad gave 503 Service Unavailable/back soon: ******"},
		{"one that is", HTTP{URL: "/bad", Expect: []int{200, 503}}, map[string]string{"status": "503", "body": "\n  back soon: ******\nsorry\n"}, "", ""},
		{"a redirect is followed", HTTP{URL: "/here", Method: "POST", Body: "x", Headers: []Header{{"X-Key", "k"}}},
			map[string]string{"status": "200", "body": "GET " + host + "||run/task|00-trace|k|"}, "", ""},
		{"to another host without what says who asks", HTTP{URL: "/there", Method: "POST", Body: "x", Headers: []Header{{"X-Key", "k"}}},
			map[string]string{"status": "200", "body": "POST " + strings.Replace(host, "127.0.0.1", "localhost", 1) + "|text/plain; charset=utf-8||00-trace||x"}, "", ""},
		{"unless its status is expected", HTTP{URL: "/here", Expect: []int{302}}, map[string]string{"status": "302", "body": "<a href=\"/echo\">Found</a>.\n\n"}, "", ""},
		{"a redirect without end", HTTP{URL: "/round"}, nil, "", "redirected more than 10 times"},
		{"a body that is no text", HTTP{URL: "/bytes"}, map[string]string{"status": "200"}, "GET " + s.URL + "/bytes gave 200 OK\n(3 bytes of image/png)\n", ""},
		{"a body that breaks off", HTTP{URL: "/cut"}, nil, "", "gave 200 OK, but its body broke off after 5 bytes: unexpected EOF"},
		{"no address", HTTP{URL: "ftp://user:pass@x"}, nil, "", `"ftp://user:xxxxx@x" is no web address`},
		{"a header of two lines", HTTP{URL: "/echo", Headers: []Header{{"A", "b\r\nC: d"}}}, nil, "", `header "A" has more than one line`},
		{"nobody there", HTTP{URL: "http://127.0.0.1:1/secret"}, nil, "", "GET http://127.0.0.1:1/******: dial tcp 127.0.0.1:1: connect: connection refused"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.h.URL[0] == '/' {
				c.h.URL = s.URL + c.h.URL
			}
			a := newAttempt(t, c.h)
			a.Filter = newLineMask
			a.Env = append(a.Env, "AX_IDEMPOTENCY_KEY=run/task", "TRACEPARENT=00-trace")
			o := execute(a)
			if c.fails != "" {
				if got := o.StartError + o.CallError + "/" + o.LastLine; !strings.Contains(got, c.fails) || len(o.Outputs) > 0 {
					t.Errorf("got %q, outputs %v", got, o.Outputs)
				}
			} else if o.ExitCode != 0 || fmt.Sprint(o.Outputs) != fmt.Sprint(c.outputs) {
				t.Errorf("got %+v, want %v", o, c.outputs)
			}
			if c.log != "" {
				wantLog(t, a, c.log)
			}
		})
	}
}

func TestALargeBodyIsSavedWholeAndKeptInPart(t *testing.T) {
	s := serve(t)
	a := newAttempt(t, nil)
	h := HTTP{URL: s.URL + "/large", Save: filepath.Join(a.Dir, "body")}
	a.Action = h
	o := execute(a)
	saved, err := os.ReadFile(h.Save)
	if err != nil || len(saved) != 3<<20 {
		t.Errorf("saved %d bytes, %v", len(saved), err)
	}
	body := o.Outputs["body"]
	if o.ExitCode != 0 || len(body) < keptBody-2 || len(body) > keptBody || !strings.HasPrefix(string(saved), body) {
		t.Errorf("%d: kept %d bytes", o.ExitCode, len(body))
	}
	if len(o.Warnings) != 1 || !strings.Contains(o.Warnings[0], `output "body" is cut off`) {
		t.Errorf("warnings %v", o.Warnings)
	}
	log := string(readLog(t, a))
	if len(log) > shownBody+1000 || !strings.Contains(log, "bytes of 3145728 bytes)") {
		t.Errorf("the log has %d bytes and ends %q", len(log), log[len(log)-100:])
	}
}

func TestAFileIsNotSavedOfAnAnswerThatFails(t *testing.T) {
	s := serve(t)
	for _, path := range []string{"/bad", "/cut"} {
		a := newAttempt(t, nil)
		a.Action = HTTP{URL: s.URL + path, Save: filepath.Join(a.Dir, "body")}
		execute(a)
		if left, err := os.ReadDir(a.Dir); err != nil || len(left) > 0 {
			t.Errorf("%s: there is %v, %v", path, left, err)
		}
	}
}

func TestASlowServerIsNotWaitedForOnceStopped(t *testing.T) {
	s := serve(t)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if o := (&Executor{}).Execute(ctx, newAttempt(t, HTTP{URL: s.URL + "/slow"})); !o.Stopped || o.CallError != "" {
		t.Errorf("%+v", o)
	}
}

func TestCertificatesAreChecked(t *testing.T) {
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	defer s.Close()
	if o := execute(newAttempt(t, HTTP{URL: s.URL})); !strings.Contains(o.CallError, "certificate") {
		t.Errorf("%+v", o)
	}
}

func TestTheProxyIsThatOfTheTask(t *testing.T) {
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "through the proxy to ", r.URL) }))
	defer proxy.Close()
	a := newAttempt(t, HTTP{URL: "http://shop.example.com/orders"})
	a.Env = append(a.Env, "HTTP_PROXY="+proxy.URL)
	if o := execute(a); o.Outputs["body"] != "through the proxy to http://shop.example.com/orders" {
		t.Errorf("%+v", o)
	}
}

func TestWhichHostsAreReachedThroughAProxy(t *testing.T) {
	env := []string{"http_proxy=one:3128", "HTTPS_PROXY=http://two", "NO_PROXY=example.com, .inner.org,*.star.net,10.0.0.0/8,other:81"}
	for address, want := range map[string]string{
		"http://a.de": "http://one:3128", "https://a.de": "http://two", "http://example.com": "", "http://www.example.com": "", "http://myexample.com": "http://one:3128",
		"http://x.inner.org": "", "http://x.star.net": "", "http://10.1.2.3": "", "http://11.1.2.3": "http://one:3128", "http://localhost:8080": "",
		"http://127.0.0.2": "", "http://[::1]": "", "http://other:81": "", "http://other": "http://one:3128",
	} {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		got, err := proxyOf(env).of(u)
		if err != nil || got == nil && want != "" || got != nil && got.String() != want {
			t.Errorf("%s: %v, %v, want %q", address, got, err, want)
		}
	}
	if got, err := proxyOf([]string{"HTTP_PROXY=one", "NO_PROXY=*"}).of(&url.URL{Scheme: "http", Host: "a.de"}); got != nil || err != nil {
		t.Errorf("NO_PROXY=*: %v, %v", got, err)
	}
}
