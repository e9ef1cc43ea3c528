package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"

	"github.com/rogpeppe/go-internal/testscript"
)

// webserver starts a server on the loopback interface, as $URL, until the end of
// the script: /echo tells what it got, /soon is there from the third request on,
// and all else is missing.
func webserver(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: webserver")
	}
	var soon atomic.Int32
	mux := http.NewServeMux()
	mux.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s\ntype %s\nkey %s\nauthorization %s\n%s\n", r.Method, r.URL, r.Header.Get("Content-Type"),
			r.Header.Get("Idempotency-Key"), r.Header.Get("Authorization"), body)
	})
	mux.HandleFunc("/soon", func(w http.ResponseWriter, _ *http.Request) {
		if soon.Add(1) < 3 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprintf(w, "there is no %s here\n", r.URL.Path)
	})
	s := httptest.NewServer(mux)
	ts.Defer(s.Close)
	ts.Setenv("URL", s.URL)
}
