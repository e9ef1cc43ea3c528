package runtime_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/runtime/executor"
	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/runtime/reload"
	"github.com/ax-scheduler/ax/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// script carries out attempts by the book: how long each task takes, and how
// often it fails before it succeeds. It notes what happened when.
type script struct {
	t0   time.Time
	took map[string]time.Duration
	fail map[string]int // attempts that fail; -1 for all
	deaf map[string]time.Duration

	last string // line of an attempt that fails

	sleepLong bool                         // the engine's loop may
	outputs   map[string]map[string]string // of each task, when it succeeds

	mu    sync.Mutex
	notes []string
	envs  map[string][]string
	open  int
	most  int
}

func (s *script) note(format string, args ...any) {
	s.notes = append(s.notes, fmt.Sprintf("%s ", time.Since(s.t0))+fmt.Sprintf(format, args...))
}

// noted gives the notes so far.
func (s *script) noted() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.notes)
}

// peak gives how many attempts went at a time, at most.
func (s *script) peak() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.most
}

// told gives the environment that the last attempt of a task began with.
func (s *script) told(task string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.envs[task]
}

func (s *script) Execute(ctx context.Context, a executor.Attempt) executor.Outcome {
	started := time.Now()
	s.mu.Lock()
	s.note("%s#%d start", a.Task, a.Number)
	s.open++
	s.most = max(s.most, s.open)
	if s.envs == nil {
		s.envs = map[string][]string{}
	}
	s.envs[a.Task] = a.Env
	took := s.took[a.Task]
	s.mu.Unlock()

	o := executor.Outcome{Started: started}
	select {
	case <-time.After(took):
		if n := s.fail[a.Task]; n < 0 || a.Number <= n {
			o.ExitCode, o.LastLine = 3, cmp.Or(s.last, "no luck")
		} else {
			o.Outputs = maps.Clone(s.outputs[a.Task])
		}
	case <-ctx.Done():
		time.Sleep(s.deaf[a.Task])
		o.Stopped, o.Signal, o.ExitCode = true, "SIGTERM", 143
	}
	s.mu.Lock()
	s.open--
	s.note("%s#%d end", a.Task, a.Number)
	s.mu.Unlock()
	o.Finished = time.Now()
	return o
}

func plan(t testing.TB, text string) *dag.Plan {
	t.Helper()
	f := reload.Compile(filepath.Join("testdata", "flow.yaml"), []byte(text))
	if f.Plan == nil {
		t.Fatalf("the workflow has errors: %v", f.Diagnostics)
	}
	return f.Plan
}

// inEngine runs do beside a serving engine, in virtual time.
func inEngine(t *testing.T, x *script, do func(ctx context.Context, e *runtime.Engine)) {
	synctest.Test(t, func(t *testing.T) {
		x.t0 = time.Now()
		e := &runtime.Engine{Store: &store.Memory{}, Executor: x, Data: t.TempDir(), Zone: time.UTC, Owner: "test"}
		serve(t, e, do)
	})
}

// serve has an engine serve for as long as do takes.
func serve(t *testing.T, e *runtime.Engine, do func(ctx context.Context, e *runtime.Engine)) {
	t.Helper()
	if err := serveToEnd(t, e, do); err != nil {
		t.Errorf("the engine %q failed: %v", e.Owner, err)
	}
}

// serveToEnd is serve for an engine that may fail. It gives what its end was.
func serveToEnd(t *testing.T, e *runtime.Engine, do func(ctx context.Context, e *runtime.Engine)) error {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- e.Serve(ctx) }()
	do(ctx, e)
	stop()
	return <-served
}

// runAll starts a workflow, waits for its end and gives its report.
func runAll(ctx context.Context, t *testing.T, e *runtime.Engine, text string) runtime.Report {
	t.Helper()
	run, err := e.Start(ctx, runtime.Request{Plan: plan(t, text)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Wait(ctx, run.ID); err != nil {
		t.Fatal(err)
	}
	rep, err := runtime.ReadReport(ctx, e.Store, run.ID)
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

// states gives "id state reason" for each task.
func states(rep runtime.Report) []string {
	var s []string
	for _, t := range rep.Tasks {
		s = append(s, strings.TrimSpace(t.ID+" "+t.State+" "+t.Reason))
	}
	return s
}

func equal(t *testing.T, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

func TestRetriesWaitExactlyAndHoldDownstreamBack(t *testing.T) {
	x := &script{took: map[string]time.Duration{"a": time.Hour, "b": time.Minute}, fail: map[string]int{"a": 2}}
	inEngine(t, x, func(ctx context.Context, e *runtime.Engine) {
		rep := runAll(ctx, t, e, `
name: flow
tasks:
  a: {run: one, retry: {max: 3, delay: 1s}}
  b: {run: two, depends_on: a}
`)
		equal(t, states(rep), []string{"a succeeded", "b succeeded"})
		equal(t, x.noted(), []string{
			"0s a#1 start", "1h0m0s a#1 end",
			"1h0m1s a#2 start", "2h0m1s a#2 end",
			"2h0m3s a#3 start", "3h0m3s a#3 end",
			"3h0m3s b#1 start", "3h1m3s b#1 end",
		})
		if got := rep.Tasks[0].Attempts; got != 3 {
			t.Errorf("a has %d attempts, want 3", got)
		}
	})
}

func TestATimeoutStopsTheAttemptAndIsRetriedLikeAFailure(t *testing.T) {
	x := &script{took: map[string]time.Duration{"a": time.Hour}, deaf: map[string]time.Duration{"a": 3 * time.Second}}
	inEngine(t, x, func(ctx context.Context, e *runtime.Engine) {
		rep := runAll(ctx, t, e, `
name: flow
tasks:
  a: {run: one, timeout: 10s, retry: {max: 1, delay: 5s}, on_failure: h}
  h: {run: two}
`)
		equal(t, states(rep), []string{"a failed timeout", "h succeeded"})
		equal(t, x.noted(), []string{
			"0s a#1 start", "13s a#1 end", "18s a#2 start", "31s a#2 end", "31s h#1 start", "31s h#1 end",
		})
		if !slices.Contains(x.told("h"), "AX_FAILED_TASK=a") || !slices.Contains(x.told("h"), "AX_FAILED_REASON=timeout") {
			t.Errorf("the handler was told %v", x.told("h"))
		}
	})
}

func TestTheTimeoutOfTheRunLetsHandlersRun(t *testing.T) {
	x := &script{took: map[string]time.Duration{"a": time.Hour, "h": time.Hour}}
	inEngine(t, x, func(ctx context.Context, e *runtime.Engine) {
		rep := runAll(ctx, t, e, `
name: flow
timeout: 1m
on_failure: h
tasks:
  a: {run: one}
  b: {run: two, depends_on: a}
  h: {run: three}
`)
		equal(t, states(rep), []string{"a failed run_timeout", "b cancelled run_timeout", "h succeeded"})
		if rep.State != "failed" || rep.Reason != "run_timeout" {
			t.Errorf("the run is %s (%s), want failed (run_timeout)", rep.State, rep.Reason)
		}
	})
}

func TestACancelEndsTheRunAndLetsOnFinishRun(t *testing.T) {
	x := &script{took: map[string]time.Duration{"a": time.Hour, "tidy": time.Second}}
	inEngine(t, x, func(ctx context.Context, e *runtime.Engine) {
		run, err := e.Start(ctx, runtime.Request{Plan: plan(t, `
name: flow
on_finish: tidy
tasks:
  a: {run: one, on_failure: h}
  h: {run: two}
  tidy: {run: three}
`)})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		if err := e.Cancel(ctx, run.ID, "a test"); err != nil {
			t.Fatal(err)
		}
		ended, err := e.Wait(ctx, run.ID)
		if err != nil || ended.State != machine.RunCancelled {
			t.Fatalf("the run is %s (%v), want cancelled", ended.State, err)
		}
		rep, err := runtime.ReadReport(ctx, e.Store, run.ID)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, states(rep), []string{"a cancelled cancelled", "h cancelled cancelled", "tidy succeeded"})
		if err := e.Cancel(ctx, run.ID, "a test"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("a cancel of an ended run gives %v", err)
		}
	})
}

func TestSlotsAreKeptAndGivenByPriority(t *testing.T) {
	took := map[string]time.Duration{}
	text := "name: flow\nmax_parallel: 3\ntasks:\n"
	for i := range 20 {
		id := fmt.Sprintf("t%d", i)
		took[id] = time.Second
		text += fmt.Sprintf("  %s: {run: one, priority: %d}\n", id, i%10)
	}
	x := &script{took: took}
	inEngine(t, x, func(ctx context.Context, e *runtime.Engine) {
		rep := runAll(ctx, t, e, text)
		if rep.State != "succeeded" || x.peak() != 3 {
			t.Errorf("the run is %s with %d attempts at a time, want succeeded with 3", rep.State, x.peak())
		}
		first := slices.Sorted(slices.Values(x.noted()[:3])) // the order of three that start together is open
		equal(t, first, []string{"0s t19#1 start", "0s t8#1 start", "0s t9#1 start"})
	})
}

// notes is a store that notes when batches were durable, and can fail.
type slowStore struct {
	store.Memory
	pause time.Duration
	full  int // commits that find the disk full
}

func (s *slowStore) Commit(ctx context.Context, b *store.Batch) error {
	time.Sleep(s.pause)
	if s.full > 0 && len(b.Append) > 0 {
		s.full--
		return fmt.Errorf("commit: %w", store.ErrFull)
	}
	return s.Memory.Commit(ctx, b)
}

func TestNothingStartsBeforeItIsOnDisk(t *testing.T) {
	x := &script{took: map[string]time.Duration{}}
	synctest.Test(t, func(t *testing.T) {
		x.t0 = time.Now()
		s := &slowStore{pause: time.Second, full: 2}
		e := &runtime.Engine{Store: s, Executor: x, Data: t.TempDir(), Zone: time.UTC}
		ctx, stop := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- e.Serve(ctx) }()
		runAll(ctx, t, e, "name: flow\ntasks:\n  a: {run: one}\n  b: {run: two, depends_on: a}\n")
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
		// Creating the run takes a second, the first batch one, twice in vain
		// with pauses of 50 and 100 ms, then one more; each further one a second.
		equal(t, x.noted(), []string{"4.15s a#1 start", "4.15s a#1 end", "5.15s b#1 start", "5.15s b#1 end"})
	})
}

func TestAStopCutsAttemptsAndRecordsNothingOfIt(t *testing.T) {
	x := &script{took: map[string]time.Duration{"a": time.Hour}}
	var s store.Store
	var id string
	inEngine(t, x, func(ctx context.Context, e *runtime.Engine) {
		run, err := e.Start(ctx, runtime.Request{Plan: plan(t, "name: flow\ntasks:\n  a: {run: one}\n")})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		s, id = e.Store, run.ID
	})
	rep, err := runtime.ReadReport(t.Context(), s, id)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, states(rep), []string{"a running"})
	equal(t, x.noted(), []string{"0s a#1 start", "1m0s a#1 end"})
}

func TestWhatIsStoredReplaysToWhatIsShown(t *testing.T) {
	x := &script{took: map[string]time.Duration{"a": time.Second}, fail: map[string]int{"a": -1}}
	inEngine(t, x, func(ctx context.Context, e *runtime.Engine) {
		rep := runAll(ctx, t, e, `
name: flow
tasks:
  a: {run: one, retry: 2, on_failure: h}
  b: {run: two, depends_on: a}
  c: {run: two, depends_on: b}
  h: {run: three}
`)
		rec, err := e.Store.Run(ctx, rep.ID)
		if err != nil {
			t.Fatal(err)
		}
		r, err := runtime.Replay(ctx, e.Store, rec)
		if err != nil {
			t.Fatal(err)
		}
		var replayed []string
		for i := range r.Plan().Tasks {
			v := r.Task(dag.Task(i))
			replayed = append(replayed, strings.TrimSpace(fmt.Sprintf("%s %s %s", r.Plan().Tasks[i].ID, v.State, v.Reason)))
		}
		equal(t, replayed, states(rep))
		equal(t, states(rep), []string{"a failed exit", "b skipped upstream", "c skipped upstream", "h succeeded"})
		if want := `upstream "a" failed`; rep.Tasks[2].Error != want {
			t.Errorf("c says %q, want %q", rep.Tasks[2].Error, want)
		}
	})
}

func TestARepeatedRequestWithAKeyGivesTheFirstRun(t *testing.T) {
	x := &script{}
	inEngine(t, x, func(ctx context.Context, e *runtime.Engine) {
		p := plan(t, "name: flow\ntasks:\n  a: {run: one}\n")
		first, err := e.Start(ctx, runtime.Request{Plan: p, Key: "k"})
		if err != nil {
			t.Fatal(err)
		}
		again, err := e.Start(ctx, runtime.Request{Plan: p, Key: "k"})
		if err != nil || again.ID != first.ID {
			t.Errorf("the second request gave run %s (%v), want %s", again.ID, err, first.ID)
		}
	})
}

func TestAPoolOfOneSlotIsALockSharedByRuns(t *testing.T) {
	x := &script{took: map[string]time.Duration{"a": 2 * time.Second, "b": time.Second}}
	inEngine(t, x, func(ctx context.Context, e *runtime.Engine) {
		first, err := e.Start(ctx, runtime.Request{Plan: plan(t, "name: one\ntasks:\n  a: {run: x, pool: db}\n")})
		if err != nil {
			t.Fatal(err)
		}
		second, err := e.Start(ctx, runtime.Request{Plan: plan(t, "name: two\ntasks:\n  b: {run: x, pool: {name: db, slots: 1}}\n  free: {run: x}\n")})
		if err != nil {
			t.Fatal(err)
		}
		rep := runAll(ctx, t, e, "name: three\ntasks:\n  c: {run: x, pool: {name: db, slots: 1, busy: skip}}\n  d: {run: x, depends_on: {c: skipped}}\n")
		equal(t, states(rep), []string{"c skipped busy", "d succeeded"})
		for _, id := range []string{first.ID, second.ID} {
			if _, err := e.Wait(ctx, id); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		want := []string{"2s a#1 end", "2s b#1 start", "3s b#1 end"}
		notes := x.noted()
		equal(t, notes[len(notes)-3:], want)
	})
}
