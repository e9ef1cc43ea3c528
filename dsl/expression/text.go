package expression

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ax-scheduler/ax/dsl"
)

// MaxText is the longest text in bytes that an expression may make, and the
// longest that it reads as JSON: as much as all outputs of a task may be.
const MaxText = 1 << 20

// maxDepth is how deep lists and maps may be nested in JSON.
const maxDepth = 100

// Text gives the text that a value becomes where it stands in a text: true and
// false, decimal integers, the shortest form of a float that reads back as the
// same, times in RFC 3339, dates as 2026-01-31, durations as 1h30m, lists and
// maps as JSON. Nothing (nil) has no text: that is an error.
func Text(v any) (string, error) {
	switch v := v.(type) {
	case nil:
		return "", &failure{message: "the value is nothing, which has no text", hint: "give another with ?? or default", missing: true}
	case string:
		if len(v) > MaxText {
			return "", errTooLong
		}
		return v, nil
	case []any, map[string]any:
		return JSON(v)
	}
	if s, ok := scalarText(v); ok {
		return s, nil
	}
	return "", &failure{message: fmt.Sprintf("a value of type %T has no text", v)}
}

var errTooLong = &failure{message: fmt.Sprintf("the text is longer than %d bytes", MaxText)}

// scalarText gives the text of a value that is no list, map or string.
func scalarText(v any) (string, bool) {
	switch v := v.(type) {
	case bool:
		return strconv.FormatBool(v), true
	case int:
		return strconv.Itoa(v), true
	case float64:
		return floatText(v), true
	case time.Time:
		return v.Format(time.RFC3339Nano), true
	case dsl.Date:
		return v.String(), true
	case time.Duration:
		return dsl.FormatDuration(v), true
	}
	return "", false
}

// floatText avoids exponents for numbers of a usual size, as people write them.
func floatText(f float64) string {
	if f == 0 {
		return "0" // not -0
	}
	if a := math.Abs(f); a >= 1e-6 && a < 1e21 {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// JSON gives a value as compact JSON with sorted keys. Times, dates and
// durations become strings, as Text gives them. It is an error where the value
// is nested more than 100 deep or its text longer than MaxText.
func JSON(v any) (string, error) {
	b, err := appendJSON(nil, v, 0)
	return string(b), err
}

func appendJSON(b []byte, v any, depth int) ([]byte, error) {
	if depth > maxDepth {
		return nil, &failure{message: fmt.Sprintf("lists and maps are nested more than %d deep", maxDepth)}
	}
	if len(b) > MaxText {
		return nil, errTooLong
	}
	var err error
	switch v := v.(type) {
	case nil:
		return append(b, "null"...), nil
	case []any:
		b = append(b, '[')
		for i, x := range v {
			if i > 0 {
				b = append(b, ',')
			}
			if b, err = appendJSON(b, x, depth+1); err != nil {
				return nil, err
			}
		}
		return append(b, ']'), nil
	case map[string]any:
		b = append(b, '{')
		for i, key := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(quoteJSON(b, key), ':')
			if b, err = appendJSON(b, v[key], depth+1); err != nil {
				return nil, err
			}
		}
		return append(b, '}'), nil
	case string:
		return quoteJSON(b, v), nil
	case bool, int, float64:
		s, _ := scalarText(v)
		return append(b, s...), nil
	}
	s, ok := scalarText(v)
	if !ok {
		return nil, &failure{message: fmt.Sprintf("a value of type %T has no JSON", v)}
	}
	return quoteJSON(b, s), nil
}

// quoteJSON writes a string without the escapes for HTML that Marshal makes.
func quoteJSON(b []byte, s string) []byte {
	out := bytes.NewBuffer(b)
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string and a Buffer cannot fail
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}

// ParseJSON reads JSON into the values of expressions: numbers without a
// fraction or an exponent become int, and are refused where they do not fit; the
// others float64.
func ParseJSON(text string) (any, error) {
	if len(text) > MaxText {
		return nil, errTooLong
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	if err == nil {
		if _, more := d.Token(); more != io.EOF {
			err = fmt.Errorf("text behind the end of the value")
		}
	}
	if err != nil {
		return nil, &failure{message: fmt.Sprintf("%s is no JSON: %s", clipped(text), jsonProblem(err)), hint: "see what the task writes to AX_OUTPUT"}
	}
	return numbers(v)
}

func jsonProblem(err error) string {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return "it ends too early"
	}
	return err.Error()
}

// numbers replaces the numbers of a decoded document, in place.
func numbers(v any) (any, error) {
	var err error
	switch v := v.(type) {
	case json.Number:
		return number(v)
	case []any:
		for i := range v {
			if v[i], err = numbers(v[i]); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for key, x := range v {
			if v[key], err = numbers(x); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}

func number(n json.Number) (any, error) {
	if i, err := strconv.Atoi(n.String()); err == nil {
		return i, nil
	}
	f, err := n.Float64()
	switch {
	case err != nil:
		return nil, &failure{message: fmt.Sprintf("the number %s is too large", clipped(n.String()))}
	case !strings.ContainsAny(n.String(), ".eE"): // it would lose digits, as an id must not
		return nil, &failure{message: fmt.Sprintf("the integer %s has more than 64 bits", clipped(n.String())), hint: "have it written in quotes, as text"}
	}
	return f, nil
}

// clipped quotes a text for a message, and cuts it if it is long.
func clipped(text string) string {
	const limit = 40
	if len(text) <= limit {
		return strconv.Quote(text)
	}
	n := limit
	for n > limit-4 && text[n]&0xc0 == 0x80 {
		n--
	}
	return strconv.Quote(text[:n] + "…")
}
