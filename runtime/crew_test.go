package runtime

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
)

func TestACrewDoesAllJobsAtOnceAndKeepsFewWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 3 * mostIdle
		c := newCrew()
		var begun, done atomic.Int32
		for range 2 { // the second time some workers are there
			release := make(chan struct{})
			begun.Store(0)
			for range n {
				c.Go(func() {
					begun.Add(1)
					<-release
					done.Add(1)
				})
			}
			synctest.Wait()
			if begun.Load() != n || c.idle.Load() != 0 {
				t.Errorf("%d of %d jobs have begun, and %d workers are idle", begun.Load(), n, c.idle.Load())
			}
			close(release)
			synctest.Wait()
			if got := c.idle.Load(); got != mostIdle {
				t.Errorf("%d workers stay, expected %d", got, mostIdle)
			}
		}
		last := make(chan struct{})
		c.Go(func() {
			<-last
			done.Add(1)
		})
		go close(last)
		if c.wait(); done.Load() != 2*n+1 {
			t.Errorf("%d jobs are done after the wait, expected %d", done.Load(), 2*n+1)
		}
	})
}
