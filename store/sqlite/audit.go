package sqlite

import (
	"context"
	"math"

	"github.com/ax-scheduler/ax/store"
)

// hasChanges is the first version of a database that knows who changed what.
const hasChanges = 4

// Changes lists changes, the last first: none where a database is read that an
// older ax has written.
func (s *Store) Changes(ctx context.Context, f store.ChangeFilter) ([]store.Change, error) {
	if !s.has(ctx, hasChanges) {
		return nil, nil
	}
	where, args := []string{"n < ?"}, []any{f.Before}
	if f.Before == 0 {
		args[0] = int64(math.MaxInt64)
	}
	if f.Workflow != "" {
		where, args = append(where, "workflow <> '' AND workflow = ?"), append(args, f.Workflow)
	}
	if f.RunID != "" {
		where, args = append(where, "run_id <> '' AND run_id = ?"), append(args, f.RunID)
	}
	query := `SELECT n, at, by, "from", action, workflow, run_id, answer FROM changes` + conditions(where) + ` ORDER BY n DESC LIMIT ?`
	return read(ctx, s, query, func(c *store.Change) []any {
		return []any{&c.N, at{&c.At}, &c.By, &c.From, &c.Action, &c.Workflow, &c.RunID, &c.Answer}
	}, append(args, bounded(f.Limit))...)
}
