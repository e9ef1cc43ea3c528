package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// receive starts a receiver of messages at $RECEIVER. What it gets stands in the
// files received/1, received/2 and so on: the headers, an empty line, the body.
// The first requests are answered with the codes given, the others with 200.
func receive(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("usage: receiver [CODE…]")
	}
	dir := ts.MkAbs("received")
	ts.Check(os.MkdirAll(dir, 0o755))
	var mu sync.Mutex
	n := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // what did not come is missing in the file
		var text strings.Builder
		fmt.Fprintf(&text, "%s %s\n", r.Method, r.URL.Path)
		_ = r.Header.Write(&text)
		text.WriteString("\n" + string(body) + "\n")
		mu.Lock()
		defer mu.Unlock()
		n++
		path := filepath.Join(dir, strconv.Itoa(n))
		if os.WriteFile(path+".part", []byte(text.String()), 0o644) != nil || os.Rename(path+".part", path) != nil {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		if n <= len(args) {
			code, _ := strconv.Atoi(args[n-1])
			w.WriteHeader(code)
		}
	}))
	ts.Defer(s.Close)
	ts.Setenv("RECEIVER", s.URL)
}

// jsonLines checks that each line of a file is a JSON object with some keys;
// FILE may be stdout or stderr.
func jsonLines(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: jsonlines FILE [KEY…]")
	}
	lines := strings.Split(strings.TrimSuffix(ts.ReadFile(args[0]), "\n"), "\n")
	for _, line := range lines {
		var entry map[string]any
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			ts.Fatalf("%q is no JSON object: %v", line, err)
		}
		for _, key := range args[1:] {
			if _, ok := entry[key]; !ok {
				ts.Fatalf("%q has no %q", line, key)
			}
		}
		if _, about := entry["run"]; about && (entry["workflow"] == nil || entry["trace_id"] == nil && entry["run"] != "") {
			ts.Fatalf("%q is about a run without saying its workflow and trace_id", line)
		}
	}
}
