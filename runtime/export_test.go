package runtime

import (
	"context"
	"time"
)

// SleepLong lets the loop sleep longer than it may where a clock can be set:
// years of virtual time then take seconds.
func (e *Engine) SleepLong() { e.longest = 24 * time.Hour }

// Held gives how many runs the loop holds in memory.
func (e *Engine) Held(ctx context.Context) (n int, err error) {
	err = e.look(ctx, func(lp *loop) { n = len(lp.live) })
	return n, err
}
