package runtime

import (
	"context"
	"fmt"
)

// How those outside of the loop reach it: what they want done is a function that
// the loop carries out, in the order in which they come.

// ask has the loop do something and waits until what follows from it is on disk.
func (e *Engine) ask(ctx context.Context, do func(*loop) error) error {
	answer := make(chan error, 1)
	return e.exchange(ctx, answer, func(lp *loop) {
		if err := do(lp); err != nil || len(lp.touched) == 0 {
			answer <- err
			return
		}
		lp.after = append(lp.after, func() { answer <- nil })
	})
}

// hand is ask for what makes true what the store says already, that this engine
// has a run: where ctx ends in between it is done all the same, for nobody else
// would take the run up.
func (e *Engine) hand(ctx context.Context, do func(*loop) error) error {
	return e.ask(context.WithoutCancel(ctx), do)
}

// look has the loop tell something, whether the disk is well or not.
func (e *Engine) look(ctx context.Context, do func(*loop)) error {
	answer := make(chan error, 1)
	return e.exchange(ctx, answer, func(lp *loop) {
		do(lp)
		answer <- nil
	})
}

// lookFor is look for what the loop gives as its answer. With an error there is none:
// the loop may still be about it.
func lookFor[T any](ctx context.Context, e *Engine, do func(*loop) T) (T, error) {
	var got, none T
	if err := e.look(ctx, func(lp *loop) { got = do(lp) }); err != nil {
		return none, err
	}
	return got, nil
}

// exchange sends something to the loop and waits for the answer to it.
func (e *Engine) exchange(ctx context.Context, answer <-chan error, do func(*loop)) error {
	if err := e.send(ctx, do); err != nil {
		return err
	}
	select {
	case err := <-answer:
		return err
	case <-e.over:
		return e.stopped()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// send puts something into the loop's inbox.
func (e *Engine) send(ctx context.Context, do func(*loop)) error {
	select {
	case e.inbox <- do:
		return nil
	case <-e.over:
		return e.stopped()
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (e *Engine) stopped() error {
	if e.failed != nil {
		return fmt.Errorf("%w: %w", ErrStopped, e.failed)
	}
	return ErrStopped
}
