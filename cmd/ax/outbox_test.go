package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ax-scheduler/ax/store"
	"github.com/ax-scheduler/ax/store/sqlite"
)

// outboxWorld is a data folder with a workflow that tells of its ends, and an ax
// that is killed.
type outboxWorld struct {
	t       *testing.T
	ax, dir string
	serving *exec.Cmd
}

func (w *outboxWorld) command(args ...string) *exec.Cmd {
	cmd := exec.Command(w.ax, args...)
	cmd.Dir, cmd.Stderr = w.dir, os.Stderr
	return cmd
}

func (w *outboxWorld) serve() {
	w.t.Helper()
	w.serving = w.command("serve", "--addr", "127.0.0.1:0", "--log-level", "error")
	if err := w.serving.Start(); err != nil {
		w.t.Fatal(err)
	}
}

func (w *outboxWorld) end(sig syscall.Signal) {
	w.t.Helper()
	if w.serving == nil {
		return
	}
	if err := w.serving.Process.Signal(sig); err != nil {
		w.t.Fatal(err)
	}
	_ = w.serving.Wait() // it was killed
	w.serving = nil
}

func (w *outboxWorld) trigger() string {
	w.t.Helper()
	id, err := w.command("trigger", "flow").Output()
	if err != nil {
		w.t.Fatal(err)
	}
	return strings.TrimSpace(string(id))
}

// until waits for something, for half a minute.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !is(); {
		if time.Now().After(end) {
			t.Fatalf("it has not come to be that %s", what)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// waiting gives the messages that are still to be sent.
func (w *outboxWorld) waiting() []store.Message {
	w.t.Helper()
	st, err := sqlite.OpenReader(filepath.Join(w.dir, ".ax", "ax.db"))
	if err != nil {
		w.t.Fatal(err)
	}
	defer st.Close()
	all, err := st.Messages(context.Background(), store.MessageWaiting, store.MaxLimit)
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

// hasten makes a message due, as it is once its pause is over.
func (w *outboxWorld) hasten(m store.Message) {
	w.t.Helper()
	st, err := sqlite.Open(filepath.Join(w.dir, ".ax", "ax.db"), sqlite.Options{})
	if err != nil {
		w.t.Fatal(err)
	}
	defer st.Close()
	now := store.Try{ID: m.ID, Have: m.Tries, Tries: m.Tries, State: m.State, Error: m.Error}
	if err := st.Commit(context.Background(), &store.Batch{Tries: []store.Try{now}}); err != nil {
		w.t.Fatal(err)
	}
}

// A message is stored with the end that it tells of. Where the engine is killed
// while it sends it, or while the task runs, each end is told of by one message,
// which who gets it a second time knows by its id.
func TestAMessageSurvivesThatItsEngineIsKilled(t *testing.T) {
	type delivery struct{ id, body string }
	got := make(chan delivery, 100)
	held := make(chan struct{}) // closed once deliveries are answered
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- delivery{r.Header.Get("X-Ax-Delivery"), string(body)}
		<-held
	}))
	defer receiver.Close()
	w := &outboxWorld{t: t, ax: axBinary(t), dir: t.TempDir()}
	defer w.end(syscall.SIGKILL)
	text := "name: flow\nnotify: [{url: '" + receiver.URL + "', on: succeeded}]\ntasks:\n  a: {run: 'touch begun; until test -e go; do sleep 0.02; done'}\n"
	for _, err := range []error{
		os.Mkdir(filepath.Join(w.dir, "workflows"), 0o755), os.WriteFile(filepath.Join(w.dir, "workflows", "flow.yaml"), []byte(text), 0o644),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	exists := func(name string) func() bool {
		return func() bool { _, err := os.Stat(filepath.Join(w.dir, "workflows", name)); return err == nil }
	}

	// Killed while the task runs: it ends meanwhile, and its end is told by the next.
	run := w.trigger()
	w.serve()
	until(t, "the task runs", exists("begun"))
	w.end(syscall.SIGKILL)
	if err := os.WriteFile(filepath.Join(w.dir, "workflows", "go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	w.serve()
	first := <-got
	if !strings.Contains(first.body, run) {
		t.Errorf("the message is %s", first.body)
	}

	// Killed while it sends: the try is on record, and the next one sends the same.
	w.end(syscall.SIGKILL)
	close(held)
	left := w.waiting()
	if len(left) != 1 || left[0].ID != first.id || left[0].Tries != 1 {
		t.Fatalf("what waits is %+v", left)
	}
	w.hasten(left[0])
	w.serve()
	if again := <-got; again != first {
		t.Errorf("the message was %+v, and then %+v", first, again)
	}
	until(t, "the message is sent", func() bool { return len(w.waiting()) == 0 })

	// Killed afterwards: what is sent stays sent.
	w.end(syscall.SIGKILL)
	second := w.trigger()
	w.serve()
	if other := <-got; other.id == first.id || !strings.Contains(other.body, second) {
		t.Errorf("the next message is %+v", other)
	}
	until(t, "the message is sent", func() bool { return len(w.waiting()) == 0 })
	if len(got) > 0 {
		t.Errorf("a message came once more: %+v", <-got)
	}
}
