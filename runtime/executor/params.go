package executor

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/ax-scheduler/ax/dsl"
)

// Param is a parameter of a registered function. Its type says how a value is written:
//
//	string    any text
//	bool      true or false
//	int       decimal digits, with a sign
//	float     a decimal number, finite
//	duration  500ms, 10s, 1h30m, 2d; a bare number is seconds
//	date      2026-01-31 (midnight, UTC), or a time as of RFC 3339
//	list      words between commas, or a JSON array of strings
type Param struct {
	Name     string
	Type     string
	Required bool
}

type param struct {
	Param
	field int
	set   func(v reflect.Value, text string) error
}

var (
	durationType = reflect.TypeFor[time.Duration]()
	timeType     = reflect.TypeFor[time.Time]()
	stringsType  = reflect.TypeFor[[]string]()
)

// paramsOf reads the fields of a struct, which are few: nothing is cached.
func paramsOf(t reflect.Type) ([]param, error) {
	var list []param
	for i := range t.NumField() {
		field := t.Field(i)
		tag := field.Tag.Get("ax")
		if !field.IsExported() || tag == "-" {
			continue
		}
		name, option, _ := strings.Cut(tag, ",")
		if name == "" {
			name = snake(field.Name)
		}
		if option != "" && option != "optional" {
			return nil, fmt.Errorf("field %s: %q is no option of the tag, only %q is", field.Name, option, "optional")
		}
		if !functionName.MatchString(name) {
			return nil, fmt.Errorf("field %s: %q is no name for a parameter", field.Name, name)
		}
		if slices.ContainsFunc(list, func(p param) bool { return p.Name == name }) {
			return nil, fmt.Errorf("field %s: another field is called %q", field.Name, name)
		}
		kind, set := setter(field.Type)
		if set == nil {
			return nil, fmt.Errorf("field %s: type %s cannot be a parameter: use string, bool, int, int64, float64, time.Duration, time.Time or []string", field.Name, field.Type)
		}
		list = append(list, param{Param{Name: name, Type: kind, Required: option == ""}, i, set})
	}
	return list, nil
}

func setter(t reflect.Type) (kind string, set func(reflect.Value, string) error) {
	switch t {
	case durationType:
		return "duration", func(v reflect.Value, s string) error { return put(v, s, parseDuration) }
	case timeType:
		return "date", func(v reflect.Value, s string) error { return put(v, s, parseDate) }
	case stringsType:
		return "list", func(v reflect.Value, s string) error { return put(v, s, parseList) }
	}
	switch t.Kind() {
	case reflect.String:
		return "string", func(v reflect.Value, s string) error { v.SetString(s); return nil }
	case reflect.Bool:
		return "bool", setBool
	case reflect.Int, reflect.Int64:
		return "int", setInt
	case reflect.Float64:
		return "float", setFloat
	default:
		return "", nil
	}
}

func put[T any](v reflect.Value, text string, parse func(string) (T, error)) error {
	value, err := parse(text)
	if err == nil {
		v.Set(reflect.ValueOf(value))
	}
	return err
}

func setBool(v reflect.Value, text string) error {
	if text != "true" && text != "false" {
		return errors.New("write true or false")
	}
	v.SetBool(text == "true")
	return nil
}

func setInt(v reflect.Value, text string) error {
	n, err := strconv.ParseInt(text, 10, v.Type().Bits())
	if errors.Is(err, strconv.ErrRange) {
		return fmt.Errorf("it does not fit into %d bits", v.Type().Bits())
	}
	if err != nil {
		return errors.New("write decimal digits, as in 42")
	}
	v.SetInt(n)
	return nil
}

// decimal leaves out what strconv takes beside it: hexadecimal, underscores, names.
var decimal = regexp.MustCompile(`^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$`)

func setFloat(v reflect.Value, text string) error {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(n, 0) || !decimal.MatchString(text) {
		return errors.New("write a number, as in 0.5")
	}
	v.SetFloat(n)
	return nil
}

var (
	wholeDays = regexp.MustCompile(`^(\d+)d(.*)$`)
	goForm    = regexp.MustCompile(`^(\d+(\.\d+)?(ms|h|m|s))+$`)
)

// parseDuration reads durations as the language writes them; days have 24 hours.
func parseDuration(text string) (time.Duration, error) {
	wrong := errors.New("write 500ms, 10s, 5m, 1h30m or 2d")
	days := 0.0
	if m := wholeDays.FindStringSubmatch(text); m != nil {
		days, _ = strconv.ParseFloat(m[1], 64)
		if text = m[2]; text == "" {
			text = "0s"
		}
	} else if decimal.MatchString(text) {
		text += "s"
	}
	if !goForm.MatchString(text) {
		return 0, wrong
	}
	rest, err := time.ParseDuration(text)
	if err != nil || days*24+rest.Hours() > time.Duration(math.MaxInt64).Hours() {
		return 0, errors.New("it is longer than 292 years")
	}
	return time.Duration(days)*24*time.Hour + rest, nil
}

func parseDate(text string) (time.Time, error) {
	if t, err := time.Parse(time.DateOnly, text); err == nil {
		return t, nil
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, nil
	}
	return time.Time{}, errors.New("write 2026-01-31, or a time such as 2026-01-31T08:00:00Z")
}

func parseList(text string) ([]string, error) {
	if strings.HasPrefix(strings.TrimSpace(text), "[") {
		var list []string
		if err := json.Unmarshal([]byte(text), &list); err != nil {
			return nil, errors.New(`write words between commas, or ["a", "b"]`)
		}
		return list, nil
	}
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	list := strings.Split(text, ",")
	for i, word := range list {
		list[i] = strings.TrimSpace(word)
	}
	return list, nil
}

// snake turns "HTTPPort" into "http_port".
func snake(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		if i > 0 && unicode.IsUpper(r) {
			afterLower := !unicode.IsUpper(runes[i-1]) && runes[i-1] != '_'
			beforeLower := i+1 < len(runes) && unicode.IsLower(runes[i+1])
			if afterLower || beforeLower && runes[i-1] != '_' {
				b.WriteByte('_')
			}
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// suggest is the hint for a name that is not among those known: the nearest, if one is near, else all of them.
func suggest(name string, known []string) string {
	near := dsl.Nearest(name, known)
	switch {
	case near != "":
		return fmt.Sprintf("did you mean %q?", near)
	case len(known) == 0:
		return "there are none"
	default:
		return "there are " + strings.Join(known, ", ")
	}
}
