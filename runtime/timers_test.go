package runtime

import (
	"testing"
	"time"

	"github.com/ax-scheduler/ax/runtime/machine"
)

func TestWhatIsDueAtOneInstantComesInTheOrderInWhichItWasAskedFor(t *testing.T) {
	ts, at := timers{sweep: 1024}, time.Unix(0, 0)
	for i := range 20 {
		ts.push(timer{at: at, wake: machine.WakeAt{Attempt: i}})
	}
	for i := range 20 {
		if got, ok := ts.due(at); !ok || got.wake.Attempt != i {
			t.Fatalf("number %d is %d", i, got.wake.Attempt)
		}
	}
}
