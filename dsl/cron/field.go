package cron

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ax-scheduler/ax/dsl"
)

// field is one of the five columns of an expression.
type field struct {
	name     string
	min, max int      // what a value may be
	last     int      // the last value of the cycle: what * ends with; differs from max where 7 is Sunday
	names    []string // of the values from min on
	wrong    map[int]string
}

var fields = [5]field{
	{name: "minute", max: 59, last: 59, wrong: map[int]string{60: "write 0 for the full hour"}},
	{name: "hour", max: 23, last: 23, wrong: map[int]string{24: "write 0 for midnight"}},
	{name: "day of month", min: 1, max: 31, last: 31},
	{name: "month", min: 1, max: 12, last: 12, wrong: map[int]string{0: "months count from 1"},
		names: []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}},
	{name: "day of week", max: 7, last: 6, wrong: map[int]string{8: "0 and 7 are both Sunday"},
		names: []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}},
}

// item is one entry of a field's list: every step-th value from lo to hi.
type item struct {
	lo, hi, step  int
	star, stepped bool
}

func hasStar(list []item) bool {
	for _, it := range list {
		if it.star {
			return true
		}
	}
	return false
}

func isFixed(list []item) bool {
	for _, it := range list {
		if it.star || it.stepped {
			return false
		}
	}
	return true
}

func (f *field) allowed() string {
	s := fmt.Sprintf("%d to %d", f.min, f.max)
	if len(f.names) > 0 {
		s += ", " + f.names[0] + " to " + f.names[len(f.names)-1]
	}
	return s
}

// parse reads the list of one field and checks every part of it.
func (f *field) parse(t token) ([]item, error) {
	var list []item
	at := t.at
	for entry := range strings.SplitSeq(t.text, ",") {
		if entry == "" {
			comma := max(at-1, t.at) // the comma before the gap, or the one that begins the field
			return nil, bad(token{",", comma}, "remove the comma", "empty entry in the list of the %s field", f.name)
		}
		it, err := f.item(token{entry, at})
		if err != nil {
			return nil, err
		}
		list = append(list, it)
		at += len(entry) + 1
	}
	return list, nil
}

func (f *field) item(t token) (item, error) {
	if hint := f.foreign(t.text); hint != "" {
		return item{}, bad(t, hint, "%s in the %s field is not plain cron, allowed are %s, * and lists, ranges and steps of these",
			quote(t.text), f.name, f.allowed())
	}
	body, step, stepped := strings.Cut(t.text, "/")
	it, err := f.span(token{body, t.at}, t)
	if err != nil {
		return item{}, err
	}
	it.step, it.stepped = 1, stepped
	if !stepped {
		return it, nil
	}
	most := it.hi - it.lo + 1
	n, ok := number(step)
	if !ok || n < 1 || n > most {
		place := token{step, t.at + len(body) + 1}
		if step == "" {
			place = token{"/", t.at + len(body)}
		}
		hint := ""
		if ok && n > most && f.names == nil && f.min == 0 && it.hi == f.last {
			hint = `a rate that the clock does not divide has the key "every"`
		}
		return item{}, bad(place, hint, "bad step %s in the %s field, allowed after %s are 1 to %d", quote(step), f.name, quote(body), most)
	}
	it.step = n
	return it, nil
}

// span reads what stands before a step: *, a value or a range. whole is the item with its step.
func (f *field) span(t, whole token) (item, error) {
	if t.text == "*" {
		return item{lo: f.min, hi: f.last, star: true}, nil
	}
	if strings.HasPrefix(t.text, "*") {
		return item{}, bad(t, "", "bad range %s in the %s field, a * stands alone or before a step", quote(t.text), f.name)
	}
	from, to, ranged := strings.Cut(t.text, "-")
	lo, err := f.value(token{from, t.at}, whole)
	if err != nil {
		return item{}, err
	}
	if !ranged {
		if t != whole {
			return item{lo: lo, hi: max(lo, f.last)}, nil
		}
		return item{lo: lo, hi: lo}, nil
	}
	hi, err := f.value(token{to, t.at + len(from) + 1}, whole)
	if err != nil {
		return item{}, err
	}
	if strings.EqualFold(to, "sun") && lo > 0 {
		hi = 7
	}
	if lo > hi {
		return item{}, bad(t, f.turned(from, to), "range %s in the %s field runs backwards", quote(t.text), f.name)
	}
	return item{lo: lo, hi: hi}, nil
}

// turned suggests how to write a range that goes over the end of the cycle.
func (f *field) turned(from, to string) string {
	last, first := strconv.Itoa(f.last), strconv.Itoa(f.min)
	if _, numeric := number(from); !numeric {
		last, first = f.names[len(f.names)-1], f.names[0]
	}
	part := func(a, b string) string {
		if strings.EqualFold(a, b) {
			return a
		}
		return a + "-" + b
	}
	return fmt.Sprintf("write %q", part(from, last)+","+part(first, to))
}

// value reads a number or a name. whole is the item around it, shown where the value itself is missing.
func (f *field) value(t, whole token) (int, error) {
	if t.text == "" {
		return 0, bad(whole, "", "%s in the %s field is not a value or range, allowed are %s", quote(whole.text), f.name, f.allowed())
	}
	for i, name := range f.names {
		if strings.EqualFold(name, t.text) {
			return f.min + i, nil
		}
	}
	n, ok := number(t.text)
	if !ok || n < f.min || n > f.max {
		hint := f.wrong[n]
		if !ok {
			hint = f.suggest(t.text)
		}
		return 0, bad(t, hint, "bad value %s in the %s field, allowed are %s", quote(t.text), f.name, f.allowed())
	}
	return n, nil
}

// number reads plain ASCII digits. A number too large for any field comes back as 1000.
func number(s string) (int, bool) {
	if s == "" || strings.Trim(s, "0123456789") != "" {
		return 0, false
	}
	if n, err := strconv.Atoi(s); err == nil && n < 1000 {
		return n, true
	}
	return 1000, true
}

// suggest finds a remedy for a word that is no value of the field.
func (f *field) suggest(word string) string {
	low := strings.ToLower(word)
	for _, name := range f.names {
		if strings.HasPrefix(low, name) || len(low) > 1 && strings.HasPrefix(name, low) {
			return dsl.DidYouMean(name)
		}
	}
	for i := range fields {
		for _, name := range fields[i].names {
			if low == name {
				return fmt.Sprintf("%q is a value of the %s field, the order is %s", name, fields[i].name, layout)
			}
		}
	}
	return dsl.DidYouMean(dsl.Nearest(low, f.names))
}

// foreign recognises the extensions of other schedulers and says what to do instead; empty if s is not one.
func (f *field) foreign(s string) string {
	up := strings.ToUpper(s)
	for _, name := range f.names { // so that the last letter of a name is not taken for a mark
		if strings.EqualFold(name, s) {
			return ""
		}
	}
	isMark := func(mark string) bool {
		rest, found := strings.CutSuffix(up, mark)
		_, numeric := number(rest)
		return found && (rest == "" || numeric || f.names != nil && len(rest) == 3)
	}
	switch {
	case strings.HasPrefix(up, "?"):
		return `write "*"`
	case strings.Contains(up, "#"):
		return "plain cron has no nth weekday of a month: let it fire on every such weekday and let the task check the date"
	case isMark("W"), up == "LW":
		return "plain cron has no nearest weekday: let it fire on 1-5 in the day of week field and let the task check the date"
	case isMark("L"), strings.HasPrefix(up, "L-"):
		return "plain cron has no last day: let it fire on 28-31 and let the task check the date"
	case up == "H", strings.HasPrefix(up, "H/"), strings.HasPrefix(up, "H("):
		return `write a number, and spread the starts with the key "jitter"`
	}
	return ""
}

// plain writes checked items in numbers that robfig's parser reads as meant. It does not know 7 as Sunday.
func (f *field) plain(list []item) string {
	var b strings.Builder
	for i, it := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		hi := min(it.hi, f.last)
		if it.lo <= hi {
			fmt.Fprintf(&b, "%d-%d/%d", it.lo, hi, it.step)
		}
		if it.hi == hi || (it.hi-it.lo)%it.step != 0 {
			continue
		}
		if it.lo <= hi {
			b.WriteByte(',')
		}
		b.WriteString("0")
	}
	return b.String()
}
