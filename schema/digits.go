package schema

import (
	"fmt"
	"strconv"
	"strings"
)

// digits matches the integers from low to high, neither of them negative, as
// decimal digits with any number of zeros before them; -0 is 0.
func digits(low, high int) string {
	var all []string
	if low == 0 {
		all, low = append(all, "-?0+"), 1
	}
	var sizes []string
	for low <= high {
		last := high // the largest of as many digits as low
		if nines, err := strconv.Atoi(strings.Repeat("9", len(strconv.Itoa(low)))); err == nil {
			last = min(nines, high)
		}
		sizes = append(sizes, sameLength(strconv.Itoa(low), strconv.Itoa(last))...)
		low = last + 1
	}
	return "^(?:" + strings.Join(append(all, "0*(?:"+strings.Join(sizes, "|")+")"), "|") + ")$"
}

// sameLength gives alternatives for the numbers from low to high, which have
// equally many digits.
func sameLength(low, high string) (all []string) {
	rest := len(low) - 1
	zeros, nines := strings.Repeat("0", rest), strings.Repeat("9", rest)
	first, last := low[0], high[0]
	switch {
	case rest == 0 || low[1:] == zeros && high[1:] == nines:
		return []string{oneDigit(first, last) + anyDigits(rest)}
	case first == last:
		return prefixed(first, sameLength(low[1:], high[1:]))
	}
	if low[1:] != zeros {
		all = prefixed(first, sameLength(low[1:], nines))
		first++
	}
	if high[1:] != nines {
		last--
	}
	if first <= last {
		all = append(all, oneDigit(first, last)+anyDigits(rest))
	}
	if high[1:] != nines {
		all = append(all, prefixed(high[0], sameLength(zeros, high[1:]))...)
	}
	return all
}

func prefixed(digit byte, all []string) []string {
	for i := range all {
		all[i] = string(digit) + all[i]
	}
	return all
}

func oneDigit(from, to byte) string {
	if from == to {
		return string(from)
	}
	return fmt.Sprintf("[%c-%c]", from, to)
}

func anyDigits(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return "[0-9]"
	}
	return fmt.Sprintf("[0-9]{%d}", n)
}
