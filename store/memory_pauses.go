package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

func (w *memoryWrite) pause(p *Pause) error {
	v := copyPause(*p)
	all := slices.DeleteFunc(slices.Clone(w.m.pauses), func(o Pause) bool { return o.Workflow == v.Workflow && o.Since.Equal(v.Since) })
	for _, o := range all {
		if o.Workflow == v.Workflow && o.Until.IsZero() && v.Until.IsZero() {
			return fmt.Errorf("pause of %q: %w: another lasts", v.Workflow, ErrConflict)
		}
	}
	old := w.m.pauses
	w.m.pauses = append(all, v)
	w.undo = append(w.undo, func() { w.m.pauses = old })
	return nil
}

// Pauses gives all that there have been, by workflow and Since.
func (m *Memory) Pauses(ctx context.Context) ([]Pause, error) {
	if err := m.lock(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	return slices.SortedFunc(slices.Values(m.pauses), func(a, b Pause) int {
		return cmp.Or(cmp.Compare(a.Workflow, b.Workflow), a.Since.Compare(b.Since))
	}), nil
}
