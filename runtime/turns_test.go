package runtime_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ax-scheduler/ax/runtime"
)

func TestWaitingRaisesPrioritySoThatNothingStarves(t *testing.T) {
	x := &script{took: map[string]time.Duration{"low": time.Second}}
	for i := range 20 {
		x.took[fmt.Sprintf("high%d", i)] = time.Minute
	}
	inEngine(t, x, func(ctx context.Context, e *runtime.Engine) {
		high := func(i int) {
			id := fmt.Sprintf("high%d", i)
			start(ctx, t, e, runtime.Request{Plan: plan(t, fmt.Sprintf("name: w%d\npriority: 9\ntasks:\n  %s: {run: x, pool: one}\n", i, id))})
		}
		high(0)
		time.Sleep(time.Second)
		start(ctx, t, e, runtime.Request{Plan: plan(t, "name: flow\npriority: 0\ntasks:\n  low: {run: x, pool: one}\n")})
		for i := 1; i < 20; i++ { // there is always one of a higher priority
			high(i)
			time.Sleep(time.Minute)
		}
		for _, note := range x.noted() {
			if strings.HasSuffix(note, " low#1 start") {
				// One of the others has been waiting since 9m1s: as high, and younger.
				if note != "10m0s low#1 start" {
					t.Errorf("of priority 0 beside 9 it started at %q, want after nine minutes", note)
				}
				return
			}
		}
		t.Error("of priority 0 beside 9 it never started")
	})
}

func TestTwoRunsShareTheSlotsOfAPool(t *testing.T) {
	x := &script{took: map[string]time.Duration{}}
	inEngine(t, x, func(ctx context.Context, e *runtime.Engine) {
		text := func(name string) string {
			all := "name: " + name + "\ntasks:\n"
			for i := range 20 {
				all += fmt.Sprintf("  %s%d: {run: x, pool: {name: four, slots: 4}}\n", name, i)
				x.took[fmt.Sprintf("%s%d", name, i)] = time.Minute
			}
			return all
		}
		p, q := plan(t, text("p")), plan(t, text("q"))
		start(ctx, t, e, runtime.Request{Plan: p})
		time.Sleep(time.Second)
		start(ctx, t, e, runtime.Request{Plan: q})
		time.Sleep(3 * time.Minute)
		// Attempts that start at one instant note it in any order.
		turns := 0
		for _, note := range x.noted() {
			if strings.Contains(note, " q") && strings.HasSuffix(note, " start") {
				turns++
			}
		}
		if !slices.Contains(x.noted(), "1m0s q0#1 start") || turns < 3 {
			t.Errorf("of two runs with twenty tasks each the second had %d turns in three minutes: %q", turns, x.noted())
		}
	})
}
