package sqlite

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

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
		if to, ok := j.to.(*map[string]string); ok && plainPairs(v, to) {
			return nil
		}
		if err := json.Unmarshal([]byte(v), j.to); err != nil {
			return fmt.Errorf("%w: %w", store.ErrDamaged, err)
		}
		return nil
	}
	return fmt.Errorf("%w: a map or list is %v", store.ErrDamaged, v)
}

// plainPairs reads an object of texts that stand there as they are, as nearly all do,
// in a fraction of the time that a decoder takes. It is false for any other, and what
// that is it does not say.
func plainPairs(text string, to *map[string]string) bool {
	pairs := map[string]string{}
	rest, ok := strings.CutPrefix(text, "{")
	for ok {
		var key, value string
		if key, rest, ok = plainText(rest, ':'); ok {
			value, rest, ok = plainText(rest, ',')
		}
		if !ok {
			break
		}
		if pairs[key] = value; rest == "" {
			*to = pairs
			return true
		}
	}
	return false
}

// plainText cuts off a text in quotes and what is to follow it: end, or the end of the
// object, behind which nothing is left.
func plainText(s string, end byte) (text, rest string, ok bool) {
	if s == "" || s[0] != '"' {
		return "", "", false
	}
	for i := 1; i < len(s)-1; i++ {
		switch c := s[i]; {
		case c == '"' && s[i+1] == end:
			return s[1:i], s[i+2:], i+2 < len(s)
		case c == '"':
			return s[1:i], "", end == ',' && s[i+1:] == "}"
		case c == '\\', c < ' ', c >= utf8.RuneSelf:
			return "", "", false
		}
	}
	return "", "", false
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
