package schema

import (
	"fmt"
	"strings"
	"time"

	"github.com/ax-scheduler/ax/dsl"
)

// What a text may be to an editor: "5" and "true" are texts as well.
var (
	anyText = []string{"string", "number", "boolean"}
	aWord   = []string{"string", "boolean"} // true is a word
)

// scalars names the kinds of scalars under $defs, and says what an editor may
// take them for. Those without a name stand where they are used.
var scalars = map[dsl.Scalar]struct {
	name  string
	types []string
}{
	dsl.ScalarText:       {"text", anyText},
	dsl.ScalarLine:       {"line", anyText},
	dsl.ScalarFilled:     {"filled", anyText},
	dsl.ScalarExpression: {"expression", anyText},
	dsl.ScalarAddress:    {"address", []string{"string"}},
	dsl.ScalarDatabase:   {"database", []string{"string"}},
	dsl.ScalarTableFile:  {"table_file", []string{"string"}},
	dsl.ScalarProgram:    {"", anyText},
	dsl.ScalarException:  {"date_or_file", anyText},
	dsl.ScalarFunction:   {"function", anyText},
	dsl.ScalarCronTime:   {"cron", anyText},
	dsl.ScalarTaskID:     {"task_id", anyText},
	dsl.ScalarIdentifier: {"identifier", aWord},
	dsl.ScalarVariable:   {"variable", aWord},
	dsl.ScalarPattern:    {"regular_expression", anyText},
	dsl.ScalarWord:       {"", []string{"string"}},
	dsl.ScalarBoolean:    {"boolean", []string{"boolean", "string"}},
	dsl.ScalarInteger:    {"", []string{"integer", "string"}},
	dsl.ScalarDuration:   {"", []string{"string", "number"}},
	dsl.ScalarDay:        {"date", []string{"string"}},
	dsl.ScalarParamValue: {"parameter_value", anyText},
}

// The patterns are in the part of the syntax that RE2, ECMAScript and PCRE
// share; \x00 is NUL, [^\x00] any character.
const (
	identifierPattern = `^[A-Za-z_][A-Za-z0-9_\-]{0,63}$`
	variablePattern   = `^[A-Za-z_][A-Za-z0-9_]*$`
	headerPattern     = "^[A-Za-z0-9!#$%&'*+.^_`\\|~\\-]+$"
	dateForm          = `^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}$`
	filledPattern     = `\S`
	datePattern       = `^(?:[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8]))` +
		`|(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29)$`
	numberPattern = `[0-9]+(?:\.[0-9]+)?`
)

// names of durations under $defs, by the least one.
var names = map[time.Duration]string{0: "duration", 1: "positive_duration", time.Second: "rate"}

// nameOf gives the name of a scalar under $defs, if it has one.
func nameOf(s dsl.Shape) string {
	if s.Scalar == dsl.ScalarDuration {
		return names[s.Least]
	}
	return scalars[s.Scalar].name
}

// scalar describes a scalar: its types first, then keywords for strings and
// numbers only.
func scalar(s dsl.Shape) object {
	o := object{typed(scalars[s.Scalar].types)}
	switch s.Scalar {
	case dsl.ScalarText, dsl.ScalarParamValue:
		return append(o, text("")...)
	case dsl.ScalarLine:
		return append(o, text(`\r\n`)...)
	case dsl.ScalarFilled, dsl.ScalarExpression:
		return filled(o)
	case dsl.ScalarAddress:
		return filled(o, pattern(`^https?://|\$\{\{`, "it begins with http:// or https://"))
	case dsl.ScalarDatabase:
		return filled(o, pattern(`^(?:sqlite:|postgres(?:ql)?://)[^\x00]|\$\{\{`, "write sqlite:PATH or postgres://USER@HOST/NAME"))
	case dsl.ScalarTableFile:
		return filled(o, pattern(`\.csv$|\.json$|\$\{\{`, "it ends in .csv or .json"))
	case dsl.ScalarProgram:
		return filled(o, pattern(`^\s*\S+\s*$`, "it is one program; write a list to give it arguments"))
	case dsl.ScalarPattern:
		return append(filled(o), member{"format", "regex"})
	case dsl.ScalarException:
		return append(filled(o), member{"if", object{{"type", "string"}, {"pattern", dateForm}}}, member{"then", object{ref("date")}})
	case dsl.ScalarFunction, dsl.ScalarCronTime, dsl.ScalarTaskID:
		o = append(o, pattern("^"+plain("")+"$", "it cannot be an expression")...)
		return append(o, also(pattern(filledPattern, "it is empty")))
	case dsl.ScalarIdentifier:
		return append(o, pattern(identifierPattern, `a letter or "_" first, then letters, digits, "_" and "-", 64 characters at most`)...)
	case dsl.ScalarVariable:
		return append(o, pattern(variablePattern, `letters, digits and "_", and no digit first`)...)
	case dsl.ScalarWord:
		return append(o, member{"enum", s.Words})
	case dsl.ScalarBoolean:
		return append(o, pattern(`^(?:[Tt]rue|TRUE|[Ff]alse|FALSE)$`, "true or false")...)
	case dsl.ScalarInteger:
		o = append(o, member{"minimum", s.Low}, member{"maximum", s.High})
		return append(o, pattern(digits(s.Low, s.High), fmt.Sprintf("an integer from %d to %d", s.Low, s.High))...)
	case dsl.ScalarDuration:
		return append(o, durations(s.Least)...)
	case dsl.ScalarDay:
		return append(append(o, member{"format", "date"}), pattern(datePattern, "write it like 2026-01-31")...)
	}
	panic(fmt.Sprintf("schema: no scalar %d", s.Scalar))
}

// propertyNames describes the keys of a map; nil where they may be anything.
func propertyNames(kind dsl.Scalar) object {
	switch kind {
	case dsl.ScalarText:
		return nil
	case dsl.ScalarHeaderName:
		return pattern(headerPattern, "no name of a header")
	}
	return scalar(dsl.Shape{Scalar: kind})[1:]
}

// pattern is what a string must match. Editors that know the second keyword
// say it instead of the pattern.
func pattern(regex, otherwise string) object {
	return object{{"pattern", regex}, {"patternErrorMessage", otherwise}}
}

// filled is a text that is not blank and matches some more patterns.
func filled(o object, more ...object) object {
	o = append(o, text("")...)
	return append(o, also(append([]object{pattern(filledPattern, "it is empty")}, more...)...))
}

// text is any text without some characters.
func text(not string) object {
	return pattern(closed(not), "it has a ${{ without a }}, or a character that cannot be")
}

// also adds patterns to the first.
func also(patterns ...object) member { return member{"allOf", patterns} }

// plain matches texts without "${{" and without some characters.
func plain(not string) string {
	return strings.ReplaceAll(`[^$#]*(?:\$(?:\$|\{\$)*(?:[^$\{#]|\{[^$\{#])[^$#]*)*(?:\$(?:\$|\{\$)*\{?)?`, "#", not)
}

// closed matches texts in which every "${{" has a "}}" behind it, without NUL
// and some more characters.
func closed(not string) string {
	not = `\x00` + not
	return `^(?:[^` + not + `]*\}\})?` + plain(not) + `$`
}

// durations describes a duration of at least least.
func durations(least time.Duration) object {
	p := "^(?:" + numberPattern + "|"
	for _, unit := range dsl.DurationUnits() {
		p += "(?:" + numberPattern + unit + ")?"
	}
	o := pattern(p+")$", "write it like 500ms, 10s, 5m, 1h30m or 2d; a bare number is seconds")
	o = append(o, member{"minLength", 1}, member{"maximum", dsl.MaxDuration / time.Second})
	switch least {
	case 0:
		return append(o, member{"minimum", 0})
	case 1:
		return append(o, member{"exclusiveMinimum", 0}, also(pattern("[1-9]", "it must be longer than 0")))
	case time.Second:
		short := object{{"type", "string"}, {"pattern", `^0*[0-9]{1,3}(?:\.[0-9]+)?ms$|^0+(?:\.[0-9]+)?s?$`}}
		return append(o, member{"minimum", 1}, member{"not", short}, also(pattern("[1-9]", "it must be at least 1s")))
	}
	panic(fmt.Sprintf("schema: no pattern for durations of at least %v", least))
}

func wholeNumber() object {
	return append(object{typed([]string{"integer", "string"})}, pattern(`^-?[0-9]+$`, "an integer")...)
}

func decimalNumber() object {
	return append(object{typed([]string{"number", "string"})}, pattern(`^-?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+\-]?[0-9]+)?$`, "a number")...)
}

func lowerBoolean() object {
	return append(object{typed([]string{"boolean", "string"})}, pattern(`^(?:true|false)$`, "true or false")...)
}
