package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"
)

func (w *memoryWrite) message(m *Message) error {
	if _, there := w.m.messages[m.ID]; !there {
		put(w, w.m.messages, m.ID, copyMessage(*m))
	}
	return nil
}

func (w *memoryWrite) try(t *Try) error {
	m, there := w.m.messages[t.ID]
	switch {
	case !there:
		return fmt.Errorf("message %q: %w", t.ID, ErrNotFound)
	case m.Tries != t.Have:
		return fmt.Errorf("message %q: %w: it has had %d tries, not %d", t.ID, ErrConflict, m.Tries, t.Have)
	}
	m.Tries, m.State, m.Error, m.NextAt = t.Tries, t.State, t.Error, copyTime(t.NextAt)
	put(w, w.m.messages, t.ID, m)
	return nil
}

// purge forgets messages from before a time, but for those that wait or have no
// time of their own.
func (w *memoryWrite) purge(before time.Time) {
	if before.IsZero() {
		return
	}
	before = copyTime(before)
	for id, m := range w.m.messages {
		if m.State != MessageWaiting && !m.CreatedAt.IsZero() && m.CreatedAt.Before(before) {
			drop(w, w.m.messages, id)
		}
	}
}

// Messages lists those in a state by NextAt and ID.
func (m *Memory) Messages(ctx context.Context, state MessageState, limit int) ([]Message, error) {
	if err := m.lock(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	var found []Message
	for _, msg := range m.messages {
		if msg.State == state {
			found = append(found, copyMessage(msg))
		}
	}
	slices.SortFunc(found, func(a, b Message) int {
		return cmp.Or(a.NextAt.Compare(b.NextAt), cmp.Compare(a.ID, b.ID))
	})
	return found[:min(len(found), bounded(limit))], nil
}

// Waiting counts the messages that wait.
func (m *Memory) Waiting(ctx context.Context) (n int, err error) {
	if err := m.lock(ctx); err != nil {
		return 0, err
	}
	defer m.mu.Unlock()
	for _, msg := range m.messages {
		if msg.State == MessageWaiting {
			n++
		}
	}
	return n, nil
}
