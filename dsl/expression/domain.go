package expression

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ax-scheduler/ax/dsl"
)

// domain is the values that something of the language can have, where they are
// few: compared with any other, it would be unequal for good, and nobody would
// notice.
type domain struct {
	values []any
	what   string // has the value: "no task has the state"
	hint   string // names those that there are
}

var (
	states = &domain{words("pending", "ready", "running", "retrying", "succeeded", "failed", "skipped", "cancelled"),
		"no task has the state", "a task that has ended is succeeded, failed, skipped or cancelled"}
	triggers = &domain{words("manual", "schedule", "api", "after", "backfill", "workflow"),
		"no run has the trigger", "a run is started by manual, schedule, api, after, backfill or workflow"}
	weekdays = &domain{[]any{1, 2, 3, 4, 5, 6, 7},
		"no day of the week is", "they go from 1 for Monday to 7 for Sunday"}
)

func words(all ...string) []any {
	values := make([]any, len(all))
	for i, w := range all {
		values[i] = w
	}
	return values
}

// never finds a value that is written out and that the domain does not have.
func (d *domain) never(x code) *Error {
	if d == nil || !x.constant || x.value == nil || slices.ContainsFunc(d.values, func(v any) bool { return same(v, x.value) }) {
		return nil
	}
	word, ok := x.value.(string)
	if !ok {
		return x.at.bad(fmt.Sprintf("%s %v", d.what, x.value), d.hint)
	}
	hint := d.hint
	for _, v := range d.values {
		if s, ok := v.(string); ok && len(word) > 2 && strings.HasPrefix(s, word[:3]) {
			hint = dsl.DidYouMean(s)
		}
	}
	return x.at.bad(d.what+" "+strconv.Quote(word), hint)
}

// same tells whether two values that are written out are equal.
func same(v, written any) bool {
	n, isInt := v.(int)
	f, isFloat := written.(float64)
	return v == written || isInt && isFloat && float64(n) == f
}

// neverIn finds such a value among the items of a list that is written out.
func (d *domain) neverIn(list code) *Error {
	for _, item := range list.items {
		if err := d.never(item); err != nil {
			return err
		}
	}
	return nil
}
