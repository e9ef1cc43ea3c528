package runtime_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/runtime/executor"
	"github.com/ax-scheduler/ax/store"
)

// lasting is a script whose attempts outlive their engine: each is begun once,
// and whoever asks is told of its end. What ends while nobody asks leaves a
// record.
type lasting struct {
	script
	outcomes map[string]chan executor.Outcome
	stops    map[string]context.CancelFunc
	ended    map[string]executor.Outcome
	settled  []string
}

func key(a executor.Attempt) string { return a.RunID + "/" + a.Task + "/" + string(rune('0'+a.Number)) }

func (l *lasting) Execute(ctx context.Context, a executor.Attempt) executor.Outcome {
	done := make(chan executor.Outcome, 1)
	l.mu.Lock()
	if l.outcomes == nil {
		l.outcomes, l.ended = map[string]chan executor.Outcome{}, map[string]executor.Outcome{}
		l.stops = map[string]context.CancelFunc{}
	}
	own, stop := context.WithCancel(context.Background())
	l.outcomes[key(a)], l.stops[key(a)] = done, stop
	l.mu.Unlock()
	go func() {
		defer stop()
		o := l.script.Execute(own, a)
		o.Settled = func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.settled = append(l.settled, a.Task)
		}
		l.mu.Lock()
		l.ended[key(a)] = o
		l.mu.Unlock()
		done <- o
	}()
	return l.await(ctx, a, stop)
}

func (l *lasting) await(ctx context.Context, a executor.Attempt, stop func()) executor.Outcome {
	l.mu.Lock()
	done := l.outcomes[key(a)]
	l.mu.Unlock()
	select {
	case o := <-done:
		return o
	case <-ctx.Done():
		if context.Cause(ctx) == executor.ErrDetach {
			return executor.Outcome{Detached: true}
		}
		stop()
		return <-done
	}
}

func (l *lasting) Adopt(attempts []executor.Attempt) []executor.Adopted {
	var all []executor.Adopted
	for _, a := range attempts {
		l.mu.Lock()
		o, over := l.ended[key(a)]
		stop, known := l.stops[key(a)]
		l.mu.Unlock()
		switch {
		case over:
			all = append(all, executor.Adopted{Ended: &o})
		case known:
			all = append(all, executor.Adopted{Await: func(ctx context.Context) executor.Outcome {
				return l.await(ctx, a, stop)
			}})
		default:
			all = append(all, executor.Adopted{Ended: &executor.Outcome{ExitCode: -1, Interrupted: true}})
		}
	}
	return all
}

// detached runs one engine after another on one store, each until it is told to
// stop; then it lets go of what runs.
func detached(t *testing.T, x *lasting, parallel int, engines ...func(ctx context.Context, e *runtime.Engine)) {
	synctest.Test(t, func(t *testing.T) {
		x.t0 = time.Now()
		s, data := &store.Memory{}, t.TempDir()
		for i, do := range engines {
			e := &runtime.Engine{Store: s, Executor: x, Data: data, Zone: time.UTC, Owner: string(rune('a' + i)),
				MaxParallel: parallel, Detach: true, Supervisor: []string{"none"}}
			serve(t, e, do)
		}
		synctest.Wait()
	})
}

func begin(t *testing.T, ctx context.Context, e *runtime.Engine, text string) string {
	t.Helper()
	run, err := e.Start(ctx, runtime.Request{Plan: plan(t, text)})
	if err != nil {
		t.Fatal(err)
	}
	return run.ID
}

func recovered(t *testing.T, ctx context.Context, e *runtime.Engine, policy runtime.Startup) {
	t.Helper()
	if err := e.Recover(ctx, policy); err != nil {
		t.Fatal(err)
	}
}

func ended(t *testing.T, ctx context.Context, e *runtime.Engine, id string) runtime.Report {
	t.Helper()
	if _, err := e.Wait(ctx, id); err != nil {
		t.Fatal(err)
	}
	return reportOf(ctx, t, e, id)
}

func TestADetachedAttemptIsAdoptedAndGoesOn(t *testing.T) {
	x := &lasting{script: script{took: map[string]time.Duration{"a": time.Hour, "pay": time.Hour}}}
	var id string
	detached(t, x, 0,
		func(ctx context.Context, e *runtime.Engine) {
			id = begin(t, ctx, e, "name: flow\ntasks:\n  a: {run: x}\n  b: {run: x, depends_on: a}\n  pay: {run: x, recovery: fail}\n")
			time.Sleep(10 * time.Minute)
		},
		func(ctx context.Context, e *runtime.Engine) {
			time.Sleep(10 * time.Minute)
			recovered(t, ctx, e, runtime.StartupRecover)
			time.Sleep(10 * time.Minute)
		},
		func(ctx context.Context, e *runtime.Engine) {
			recovered(t, ctx, e, runtime.StartupRecover)
			rep := ended(t, ctx, e, id)
			equal(t, states(rep), []string{"a succeeded", "b succeeded", "pay succeeded"})
			if rep.Tasks[0].Attempts != 1 || rep.Tasks[2].Attempts != 1 {
				t.Errorf("what was adopted was begun again: %+v", rep.Tasks)
			}
		})
	equal(t, slices.Sorted(slices.Values(x.noted())), []string{
		"0s a#1 start", "0s pay#1 start", "1h0m0s a#1 end", "1h0m0s b#1 end", "1h0m0s b#1 start", "1h0m0s pay#1 end",
	})
	equal(t, slices.Sorted(slices.Values(x.settled)), []string{"a", "b", "pay"})
}

func TestWhatEndedWithoutAnEngineIsTakenInWithItsTime(t *testing.T) {
	x := &lasting{script: script{took: map[string]time.Duration{"a": 10 * time.Minute}, fail: map[string]int{"a": 1}}}
	var id string
	detached(t, x, 0,
		func(ctx context.Context, e *runtime.Engine) {
			id = begin(t, ctx, e, "name: flow\ntasks:\n  a: {run: x, timeout: 20m, retry: {max: 1, delay: 55m, max_delay: 2h}}\n")
			time.Sleep(time.Minute)
		},
		func(ctx context.Context, e *runtime.Engine) {
			time.Sleep(time.Hour) // the timeout, too, would be over
			recovered(t, ctx, e, runtime.StartupRecover)
			equal(t, states(ended(t, ctx, e, id)), []string{"a succeeded"})
		})
	// It failed after ten minutes, and the pause counts from there.
	equal(t, x.noted(), []string{"0s a#1 start", "10m0s a#1 end", "1h5m0s a#2 start", "1h15m0s a#2 end"})
}

func TestAStartWithoutPausesDoesNotWaitAfterWhatFailedMeanwhileEither(t *testing.T) {
	x := &lasting{script: script{took: map[string]time.Duration{"a": 10 * time.Minute}, fail: map[string]int{"a": 1}}}
	var id string
	detached(t, x, 0,
		func(ctx context.Context, e *runtime.Engine) {
			id = begin(t, ctx, e, "name: flow\ntasks:\n  a: {run: x, retry: {max: 1, delay: 2h, max_delay: 2h}}\n")
			time.Sleep(time.Minute)
		},
		func(ctx context.Context, e *runtime.Engine) {
			time.Sleep(time.Hour)
			recovered(t, ctx, e, runtime.StartupRunAll)
			ended(t, ctx, e, id)
		})
	equal(t, x.noted(), []string{"0s a#1 start", "10m0s a#1 end", "1h1m0s a#2 start", "1h11m0s a#2 end"})
}

func TestATimeoutThatPassedWithoutAnEngineIsEnforcedAtOnce(t *testing.T) {
	x := &lasting{script: script{took: map[string]time.Duration{"a": 3 * time.Hour}}}
	var id string
	detached(t, x, 0,
		func(ctx context.Context, e *runtime.Engine) {
			id = begin(t, ctx, e, "name: flow\ntasks:\n  a: {run: x, timeout: 90m}\n")
			time.Sleep(time.Minute)
		},
		func(ctx context.Context, e *runtime.Engine) {
			time.Sleep(2 * time.Hour)
			recovered(t, ctx, e, runtime.StartupRecover)
			equal(t, states(ended(t, ctx, e, id)), []string{"a failed timeout"})
			if got := time.Since(x.t0); got != 2*time.Hour+time.Minute {
				t.Errorf("it was stopped after %s", got)
			}
		})
}

func TestAnAdoptedAttemptKeepsItsSlotsAndItsTurn(t *testing.T) {
	x := &lasting{script: script{took: map[string]time.Duration{"a": time.Hour, "b": time.Minute, "c": time.Minute}}}
	var ids []string
	detached(t, x, 2,
		func(ctx context.Context, e *runtime.Engine) {
			ids = append(ids, begin(t, ctx, e, "name: one\ntasks:\n  a: {run: x, pool: door}\n"),
				begin(t, ctx, e, "name: one\ntasks:\n  b: {run: x}\n"), // waits behind max_active
				begin(t, ctx, e, "name: two\ntasks:\n  c: {run: x, pool: door}\n"))
			time.Sleep(time.Minute)
		},
		func(ctx context.Context, e *runtime.Engine) {
			recovered(t, ctx, e, runtime.StartupRecover)
			h, err := e.Health(ctx)
			if err != nil || h.Active != 1 || h.Queued != 1 {
				t.Errorf("the engine does %+v, %v", h, err)
			}
			for _, id := range ids {
				ended(t, ctx, e, id)
			}
		})
	equal(t, slices.Sorted(slices.Values(x.noted())), []string{
		"0s a#1 start", "1h0m0s a#1 end", "1h0m0s b#1 start", "1h0m0s c#1 start", "1h1m0s b#1 end", "1h1m0s c#1 end",
	})
}

func TestTheStartCanSkipThePausesOrCancelAll(t *testing.T) {
	for policy, want := range map[runtime.Startup][]string{
		runtime.StartupRecover: {"0s a#1 start", "0s a#1 end", "1h0m0s a#2 start", "1h0m0s a#2 end"},
		runtime.StartupRunAll:  {"0s a#1 start", "0s a#1 end", "1m0s a#2 start", "1m0s a#2 end"},
		runtime.StartupCancel:  {"0s a#1 start", "0s a#1 end"},
	} {
		t.Run(string(policy), func(t *testing.T) {
			x := &lasting{script: script{fail: map[string]int{"a": 1}}}
			var id string
			detached(t, x, 0,
				func(ctx context.Context, e *runtime.Engine) {
					id = begin(t, ctx, e, "name: flow\ntasks:\n  a: {run: x, retry: {max: 1, delay: 1h, max_delay: 1h}}\n")
					time.Sleep(time.Minute)
				},
				func(ctx context.Context, e *runtime.Engine) {
					recovered(t, ctx, e, policy)
					ended(t, ctx, e, id)
				})
			equal(t, x.noted(), want)
		})
	}
}

func TestAnEngineTakesOverTheRunsOfOneThatDiesBesideIt(t *testing.T) {
	x := &lasting{script: script{took: map[string]time.Duration{"a": time.Hour}}}
	synctest.Test(t, func(t *testing.T) {
		x.t0 = time.Now()
		s, data := &store.Memory{}, t.TempDir()
		claim, err := runtime.NewClaim(data)
		if err != nil {
			t.Fatal(err)
		}
		first := &runtime.Engine{Store: s, Executor: x, Data: data, Zone: time.UTC, Owner: claim.Owner, Detach: true}
		second := &runtime.Engine{Store: s, Executor: x, Data: data, Zone: time.UTC, Owner: "second", Detach: true}
		ctx, stop := context.WithCancel(t.Context())
		one, die := context.WithCancel(t.Context())
		served := make(chan error, 3)
		go func() { served <- first.Serve(one) }()
		go func() { served <- second.Serve(ctx) }()
		go func() { second.Succeed(ctx); served <- nil }()
		id := begin(t, ctx, first, "name: flow\ntasks:\n  a: {run: x}\n")
		time.Sleep(10 * time.Minute)
		if rec, err := s.Run(ctx, id); err != nil || rec.Owner != claim.Owner {
			t.Errorf("a run of a living engine was taken over: %+v, %v", rec, err)
		}
		die()
		<-served
		// The lock is given up, and the file stays: as when a process is killed.
		lock := filepath.Join(data, "engines", claim.Owner+".lock")
		if err := claim.Release(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(lock, []byte("1\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		equal(t, states(ended(t, ctx, second, id)), []string{"a succeeded"})
		if _, err := os.Stat(lock); !os.IsNotExist(err) {
			t.Errorf("the claim of the dead engine is left: %v", err)
		}
		equal(t, x.noted(), []string{"0s a#1 start", "1h0m0s a#1 end"})
		stop()
		for range 2 {
			if err := <-served; err != nil {
				t.Error(err)
			}
		}
	})
}

func TestWhatDeadEnginesLeftIsTidiedUp(t *testing.T) {
	inEngine(t, &script{}, func(ctx context.Context, e *runtime.Engine) {
		rep := runAll(ctx, t, e, "name: flow\ntasks:\n  a: {run: x}\n")
		living, err := runtime.NewClaim(e.Data)
		if err != nil {
			t.Fatal(err)
		}
		defer living.Release()
		kept := []string{"engines/" + living.Owner + ".lock", "scratch/unknown"}
		gone := []string{"engines/dead.lock", "scratch/" + rep.ID}
		for _, path := range append(gone, "scratch/unknown") {
			if err := os.MkdirAll(filepath.Join(e.Data, filepath.Dir(path)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(e.Data, path), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := e.Tidy(ctx); err != nil {
			t.Fatal(err)
		}
		for _, path := range gone {
			if _, err := os.Lstat(filepath.Join(e.Data, path)); !os.IsNotExist(err) {
				t.Errorf("%s is left", path)
			}
		}
		for _, path := range kept {
			if _, err := os.Lstat(filepath.Join(e.Data, path)); err != nil {
				t.Errorf("%s is gone", path)
			}
		}
	})
}

func TestATimeoutIsEnforcedWhileTheDiskIsFull(t *testing.T) {
	x := &script{took: map[string]time.Duration{"a": time.Hour}}
	synctest.Test(t, func(t *testing.T) {
		x.t0 = time.Now()
		s := &slowStore{}
		e := &runtime.Engine{Store: s, Executor: x, Data: t.TempDir(), Zone: time.UTC}
		ctx, stop := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- e.Serve(ctx) }()
		id := begin(t, ctx, e, "name: flow\ntasks:\n  a: {run: x, timeout: 1m}\n")
		time.Sleep(time.Second)
		s.full = 20 // for three minutes
		equal(t, states(ended(t, ctx, e, id)), []string{"a failed timeout"})
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
		equal(t, x.noted(), []string{"0s a#1 start", "1m0s a#1 end"})
		if got := time.Since(x.t0); got < 3*time.Minute {
			t.Errorf("the disk was full only until %s", got)
		}
	})
}
