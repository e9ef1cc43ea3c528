package dsl

import (
	"bytes"
	"sort"
)

// tokenKind tells tokens of YAML apart by how they begin.
type tokenKind byte

const (
	plainToken  tokenKind = 'p'
	singleQuote tokenKind = '\''
	doubleQuote tokenKind = '"'
	blockToken  tokenKind = '|' // a literal or folded scalar, content included
	openToken   tokenKind = '[' // [ or {
	closeToken  tokenKind = ']' // ] or }
	propToken   tokenKind = '&' // an anchor or a tag
	aliasToken  tokenKind = '*'
	otherToken  tokenKind = ':' // an indicator, a comment, a directive, a document's mark
)

// token is a piece of YAML text, by byte offsets.
type token struct {
	kind       tokenKind
	start, end int
	first      bool // nothing but indicators and properties before it on its line
}

// scanner cuts YAML text into tokens, well enough to say how far a token goes,
// whether it is inside brackets and what was open when the real parser gave
// up. It accepts anything. Its value is its state: a copy goes on from there.
type scanner struct {
	text   []byte
	at     int
	depth  int  // open brackets
	column int  // where the innermost block collection begins, from 0; -1 outside of any
	line   int  // offset at which the present line begins
	first  bool // only indicators and properties so far on this line
	prop   int  // offset of the first property before a scalar, or -1
}

func newScanner(s *Source) scanner {
	at := s.start().offset
	return scanner{text: s.Text, at: at, line: at, column: -1, first: true, prop: -1}
}

// next gives the next token; false at the end of the text.
func (c *scanner) next() (token, bool) {
	if !c.skipSpace() {
		return token{}, false
	}
	t := token{kind: otherToken, start: c.at, end: c.at + 1, first: c.first}
	if c.depth == 0 && c.first && c.text[c.at] != '#' { // a line that is indented less leaves collections
		c.column = min(c.column, c.at-c.line)
	}
	switch b := c.text[c.at]; {
	case b == '#', c.depth == 0 && c.at == c.line && b == '%' && c.column < 0:
		t.end = lineEnd(c.text, c.at)
	case c.at == c.line && c.documentMark():
		t.end = c.at + 3
		c.column, c.depth = -1, 0
	case b == '[' || b == '{':
		t.kind = openToken
		c.depth++
		c.first = false
	case (b == ']' || b == '}') && c.depth > 0:
		t.kind = closeToken
		c.depth--
	case b == ',' && c.depth > 0:
	case b == '&' || b == '!':
		t.kind = propToken
		t.end = c.word()
		if c.prop < 0 {
			c.prop = c.at
		}
	case (b == '-' || b == '?' || b == ':') && c.blankAt(c.at+1), (b == ':' || b == '?') && c.depth > 0:
		if c.depth == 0 && c.first {
			c.column = c.at - c.line
		}
	case (b == '|' || b == '>') && c.depth == 0:
		t.kind = blockToken
		t.end = c.blockEnd()
	default:
		c.scalar(&t)
	}
	c.at = t.end
	if t.kind != propToken {
		c.prop = -1
	}
	return t, true
}

// skipSpace goes to the next character that is neither blank nor line end.
func (c *scanner) skipSpace() bool {
	for ; c.at < len(c.text); c.at++ {
		switch b := c.text[c.at]; {
		case isBreak(b):
			c.line, c.first = c.at+1, true
		case !isBlank(b):
			return true
		}
	}
	return false
}

func (c *scanner) blankAt(at int) bool {
	return at >= len(c.text) || isBlank(c.text[at]) || isBreak(c.text[at])
}

func (c *scanner) documentMark() bool {
	rest := c.text[c.at:]
	return (bytes.HasPrefix(rest, []byte("---")) || bytes.HasPrefix(rest, []byte("..."))) && c.blankAt(c.at+3)
}

// word gives the end of an anchor, a tag or an alias.
func (c *scanner) word() int {
	end := c.at + 1
	for !c.blankAt(end) && !(c.depth > 0 && bytes.IndexByte([]byte(",[]{}"), c.text[end]) >= 0) {
		end++
	}
	return end
}

// scalar reads an alias or a quoted or plain scalar, and notes where a block
// mapping begins if it is the first key of one.
func (c *scanner) scalar(t *token) {
	switch b := c.text[c.at]; b {
	case '*':
		t.kind = aliasToken
		t.end = c.word()
	case '\'', '"':
		t.kind = tokenKind(b)
		t.end = quotedEnd(c.text, c.at)
	default:
		t.kind = plainToken
		t.end = max(c.plainEnd(), c.at+1)
	}
	if c.depth == 0 && c.first && c.isKey(t) {
		c.column = t.start - c.line
		if c.prop >= c.line {
			c.column = c.prop - c.line
		}
	}
	if i := bytes.LastIndexAny(c.text[t.start:t.end], "\n\r"); i >= 0 {
		c.line = t.start + i + 1
	}
	c.first = false
}

// isKey tells whether a colon follows on the same line.
func (c *scanner) isKey(t *token) bool {
	at := t.end
	for at < len(c.text) && isBlank(c.text[at]) {
		at++
	}
	return at < len(c.text) && c.text[at] == ':' && c.blankAt(at+1) &&
		!bytes.ContainsAny(c.text[t.start:t.end], "\n\r")
}

// quotedEnd gives the offset behind the quote that closes the one at an
// offset, or the end of the text.
func quotedEnd(text []byte, at int) int {
	quote := text[at]
	for at++; at < len(text); at++ {
		switch {
		case text[at] == '\\' && quote == '"':
			at++
		case text[at] == quote && quote == '\'' && at+1 < len(text) && text[at+1] == '\'':
			at++
		case text[at] == quote:
			return at + 1
		}
	}
	return len(text)
}

// plainEnd gives the end of a plain scalar. It goes on over line ends as long
// as the lines are indented more deeply than the collection it is in, or
// inside brackets.
func (c *scanner) plainEnd() int {
	end := c.plainLine(c.at)
	for {
		at := end
		for at < len(c.text) && isBlank(c.text[at]) {
			at++
		}
		if at >= len(c.text) || !isBreak(c.text[at]) {
			return end
		}
		start := at
		for ; at < len(c.text) && (isBlank(c.text[at]) || isBreak(c.text[at])); at++ {
			if isBreak(c.text[at]) {
				start = at + 1
			}
		}
		next := scanner{text: c.text, at: at, line: start, depth: c.depth}
		if at >= len(c.text) || c.text[at] == '#' || c.depth == 0 && at-start <= c.column || at == start && next.documentMark() {
			return end
		}
		more := next.plainLine(at)
		if more == at {
			return end
		}
		end = more
	}
}

// plainLine gives the end of the part of a plain scalar that is on one line.
func (c *scanner) plainLine(at int) int {
	end := at
	for ; at < len(c.text); at++ {
		switch b := c.text[at]; {
		case isBreak(b):
			return end
		case isBlank(b):
			continue
		case b == ':' && c.blankAt(at+1):
			return end
		case b == '#' && at > end:
			return end
		case c.depth > 0 && bytes.IndexByte([]byte(",?[]{}"), b) >= 0:
			return end
		}
		end = at + 1
	}
	return end
}

// blockEnd gives the end of a block scalar: the start of the first line that
// is not its content.
func (c *scanner) blockEnd() int {
	b := readBlock(c.text, c.at, c.column)
	for b.next() {
	}
	c.line, c.first = b.at, true
	return b.at
}

// stateStep is the distance of the remembered states of the scanner in bytes.
const stateStep = 128

// extent is a token that is long enough to be remembered, lest it is read again
// for every place in it, and the scanner just behind it.
type extent struct {
	token
	after scanner
}

const longToken = 8 * stateStep

// tokenAt gives the token at an offset, or that which the offset is inside of,
// and the scanner just behind it.
func (s *Source) tokenAt(at int) (token, scanner) {
	s.scanned.Do(func() {
		c := newScanner(s)
		for next, more := 0, true; more; {
			if c.at >= next && c.prop < 0 {
				s.states = append(s.states, c)
				next = c.at + stateStep
			}
			var t token
			if t, more = c.next(); t.end-t.start > longToken {
				s.long = append(s.long, extent{t, c})
			}
		}
	})
	if i := sort.Search(len(s.long), func(i int) bool { return s.long[i].end > at }); i < len(s.long) && s.long[i].start <= at {
		return s.long[i].token, s.long[i].after
	}
	i := sort.Search(len(s.states), func(i int) bool { return s.states[i].at > at })
	c := s.states[max(i-1, 0)]
	for {
		t, ok := c.next()
		if !ok || t.end > at {
			return t, c
		}
	}
}

// Span gives the place just behind the token at a place: a scalar (of a block
// scalar only its header), an alias, a key, or brackets with all that is in
// them. An anchor or tag before it is skipped. From inside a plain or quoted
// scalar it goes to the end of that.
func (s *Source) Span(p Pos) Pos {
	at := s.skipProperties(s.Offset(p))
	t, c := s.tokenAt(at)
	if t.end <= at || t.start > at {
		return Pos{p.Line, p.Col + 1}
	}
	end := t.end
	switch t.kind {
	case blockToken:
		end = lineEnd(s.Text, t.start)
		if i := bytes.IndexAny(s.Text[t.start:end], " \t"); i >= 0 {
			end = t.start + i
		}
		if at >= end { // a place inside of its text: to the end of the line
			end = lineEnd(s.Text, at)
		}
	case openToken:
		for depth := c.depth; c.depth >= depth; end = t.end {
			var ok bool
			if t, ok = c.next(); !ok {
				end = lineEnd(s.Text, at) // never closed
				break
			}
		}
	}
	if to := s.Pos(end); to.compare(p) > 0 {
		return to
	}
	return Pos{p.Line, p.Col + 1}
}

// skipProperties goes over anchors and tags, and the space behind them.
func (s *Source) skipProperties(at int) int {
	for at < len(s.Text) && (s.Text[at] == '&' || s.Text[at] == '!') {
		t, c := s.tokenAt(at)
		if t.kind != propToken || t.start != at || !c.skipSpace() {
			return at
		}
		for c.text[c.at] == '#' {
			if c.at = lineEnd(c.text, c.at); !c.skipSpace() {
				return at
			}
		}
		at = c.at
	}
	return at
}
