package dsl

import "strings"

// Expression is one ${{ … }} within a text, by byte offsets.
type Expression struct {
	Start, End int // of the whole, brackets included
	Offset     int // where Text begins
	Text       string
}

// Expressions finds every ${{ … }} of a text. A }} within a string literal or
// within inner braces does not end one. If one has no end, unclosed is the
// offset of its ${{ and the list has those before it; otherwise it is -1.
func Expressions(text string) (list []Expression, unclosed int) {
	for from := 0; ; {
		i := strings.Index(text[from:], "${{")
		if i < 0 {
			return list, -1
		}
		start := from + i
		body := text[start+3:]
		n := expressionEnd(body)
		if n < 0 {
			// A stray quote may have hidden the end: then the fault is inside.
			n = strings.Index(body, "}}")
		}
		if n < 0 {
			return list, start
		}
		from = start + 3 + n + 2
		list = append(list, Expression{start, from, start + 3, body[:n]})
	}
}

// expressionEnd gives the offset of the }} that ends an expression, or -1. It
// does not look beyond the beginning of the next one, so that a text full of
// broken expressions is still read in linear time.
func expressionEnd(body string) int {
	depth := 0
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case c == '{':
			depth++
		case c == '}' && depth > 0:
			depth--
		case strings.HasPrefix(body[i:], "}}"):
			return i
		case strings.HasPrefix(body[i:], "${{"):
			return -1
		case c == '\\':
			i++
		case c == '\'' || c == '"' || c == '`':
			n := literalEnd(body[i+1:], c)
			if n < 0 {
				return -1
			}
			i += n + 1
		}
	}
	return -1
}

// literalEnd gives the offset of the quote that ends a string literal, or -1.
func literalEnd(text string, quote byte) int {
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == quote:
			return i
		case text[i] == '\\' && quote != '`':
			i++
		}
	}
	return -1
}
