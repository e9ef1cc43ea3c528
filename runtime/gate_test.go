package runtime_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/store"
)

// beside runs engines with claims of their own on one store, each as a process
// of its own would.
func beside(t *testing.T, x *script, n int, do func(ctx context.Context, es []*runtime.Engine, die []func())) {
	besideOn(t, x, n, func() store.Store { return &store.Memory{} }, do)
}

func besideOn(t *testing.T, x *script, n int, open func() store.Store, do func(ctx context.Context, es []*runtime.Engine, die []func())) {
	synctest.Test(t, func(t *testing.T) {
		x.t0 = time.Now()
		s, data := open(), t.TempDir()
		es, die := make([]*runtime.Engine, n), make([]func(), n)
		for i := range es {
			claim, err := runtime.NewClaim(data)
			if err != nil {
				t.Fatal(err)
			}
			es[i] = &runtime.Engine{Store: s, Executor: x, Data: data, Zone: time.UTC, Owner: claim.Owner}
			ctx, stop := context.WithCancel(t.Context())
			served := make(chan error, 1)
			go func() { served <- es[i].Serve(ctx) }()
			die[i] = sync.OnceFunc(func() {
				stop()
				if err := <-served; err != nil {
					t.Errorf("engine %d failed: %v", i, err)
				}
				if err := claim.Release(); err != nil {
					t.Error(err)
				}
			})
			defer die[i]()
		}
		do(t.Context(), es, die)
	})
}

func TestRunsOfSeveralProcessesKeepToMaxActiveTogether(t *testing.T) {
	x := &script{took: map[string]time.Duration{"a": time.Minute}}
	beside(t, x, 2, func(ctx context.Context, es []*runtime.Engine, _ []func()) {
		p := plan(t, single)
		first := start(ctx, t, es[0], runtime.Request{Plan: p})
		time.Sleep(time.Second) // of two that come to the gate at once either may be the first
		second := start(ctx, t, es[1], runtime.Request{Plan: p})
		time.Sleep(30 * time.Second)
		if run, err := es[1].Store.Run(ctx, second.ID); err != nil || run.State != machine.RunQueued {
			t.Errorf("beside a run of another process the second is %s, %v", run.State, err)
		}
		one, two := wait(ctx, t, es[0], first.ID), wait(ctx, t, es[1], second.ID)
		if late := two.StartedAt.Sub(one.FinishedAt); late < 0 || late > time.Second {
			t.Errorf("the second started %s after the end of the first", late)
		}
		// With nobody in the way there is no pause.
		third := wait(ctx, t, es[0], start(ctx, t, es[0], runtime.Request{Plan: p}).ID)
		if late := third.StartedAt.Sub(third.CreatedAt); late > 50*time.Millisecond {
			t.Errorf("a third one started %s after it was asked for", late)
		}
	})
}

// lingering is a store whose answers and transactions take a while: what is read
// is old when it arrives, so that two that count at once both see what was there
// before either wrote.
type lingering struct{ store.Memory }

const linger = 2 * time.Second

func (s *lingering) Runs(ctx context.Context, f store.RunFilter) ([]store.Run, error) {
	defer time.Sleep(linger)
	return s.Memory.Runs(ctx, f)
}

func (s *lingering) Commit(ctx context.Context, b *store.Batch) error {
	time.Sleep(linger)
	return s.Memory.Commit(ctx, b)
}

// Who counts what others have lets nobody else count before its own start is on
// disk, for all that a count and a write may take.
func TestOfTwoEnginesThatCountAtOnceOneStarts(t *testing.T) {
	for name, text := range map[string]string{
		"max_active": single,
		"pool":       "name: flow\nmax_active: 0\ntasks:\n  a: {run: x, pool: door}\n",
	} {
		t.Run(name, func(t *testing.T) {
			x := &script{took: map[string]time.Duration{"a": time.Minute}}
			besideOn(t, x, 3, func() store.Store { return &lingering{} }, func(ctx context.Context, es []*runtime.Engine, _ []func()) {
				p := plan(t, text)
				errs := make(chan error)
				for _, e := range es {
					go func() {
						run, err := e.Start(ctx, runtime.Request{Plan: p})
						if err == nil {
							_, err = e.Wait(ctx, run.ID)
						}
						errs <- err
					}()
				}
				for range es {
					if err := <-errs; err != nil {
						t.Error(err)
					}
				}
				if x.peak() != 1 || len(x.noted()) != 2*len(es) {
					t.Errorf("%d attempts went at a time: %q", x.peak(), x.noted())
				}
			})
		})
	}
}

func TestARunThatWaitsForAnotherProcessCanBeCancelled(t *testing.T) {
	x := &script{took: map[string]time.Duration{"a": time.Hour}}
	beside(t, x, 2, func(ctx context.Context, es []*runtime.Engine, _ []func()) {
		p := plan(t, single)
		start(ctx, t, es[0], runtime.Request{Plan: p})
		time.Sleep(time.Second)
		second := start(ctx, t, es[1], runtime.Request{Plan: p})
		time.Sleep(time.Minute)
		if err := es[1].Cancel(ctx, second.ID, "a test"); err != nil {
			t.Fatal(err)
		}
		if run := wait(ctx, t, es[1], second.ID); run.State != machine.RunCancelled || !run.StartedAt.IsZero() {
			t.Errorf("it is %s, started at %s", run.State, run.StartedAt)
		}
	})
}

func TestWhatADeadProcessHadIsFree(t *testing.T) {
	x := &script{took: map[string]time.Duration{"a": time.Hour}}
	beside(t, x, 2, func(ctx context.Context, es []*runtime.Engine, die []func()) {
		p := plan(t, "name: flow\ntasks:\n  a: {run: x, pool: door}\n")
		start(ctx, t, es[0], runtime.Request{Plan: p})
		time.Sleep(time.Second)
		second := start(ctx, t, es[1], runtime.Request{Plan: p})
		time.Sleep(time.Minute)
		die[0]()
		time.Sleep(time.Second)
		// That of the dead is running still by its record.
		if rep := reportOf(ctx, t, es[1], second.ID); rep.State != "running" || rep.Tasks[0].State != "running" {
			t.Errorf("after the death of the other it is %s, and its task %s", rep.State, rep.Tasks[0].State)
		}
	})
}

func TestTasksOfSeveralProcessesShareThePool(t *testing.T) {
	x := &script{took: map[string]time.Duration{"a": time.Minute, "b": time.Minute, "c": time.Second, "each[0]": time.Minute, "each[1]": time.Minute, "each[2]": time.Minute}}
	beside(t, x, 2, func(ctx context.Context, es []*runtime.Engine, _ []func()) {
		first := start(ctx, t, es[0], runtime.Request{Plan: plan(t, "name: one\ntasks:\n  each: {run: x, foreach: [1, 2, 3], pool: {name: door, slots: 2}}\n")})
		time.Sleep(time.Second)
		second := start(ctx, t, es[1], runtime.Request{Plan: plan(t, `
name: two
tasks:
  b: {run: x, pool: {name: door, slots: 2}}
  c: {run: x}
  d: {run: x, pool: {name: door, slots: 2, busy: skip}}
`)})
		time.Sleep(time.Second)
		held, err := runtime.Holdings(ctx, es[1].Store)
		if err != nil || len(held) != 2 || len(held[1].Slots) != 2 {
			t.Errorf("what is going is %+v, %v", held, err)
		}
		one, two := wait(ctx, t, es[0], first.ID), wait(ctx, t, es[1], second.ID)
		if one.State != machine.RunSucceeded || two.State != machine.RunSucceeded {
			t.Errorf("they are %s and %s", one.State, two.State)
		}
		equal(t, states(reportOf(ctx, t, es[1], second.ID)), []string{"b succeeded", "c succeeded", "d skipped busy"})
		most(t, es[0].Store, 2)
	})
}

func TestATickThatMeetsARunOfAnotherProcessFollowsItsOverlapRule(t *testing.T) {
	for overlap, want := range map[string][]string{
		"skip":       {"skipped overlap", "skipped overlap", "succeeded ", "succeeded "},
		"buffer_one": {"skipped overlap", "succeeded ", "succeeded ", "succeeded "},
		"queue":      {"succeeded ", "succeeded ", "succeeded ", "succeeded "},
		"replace":    {"skipped overlap", "succeeded ", "succeeded ", "succeeded "},
	} {
		t.Run(overlap, func(t *testing.T) {
			x := &script{took: map[string]time.Duration{"a": time.Second}}
			beside(t, x, 2, func(ctx context.Context, es []*runtime.Engine, _ []func()) {
				c := folder(t, "name: flow\nevery: 1h\noverlap: "+overlap+"\nparams: {}\ntasks:\n  a: {run: x}\n")
				if err := es[0].Load(ctx, c); err != nil {
					t.Fatal(err)
				}
				x.mu.Lock()
				x.took["a"] = 150 * time.Minute
				x.mu.Unlock()
				other := start(ctx, t, es[1], runtime.Request{Plan: c.Workflows["flow"].Plan()})
				time.Sleep(time.Minute)
				x.mu.Lock()
				x.took["a"] = time.Second
				x.mu.Unlock()
				wait(ctx, t, es[1], other.ID)
				time.Sleep(100 * time.Minute)
				runs, err := es[0].Store.Runs(ctx, store.RunFilter{Workflow: "flow", Limit: 10})
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, r := range slices.Backward(runs) {
					if r.ID != other.ID {
						got = append(got, r.State.String()+" "+string(r.Reason))
					}
				}
				equal(t, got, want)
			})
		})
	}
}

// Engines that start runs at random moments, and one of which dies: at no time
// have they more together than one may have, and all that they start ends.
func TestEnginesBesideEachOtherNeverHaveMoreThanOneMay(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		limit, slots := rapid.IntRange(1, 3).Draw(rt, "max_active"), rapid.IntRange(1, 2).Draw(rt, "slots")
		text := fmt.Sprintf("name: flow\nmax_active: %d\ntasks:\n  a: {run: x, pool: {name: door, slots: %d}}\n  b: {run: x, depends_on: a}\n", limit, slots)
		pauses := rapid.SliceOfN(rapid.IntRange(0, 1500), 4, 12).Draw(rt, "pauses")
		x := &script{took: map[string]time.Duration{"a": 700 * time.Millisecond, "b": 300 * time.Millisecond}}
		beside(t, x, 3, func(ctx context.Context, es []*runtime.Engine, die []func()) {
			p := plan(t, text)
			var runs []store.Run
			for i, pause := range pauses {
				time.Sleep(time.Duration(pause) * time.Millisecond)
				runs = append(runs, start(ctx, t, es[i%3], runtime.Request{Plan: p}))
				if i == len(pauses)/2 {
					die[2]()
					es[2] = es[0]
				}
			}
			for i, run := range runs {
				for _, e := range es[:2] {
					if run.Owner != e.Owner {
						continue
					}
					if run = wait(ctx, t, e, run.ID); run.State != machine.RunSucceeded {
						t.Errorf("run %d is %s %s", i, run.State, run.Error)
					}
				}
			}
			together(t, es[0].Store, limit, p)
			most(t, es[0].Store, slots)
		})
	})
}

// together sees to it that no more runs were going at a time than may, but for
// those of the dead.
func together(t *testing.T, s store.Store, limit int, p *dag.Plan) {
	t.Helper()
	runs, err := s.Runs(t.Context(), store.RunFilter{Workflow: p.Workflow.Name.V, Limit: store.MaxLimit})
	if err != nil {
		t.Fatal(err)
	}
	var spans []span
	for _, r := range runs {
		if !r.FinishedAt.IsZero() && !r.StartedAt.IsZero() {
			spans = append(spans, span{r.StartedAt, r.FinishedAt})
		}
	}
	if n := crowd(spans); n > limit {
		t.Errorf("%d runs were going at a time, not %d", n, limit)
	}
}

// most sees to it that no more attempts of tasks with a pool went at a time.
func most(t *testing.T, s store.Store, slots int) {
	t.Helper()
	runs, err := s.Runs(t.Context(), store.RunFilter{Limit: store.MaxLimit})
	if err != nil {
		t.Fatal(err)
	}
	var spans []span
	for _, r := range runs {
		all, err := s.Attempts(t.Context(), r.ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range all {
			pooled := strings.Contains(a.Log, "a.") || strings.Contains(a.Log, "each") || r.Workflow == "two" && a.Index == 0
			if pooled && !a.FinishedAt.IsZero() {
				spans = append(spans, span{a.StartedAt, a.FinishedAt})
			}
		}
	}
	if n := crowd(spans); n > slots {
		t.Errorf("%d attempts had slots of the pool at a time, not %d", n, slots)
	}
	if len(spans) == 0 {
		t.Error("no attempt had a slot of the pool")
	}
}

type span struct{ from, to time.Time }

// crowd gives how many spans lie over one another at most.
func crowd(spans []span) (most int) {
	for _, a := range spans {
		n := 0
		for _, b := range spans {
			if !b.from.After(a.from) && b.to.After(a.from) {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}
