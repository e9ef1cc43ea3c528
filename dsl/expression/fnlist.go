package expression

import (
	"fmt"
	"maps"
	"math"
	"slices"
)

var listFunctions = []function{
	{Function: Function{"len", "len(value)", "the number of characters of a text, items of a list, or entries of a map"},
		args: []kind{kText | kList | kMap}, out: kInt, call: func(m *machine, args []any) (any, error) {
			s, _ := args[0].(string)
			return length(args[0]), m.spend(len(s))
		}},
	{Function: Function{"first", "first(list)", "the first item"},
		args: []kind{kList}, out: kAny, call: func(_ *machine, args []any) (any, error) { return picked(args[0], 0) }},
	{Function: Function{"last", "last(list)", "the last item"},
		args: []kind{kList}, out: kAny, call: func(_ *machine, args []any) (any, error) { return picked(args[0], -1) }},
	{Function: Function{"sort", "sort(list)", "the items in rising order"},
		args: []kind{kList}, out: kList, call: sorted},
	{Function: Function{"keys", "keys(map)", "the names in a map, sorted"},
		args: []kind{kMap}, out: kList, call: keys},
	{Function: Function{"filter", "filter(list, condition)", "the items that fit; in the condition # is the item and .name a part of it"},
		args: []kind{kList, kBool}, out: kList, loop: filter},
	{Function: Function{"map", "map(list, expression)", "what the expression makes of each item"},
		args: []kind{kList, kAny}, out: kList, loop: mapItems},
	{Function: Function{"all", "all(list, condition)", "whether every item fits"},
		args: []kind{kList, kBool}, out: kBool, loop: until(false, false)},
	{Function: Function{"any", "any(list, condition)", "whether some item fits"},
		args: []kind{kList, kBool}, out: kBool, loop: until(true, true)},
	{Function: Function{"none", "none(list, condition)", "whether no item fits"},
		args: []kind{kList, kBool}, out: kBool, loop: until(true, false)},
	{Function: Function{"count", "count(list, condition)", "how many items fit"},
		args: []kind{kList, kBool}, out: kInt, loop: count},
	{Function: Function{"find", "find(list, condition)", "the first item that fits; missing where none does"},
		args: []kind{kList, kBool}, out: kAny, loop: find},
}

var numberFunctions = []function{
	{Function: Function{"min", "min(a, b, …)", "the smallest of some numbers, times, dates, durations or texts"},
		args: []kind{kScalar &^ kBool, kScalar &^ kBool}, variadic: true, out: kScalar &^ kBool, call: extreme(-1)},
	{Function: Function{"max", "max(a, b, …)", "the largest of them"},
		args: []kind{kScalar &^ kBool, kScalar &^ kBool}, variadic: true, out: kScalar &^ kBool, call: extreme(1)},
	{Function: Function{"abs", "abs(number)", "the number without its sign"},
		args: []kind{kNumber}, keeps: true, call: absolute},
	{Function: Function{"round", "round(number)", "the nearest integer, halves away from zero"},
		args: []kind{kNumber}, out: kInt, call: rounded(math.Round)},
	{Function: Function{"floor", "floor(number)", "the next integer below"},
		args: []kind{kNumber}, out: kInt, call: rounded(math.Floor)},
	{Function: Function{"ceil", "ceil(number)", "the next integer above"},
		args: []kind{kNumber}, out: kInt, call: rounded(math.Ceil)},
}

func filter(list []any, each func(any) (any, error)) (any, error) {
	kept := []any{}
	for _, item := range list {
		fits, err := each(item)
		if err != nil {
			return nil, err
		}
		if fits.(bool) {
			kept = append(kept, item)
		}
	}
	return kept, nil
}

func mapItems(list []any, each func(any) (any, error)) (any, error) {
	made := make([]any, 0, len(list))
	for _, item := range list {
		v, err := each(item)
		if err != nil {
			return nil, err
		}
		made = append(made, v)
	}
	return made, nil
}

// until makes a loop that ends with found at the first item whose condition is
// so, and else with the contrary.
func until(stop, found bool) func([]any, func(any) (any, error)) (any, error) {
	return func(list []any, each func(any) (any, error)) (any, error) {
		for _, item := range list {
			fits, err := each(item)
			if err != nil {
				return nil, err
			}
			if fits.(bool) == stop {
				return found, nil
			}
		}
		return !found, nil
	}
}

func count(list []any, each func(any) (any, error)) (any, error) {
	n := 0
	for _, item := range list {
		fits, err := each(item)
		if err != nil {
			return nil, err
		}
		if fits.(bool) {
			n++
		}
	}
	return n, nil
}

func find(list []any, each func(any) (any, error)) (any, error) {
	for _, item := range list {
		fits, err := each(item)
		if err != nil {
			return nil, err
		}
		if fits.(bool) {
			return item, nil
		}
	}
	return nil, missing("no item fits", fallbackHint)
}

func keys(m *machine, args []any) (any, error) {
	names := slices.Sorted(maps.Keys(args[0].(map[string]any)))
	all := make([]any, len(names))
	for i, name := range names {
		all[i] = name
	}
	return all, m.work(8 * len(all))
}

func sorted(m *machine, args []any) (any, error) {
	list := slices.Clone(args[0].([]any))
	if err := m.work(len(list)); err != nil {
		return nil, err
	}
	var failed error
	slices.SortStableFunc(list, func(a, b any) int {
		if failed != nil {
			return 0
		}
		var n int
		n, failed = m.compare(a, b)
		return n
	})
	if failed != nil {
		return nil, failed
	}
	return list, nil
}

// compare orders two values of one kind.
func (m *machine) compare(a, b any) (int, error) {
	r := match(ordering, kindOf(a), kindOf(b))
	if r == nil {
		return 0, &failure{message: fmt.Sprintf("%v and %v have no order", kindOf(a), kindOf(b))}
	}
	if err := m.work(1); err != nil {
		return 0, err
	}
	n, err := r.do(m, m.widened(a, r.left), m.widened(b, r.right))
	if err != nil {
		return 0, err
	}
	return n.(int), nil
}

// extreme gives the value that compares with the others as the sign says.
func extreme(sign int) func(*machine, []any) (any, error) {
	return func(m *machine, args []any) (any, error) {
		best := args[0]
		for _, v := range args[1:] {
			n, err := m.compare(v, best)
			if err != nil {
				return nil, err
			}
			if n*sign > 0 {
				best = v
			}
		}
		return best, nil
	}
}

func absolute(_ *machine, args []any) (any, error) {
	switch v := args[0].(type) {
	case int:
		if v < 0 {
			return difference(0, v)
		}
		return v, nil
	default:
		return math.Abs(v.(float64)), nil
	}
}

func rounded(how func(float64) float64) func(*machine, []any) (any, error) {
	return func(_ *machine, args []any) (any, error) {
		if f, ok := args[0].(float64); ok {
			return integral(how(f))
		}
		return args[0], nil
	}
}
