package runtime_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/store"
)

// onClock serves an engine whose clock on the wall can be moved: timers do not
// notice, as when the machine was suspended or somebody set the clock.
func onClock(t *testing.T, x *script, do func(ctx context.Context, e *runtime.Engine, step func(time.Duration))) {
	synctest.Test(t, func(t *testing.T) {
		x.t0 = time.Now()
		var off atomic.Int64
		e := &runtime.Engine{Store: &store.Memory{}, Executor: x, Data: t.TempDir(), Zone: time.UTC, Owner: "test"}
		e.Clock = func() time.Time { return time.Now().Add(time.Duration(off.Load())) }
		serve(t, e, func(ctx context.Context, e *runtime.Engine) {
			if err := e.Recover(ctx, runtime.StartupRecover); err != nil {
				t.Fatal(err)
			}
			do(ctx, e, func(by time.Duration) { off.Add(int64(by)) })
		})
	})
}

const year = 365 * 24 * time.Hour

// However the clock steps, each tick up to the latest time that it has shown is
// in the ledger once, and only those that catchup asks for start a run.
func TestNoStepOfTheClockLosesOrDoublesATick(t *testing.T) {
	for _, steps := range [][]time.Duration{
		{time.Minute}, {5 * time.Hour}, {year}, {-time.Minute}, {-5 * time.Hour}, {-year},
		{5 * time.Hour, -5 * time.Hour}, {-time.Hour, time.Hour}, {-year, year}, {year, -year},
		{7 * time.Minute, -3 * time.Minute, 50 * time.Hour, -20 * time.Hour},
	} {
		t.Run(fmt.Sprint(steps), func(t *testing.T) {
			onClock(t, &script{}, func(ctx context.Context, e *runtime.Engine, step func(time.Duration)) {
				c := folder(t, "name: flow\ncron: '0 * * * *'\ntimezone: UTC\ncatchup: latest\nmax_active: 0\ntasks:\n  a: {run: x}\n")
				if err := e.Load(ctx, c); err != nil {
					t.Fatal(err)
				}
				from, offset := time.Now(), time.Duration(0)
				latest := from
				live := 0 // hours that came while the clock went on
				pass := func(d time.Duration) {
					begin := time.Now().Add(offset)
					time.Sleep(d)
					end := time.Now().Add(offset)
					live += int(d/time.Hour) + 1
					if begin.After(latest) {
						latest = begin
					}
					if end.After(latest) {
						latest = end
					}
				}
				pass(150*time.Minute + 10*time.Second)
				for _, s := range steps {
					step(s)
					offset += s
					pass(150*time.Minute + 10*time.Second)
				}
				ticks, err := e.Store.Ticks(ctx, "flow", from, latest, 0)
				if err != nil {
					t.Fatal(err)
				}
				var got, want []time.Time
				fired := 0
				for _, tick := range ticks {
					if tick.Outcome == store.TickLoaded {
						continue
					}
					got = append(got, tick.At)
					if tick.Outcome == store.TickFired {
						fired++
					}
				}
				for at := from.Truncate(time.Hour).Add(time.Hour); !at.After(latest); at = at.Add(time.Hour) {
					want = append(want, at)
				}
				if !slices.EqualFunc(got, want, time.Time.Equal) {
					t.Errorf("%d ticks, want %d; first difference at %s", len(got), len(want), firstDifference(got, want))
				}
				if fired > live || fired == 0 {
					t.Errorf("%d ticks have fired of %d: a storm", fired, live)
				}
			})
		})
	}
}

// A machine that slept finds what has become due within the longest pause.
func TestWhatBecameDueWhileTheMachineSleptStartsAtOnce(t *testing.T) {
	x := &script{}
	onClock(t, x, func(ctx context.Context, e *runtime.Engine, step func(time.Duration)) {
		start(ctx, t, e, runtime.Request{Plan: plan(t, single), NotBefore: time.Now().Add(8 * time.Hour)})
		time.Sleep(time.Minute)
		step(9 * time.Hour)
		time.Sleep(30 * time.Second)
		synctest.Wait() // what is due at the same instant as the end of the sleep
		if got := x.noted(); len(got) != 2 {
			t.Errorf("half a minute after it woke: %q", got)
		}
	})
}

// A pause and a timeout are lengths of time, which a clock that is set back does
// not make longer; nor does it keep what others left in the store from its start.
func TestAClockThatIsSetBackHoldsNothingUp(t *testing.T) {
	for _, back := range []time.Duration{2 * time.Second, time.Hour, year} {
		x := &script{took: map[string]time.Duration{"slow": time.Hour}, fail: map[string]int{"again": 1}}
		onClock(t, x, func(ctx context.Context, e *runtime.Engine, step func(time.Duration)) {
			p := plan(t, "name: flow\ntasks:\n  again: {run: x, retry: {max: 1, delay: 10m, max_delay: 10m}}\n  slow: {run: x, timeout: 20m}\n")
			if err := e.Load(ctx, folder(t, "name: left\ntasks:\n  left: {run: x}\n")); err != nil {
				t.Fatal(err)
			}
			run := start(ctx, t, e, runtime.Request{Plan: p})
			time.Sleep(time.Minute)
			step(-back)
			time.Sleep(time.Minute)
			left := plan(t, "name: left\ntasks:\n  left: {run: x}\n")
			if _, err := e.Leave(ctx, runtime.Request{Plan: left}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
			begun := func(note string) bool { return strings.HasSuffix(note, "left#1 end") }
			if !slices.ContainsFunc(x.noted(), begun) {
				t.Errorf("set back by %s: what was left in the store has not begun: %q", back, x.noted())
			}
			time.Sleep(22 * time.Minute)
			rep := reportOf(ctx, t, e, run.ID)
			equal(t, states(rep), []string{"again succeeded", "slow failed timeout"})
		})
	}
}
