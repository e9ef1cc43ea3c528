package runtime

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/store"
)

// write is one batch with what is released when it is durable.
type write struct {
	batch    *store.Batch
	commands []issued
	after    []func()
	updates  []Update
	ends     []runEnd
	gated    bool // it holds starts that others are to see
	err      error
}

// startCommitter runs the goroutine that writes, so that the loop gathers the
// next batch while one is being written.
func (lp *loop) startCommitter() *sync.WaitGroup {
	var wg sync.WaitGroup
	wg.Go(func() {
		for w := range lp.commits {
			lp.e.tellEnds(context.WithoutCancel(lp.ctx), w.batch, w.ends)
			w.err = lp.e.persist(lp.ctx, w.batch)
			lp.committed <- w
		}
	})
	return &wg
}

// persist writes one batch. A full disk is waited out, until ctx is done: until
// then nothing that follows from the batch happens.
func (e *Engine) persist(ctx context.Context, b *store.Batch) error {
	return e.patiently(ctx, func() error {
		began := time.Now()
		err := e.commit(context.WithoutCancel(ctx), b)
		e.Observer.Committed(time.Since(began))
		return err
	})
}

// patiently does what writes, with growing pauses again as long as the disk is
// full.
func (e *Engine) patiently(ctx context.Context, write func() error) error {
	const longest = 10 * time.Second
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, longest) {
		err := write()
		if !errors.Is(err, store.ErrFull) {
			e.trouble.Store(nil)
			return err
		}
		if e.trouble.Swap(&err) == nil {
			e.Log.Error("the store cannot be written: nothing new is started until it can", "error", err)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return err
		}
	}
}

// commit writes one batch. Of an error that the store does not explain nobody
// knows whether it was written after all: it ends the engine, which writes nothing
// more that could follow from it, and the next one goes on from what is there.
func (e *Engine) commit(ctx context.Context, b *store.Batch) error {
	if unknown := e.unknown.Load(); unknown != nil {
		return *unknown
	}
	err := e.Store.Commit(ctx, b)
	switch {
	case err == nil:
		if len(b.Messages) > 0 {
			e.wakeSender()
		}
	case errors.Is(err, store.ErrFull), errors.Is(err, store.ErrConflict), errors.Is(err, store.ErrNotFound),
		errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded): // nothing was written
	default:
		e.unknown.Store(&err)
		go func() { _ = e.send(context.WithoutCancel(ctx), func(lp *loop) { lp.fail(err) }) }() // the loop may be who waits for this
	}
	return err
}

// flush hands what has gathered to the committer, if that is idle. Where nothing has,
// all is on disk.
func (lp *loop) flush() {
	if lp.writing || lp.err != nil {
		return
	}
	if len(lp.touched) == 0 {
		after := lp.after
		lp.after = nil
		for _, do := range after {
			do()
		}
		return
	}
	w := &write{batch: &store.Batch{Changes: lp.changes}, commands: lp.commands, after: lp.after}
	lp.commands, lp.after, lp.changes = nil, nil, nil
	for _, l := range lp.touched {
		l.touched = false
		lp.record(l, w)
	}
	clear(lp.touched)
	lp.touched = lp.touched[:0]
	if lp.gate.starts > 0 {
		lp.gate.starts, lp.gate.state, w.gated = 0, gateWriting, true
	}
	lp.writing = true
	lp.commits <- w
}

// record adds what is new of one run to a write.
func (lp *loop) record(l *live, w *write) {
	b := w.batch
	if l.dropped {
		b.Update = append(b.Update, l.rec)
		w.updates = append(w.updates, Update{Run: l.rec})
		return
	}
	b.Append = append(b.Append, store.Appended{RunID: l.rec.ID, Have: l.rec.Events, Data: l.events})
	l.rec.Events += len(l.events)
	l.events = nil
	tried := len(b.Attempts)
	b.Attempts = append(b.Attempts, l.attempts...)
	clear(l.attempts)
	l.attempts = l.attempts[:0]

	first, changed := len(b.Tasks), l.run.TakeChanged()
	b.Tasks = slices.Grow(b.Tasks, len(changed))
	for _, u := range changed {
		b.Tasks = append(b.Tasks, taskRecord(l, u))
	}
	before := l.rec.State
	l.rec.State, l.rec.Reason, l.rec.Error = l.run.State()
	l.rec.StartedAt, l.rec.FinishedAt = l.run.StartedAt(), l.run.FinishedAt()
	if !sameRow(l.rec, l.written) {
		b.Update = append(b.Update, l.rec)
		l.written = l.rec
	}
	w.ends = append(w.ends, endOf(l)...)
	began := before != machine.RunRunning && l.rec.State == machine.RunRunning
	w.updates = append(w.updates, Update{l.rec, b.Tasks[first:len(b.Tasks):len(b.Tasks)], b.Attempts[tried:len(b.Attempts):len(b.Attempts)], began})
}

// sameRow tells whether a run's own row would stay as it is: most ends of tasks
// change nothing of it, and its row stands in four indexes.
func sameRow(a, b store.Run) bool {
	a.Events = b.Events
	return reflect.DeepEqual(a, b)
}

// release acts on what a finished write allows. The disk is what all wait for: what
// has gathered meanwhile goes there first.
func (lp *loop) release(w *write) {
	lp.writing = false
	if w.err != nil {
		lp.fail(w.err)
		return
	}
	if w.gated {
		lp.gate.state = gateWritten
	}
	lp.flush()
	w.tell(lp.e)
	for _, c := range w.commands {
		lp.act(c.l, c.c)
	}
}

// tell lets the world know of what is on disk now.
func (w *write) tell(e *Engine) {
	for _, u := range w.updates {
		e.publish(u)
	}
	for _, do := range w.after {
		do()
	}
}

// finish writes what is still to be written once the engine stops. Nothing
// that it allows is started any more.
func (lp *loop) finish() {
	for lp.err == nil {
		if lp.writing {
			w := <-lp.committed
			lp.writing = false
			if lp.fail(w.err); w.err != nil {
				return
			}
			w.tell(lp.e)
			for _, c := range w.commands {
				if _, ended := c.c.(machine.EndRun); ended {
					lp.act(c.l, c.c)
				}
			}
		}
		if len(lp.touched) == 0 {
			return
		}
		lp.flush()
	}
}

func taskRecord(l *live, u machine.Unit) store.Task {
	v := l.run.View(u)
	return store.Task{
		RunID: l.rec.ID, Index: int(u.Task), Instance: u.Instance.Index(), ID: l.run.Name(u),
		State: v.State, Reason: v.Reason, Attempts: v.Attempts, ExitCode: v.ExitCode, Error: v.Error,
		StartedAt: v.StartedAt, FinishedAt: v.FinishedAt, Outputs: v.Outputs,
	}
}
