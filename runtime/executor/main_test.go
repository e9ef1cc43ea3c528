package executor

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if os.Getenv(superviseVariable) != "" {
		superviseInstead()
	}
	if err := BecomeSubreaper(); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// newAttempt is a first attempt in fresh folders. Its test fails if anything is left in the scratch folder.
func newAttempt(t testing.TB, action Action) Attempt {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	a := Attempt{
		RunID:     "run of " + dir, // marks are unique among the tests of one machine
		Workflow:  "flow",
		Task:      "task",
		Number:    1,
		Action:    action,
		Dir:       filepath.Join(dir, "tasks"),
		Env:       []string{"PATH=" + os.Getenv("PATH")},
		Log:       filepath.Join(dir, "log"),
		Scratch:   filepath.Join(dir, "scratch"),
		KillAfter: 10 * time.Second,
	}
	if err := os.Mkdir(a.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		left, _ := os.ReadDir(a.Scratch)
		for _, entry := range left {
			t.Errorf("%s is left in the scratch folder", entry.Name())
		}
	})
	return a
}

func execute(a Attempt) Outcome {
	return new(Executor).Execute(context.Background(), a)
}

func sh(text string) Script { return Script{Text: text} }

func readLog(t testing.TB, a Attempt) []byte {
	t.Helper()
	text, err := os.ReadFile(a.Log)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func wantLog(t testing.TB, a Attempt, want string) {
	t.Helper()
	if got := readLog(t, a); !bytes.Equal(got, []byte(want)) {
		t.Errorf("the log is %q, want %q", got, want)
	}
}

func wantExit(t testing.TB, o Outcome, code int) {
	t.Helper()
	if o.ExitCode != code || o.StartError != "" || o.Signal != "" || o.Stopped || len(o.Leftovers) > 0 {
		t.Errorf("the outcome is %+v, want exit code %d and nothing else", o, code)
	}
}

func wantStartError(t testing.TB, o Outcome, parts ...string) {
	t.Helper()
	if o.ExitCode != -1 || !o.Started.IsZero() {
		t.Errorf("it was started: %+v", o)
	}
	for _, part := range parts {
		if !strings.Contains(o.StartError, part) {
			t.Errorf("the start error is %q, which does not say %q", o.StartError, part)
		}
	}
}

// eventually polls for what another process brings about.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for over := time.After(20 * time.Second); !holds(); {
		select {
		case <-tick.C:
		case <-over:
			t.Fatalf("in 20 s it did not come about: %s", what)
		}
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// background is an attempt that runs while the test goes on.
type background struct {
	stop    context.CancelFunc
	outcome chan Outcome
}

func inBackground(t testing.TB, a Attempt) background {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	b := background{cancel, make(chan Outcome, 1)}
	over := make(chan struct{})
	go func() {
		defer close(over)
		b.outcome <- new(Executor).Execute(ctx, a)
	}()
	t.Cleanup(func() { // a failed test leaves nothing either
		cancel()
		<-over
	})
	return b
}

// stopWhen stops the attempt once the file is there, and returns its outcome and how long it then took.
func (b background) stopWhen(t testing.TB, file string) (Outcome, time.Duration) {
	t.Helper()
	eventually(t, file+" exists", func() bool { return exists(file) })
	begin := time.Now()
	b.stop()
	o := <-b.outcome
	return o, time.Since(begin)
}
