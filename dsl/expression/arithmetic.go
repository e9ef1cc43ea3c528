package expression

import (
	"math"
	"math/bits"
	"time"

	"github.com/ax-scheduler/ax/dsl"
)

// arithmetic has the operators that make a new value. An int stands for a float
// and a date for the time at which it begins, where no rule fits as it is.
var arithmetic = map[string][]rule{
	"+": {
		{kInt, kInt, kInt, func(_ *machine, a, b any) (any, error) { return sum(a.(int), b.(int)) }},
		{kFloat, kFloat, kFloat, func(_ *machine, a, b any) (any, error) { return finite(a.(float64)+b.(float64), nil) }},
		{kText, kText, kText, func(m *machine, a, b any) (any, error) { return m.joined(a.(string), b.(string)) }},
		{kTime, kDuration, kTime, func(_ *machine, a, b any) (any, error) { return later(a.(time.Time), b.(time.Duration)) }},
		{kDuration, kTime, kTime, func(_ *machine, a, b any) (any, error) { return later(b.(time.Time), a.(time.Duration)) }},
		{kDuration, kDuration, kDuration, func(_ *machine, a, b any) (any, error) { return sum(a.(time.Duration), b.(time.Duration)) }},
	},
	"-": {
		{kInt, kInt, kInt, func(_ *machine, a, b any) (any, error) { return difference(a.(int), b.(int)) }},
		{kFloat, kFloat, kFloat, func(_ *machine, a, b any) (any, error) { return finite(a.(float64)-b.(float64), nil) }},
		{kTime, kTime, kDuration, func(_ *machine, a, b any) (any, error) { return between(b.(time.Time), a.(time.Time)) }},
		{kDate, kDate, kDuration, func(_ *machine, a, b any) (any, error) {
			return between(midnight(b.(dsl.Date), time.UTC), midnight(a.(dsl.Date), time.UTC))
		}},
		{kTime, kDuration, kTime, func(_ *machine, a, b any) (any, error) { return later(a.(time.Time), -b.(time.Duration)) }},
		{kDuration, kDuration, kDuration, func(_ *machine, a, b any) (any, error) { return difference(a.(time.Duration), b.(time.Duration)) }},
	},
	"*": {
		{kInt, kInt, kInt, func(_ *machine, a, b any) (any, error) { return product(a.(int), b.(int)) }},
		{kFloat, kFloat, kFloat, func(_ *machine, a, b any) (any, error) { return finite(a.(float64)*b.(float64), nil) }},
		{kFloat, kDuration, kDuration, func(_ *machine, a, b any) (any, error) { return stretched(b.(time.Duration), a.(float64)) }},
		{kDuration, kFloat, kDuration, func(_ *machine, a, b any) (any, error) { return stretched(a.(time.Duration), b.(float64)) }},
	},
	"/": {
		{kFloat, kFloat, kFloat, func(_ *machine, a, b any) (any, error) { return quotient(a.(float64), b.(float64)) }},
		{kDuration, kDuration, kFloat, func(_ *machine, a, b any) (any, error) {
			return quotient(float64(a.(time.Duration)), float64(b.(time.Duration)))
		}},
		{kDuration, kFloat, kDuration, func(_ *machine, a, b any) (any, error) {
			if b.(float64) == 0 {
				return nil, errZero
			}
			return stretched(a.(time.Duration), 1/b.(float64))
		}},
	},
	"%": {{kInt, kInt, kInt, func(_ *machine, a, b any) (any, error) {
		if b.(int) == 0 {
			return nil, errZero
		}
		return a.(int) % b.(int), nil
	}}},
}

var (
	errZero     = &failure{message: "division by zero"}
	errTooLarge = &failure{message: "the number is too large"}
)

func finite(f float64, err error) (float64, error) {
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return 0, errTooLarge
	}
	return f, nil
}

type whole interface{ int | time.Duration }

func sum[T whole](a, b T) (T, error) {
	if s := a + b; (s > a) == (b > 0) {
		return s, nil
	}
	return 0, errTooLarge
}

func difference[T whole](a, b T) (T, error) {
	if d := a - b; (d < a) == (b > 0) {
		return d, nil
	}
	return 0, errTooLarge
}

func product(a, b int) (int, error) {
	high, low := bits.Mul64(magnitude(a), magnitude(b))
	if high != 0 || low > math.MaxInt64 {
		return 0, errTooLarge
	}
	return a * b, nil
}

func magnitude(n int) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}

func quotient(a, b float64) (float64, error) {
	if b == 0 {
		return 0, errZero
	}
	return finite(a/b, nil)
}

func stretched(d time.Duration, by float64) (time.Duration, error) {
	f := math.Round(float64(d) * by)
	if math.Abs(f) >= math.MaxInt64 {
		return 0, errTooLarge
	}
	return time.Duration(f), nil
}

// joined appends one text to another.
func (m *machine) joined(a, b string) (string, error) {
	if len(a)+len(b) > MaxText {
		return "", errTooLong
	}
	if err := m.spend(len(a) + len(b)); err != nil {
		return "", err
	}
	return a + b, nil
}
