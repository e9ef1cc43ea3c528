package sim_test

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// days are those on which a workflow's schedules fire, as dates; empty for no
// bound.
type days struct {
	from, until string
	except      []string
}

func (d *drawer) days() (on days) {
	date := func(in int) string {
		return time.Date(2000, 1, 1+in, 0, 0, 0, 0, time.UTC).Add(d.sc.start).Format(time.DateOnly)
	}
	if d.chance(10) {
		on.except = []string{date(d.IntN(2)), date(2)}
	}
	if d.chance(5) {
		on.from = date(d.IntN(3) - 1)
	}
	if d.chance(5) {
		on.until = date(d.IntN(3))
	}
	return on
}

// String writes them as a workflow file does.
func (on days) String() string {
	var b strings.Builder
	if len(on.except) > 0 {
		fmt.Fprintf(&b, "except: [%s]\n", strings.Join(on.except, ", "))
	}
	if on.from != "" {
		fmt.Fprintf(&b, "valid_from: %s\n", on.from)
	}
	if on.until != "" {
		fmt.Fprintf(&b, "valid_until: %s\n", on.until)
	}
	return b.String()
}

func (on days) has(date string) bool {
	return date >= on.from && (on.until == "" || date <= on.until) && !slices.Contains(on.except, date)
}
