package runtime

import "time"

// SleepLong lets the loop sleep longer than it may where a clock can be set:
// years of virtual time then take seconds.
func (e *Engine) SleepLong() { e.longest = 24 * time.Hour }
