package docs_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/runtime/reload"
	"github.com/ax-scheduler/ax/store"
)

// chat is the address of the examples that messages go to. A receiver of the
// test stands for it.
const chat = "http://chat.example.com"

// engine gives one that knows the function of embedding.md and sends what it has
// to tell to the test.
func engine(t *testing.T, c *command) (*runtime.Engine, *received) {
	t.Helper()
	got := &received{}
	hooks := httptest.NewServer(got)
	t.Cleanup(hooks.Close)
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=/nowhere", "HTTP_PROXY=" + example(t)}
	for _, v := range c.env {
		env = append(env, strings.Replace(v, "="+chat, "="+hooks.URL, 1))
	}
	e := &runtime.Engine{
		Store: &store.Memory{}, Data: t.TempDir(), Env: env, Zone: time.UTC,
		Mail: runtime.Mail{Addr: got.mailServer(t), From: "ax@example.com"},
	}
	type args struct {
		Region string
		Pages  int
	}
	err := e.Register("report.generate", func(_ context.Context, a args) (map[string]string, error) {
		return map[string]string{"file": fmt.Sprintf("%s-%d.pdf", a.Region, a.Pages)}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return e, got
}

// serve has an engine serve until the function that it gives is called.
func serve(t *testing.T, e *runtime.Engine) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- e.Serve(ctx) }()
	return func() {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	}
}

// triggerResult serves all workflows of a section, starts one of them, and says
// what became of it and of what followed.
func triggerResult(t *testing.T, b *block, c *command) string {
	c.only(t, b)
	dir := t.TempDir()
	files := b.beside()
	files[b.fileName()] = b.text
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	all, err := reload.Scan(dir, nil, time.Now(), 0)
	if err != nil {
		t.Fatal(err)
	}
	e, _ := engine(t, c)
	defer serve(t, e)()
	ctx := t.Context()
	if err := e.Load(ctx, all); err != nil {
		t.Fatal(err)
	}
	if all.Workflows[c.file] == nil {
		t.Fatalf("%s: there is no workflow %q", b.place(), c.file)
	}
	updates, leave := e.Subscribe(1000)
	defer leave()
	if _, err := e.Start(ctx, runtime.Request{Plan: all.Workflows[c.file].Plan()}); err != nil {
		t.Fatal(err)
	}
	var runs []store.Run
	for len(runs) < 2 || slices.ContainsFunc(runs, func(r store.Run) bool { return !r.State.Final() }) {
		<-updates
		if runs, err = e.Store.Runs(ctx, store.RunFilter{Limit: len(files)}); err != nil {
			t.Fatal(err)
		}
	}
	var out strings.Builder
	for _, run := range slices.Backward(runs) {
		fmt.Fprintf(&out, "%s, by %s:\n%s", run.Workflow, run.Trigger, ended(t, e, run))
	}
	return out.String()
}

// received is what came to the receivers of an example.
type received struct {
	mu  sync.Mutex
	all []string
}

func (r *received) note(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, fmt.Sprintf(format, args...))
}

// lines gives what came, a line each, in the order of the alphabet: messages of
// one run are sent at one time.
func (r *received) lines() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	slices.Sort(r.all)
	return strings.Join(r.all, "")
}

// ServeHTTP takes a message.
func (r *received) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, err := io.ReadAll(q.Body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	signed := ""
	if sign := q.Header.Get("X-Ax-Signature"); sign == "sha256="+runtime.Signature("kept", q.Header.Get("X-Ax-Timestamp"), body) {
		signed = ", signed"
	}
	kind := "json"
	if strings.HasPrefix(string(body), `{"text":`) {
		kind = "slack"
	}
	r.note("%s %s: %s, %s%s\n", q.Method, q.URL.Path, q.Header.Get("X-Ax-Event"), kind, signed)
}

// mailServer takes mails, and gives its address.
func (r *received) mailServer(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go r.takeMail(c)
		}
	}()
	return l.Addr().String()
}

// takeMail is the side of a mail server in a conversation about one mail.
func (r *received) takeMail(c net.Conn) {
	defer c.Close()
	say := func(line string) { fmt.Fprintf(c, "%s\r\n", line) }
	say("220 test")
	to, subject, inside := "", "", false
	for s := bufio.NewScanner(c); s.Scan(); {
		line := s.Text()
		switch verb, rest, _ := strings.Cut(line, " "); {
		case inside && line == ".":
			inside = false
			r.note("mail to %s: %s\n", to, subject)
			say("250 taken")
		case inside:
			if verb == "Subject:" {
				subject = rest
			}
		case verb == "DATA":
			inside = true
			say("354 go on")
		case verb == "QUIT":
			say("221 bye")
			return
		default:
			if address, ok := strings.CutPrefix(rest, "TO:"); ok {
				to = address
			}
			say("250 yes")
		}
	}
}
