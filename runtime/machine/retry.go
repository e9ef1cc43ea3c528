package machine

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"strconv"
	"time"

	"github.com/ax-scheduler/ax/dsl"
)

// The defaults of retry (DSL.md, "Task keys").
const (
	defaultDelay    = time.Second
	defaultMaxDelay = time.Minute
)

// retryDelay gives the pause after the n-th failed attempt, n from 1. It never
// overflows and never passes max_delay but for the jitter, which is laid on top
// so that tasks spread also once they have reached the limit. Without max_delay
// the limit is a minute, or the delay where that is longer. The jitter is a
// fixed share of its range for each run, task or instance, and attempt.
func retryDelay(rt *dsl.Retry, n int, run string, u Unit) time.Duration {
	delay := max(rt.Delay.Or(defaultDelay), 0)
	limit := max(rt.MaxDelay.Or(max(defaultMaxDelay, delay)), 0)
	pause := delay
	switch rt.Backoff.V {
	case dsl.Exponential:
		for i := 1; i < n && pause < limit; i++ {
			pause = saturatedAdd(pause, pause)
			if pause == 0 {
				break
			}
		}
	case dsl.Linear:
		if delay > 0 && time.Duration(n) > math.MaxInt64/delay {
			pause = math.MaxInt64
		} else {
			pause = delay * time.Duration(n)
		}
	}
	return saturatedAdd(min(pause, limit), share(rt.Jitter.V, run, u, n))
}

func saturatedAdd(a, b time.Duration) time.Duration {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// share gives a part of d, from 0 to d, that looks random but is not.
func share(d time.Duration, run string, u Unit, n int) time.Duration {
	if d <= 0 {
		return 0
	}
	h := sha256.Sum256([]byte(run + "/" + u.Instance.Name(strconv.Itoa(int(u.Task))) + "/" + strconv.Itoa(n)))
	return time.Duration(float64(binary.BigEndian.Uint64(h[:])>>11) / (1 << 53) * float64(d))
}
