package dsl

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"unicode"
	"unicode/utf8"
)

// row is a line on which a key or an item of a list begins.
type row struct {
	at, column int
	dash, text bool // an item; a text without quotes that is no key
}

// rows gives the lines of a text on which something of a block begins: not those
// within texts or brackets.
func (x *slip) rows() []row {
	var rows []row
	c := newScanner(x.src)
	for last := -1; ; {
		within := c.depth > 0
		t, ok := c.next()
		if !ok {
			return rows
		}
		start := max(lineStart(x.src.Text, t.start), x.src.start().offset)
		if start == last || within || !t.first || x.isComment(t) {
			continue
		}
		last = start
		dash := t.kind == otherToken && x.src.Text[t.start] == '-'
		rows = append(rows, row{t.start, t.start - start, dash, t.kind == plainToken && !c.isKey(&t)})
	}
}

// misplaced finds the line that is indented wrongly where a parser stumbled over
// one further down, which was right: a key too far to the left ends all that is
// around it, and one too far to the right is believed until a neighbour comes.
func (x *slip) misplaced() bool {
	rows := x.rows()
	here := slices.IndexFunc(rows, func(r row) bool { return r.at == x.at })
	if here < 0 {
		return false
	}
	if here > 0 && rows[here-1].text && rows[here-1].column == rows[here].column { // a comment ended it
		return x.noKey(rows[here-1].at)
	}
	column := rows[here].column
	owner := here - 1
	for owner >= 0 && rows[owner].column >= column {
		owner--
	}
	if owner < 0 {
		return false
	}
	inner := rows[owner+1 : here]
	neighbours := count(rows[here:], column)
	switch {
	case len(inner) > 0 && inner[0].column == column:
		if rows[here].dash || !inner[0].dash {
			return false
		}
		if x.isMap(rows[owner]) || count(inner, column) < neighbours {
			return x.say(inner[0].at, 0, "an item of a list, but the lines below are keys of a map", "remove the dash")
		}
		return false
	case x.leftOf(rows[:owner], rows[owner], column):
		return x.wrongColumn(rows[owner], column)
	case x.alone(rows, owner, neighbours):
		return x.wrongColumn(rows[owner], column)
	case len(inner) == 0:
		return false
	}
	if n := count(inner, inner[0].column); n < neighbours || n == neighbours && column%2 == 0 && inner[0].column%2 == 1 {
		return x.wrongColumn(inner[0], column)
	}
	return false
}

// count gives how many lines begin in a column, up to one further to the left.
func count(rows []row, column int) (n int) {
	for _, r := range rows {
		if r.column < column {
			break
		}
		if r.column == column {
			n++
		}
	}
	return n
}

// leftOf tells whether a line belongs into a column further to the right: what
// stands before it has its keys there, or has none.
func (x *slip) leftOf(before []row, r row, column int) bool {
	if r.column == 0 && slices.Contains(workflowKeys.names(), x.key(r)) {
		return false
	}
	sibling := len(before) - 1
	for sibling >= 0 && before[sibling].column > r.column {
		sibling--
	}
	if sibling < 0 || before[sibling].column < r.column {
		return false
	}
	if inner := before[sibling+1:]; len(inner) > 0 {
		return count(inner, column) > 0 && inner[0].column == column
	}
	return x.isMap(before[sibling])
}

// alone tells whether a line is the only one in its column, within something
// else, while there are several of those that come later.
func (x *slip) alone(rows []row, i, neighbours int) bool {
	r := rows[i]
	return r.column > 0 && i > 0 && rows[i-1].column < r.column && count(rows[i:], r.column) < neighbours
}

// key gives the text of a line before its colon.
func (x *slip) key(r row) string {
	line := x.src.Text[r.at:lineEnd(x.src.Text, r.at)]
	name, _, _ := bytes.Cut(line, []byte(":"))
	return string(name)
}

// isMap tells whether a line is a key without a value on it that is known to
// have a map.
func (x *slip) isMap(r row) bool {
	line := bytes.TrimSpace(x.src.Text[r.at:lineEnd(x.src.Text, r.at)])
	return slices.Contains([]string{"tasks:", "params:", "env:", "secrets:", "defaults:"}, string(line))
}

func (x *slip) wrongColumn(r row, column int) bool {
	return x.say(r.at, lineEnd(x.src.Text, r.at), fmt.Sprintf("wrong indentation: %s, its neighbours have %d", blanks(r.column), column),
		"keys of one map begin in one column, with blanks only")
}

func blanks(n int) string {
	if n == 1 {
		return "1 blank"
	}
	return fmt.Sprintf("%d blanks", n)
}

// looksLikeRow is a line that begins with a key or as an item.
var looksLikeRow = regexp.MustCompile(`(?m)^( *)(?:- |[\w-]+:(?:\s|$))`)

// overrun finds a quote that was closed by the opening quote of a later value,
// wherever the parser stumbled after that: lines within it look like keys, and
// are not indented as the rest of a text would be.
func (x *slip) overrun() bool {
	c := newScanner(x.src)
	for {
		t, ok := c.next()
		if !ok || t.start >= x.at {
			return false
		}
		if t.kind != singleQuote && t.kind != doubleQuote || t.end >= len(x.src.Text) {
			continue
		}
		body := x.src.Text[t.start:t.end]
		i := bytes.IndexAny(body, "\n\r")
		if i < 0 {
			continue
		}
		_, column := x.indent(t.start)
		body = bytes.ReplaceAll(body[i:], []byte("\r"), []byte("\n"))
		for _, m := range looksLikeRow.FindAllSubmatch(body, -1) {
			if len(m[1]) <= column {
				return x.say(t.start, 0, fmt.Sprintf("this quote is closed only in line %d", x.src.Pos(t.end-1).Line), "close it where its text ends")
			}
		}
	}
}

// oddBlank finds a character that looks like a blank but is none where only
// blanks may indent.
func (x *slip) oddBlank() bool {
	end := lineEnd(x.src.Text, x.at)
	for at := max(lineStart(x.src.Text, x.at), x.src.start().offset); at < end; {
		r, size := utf8.DecodeRune(x.src.Text[at:])
		if isOddBlank(r) {
			return x.say(at, 0, oddBlankMessage(r), oddBlankHint)
		}
		if r != ' ' && r != '\t' {
			return false
		}
		at += size
	}
	return false
}

const oddBlankHint = "replace it by a blank"

func oddBlankMessage(r rune) string {
	what := "a character that is no blank"
	if r == '\u00a0' || r == '\u202f' {
		what = "a no-break space"
	}
	return fmt.Sprintf("%s (%U) in the indentation", what, r)
}

// isOddBlank tells whether a character looks like a blank, but is text to YAML.
func isOddBlank(r rune) bool {
	switch r {
	case nextLine, lineSeparator, paragraphSeparator:
		return false
	case '\u200b':
		return true
	}
	return r >= utf8.RuneSelf && unicode.IsSpace(r)
}

// indentsKey tells whether the character at an offset stands before a key, with
// nothing but blanks before it on its line.
func (s *Source) indentsKey(at int) bool {
	for i := at; i > s.start().offset && !isBreak(s.Text[i-1]); i-- {
		if !isBlank(s.Text[i-1]) {
			return false
		}
	}
	t, c := s.tokenAt(at)
	return t.kind == plainToken && t.start == at && c.isKey(&t)
}
