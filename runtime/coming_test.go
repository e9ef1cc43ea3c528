package runtime_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/ax-scheduler/ax/runtime"
)

func TestTheComingTimesOfAllSchedulesAreToldInOrder(t *testing.T) {
	x := &script{}
	inEngine(t, x, func(ctx context.Context, e *runtime.Engine) {
		load(ctx, t, e, "name: flow\ntasks:\n  a: {every: 10m, run: x}\n  b: {every: 15m, run: x}\n")
		coming, err := e.Coming(ctx, x.t0, x.t0.Add(30*time.Minute), 2)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range coming {
			got = append(got, fmt.Sprintf("%s %s %v", c.At.Sub(x.t0), c.Workflow, c.Tasks))
		}
		equal(t, got, []string{"10m0s flow [a]", "15m0s flow [b]", "20m0s flow [a]", "30m0s flow [b]"})
	})
}
