package sqlite

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/ax-scheduler/ax/store"
)

// The columns that need more than the driver's own types. Each implements
// sql.Scanner.

// at reads a time.
type at struct{ to *time.Time }

func (a at) Scan(v any) error {
	switch v := v.(type) {
	case nil:
		return nil
	case int64:
		*a.to = time.UnixMicro(v).UTC()
		return nil
	}
	return fmt.Errorf("%w: a time is %v", store.ErrDamaged, v)
}

// fromJSON reads a map or a list.
type fromJSON struct{ to any }

func (j fromJSON) Scan(v any) error {
	switch v := v.(type) {
	case nil:
		return nil
	case string:
		if err := json.Unmarshal([]byte(v), j.to); err != nil {
			return fmt.Errorf("%w: %w", store.ErrDamaged, err)
		}
		return nil
	}
	return fmt.Errorf("%w: a map or list is %v", store.ErrDamaged, v)
}

// state reads the name of a state.
type state[T any] struct {
	to    *T
	parse func(name string) (T, error)
}

func (s state[T]) Scan(v any) (err error) {
	name, _ := v.(string)
	if *s.to, err = s.parse(name); err != nil {
		return fmt.Errorf("%w: %w", store.ErrDamaged, err)
	}
	return nil
}
