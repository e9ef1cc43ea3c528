package expression

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// directives are those of strftime in POSIX that do not depend on a locale, in
// the POSIX locale, and %F, %T, %s, %z, %G, %V, %u of C99 and its followers.
var directives = map[byte]func(t time.Time) string{
	'Y': func(t time.Time) string { return fmt.Sprintf("%04d", t.Year()) },
	'y': func(t time.Time) string { return two(t.Year() % 100) },
	'm': func(t time.Time) string { return two(int(t.Month())) },
	'd': func(t time.Time) string { return two(t.Day()) },
	'e': func(t time.Time) string { return fmt.Sprintf("%2d", t.Day()) },
	'j': func(t time.Time) string { return fmt.Sprintf("%03d", t.YearDay()) },
	'H': func(t time.Time) string { return two(t.Hour()) },
	'I': func(t time.Time) string { return two((t.Hour()+11)%12 + 1) },
	'M': func(t time.Time) string { return two(t.Minute()) },
	'S': func(t time.Time) string { return two(t.Second()) },
	'N': func(t time.Time) string { return fmt.Sprintf("%09d", t.Nanosecond()) },
	'p': func(t time.Time) string { return t.Format("PM") },
	'a': func(t time.Time) string { return t.Format("Mon") },
	'A': func(t time.Time) string { return t.Weekday().String() },
	'b': func(t time.Time) string { return t.Format("Jan") },
	'B': func(t time.Time) string { return t.Month().String() },
	'u': func(t time.Time) string { return strconv.Itoa(weekday(dateOf(t))) },
	'w': func(t time.Time) string { return strconv.Itoa(int(t.Weekday())) },
	'G': func(t time.Time) string { y, _ := t.ISOWeek(); return fmt.Sprintf("%04d", y) },
	'V': func(t time.Time) string { _, w := t.ISOWeek(); return two(w) },
	'F': func(t time.Time) string { return t.Format(time.DateOnly) },
	'T': func(t time.Time) string { return t.Format(time.TimeOnly) },
	'R': func(t time.Time) string { return t.Format("15:04") },
	's': func(t time.Time) string { return strconv.FormatInt(t.Unix(), 10) },
	'z': func(t time.Time) string { return t.Format("-0700") },
	'Z': func(t time.Time) string { return t.Format("MST") },
	'n': func(time.Time) string { return "\n" },
	't': func(time.Time) string { return "\t" },
	'%': func(time.Time) string { return "%" },
}

func two(n int) string { return fmt.Sprintf("%02d", n) }

// strftime writes a time by a layout.
func strftime(t time.Time, layout string) (string, error) {
	var b strings.Builder
	for {
		literal, rest, found := strings.Cut(layout, "%")
		b.WriteString(literal)
		if !found {
			return b.String(), nil
		}
		if rest == "" {
			return "", &failure{message: `the layout ends with "%"`, hint: `a percent sign is "%%"`}
		}
		write, ok := directives[rest[0]]
		if !ok {
			_, n := utf8.DecodeRuneInString(rest)
			return "", &failure{message: fmt.Sprintf("unknown %q in the layout", "%"+rest[:n]),
				hint: `such as "%Y-%m-%d %H:%M:%S", with %j, %V, %u, %a, %b, %p, %s, %z and others of strftime`}
		}
		b.WriteString(write(t))
		layout = rest[1:]
	}
}
