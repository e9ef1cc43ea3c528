package runtime

import (
	"sync"
	"sync/atomic"
)

// mostIdle is how many workers of a crew stay when there is nothing to do.
const mostIdle = DefaultMaxParallel

// crew are the workers that see attempts to their end, each its own. Who has
// ended one takes the next: a new goroutine would have to grow its stack first. One
// goroutine at a time may call its methods.
type crew struct {
	members sync.WaitGroup
	jobs    chan func() // without room: what goes in is taken
	idle    atomic.Int32
}

func newCrew() *crew { return &crew{jobs: make(chan func())} }

// Go has a worker do a job, at once.
func (c *crew) Go(job func()) {
	select {
	case c.jobs <- job:
	default:
		c.members.Go(func() { c.work(job) })
	}
}

func (c *crew) work(job func()) {
	for ok := true; ok; {
		job()
		if c.idle.Add(1) > mostIdle {
			c.idle.Add(-1)
			return
		}
		job, ok = <-c.jobs
		c.idle.Add(-1)
	}
}

// wait returns when all jobs are done and the workers gone. There must be no more.
func (c *crew) wait() {
	close(c.jobs)
	c.members.Wait()
}
