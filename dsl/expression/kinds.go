package expression

import (
	"math/bits"
	"strings"
	"time"

	"github.com/ax-scheduler/ax/dsl"
)

// kind is a set of kinds of values. What is known of an expression before it
// is evaluated is such a set; a value has exactly one of them.
type kind uint16

const (
	kNothing  kind = 1 << iota // nil: null in JSON
	kBool                      // bool
	kInt                       // int
	kFloat                     // float64, never NaN or an infinity
	kText                      // string
	kTime                      // time.Time
	kDate                      // dsl.Date
	kDuration                  // time.Duration
	kList                      // []any
	kMap                       // map[string]any
)

const (
	kNumber = kInt | kFloat
	kMoment = kTime | kDate
	kJSON   = kNothing | kBool | kNumber | kText | kList | kMap
	kScalar = kBool | kNumber | kText | kMoment | kDuration
	kAny    = kJSON | kMoment | kDuration
)

// kindNames has the kinds in the order of their bits.
var kindNames = []string{"nothing", "a bool", "an int", "a float", "a string", "a time", "a date", "a duration", "a list", "a map"}

// String lists the kinds, as messages name them.
func (k kind) String() string {
	switch k {
	case 0:
		return "an unknown value"
	case kAny, kAny &^ kNothing, kJSON, kJSON &^ kNothing:
		return "a value"
	case kNumber:
		return "a number"
	case kScalar:
		return "a single value"
	}
	var names []string
	for rest := k; rest != 0; rest &= rest - 1 {
		names = append(names, kindNames[bits.TrailingZeros16(uint16(rest))])
	}
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " or " + names[n-1]
	}
	return names[0]
}

// single tells whether exactly one kind is possible.
func (k kind) single() bool { return bits.OnesCount16(uint16(k)) == 1 }

// kindOf gives the kind of a value, 0 for what no expression can hold.
func kindOf(v any) kind {
	switch v.(type) {
	case nil:
		return kNothing
	case bool:
		return kBool
	case int:
		return kInt
	case float64:
		return kFloat
	case string:
		return kText
	case time.Time:
		return kTime
	case dsl.Date:
		return kDate
	case time.Duration:
		return kDuration
	case []any:
		return kList
	case map[string]any:
		return kMap
	}
	return 0
}

// kindOfParam gives the kind of a declared type.
func kindOfParam(t dsl.ParamType) kind {
	switch t {
	case dsl.ParamInt:
		return kInt
	case dsl.ParamFloat:
		return kFloat
	case dsl.ParamBool:
		return kBool
	case dsl.ParamDate:
		return kDate
	case dsl.ParamDuration:
		return kDuration
	case dsl.ParamString:
		return kText
	}
	return kAny // the type could not be read
}
