package sqlite

import (
	"context"
	"fmt"

	"github.com/ax-scheduler/ax/store"
)

// Messages lists those in a state by NextAt and ID.
func (s *Store) Messages(ctx context.Context, state store.MessageState, limit int) ([]store.Message, error) {
	const query = `SELECT id, workflow, version, file, target, event, run_id, scheduled_for, body, state, tries, error, created_at, next_at
		FROM messages WHERE state = ? ORDER BY next_at, id LIMIT ?`
	return read(ctx, s, query, func(m *store.Message) []any {
		return []any{
			&m.ID, &m.Workflow, &m.Version, &m.File, &m.Target, &m.Event, &m.RunID, at{&m.ScheduledFor}, &m.Body, &m.State, &m.Tries,
			&m.Error, at{&m.CreatedAt}, at{&m.NextAt},
		}
	}, string(state), bounded(limit))
}

// Waiting counts the messages that wait.
func (s *Store) Waiting(ctx context.Context) (int, error) {
	return readOne(ctx, s, "messages", `SELECT count(*) FROM messages WHERE state = 'waiting'`, func(n *int) []any { return []any{n} })
}

// untried tells why a try was refused.
func (w *writer) untried(o *op) error {
	had, err := w.value(countTries, o.of)
	if err != nil {
		return err
	}
	if had == nil {
		return fmt.Errorf("message %q: %w", o.of, store.ErrNotFound)
	}
	return fmt.Errorf("message %q: %w: it has had %v tries, not %v", o.of, store.ErrConflict, had, o.args[5])
}
