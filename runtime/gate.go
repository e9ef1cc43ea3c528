package runtime

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// Several processes on one data folder keep to max_active and to the slots of
// pools together. What the others have is counted from their runs in the store,
// those of dead processes left out, so that no slot can leak. From the count
// until its own start is on disk an engine holds the gate, a lock file of the
// data folder: of two that start something, the second sees what the first has.
// An engine that is alone holds it too, but counts nothing.

const (
	gatePause   = 5 * time.Millisecond   // between tries for the gate
	askPause    = 20 * time.Millisecond  // between two looks at what others have, at least
	othersPause = 500 * time.Millisecond // between such looks while something waits for others
)

// gate is what the loop knows of the gate, and of what waits before it.
type gate struct {
	file   *os.File // nil until it is first needed
	held   bool
	shared bool   // others lived when it was taken
	others others // what they have, while it is held
	starts int    // not yet handed to the committer
	state  gateState

	workflows map[string]bool // have runs that wait before the gate, or for others
	pools     bool            // so do tasks for a slot of a pool
	hurry     bool            // it is the gate that they wait for
	asking    bool
	asked     time.Time
	again     time.Time // when to ask the next time; zero for never
}

type gateState int

const (
	gateOpen    gateState = iota // starts gather
	gateWriting                  // starts are being written
	gateWritten                  // to be left, so that others get their turn
)

func gatePath(data string) string { return filepath.Join(data, "starts.lock") }

// enter tells whether the loop holds the gate. It takes it where it can at
// once; otherwise it asks for it, and calls reopen when it has it.
func (lp *loop) enter() bool {
	g, e := &lp.gate, lp.e
	switch {
	case e.Owner == "": // it shares its data folder with nobody
		return true
	case g.held && g.shared && g.state == gateOpen, g.held && !g.shared && e.alone():
		return true
	case g.held:
		g.hurry = true
		return false
	case g.asking:
		return false
	}
	if err := g.open(e.Data); err != nil {
		lp.fail(err)
		return false
	}
	if g.try() {
		if g.held = e.alone(); g.held {
			return true
		}
		g.unlock()
	}
	lp.askGate()
	return false
}

func (g *gate) open(data string) (err error) {
	if g.file != nil {
		return nil
	}
	if err = os.MkdirAll(data, 0o755); err == nil {
		g.file, err = os.OpenFile(gatePath(data), os.O_CREATE|os.O_RDWR, 0o644)
	}
	if err != nil {
		return fmt.Errorf("open the lock of starts: %w", err)
	}
	return nil
}

func (g *gate) try() bool {
	return syscall.Flock(int(g.file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}

func (g *gate) unlock() {
	_ = syscall.Flock(int(g.file.Fd()), syscall.LOCK_UN) // of a lock that is held it cannot fail
}

// close lets go of the gate for good.
func (g *gate) close() {
	if g.file != nil {
		_ = g.file.Close() // nothing was written to it
	}
}

// askGate has a worker wait for the gate and count what others have.
func (lp *loop) askGate() {
	g, e, ctx := &lp.gate, lp.e, lp.ctx
	now := time.Now()
	if next := g.asked.Add(askPause); next.After(now) && g.asked.Before(now.Add(time.Second)) {
		g.again = next
		return
	}
	g.asking, g.asked, g.again = true, now, time.Time{}
	lp.workers.Go(func() {
		if !g.wait(ctx) {
			return
		}
		have, err := e.othersHave(ctx)
		if err != nil && ctx.Err() == nil {
			e.Log.Error("what other processes have cannot be counted", "error", err)
		}
		_ = e.send(ctx, func(lp *loop) { lp.reopen(have, err) }) // or it is over, and the gate closed
	})
}

// wait returns with the gate, or false once ctx is done.
func (g *gate) wait(ctx context.Context) bool {
	for !g.try() {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(gatePause):
		}
	}
	return true
}

// reopen has whatever waits before the gate try again, now that it is held.
func (lp *loop) reopen(have others, err error) {
	g := &lp.gate
	g.asking = false
	if err != nil {
		g.unlock()
		g.again = time.Now().Add(othersPause)
		return
	}
	g.held, g.shared, g.others = true, true, have
	names := g.workflows
	g.workflows = nil
	for name := range names {
		lp.next(name)
	}
	if g.pools {
		g.pools = false
		lp.wakePools()
	}
}

// knock asks for the gate when it is time to.
func (lp *loop) knock() {
	g := &lp.gate
	if g.again.IsZero() || g.asking || g.held || lp.ctx.Err() != nil || g.again.After(time.Now()) {
		return
	}
	if g.again = (time.Time{}); g.pools || len(g.workflows) > 0 {
		lp.askGate()
	}
}

// leaveGate lets go of the gate once all that was started behind it is on disk.
func (lp *loop) leaveGate() {
	g := &lp.gate
	if !g.held || g.starts > 0 || g.state == gateWriting {
		return
	}
	g.unlock()
	if g.pools || len(g.workflows) > 0 {
		pause := othersPause
		if g.hurry {
			pause = 0
		}
		g.again = time.Now().Add(pause)
	}
	g.held, g.shared, g.others, g.state, g.hurry = false, false, others{}, gateOpen, false
}

// waitFor has a workflow try again when others may have ended something.
func (g *gate) waitFor(workflow string) {
	if g.workflows == nil {
		g.workflows = map[string]bool{}
	}
	g.workflows[workflow] = true
}

// admits tells whether a run may start beside those of other processes.
func (lp *loop) admits(l *live) bool {
	wf, g := l.run.Plan().Workflow, &lp.gate
	limit := wf.MaxActive.Or(1)
	if limit == 0 {
		return true
	}
	name := l.rec.Workflow
	if lp.enter() {
		theirs := g.others.runs[name]
		if len(lp.flow(name).active)+len(theirs) < limit {
			g.starts++
			return true
		}
		if !l.toldWait {
			l.toldWait = true
			lp.e.Log.Warn("the run waits: max_active runs of its workflow are going, in another process too", "run", l.rec.ID, "workflow", name, "waits_for", theirs[0])
		}
	}
	g.waitFor(name)
	return false
}

// closed tells whether no task may take a slot of a pool now.
func (lp *loop) closed(pool string) bool {
	if lp.pools.full(pool, 0) {
		return true
	}
	if lp.enter() && !lp.pools.full(pool, lp.gate.others.slots[pool]) {
		return false
	}
	lp.gate.pools = true
	return true
}

// busy tells whether a pool is known to be full.
func (lp *loop) busy(pool string) bool { return lp.pools.full(pool, lp.gate.others.slots[pool]) }

// wakePools has every run asked again for tasks that wait for their pools.
func (lp *loop) wakePools() {
	for _, l := range lp.live {
		lp.wake(l)
		lp.unsettle(l)
	}
}
