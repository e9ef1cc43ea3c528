package expression

import (
	"errors"
	"regexp"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/file"
)

// The parser's messages name kinds of tokens: Operator("="), EOF.
var (
	unexpectedToken = regexp.MustCompile(`^unexpected token (\w+)(?:\((".*")\))?$`)
	unknownChar     = regexp.MustCompile(`^unrecognized character: U\+\w+ ('.*')$`)
)

// syntax words what the parser could not read.
func (c *compiler) syntax(err error) *Error {
	var e *file.Error
	if !errors.As(err, &e) {
		return place{0, c.size}.bad(err.Error(), "")
	}
	at := place{c.offset(e.From), c.offset(e.To)}
	if m := unexpectedToken.FindStringSubmatch(e.Message); m != nil {
		if m[1] == "EOF" {
			return place{c.size, c.size}.bad("the expression ends too early", "")
		}
		token, err := strconv.Unquote(m[2])
		if err != nil {
			token = m[2]
		}
		token = named(token)
		return at.bad("unexpected "+clipped(token), tokenHints[token])
	}
	if m := unknownChar.FindStringSubmatch(e.Message); m != nil {
		return at.bad("unexpected "+m[1], "")
	}
	message := e.Message
	switch {
	case message == "unexpected end of expression":
		return place{c.size, c.size}.bad("the expression ends too early", "")
	case strings.Contains(message, "coalesce"):
		return at.bad(`"??" stands beside another operator`, "put one of them into parentheses")
	case strings.Contains(message, "maximum allowed nodes"):
		message = "the expression is too large"
	case message == "expected name":
		message = "a name is missing behind the dot"
	case strings.HasPrefix(message, "expected at least"):
		message = "too few arguments"
	}
	return at.bad(strings.ToLower(message[:1])+message[1:], "")
}

const tests = "write it between its two sides: text "

// tokenHints is what people of other languages may have meant.
var tokenHints = map[string]string{
	"=":          "write == to compare",
	"&":          "write && or and",
	"===":        "write ==",
	"contains":   tests + "contains part",
	"startsWith": tests + "startsWith part",
	"endsWith":   tests + "endsWith part",
	"matches":    tests + "matches pattern",
	"let":        "let is not available",
	"AND":        "write and, in small letters",
	"OR":         "write or, in small letters",
	"NOT":        "write not, in small letters",
	"IN":         "write in, in small letters",
	"if":         "write condition ? this : that",
	"!":          "write != or not",
}
