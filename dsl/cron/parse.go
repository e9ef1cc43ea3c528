package cron

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	robfig "github.com/robfig/cron/v3"

	"github.com/ax-scheduler/ax/dsl"
)

// Kind tells apart the two sorts of mistake that an expression can have.
type Kind int

const (
	// BadCron is a mistake in the fields or the form of an expression.
	BadCron Kind = iota
	// UnknownZone is a zone that does not exist or cannot be used.
	UnknownZone
)

// Error is a mistake in an expression or in the name of a zone.
type Error struct {
	Offset  int // of the first wrong byte in the text that was parsed
	Width   int // in bytes; 0 if there is nothing to point at
	Kind    Kind
	Message string // what is wrong and what is allowed, on one line
	Hint    string // a remedy, or empty
}

// Error returns the message alone, without place and hint.
func (e *Error) Error() string { return e.Message }

// macros are the names that stand for five fields, in the order in which messages list them.
var macros = []struct{ name, fields string }{
	{"@hourly", "0 * * * *"},
	{"@daily", "0 0 * * *"},
	{"@midnight", "0 0 * * *"},
	{"@weekly", "0 0 * * 0"},
	{"@monthly", "0 0 1 * *"},
	{"@yearly", "0 0 1 1 *"},
	{"@annually", "0 0 1 1 *"},
}

const layout = "minute, hour, day of month, month, day of week"

// token is a piece of the text without blanks; at is its offset.
type token struct {
	text string
	at   int
}

func (t token) end() int { return t.at + len(t.text) }

// Parse reads an expression, with its zone if it has one. The error is an *[Error] and names the first mistake.
// No input makes it panic.
func Parse(text string) (*Expr, error) {
	if i := strings.IndexFunc(text, isOddBlank); i >= 0 {
		r, width := utf8.DecodeRuneInString(text[i:])
		return nil, &Error{Offset: i, Width: width, Message: fmt.Sprintf("%U looks like a blank and is none", r), Hint: "write a plain blank"}
	}
	tokens := split(text)
	e := &Expr{text: joined(tokens)}
	if len(tokens) > 0 {
		rest, err := e.prefix(tokens)
		if err != nil {
			return nil, err
		}
		tokens = rest
	}
	if len(tokens) == 0 {
		return nil, &Error{Width: len(text), Message: "empty cron expression, five fields are needed: " + layout,
			Hint: `write for example "30 2 * * *" for 02:30 every day`}
	}
	if strings.HasPrefix(tokens[0].text, "@") {
		fields, err := macro(tokens)
		if err != nil {
			return nil, err
		}
		tokens = split(fields)
	}
	if len(tokens) != len(fields) {
		return nil, wrongCount(tokens)
	}
	if err := e.fill(tokens); err != nil {
		return nil, err
	}
	return e, nil
}

// isOddBlank finds what texts copied from web pages have between fields.
func isOddBlank(r rune) bool {
	return unicode.IsSpace(r) && !isBlank(r) || r == '\u200b' || r == '\ufeff'
}

func isBlank(r rune) bool { return r == ' ' || r == '\t' || r == '\n' || r == '\r' }

func split(text string) []token {
	var tokens []token
	for at := 0; at < len(text); {
		rest := strings.TrimLeftFunc(text[at:], isBlank)
		at = len(text) - len(rest)
		n := strings.IndexFunc(rest, isBlank)
		if n < 0 {
			n = len(rest)
		}
		if n > 0 {
			tokens = append(tokens, token{rest[:n], at})
		}
		at += n
	}
	return tokens
}

func joined(tokens []token) string {
	words := make([]string, len(tokens))
	for i, t := range tokens {
		words[i] = t.text
	}
	return strings.Join(words, " ")
}

// prefix takes the zone off the front of at least one token and returns what is left.
func (e *Expr) prefix(tokens []token) ([]token, error) {
	first := tokens[0]
	key, zone, found := strings.Cut(first.text, "=")
	if !found {
		return tokens, nil
	}
	if key != "TZ" && key != "CRON_TZ" {
		return nil, bad(first, "write TZ=Zone or CRON_TZ=Zone before the fields", "unknown prefix %s", quote(first.text))
	}
	loc, err := LoadZone(zone)
	if err != nil {
		z := *err.(*Error)
		z.Offset, z.Width = first.at+len(key)+1, len(zone)
		if zone == "" {
			z.Offset, z.Width = first.at, len(first.text)
		}
		return nil, &z
	}
	if len(tokens) == 1 {
		return nil, bad(first, fmt.Sprintf(`write for example "%s 30 2 * * *"`, first.text),
			"nothing after the zone, five fields are needed: "+layout)
	}
	e.Zone, e.loc = zone, loc
	return tokens[1:], nil
}

// macro returns the fields that a name such as @daily stands for.
func macro(tokens []token) (string, error) {
	first := tokens[0]
	name := strings.ToLower(first.text)
	if name == "@every" {
		rate := "5m"
		if len(tokens) == 2 {
			rate = tokens[1].text
		}
		return "", bad(first, "write every: "+quote(rate)+" instead of cron", `"@every" is not a cron expression, a fixed rate has the key "every"`)
	}
	names := make([]string, len(macros))
	for i, m := range macros {
		if m.name == name && len(tokens) == 1 {
			return m.fields, nil
		}
		if m.name == name {
			extra := tokens[1].at
			return "", &Error{Offset: extra, Width: tokens[len(tokens)-1].end() - extra,
				Message: fmt.Sprintf("%q stands alone, it already says all five fields", m.name), Hint: "remove what follows it"}
		}
		names[i] = m.name
	}
	return "", bad(first, dsl.DidYouMean(dsl.Nearest(name, names)), "unknown name %s, allowed are %s", quote(first.text), strings.Join(names, " "))
}

func wrongCount(tokens []token) *Error {
	e := &Error{Offset: tokens[0].at, Hint: "the fields are " + layout}
	last := tokens[len(tokens)-1]
	e.Message = fmt.Sprintf("cron expression has %s, exactly five are needed", plural(len(tokens), "field"))
	if len(tokens) > len(fields) {
		e.Offset = tokens[len(fields)].at
		e.Hint = "the fields are " + layout + "; there are none for seconds and years"
		if len(tokens) == len(fields)+1 && tokens[0].text == "0" {
			if short, err := Parse(joined(tokens[1:])); err == nil {
				e.Hint = fmt.Sprintf("there is no field for seconds, write %q", short)
			}
		}
	}
	e.Width = last.end() - e.Offset
	return e
}

// fill sets the masks and what else the expression knows of itself from five tokens.
func (e *Expr) fill(tokens []token) error {
	var plain [len(fields)]string
	var items [len(fields)][]item
	for i := range fields {
		list, err := fields[i].parse(tokens[i])
		if err != nil {
			return err
		}
		items[i], plain[i] = list, fields[i].plain(list)
	}
	parsed, err := fieldParser.Parse(strings.Join(plain[:], " "))
	if err != nil {
		return &Error{Offset: tokens[0].at, Width: tokens[4].end() - tokens[0].at, Message: err.Error()}
	}
	s := parsed.(*robfig.SpecSchedule)
	e.minute, e.hour = s.Minute, uint32(s.Hour)
	e.dom, e.month, e.dow = uint32(s.Dom), uint16(s.Month), uint8(s.Dow)
	e.dayStar = hasStar(items[2]) || hasStar(items[4])
	e.fixed = isFixed(items[0]) && isFixed(items[1])
	e.never = e.matchesNothing()
	e.uneven = e.findUneven(items)
	return nil
}

var fieldParser = robfig.NewParser(robfig.Minute | robfig.Hour | robfig.Dom | robfig.Month | robfig.Dow)

func bad(t token, hint, format string, args ...any) *Error {
	return &Error{Offset: t.at, Width: len(t.text), Message: fmt.Sprintf(format, args...), Hint: hint}
}

// clip keeps a message readable whatever was typed.
func clip(s string) string {
	const most = 24
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

func quote(s string) string { return strconv.Quote(clip(s)) }

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return strconv.Itoa(n) + " " + word + "s"
}
