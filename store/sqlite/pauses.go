package sqlite

import (
	"context"

	"github.com/ax-scheduler/ax/store"
)

// hasPauses is the first version of a database that knows of pauses.
const hasPauses = 3

// Pauses gives all that there have been, by workflow and Since: none where a
// database is read that an older ax has written.
func (s *Store) Pauses(ctx context.Context) ([]store.Pause, error) {
	if !s.has(ctx, hasPauses) {
		return nil, nil
	}
	return read(ctx, s, `SELECT workflow, by, since, until FROM pauses ORDER BY workflow, since`, func(p *store.Pause) []any {
		return []any{&p.Workflow, &p.By, at{&p.Since}, at{&p.Until}}
	})
}
