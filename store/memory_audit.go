package store

import (
	"context"
	"slices"
	"time"
)

func (w *memoryWrite) change(c *Change) error {
	old, last := w.m.changes, w.m.changed
	w.m.changed++
	v := *c
	v.N, v.At = w.m.changed, copyTime(v.At)
	w.m.changes = append(slices.Clip(old), v)
	w.undo = append(w.undo, func() { w.m.changes, w.m.changed = old, last })
	return nil
}

// purgeChanges forgets those from before a time.
func (w *memoryWrite) purgeChanges(before time.Time) {
	if before.IsZero() {
		return
	}
	old, before := w.m.changes, copyTime(before)
	w.m.changes = slices.DeleteFunc(slices.Clone(old), func(c Change) bool { return c.At.Before(before) })
	w.undo = append(w.undo, func() { w.m.changes = old })
}

// Changes lists changes, the last first.
func (m *Memory) Changes(ctx context.Context, f ChangeFilter) (found []Change, err error) {
	if err := m.lock(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	for _, c := range slices.Backward(m.changes) {
		if (f.Workflow == "" || c.Workflow == f.Workflow) && (f.RunID == "" || c.RunID == f.RunID) && (f.Before == 0 || c.N < f.Before) {
			found = append(found, c)
		}
		if len(found) == bounded(f.Limit) {
			break
		}
	}
	return found, nil
}
