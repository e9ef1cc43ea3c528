package runtime

import (
	"context"
	"slices"
	"time"

	"github.com/ax-scheduler/ax/runtime/machine"
)

// rateWindow is how far back the success rate looks.
const rateWindow = 5 * time.Minute

// Health is how an engine does.
type Health struct {
	Queued      int     // runs that wait for others of their workflow, as far as is known
	Active      int     // attempts under way
	Slots       int     // attempts that may be under way at a time
	SuccessRate float64 // of the runs that ended in the last five minutes; 1 where none did
	Trouble     string  // why nothing new is started; empty where all is well
}

// Health tells how the engine does. It fails where the loop does not answer.
func (e *Engine) Health(ctx context.Context) (Health, error) {
	e.init()
	h, err := lookFor(ctx, e, (*loop).health)
	if t := e.trouble.Load(); t != nil {
		h.Trouble = (*t).Error()
	}
	return h, err
}

// NextTicks gives for each workflow when its schedules start it next; it has no
// entry for those that nothing starts, as while they are paused. With names, it
// tells of these alone.
func (e *Engine) NextTicks(ctx context.Context, only ...string) (map[string]time.Time, error) {
	e.init()
	return lookFor(ctx, e, func(lp *loop) map[string]time.Time {
		next := map[string]time.Time{}
		for _, s := range lp.schedules {
			name := s.file.Head.Name.V
			if len(only) > 0 && !slices.Contains(only, name) {
				continue
			}
			if _, paused := lp.paused[name]; paused {
				continue
			}
			if at, ok := next[name]; !s.wake.IsZero() && (!ok || s.wake.Before(at)) {
				next[name] = s.wake
			}
		}
		return next
	})
}

// ending is the end of one run.
type ending struct {
	at time.Time
	ok bool
}

func (lp *loop) health() Health {
	h := Health{SuccessRate: 1, Active: lp.e.MaxParallel - lp.free, Slots: lp.e.MaxParallel}
	for _, f := range lp.flows {
		h.Queued += len(f.waiting) + f.beyond
	}
	lp.forgetEndings()
	if n := len(lp.endings); n > 0 {
		good := 0
		for _, e := range lp.endings {
			if e.ok {
				good++
			}
		}
		h.SuccessRate = float64(good) / float64(n)
	}
	return h
}

// noteEnd remembers the end of a run for the success rate.
func (lp *loop) noteEnd(l *live) {
	lp.forgetEndings()
	lp.endings = append(lp.endings, ending{lp.now(), l.rec.State == machine.RunSucceeded})
}

func (lp *loop) forgetEndings() {
	oldest := lp.now().Add(-rateWindow)
	old := 0
	for old < len(lp.endings) && lp.endings[old].at.Before(oldest) {
		old++
	}
	lp.endings = lp.endings[old:]
}
