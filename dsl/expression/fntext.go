package expression

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ax-scheduler/ax/dsl"
)

var textFunctions = []function{
	{Function: Function{"default", "default(value, fallback)", "the value, or the fallback where it is missing or null; the same as value ?? fallback"},
		args: []kind{kAny, kAny}},
	{Function: Function{"string", "string(value)", "the text of a value, as it appears in texts"},
		args: []kind{kAny &^ kNothing}, out: kText, call: toText},
	{Function: Function{"int", "int(value)", "the integer that a text stands for, or a number without its fraction"},
		args: []kind{kText | kNumber}, out: kInt, call: toInt},
	{Function: Function{"float", "float(value)", "the number that a text stands for"},
		args: []kind{kText | kNumber}, out: kFloat, call: toFloat},
	{Function: Function{"bool", "bool(text)", `true or false of "true" or "false"`},
		args: []kind{kText | kBool}, out: kBool, call: toBool},
	{Function: Function{"json", "json(text)", "the value that a JSON text stands for; an integer of more than 64 bits is refused"},
		args: []kind{kText}, out: kJSON, call: fromJSON},
	{Function: Function{"toJSON", "toJSON(value)", "a value as compact JSON with sorted keys"},
		args: []kind{kAny}, out: kText, call: toJSON},
	{Function: Function{"lower", "lower(text)", "the text in small letters"},
		args: []kind{kText}, out: kText, call: recast(strings.ToLower)},
	{Function: Function{"upper", "upper(text)", "the text in capital letters"},
		args: []kind{kText}, out: kText, call: recast(strings.ToUpper)},
	{Function: Function{"trim", "trim(text)", "the text without blanks and line ends around it"},
		args: []kind{kText}, out: kText, call: recast(strings.TrimSpace)},
	{Function: Function{"trimPrefix", "trimPrefix(text, prefix)", "the text without a prefix, if it has it"},
		args: []kind{kText, kText}, out: kText, call: without(strings.TrimPrefix)},
	{Function: Function{"trimSuffix", "trimSuffix(text, suffix)", "the text without a suffix, if it has it"},
		args: []kind{kText, kText}, out: kText, call: without(strings.TrimSuffix)},
	{Function: Function{"replace", "replace(text, old, new)", "the text with every occurrence of old replaced by new"},
		args: []kind{kText, kText, kText}, out: kText, call: replace},
	{Function: Function{"split", "split(text, separator)", "the list of the parts between separators"},
		args: []kind{kText, kText}, out: kList, call: split2},
	{Function: Function{"lines", "lines(text)", "the list of the lines that are not empty"},
		args: []kind{kText}, out: kList, call: lines},
	{Function: Function{"join", "join(list, separator)", "the texts of the items with the separator between them"},
		args: []kind{kList, kText}, out: kText, call: join},
}

func toText(m *machine, args []any) (any, error) {
	s, err := Text(args[0])
	if err != nil {
		return nil, err
	}
	return s, m.spend(8 * len(s))
}

func toJSON(m *machine, args []any) (any, error) {
	s, err := JSON(args[0])
	if err != nil {
		return nil, err
	}
	return s, m.spend(8 * len(s))
}

// fromJSON costs more than reading: what it makes is many times as large.
func fromJSON(m *machine, args []any) (any, error) {
	text := args[0].(string)
	if err := m.spend(24 * len(text)); err != nil {
		return nil, err
	}
	return ParseJSON(text)
}

func toInt(m *machine, args []any) (any, error) {
	switch v := args[0].(type) {
	case string:
		n, err := strconv.Atoi(strings.TrimSpace(v))
		if err != nil {
			return nil, &failure{message: clipped(v) + " is no integer"}
		}
		return n, m.spend(len(v))
	case float64:
		return integral(v)
	}
	return args[0], nil
}

// integral gives a float without a fraction, or cut to that, as an int.
func integral(f float64) (any, error) {
	const limit = 1 << 63
	if f < -limit || f >= limit {
		return nil, errTooLarge
	}
	return int(f), nil
}

func toFloat(m *machine, args []any) (any, error) {
	switch v := args[0].(type) {
	case string:
		f, err := finite(strconv.ParseFloat(strings.TrimSpace(v), 64))
		if err != nil {
			return nil, &failure{message: clipped(v) + " is no number"}
		}
		return f, m.spend(len(v))
	case int:
		return float64(v), nil
	}
	return args[0], nil
}

func toBool(_ *machine, args []any) (any, error) {
	switch args[0] {
	case true, "true":
		return true, nil
	case false, "false":
		return false, nil
	}
	return nil, &failure{message: clipped(args[0].(string)) + " is neither true nor false"}
}

// recast makes a function of one that changes a text little.
func recast(change func(string) string) func(*machine, []any) (any, error) {
	return func(m *machine, args []any) (any, error) {
		s := args[0].(string)
		if err := m.spend(4 * len(s)); err != nil {
			return nil, err
		}
		return change(s), nil
	}
}

func without(cut func(s, part string) string) func(*machine, []any) (any, error) {
	return func(m *machine, args []any) (any, error) {
		return cut(args[0].(string), args[1].(string)), m.spend(len(args[1].(string)))
	}
}

func replace(m *machine, args []any) (any, error) {
	s, old, by := args[0].(string), args[1].(string), args[2].(string)
	if old == "" {
		return nil, &failure{message: "replace needs something to replace, the text is empty"}
	}
	size := len(s) + strings.Count(s, old)*(len(by)-len(old))
	if size > MaxText {
		return nil, errTooLong
	}
	if err := m.spend(len(s) + size); err != nil {
		return nil, err
	}
	return strings.ReplaceAll(s, old, by), nil
}

func split2(m *machine, args []any) (any, error) {
	s, separator := args[0].(string), args[1].(string)
	if separator == "" {
		return nil, &failure{message: "split needs a separator, the text is empty"}
	}
	return pieces(m, s, separator, func(string) bool { return true })
}

func lines(m *machine, args []any) (any, error) {
	return pieces(m, strings.ReplaceAll(args[0].(string), "\r\n", "\n"), "\n", func(line string) bool { return line != "" })
}

// pieces splits a text and keeps some of the parts.
func pieces(m *machine, s, separator string, keep func(string) bool) (any, error) {
	if err := m.spend(len(s)); err != nil {
		return nil, err
	}
	all := []any{}
	for part := range strings.SplitSeq(s, separator) {
		if !keep(part) {
			continue
		}
		if err := m.work(1); err != nil {
			return nil, err
		}
		all = append(all, part)
	}
	return all, nil
}

func join(m *machine, args []any) (any, error) {
	var b strings.Builder
	for i, item := range args[0].([]any) {
		if i > 0 {
			b.WriteString(args[1].(string))
		}
		s, err := single(item)
		if err != nil {
			return nil, &failure{message: fmt.Sprintf("item %d of the list: %v", i, err)}
		}
		b.WriteString(s)
		if b.Len() > MaxText {
			return nil, errTooLong
		}
		if err := m.spend(len(s) + len(args[1].(string))); err != nil {
			return nil, err
		}
	}
	return b.String(), nil
}

// single gives the text of a value that is no list or map.
func single(v any) (string, error) {
	if kindOf(v)&kScalar == 0 {
		return "", fmt.Errorf("%v has no text", kindOf(v))
	}
	return Text(v)
}

// duration reads a duration, or takes a number for seconds.
func toDuration(_ *machine, args []any) (any, error) {
	switch v := args[0].(type) {
	case string:
		d, err := dsl.ParseDuration(strings.TrimSpace(v))
		if err != nil {
			return nil, &failure{message: clipped(v) + " is no duration: " + err.Error(), hint: "write it like 500ms, 10s, 1h30m or 2d"}
		}
		return d, nil
	case int:
		return stretched(time.Second, float64(v))
	case float64:
		return stretched(time.Second, v)
	}
	return args[0], nil
}
