package expression

import (
	"strings"
	"unicode/utf8"

	"github.com/ax-scheduler/ax/dsl"
)

// spelling prepares an expression for the parser, which knows no hyphens in
// names: those that belong to a name become `$`, which stands for nothing else.
// So lengths and offsets stay as they are.
type spelling struct {
	code   string
	out    []byte // nil until something is changed
	at     int
	scope  *Scope
	before string // params, secrets, tasks or outputs: what the names behind the next dot belong to
	dot    bool   // a dot was the last token
}

// spell gives the expression with its hyphens replaced. Where a hyphen could
// be a minus as well, the longest known name wins.
func spell(code string, scope *Scope) (string, *Error) {
	s := &spelling{code: code, scope: scope}
	for s.at < len(code) {
		if err := s.next(); err != nil {
			return "", err
		}
	}
	if s.out == nil {
		return code, nil
	}
	return string(s.out), nil
}

// named turns the spelling of a name back.
func named(spelled string) string { return strings.ReplaceAll(spelled, "$", "-") }

func (s *spelling) next() *Error {
	rest := s.code[s.at:]
	switch c := rest[0]; {
	case isWordByte(c) && !isDigit(c):
		s.word()
		return nil
	case c == ' ' || c == '\t' || c == '\n' || c == '\r':
		s.at++
		return nil
	case c == '.' && !strings.HasPrefix(rest, ".."):
		s.at, s.dot = s.at+1, true
		return nil
	case strings.HasPrefix(rest, "?."):
		s.at, s.dot = s.at+2, true
		return nil
	case c == '\'' || c == '"' || c == '`':
		n := literalWidth(rest)
		if n < 0 {
			return place{s.at, s.at + 1}.bad("this quote is never closed", "close it in the same line")
		}
		s.at += n
	case c == '$':
		return s.dollar()
	case strings.HasPrefix(rest, "//") || strings.HasPrefix(rest, "/*"):
		return place{s.at, s.at + 2}.bad("an expression has no comments", "")
	case isDigit(c):
		s.at += wordWidth(rest)
	case strings.HasPrefix(rest, ".."):
		s.at += 2
	default:
		s.at++
	}
	s.before, s.dot = "", false
	return nil
}

// word reads a name and notes what the next one may belong to.
func (s *spelling) word() {
	rest := s.code[s.at:]
	n, before := wordWidth(rest), ""
	switch {
	case !s.dot:
		if w := rest[:n]; w == "params" || w == "secrets" || w == "tasks" {
			before = w
		}
	case s.before != "":
		n = s.extent(rest)
	case rest[:n] == "outputs":
		before = "outputs"
	}
	for i := s.at; i < s.at+n; i++ {
		if s.code[i] == '-' {
			if s.out == nil {
				s.out = []byte(s.code)
			}
			s.out[i] = '$'
		}
	}
	s.at, s.before, s.dot = s.at+n, before, false
}

// extent gives how much of a text is one name. Outputs are not declared, but
// are no numbers either: there a hyphen is never a minus.
func (s *spelling) extent(text string) int {
	whole := 0
	for whole < len(text) && (isWordByte(text[whole]) || text[whole] == '-') {
		whole++
	}
	for n := whole; n > 0 && s.before != "outputs"; n = strings.LastIndexByte(text[:n], '-') {
		if s.scope.declares(s.before, text[:n]) {
			return n
		}
	}
	return len(strings.TrimRight(text[:whole], "-"))
}

// dollar explains what a shell's variable is called here.
func (s *spelling) dollar() *Error {
	if strings.HasPrefix(s.code[s.at:], "${{") {
		return s.brackets()
	}
	rest := strings.TrimPrefix(s.code[s.at+1:], "{")
	n := wordWidth(rest)
	hint := ""
	if n > 0 {
		hint = "a variable is env." + rest[:n]
	}
	return place{s.at, s.at + 1}.bad(`"$" means nothing in an expression`, hint)
}

// brackets explains a "${{" within an expression: the one around it lacks a
// brace at its end, or they stand around a part of what is an expression anyway.
func (s *spelling) brackets() *Error {
	before := s.code[:s.at]
	if end := strings.LastIndexByte(before, '}'); end >= 0 && strings.Count(before, "}") > strings.Count(before, "{") {
		return place{end, end + 1}.bad(`one "}" does not end an expression`, `write "}}"`)
	}
	list, unclosed := dsl.Expressions(s.code)
	hint := ""
	if unclosed < 0 && len(list) > 0 {
		var bare strings.Builder
		from := 0
		for _, e := range list {
			bare.WriteString(s.code[from:e.Start] + strings.TrimSpace(e.Text))
			from = e.End
		}
		hint = "write it without the brackets: " + strings.TrimSpace(bare.String()+s.code[from:])
	}
	return place{s.at, s.at + len("${{")}.bad(`"${{" has no place within an expression`, hint)
}

// literalWidth gives the length of the string literal that a text begins with,
// quotes included; -1 if it has no end. Backquotes know no escapes but their
// own doubling.
func literalWidth(text string) int {
	quote := text[0]
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == quote && quote == '`' && i+1 < len(text) && text[i+1] == '`':
			i++
		case c == quote:
			return i + 1
		case c == '\\' && quote != '`':
			i++
		case c == '\n' && quote != '`':
			return -1
		}
	}
	return -1
}

// wordWidth gives how many bytes of a word a text begins with.
func wordWidth(text string) int {
	n := 0
	for n < len(text) && isWordByte(text[n]) {
		n++
	}
	return n
}

func isWordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || isDigit(c) || c >= utf8.RuneSelf
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
