package machine

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dsl"
)

func TestThePauseBetweenAttempts(t *testing.T) {
	const second, minute = time.Second, time.Minute
	delay := func(d time.Duration) dsl.Retry { return dsl.Retry{Delay: set(d)} }
	with := func(r dsl.Retry, b dsl.Backoff, limit time.Duration) dsl.Retry {
		r.Backoff = set(b)
		if limit > 0 {
			r.MaxDelay = set(limit)
		}
		return r
	}
	for _, c := range []struct {
		name  string
		retry dsl.Retry
		want  []time.Duration // after the first failed attempt, the second, …
	}{
		{"nothing given: 1s, doubled, up to a minute", dsl.Retry{},
			[]time.Duration{second, 2 * second, 4 * second, 8 * second, 16 * second, 32 * second, minute, minute}},
		{"a delay is doubled up to max_delay", with(delay(10*second), dsl.Exponential, 35*second),
			[]time.Duration{10 * second, 20 * second, 35 * second, 35 * second}},
		{"constant", with(delay(7*second), dsl.Constant, 0),
			[]time.Duration{7 * second, 7 * second, 7 * second}},
		{"linear", with(delay(25*second), dsl.Linear, 0),
			[]time.Duration{25 * second, 50 * second, minute, minute}},
		{"a delay above a minute is its own limit", delay(5 * minute),
			[]time.Duration{5 * minute, 5 * minute}},
		{"a max_delay below the delay holds", with(delay(minute), dsl.Exponential, second),
			[]time.Duration{second, second}},
		{"no delay is none for ever", delay(0),
			[]time.Duration{0, 0, 0, 0}},
		{"the longest delay of all", with(delay(math.MaxInt64), dsl.Exponential, math.MaxInt64),
			[]time.Duration{math.MaxInt64, math.MaxInt64, math.MaxInt64}},
		{"half of it", with(delay(math.MaxInt64/2), dsl.Linear, math.MaxInt64),
			[]time.Duration{math.MaxInt64 / 2, math.MaxInt64 - 1, math.MaxInt64}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for i, want := range c.want {
				if got := retryDelay(&c.retry, i+1, "r1", whole(0)); got != want {
					t.Errorf("after attempt %d: %s, want %s", i+1, got, want)
				}
			}
		})
	}
}

func drawRetry(t *rapid.T) *dsl.Retry {
	duration := rapid.OneOf(rapid.Int64(), rapid.Int64Range(-5, 5), rapid.Int64Range(0, int64(time.Hour)),
		rapid.Int64Range(math.MaxInt64-5, math.MaxInt64), rapid.Just[int64](math.MinInt64))
	some := func(what string) (v dsl.Value[time.Duration]) {
		if chance(t, 4, "no "+what) {
			return v
		}
		return set(time.Duration(duration.Draw(t, what)))
	}
	return &dsl.Retry{
		Delay: some("delay"), MaxDelay: some("max_delay"), Jitter: some("jitter"),
		Backoff: set(pick(t, "backoff", dsl.Exponential, dsl.Constant, dsl.Linear)),
	}
}

func TestAPauseIsNeverNegativeAndGrowsToItsLimit(t *testing.T) {
	many(t, 50, func(t *rapid.T) {
		retry := drawRetry(t)
		n := rapid.OneOf(rapid.IntRange(1, 70), rapid.IntRange(1, math.MaxInt-1)).Draw(t, "attempt")
		jitter := max(retry.Jitter.V, 0)
		limit := max(retry.MaxDelay.Or(max(time.Minute, retry.Delay.Or(time.Second))), 0)

		plain := *retry
		plain.Jitter = dsl.Value[time.Duration]{}
		this, next := retryDelay(&plain, n, "r1", whole(3)), retryDelay(&plain, n+1, "r1", whole(3))
		if this < 0 || this > limit {
			t.Fatalf("after attempt %d: %s, limit %s", n, this, limit)
		}
		if next < this {
			t.Fatalf("after attempt %d: %s, after the next: %s", n, this, next)
		}
		got := retryDelay(retry, n, "r1", whole(3))
		if most := saturatedAdd(this, jitter); got < this || got > most {
			t.Fatalf("with jitter %s, not in %s to %s", got, this, most)
		}
		if again := retryDelay(retry, n, "r1", whole(3)); got != again {
			t.Fatalf("first %s, then %s", got, again)
		}
	})
}

// Whatever differs, the run, the task or the attempt, the jitter does, and it
// fills its range: of 100 shares in a row each quarter has its part.
func TestJitterSpreads(t *testing.T) {
	const width = time.Second
	for name, share := range map[string]func(i int) time.Duration{
		"attempts of a task":  func(i int) time.Duration { return share(width, "r1", whole(0), i) },
		"tasks of a run":      func(i int) time.Duration { return share(width, "r1", whole(dag.Task(i)), 1) },
		"instances of a task": func(i int) time.Duration { return share(width, "r1", Unit{0, InstanceOf(i)}, 1) },
		"runs":                func(i int) time.Duration { return share(width, "r"+string(rune('0'+i)), whole(0), 1) },
	} {
		var quarters [4]int
		for i := range 100 {
			quarters[share(i)*4/width]++
		}
		for q, n := range quarters {
			if n < 10 || n > 45 {
				t.Errorf("%s: %d of 100 in quarter %d", name, n, q+1)
			}
		}
	}
}
