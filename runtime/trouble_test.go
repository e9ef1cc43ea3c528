package runtime_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/store"
)

var errDisk = errors.New("input/output error")

// badDisk fails some writes, or is full until a time.
type badDisk struct {
	store.Memory
	mu     sync.Mutex               // of what follows
	before func(*store.Batch) error // keeps a write from being done
	after  func(*store.Batch) error // what one gives that is done
	full   time.Time
}

func (d *badDisk) Commit(ctx context.Context, b *store.Batch) error {
	d.mu.Lock()
	before, after, full := d.before, d.after, d.full
	d.mu.Unlock()
	if time.Now().Before(full) {
		return store.ErrFull
	}
	if before != nil {
		if err := before(b); err != nil {
			return err
		}
	}
	err := d.Memory.Commit(ctx, b)
	if err == nil && after != nil {
		err = after(b)
	}
	return err
}

// becomes changes how the disk is while an engine uses it.
func (d *badDisk) becomes(do func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	do()
}

// fails gives an error for some writes.
func fails(which func(*store.Batch) bool) func(*store.Batch) error {
	return func(b *store.Batch) error {
		if which(b) {
			return errDisk
		}
		return nil
	}
}

const minutely = "name: flow\nevery: 1m\nmax_active: 0\noverlap: queue\ncatchup: all\ntasks:\n  a: {run: x}\n"

// serveOn runs an engine on a disk, and gives what its end was.
func serveOn(t *testing.T, d *badDisk, x *script, owner string, do func(ctx context.Context, e *runtime.Engine)) error {
	e := &runtime.Engine{Store: d, Executor: x, Data: t.TempDir(), Zone: time.UTC, Owner: owner}
	return serveToEnd(t, e, do)
}

func TestAWriteOfATickThatFailsEndsTheEngineAndLeavesNoHole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, t0 := folder(t, minutely), time.Now()
		third := t0.Add(3 * time.Minute)
		d := &badDisk{before: fails(func(b *store.Batch) bool { return len(b.Ticks) > 0 && b.Ticks[0].At.Equal(third) })}
		load := func(ctx context.Context, e *runtime.Engine) {
			if err := errors.Join(e.Recover(ctx, runtime.StartupRecover), e.Load(ctx, c)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(5*time.Minute + time.Second)
		}
		if err := serveOn(t, d, &script{}, "one", load); !errors.Is(err, errDisk) {
			t.Errorf("the engine ended with %v", err)
		}
		d.before = nil
		if err := serveOn(t, d, &script{}, "two", load); err != nil {
			t.Error(err)
		}
		ticks, err := d.Ticks(t.Context(), "flow", t0, time.Now(), 0)
		if err != nil || len(ticks) != 11 { // the first load, and ten minutes
			t.Errorf("the ledger has %d rows, %v: %+v", len(ticks), err, ticks)
		}
	})
}

func TestWithAFullDiskAtTheStartAllGoesOnOnceThereIsRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &badDisk{}
		first := folder(t, minutely)
		ctx := t.Context()
		run, err := (&runtime.Engine{Store: d, Data: t.TempDir(), Zone: time.UTC}).Leave(ctx, runtime.Request{Plan: first.Workflows["flow"].Plan()})
		if err != nil {
			t.Fatal(err)
		}
		d.full = time.Now().Add(3 * time.Minute)
		err = serveOn(t, d, &script{}, "two", func(ctx context.Context, e *runtime.Engine) {
			if err := errors.Join(e.Recover(ctx, runtime.StartupRecover), e.Load(ctx, first)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(3 * time.Minute)
		})
		if err != nil {
			t.Error(err)
		}
		if run, err = d.Run(ctx, run.ID); err != nil || run.State.String() != "succeeded" {
			t.Errorf("the run that waited is %s, %v", run.State, err)
		}
		if spans, err := d.Schedules(ctx, "flow"); err != nil || len(spans) != 1 || !spans[0].Last.After(spans[0].First) {
			t.Errorf("the schedule is not kept: %v, %v", spans, err)
		}
	})
}

// While it waits for what runs, an engine has no more to do with schedules: a
// loop that were to spin would keep this time from passing.
func TestAnEngineThatDrainsSleeps(t *testing.T) {
	x := &script{took: map[string]time.Duration{"a": time.Hour}}
	synctest.Test(t, func(t *testing.T) {
		c := folder(t, minutely)
		e := &runtime.Engine{Store: &store.Memory{}, Executor: x, Data: t.TempDir(), Zone: time.UTC, Owner: "one", Drain: 10 * time.Minute}
		ctx, stop := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- e.Serve(ctx) }()
		if err := errors.Join(e.Recover(ctx, runtime.StartupRecover), e.Load(ctx, c)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(90 * time.Second)
		began := time.Now()
		stop()
		if err := <-served; err != nil || time.Since(began) != 10*time.Minute {
			t.Errorf("it ended after %s with %v", time.Since(began), err)
		}
	})
}

// Nobody knows of the write, so that this engine does not have the run in its
// queue: the next one is to find it in the store.
func TestARetryWhoseWriteFailsThoughItIsThereGoesOnWithTheNextEngine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, x := &badDisk{}, &script{fail: map[string]int{"a": 1}}
		d.after = fails(func(b *store.Batch) bool { return len(b.Update) > 0 && b.Update[0].State == machine.RunQueued })
		var id string
		err := serveOn(t, d, x, "one", func(ctx context.Context, e *runtime.Engine) {
			id = runAll(ctx, t, e, single).ID
			if err := e.Retry(ctx, id, nil); !errors.Is(err, errDisk) {
				t.Errorf("the retry gave %v", err)
			}
			synctest.Wait()
		})
		if !errors.Is(err, errDisk) {
			t.Errorf("the engine ended with %v", err)
		}
		d.after, x.fail = nil, nil
		err = serveOn(t, d, x, "two", func(ctx context.Context, e *runtime.Engine) {
			if err := e.Recover(ctx, runtime.StartupRecover); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
		})
		if err != nil {
			t.Error(err)
		}
		if run, err := d.Run(t.Context(), id); err != nil || run.State != machine.RunSucceeded {
			t.Errorf("the retried run is %s, %v", run.State, err)
		}
	})
}

// The attempt that was to have a child is not recorded as failed: the next engine
// finds the child and goes on with both.
func TestNothingIsWrittenThatFollowsFromAWriteOfWhichNobodyKnows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x, d := &mixed{}, &badDisk{}
		d.after = fails(func(b *store.Batch) bool { return len(b.Create) > 0 && b.Create[0].Workflow == "child" })
		var id string
		for _, owner := range []string{"one", "two"} {
			e := &runtime.Engine{Store: d, Executor: x, Data: t.TempDir(), Zone: time.UTC, Owner: owner,
				Workflows: library(t, map[string]string{"child": childish})}
			ctx, stop := context.WithCancel(t.Context())
			served := make(chan error, 1)
			go func() { served <- e.Serve(ctx) }()
			if owner == "one" {
				run, err := e.Start(ctx, runtime.Request{Plan: plan(t, parental)})
				if id = run.ID; err != nil && !errors.Is(err, runtime.ErrStopped) {
					t.Fatal(err)
				}
			} else if err := e.Recover(ctx, runtime.StartupRecover); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
			stop()
			if err := <-served; owner == "one" != errors.Is(err, errDisk) {
				t.Errorf("engine %s ended with %v", owner, err)
			}
		}
		children, err := d.Runs(t.Context(), store.RunFilter{Workflow: "child", Limit: 10})
		attempts, err2 := d.Attempts(t.Context(), id)
		run, err3 := d.Run(t.Context(), id)
		if err := errors.Join(err, err2, err3); err != nil || run.State != machine.RunSucceeded || len(children) != 1 || len(attempts) != 1 {
			t.Errorf("the run is %s after %d attempts with %d children, %v: %+v", run.State, len(attempts), len(children), err, attempts)
		}
	})
}

// A backfill has the engine look for queued runs while the run of a tick is on
// disk and not yet known to it.
func TestARunThatIsFoundInTheStoreOnItsWayToTheEngineIsOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const text = "name: flow\ncron: '*/10 * * * *'\ntimezone: UTC\noverlap: buffer_one\ntasks:\n  a: {run: x}\n"
		x := &script{t0: time.Now(), took: map[string]time.Duration{"a": 15 * time.Minute}}
		d := &badDisk{after: func(b *store.Batch) error {
			if len(b.Ticks) > 0 {
				time.Sleep(2 * time.Second)
			}
			return nil
		}}
		err := serveOn(t, d, x, "test", func(ctx context.Context, e *runtime.Engine) {
			load(ctx, t, e, text)
			time.Sleep(time.Until(x.t0.Add(20*time.Minute + time.Second)))
			hour := func(h time.Duration) string { return x.t0.Add(h).UTC().Format(time.RFC3339) }
			filled, err := e.Backfill(ctx, runtime.Backfill{Plan: plan(t, text), From: hour(-time.Hour), To: hour(-55 * time.Minute)})
			if err != nil || len(filled.Ticks) != 1 {
				t.Fatalf("%v, %v", filled, err)
			}
			time.Sleep(11 * time.Minute) // it has begun when the first run ended, and then the next tick came
			runs, err := e.Store.Runs(ctx, store.RunFilter{Workflow: "flow", Limit: 100})
			if err != nil {
				t.Fatal(err)
			}
			for _, run := range runs {
				if run.ScheduledFor.Equal(x.t0.Add(20*time.Minute)) && run.State != machine.RunRunning {
					t.Errorf("the run that is carried out is %s: %s", run.State, run.Error)
				}
			}
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// family gives an engine on the disk that knows the child.
func (d *badDisk) family(t *testing.T, x runtime.Executor, owner, child string) *runtime.Engine {
	return &runtime.Engine{Store: d, Executor: x, Data: t.TempDir(), Zone: time.UTC, Owner: owner,
		Workflows: library(t, map[string]string{"child": child})}
}

// The child's processes may be there, and its handlers start once there is room.
func TestATaskThatIsStoppedWhileTheDiskIsFullWaitsForTheEndOfItsRun(t *testing.T) {
	for _, c := range []struct {
		name        string
		took        time.Duration // by the child, if it is let
		stop        func(e *runtime.Engine, ctx context.Context, id, by string) error
		task, child string
	}{
		{"its time is over", time.Hour, nil, "failed", "cancelled"},
		{"it is cancelled", time.Hour, (*runtime.Engine).Cancel, "cancelled", "cancelled"},
		{"it is killed", time.Hour, (*runtime.Engine).Kill, "cancelled", "cancelled"},
		{"it is cancelled, and its run is over", 90 * time.Second, (*runtime.Engine).Cancel, "succeeded", "succeeded"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d, x := &badDisk{}, &mixed{}
				x.took = map[string]time.Duration{"a": c.took, "z": time.Minute}
				full := time.Now().Add(2 * time.Minute)
				if c.child == "succeeded" {
					full = full.Add(20 * time.Second) // its handler has begun
				}
				d.before = func(*store.Batch) error {
					if now := time.Now(); now.After(full) && now.Before(full.Add(10*time.Minute)) {
						return store.ErrFull
					}
					return nil
				}
				var id string
				err := serveToEnd(t, d.family(t, x, "one", "name: child\non_finish: z\ntasks:\n  a: {run: x}\n  z: {run: x}\n"),
					func(ctx context.Context, e *runtime.Engine) {
						run, err := e.Start(ctx, runtime.Request{Plan: plan(t, parental)})
						if err != nil {
							t.Fatal(err)
						}
						id = run.ID
						time.Sleep(time.Until(full.Add(time.Minute)))
						if c.stop != nil {
							if err := c.stop(e, ctx, id, "an operator"); err != nil && !errors.Is(err, store.ErrFull) {
								t.Error(err)
							}
						}
						time.Sleep(20 * time.Minute)
					})
				if err != nil {
					t.Error(err)
				}
				rep, err := runtime.ReadReport(t.Context(), d, id)
				kids, err2 := d.Runs(t.Context(), store.RunFilter{Workflow: "child", Limit: 10})
				if err := errors.Join(err, err2); err != nil || len(kids) != 1 || rep.FinishedAt == nil {
					t.Fatalf("%+v, children %+v, %v", rep, kids, err)
				}
				if kids[0].State.String() != c.child || rep.Tasks[0].State != c.task || kids[0].FinishedAt.After(*rep.FinishedAt) {
					t.Errorf("the child is %s at %s; its task is %s, and the parent %s at %s",
						kids[0].State, kids[0].FinishedAt, rep.Tasks[0].State, rep.State, rep.FinishedAt)
				}
			})
		})
	}
}

func TestATaskWaitsForRoomToStartItsRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, x := &badDisk{}, &mixed{}
		room := time.Now().Add(3 * time.Minute)
		d.before = func(b *store.Batch) error { // the room that is left does not suffice for a new run
			if len(b.Create) == 1 && b.Create[0].Workflow == "child" && time.Now().Before(room) {
				return store.ErrFull
			}
			return nil
		}
		err := serveToEnd(t, d.family(t, x, "one", "name: child\ntasks:\n  a: {run: x}\n"), func(ctx context.Context, e *runtime.Engine) {
			rep := runAll(ctx, t, e, parental)
			if rep.State != "succeeded" || rep.FinishedAt.Before(room) {
				t.Errorf("the parent is %s at %s: %s", rep.State, rep.FinishedAt, rep.Tasks[0].Error)
			}
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// The child waits in the store for its turn, behind another run of its workflow.
func TestATaskKeepsItsRunThatCannotBeTakenOverWhileTheDiskIsFull(t *testing.T) {
	for _, c := range []struct {
		full, took time.Duration
		serves     bool // or it goes on with the parent alone
		begun      bool // the child was going when its engine died, or waited behind another
		want       machine.RunState
	}{
		{2 * time.Minute, 140 * time.Second, true, false, machine.RunSucceeded},
		{10 * time.Minute, time.Hour, true, false, machine.RunCancelled}, // the time of its parent is over before
		{10 * time.Minute, time.Hour, false, false, machine.RunCancelled},
		{10 * time.Minute, time.Hour, false, true, machine.RunCancelled},
	} {
		synctest.Test(t, func(t *testing.T) {
			const one = "name: child\nmax_active: 1\ntasks:\n  a: {run: x}\n"
			d, x := &badDisk{}, &mixed{}
			x.took = map[string]time.Duration{"a": c.took}
			var id string
			var kid store.Run
			err := serveToEnd(t, d.family(t, x, "one", one), func(ctx context.Context, e *runtime.Engine) {
				want := machine.RunRunning
				if !c.begun {
					start(ctx, t, e, runtime.Request{Plan: plan(t, one)})
					want = machine.RunQueued
				}
				id = start(ctx, t, e, runtime.Request{Plan: plan(t, parental)}).ID
				synctest.Wait()
				kids, err := d.Runs(ctx, store.RunFilter{Workflow: "child", Limit: 10})
				if err != nil || len(kids) == 0 || kids[0].State != want {
					t.Fatalf("children %+v, %v", kids, err)
				}
				kid = kids[0]
			})
			until := time.Now().Add(c.full)
			d.before = func(b *store.Batch) error {
				if len(b.Update) > 0 && b.Update[0].ID == kid.ID && time.Now().Before(until) {
					return store.ErrFull
				}
				return nil
			}
			err2 := serveToEnd(t, d.family(t, x, "two", one), func(ctx context.Context, e *runtime.Engine) {
				goOn := func() error { return e.Resume(ctx, id) }
				if c.serves {
					goOn = func() error { return e.Recover(ctx, runtime.StartupRecover) }
				}
				if err := goOn(); err != nil {
					t.Fatal(err)
				}
				time.Sleep(20 * time.Minute)
			})
			parent, err3 := d.Run(t.Context(), id)
			child, err4 := d.Run(t.Context(), kid.ID)
			if err := errors.Join(err, err2, err3, err4); err != nil {
				t.Fatal(err)
			}
			if child.State != c.want || !parent.State.Final() || child.FinishedAt.After(parent.FinishedAt) {
				t.Errorf("the child is %s at %s, the parent %s at %s", child.State, child.FinishedAt, parent.State, parent.FinishedAt)
			}
		})
	}
}

// staleDisk answers what is queued late.
type staleDisk struct{ badDisk }

func (d *staleDisk) Queued(ctx context.Context, workflow string, limit int) ([]store.Run, error) {
	runs, err := d.badDisk.Queued(ctx, workflow, limit)
	time.Sleep(2 * time.Minute)
	return runs, err
}

func TestARunThatHasEndedSinceItWasReadAsQueuedIsNotStartedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const text = "name: flow\ncron: '*/10 * * * *'\ntimezone: UTC\nmax_active: 1\noverlap: queue\ntasks:\n  a: {run: x}\n"
		x := &script{t0: time.Now(), took: map[string]time.Duration{"a": 30 * time.Second}}
		e := &runtime.Engine{Store: &staleDisk{}, Executor: x, Data: t.TempDir(), Zone: time.UTC, Owner: "test"}
		err := serveToEnd(t, e, func(ctx context.Context, e *runtime.Engine) {
			load(ctx, t, e, text)
			for range 2 {
				start(ctx, t, e, runtime.Request{Plan: plan(t, text)})
			}
			hour := func(h time.Duration) string { return x.t0.Add(h).UTC().Format(time.RFC3339) }
			if _, err := e.Backfill(ctx, runtime.Backfill{Plan: plan(t, text), From: hour(-time.Hour), To: hour(-55 * time.Minute)}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(5 * time.Minute)
		})
		if err != nil {
			t.Error(err)
		}
		if starts := len(x.noted()) / 2; starts != 3 {
			t.Errorf("of three runs %d attempts were made: %q", starts, x.noted())
		}
	})
}
