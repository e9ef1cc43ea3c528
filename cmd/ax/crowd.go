package main

import (
	"fmt"

	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/store"
)

// crowd counts the instances of one task while they run.
type crowd struct {
	states map[int]machine.TaskState
	ended  int
	failed int
	lines  int // printed of single instances
	told   int // the last step
}

// count takes in the state of an instance. One that is pending is none any more.
func (c *crowd) count(t store.Task) {
	was, known := c.states[t.Instance]
	if known {
		c.tally(was, -1)
	}
	delete(c.states, t.Instance)
	if t.State != machine.Pending {
		c.states[t.Instance] = t.State
		c.tally(t.State, 1)
	}
}

func (c *crowd) tally(s machine.TaskState, by int) {
	if s.Final() {
		c.ended += by
	}
	if s == machine.Failed {
		c.failed += by
	}
}

// many tells whether there are too many for a line each.
func (c *crowd) many() bool { return len(c.states) > fewInstances }

// remarkable tells whether an instance of many has a line nevertheless: the
// first that fail do.
func (c *crowd) remarkable(t store.Task) bool {
	if t.State != machine.Failed || c.lines == fewInstances {
		return false
	}
	c.lines++
	return true
}

// step tells, ten times on the way, that it is time for a line about all.
func (c *crowd) step() bool {
	if !c.many() {
		return false
	}
	now := 10 * c.ended / len(c.states)
	news := now > c.told && c.ended < len(c.states)
	c.told = now
	return news
}

// String gives how far they are: 3/10000, 1 failed.
func (c *crowd) String() string {
	text := fmt.Sprintf("%d/%d", c.ended, len(c.states))
	if c.failed > 0 {
		text += fmt.Sprintf(", %d failed", c.failed)
	}
	return text
}
