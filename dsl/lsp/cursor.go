package lsp

import (
	"bytes"
	"slices"
	"strings"

	"github.com/ax-scheduler/ax/dsl"
)

// cursor is what can be written at a place of a text that need not be YAML yet:
// it is found from indentation and brackets alone.
type cursor struct {
	shape dsl.Shape // of what is being written; all zero where that is not known
	task  string    // that it is in
	key   bool      // a key can stand here
	value bool      // a value can stand here
	block bool      // within the lines of a block scalar

	have  []string // keys that the map has already
	from  int      // where what is being written begins, by byte offset
	to    int      // where it ends
	colon bool     // it is a key already
	open  bool     // it is within quotes
}

// token is a dash or a key at the beginning of a line.
type token struct {
	column int
	dash   bool
	key    string
}

// line is one line, taken apart.
type line struct {
	tokens []token
	rest   string // what follows the last token
	at     int    // where the rest begins, by byte offset
	tight  bool   // no blank stands behind the last token
}

var keyAhead = lazily(`^(?:([\w.\x{80}-\x{10ffff}-]+)|"([^"]*)"|'([^']*)')[ \t]*:(?:[ \t]+|$)`)

// lineOf takes a part of a text apart that begins with a line.
func lineOf(text string, from int) line {
	l := line{}
	column := indent(text)
	for {
		rest := text[column:]
		if rest == "-" || strings.HasPrefix(rest, "- ") {
			l.tokens = append(l.tokens, token{column: column, dash: true})
			column += 1 + indent(rest[1:])
			continue
		}
		if m := keyAhead().FindStringSubmatch(rest); m != nil {
			l.tokens = append(l.tokens, token{column: column, key: m[1] + m[2] + m[3]})
			column += len(m[0])
		}
		l.rest, l.at = text[column:], from+column
		l.tight = len(l.tokens) > 0 && !strings.HasSuffix(text[:column], " ")
		return l
	}
}

func indent(text string) int { return len(text) - len(strings.TrimLeft(text, " ")) }

// above is a token that the cursor lies under, with the line that it stands in.
type above struct {
	token
	line
	last bool // of its line
}

// cursorAt finds out what can be written at an offset.
func cursorAt(text []byte, offset int) cursor {
	start := lineStart(text, offset)
	here := lineOf(string(text[start:offset]), start)
	c := cursor{shape: dsl.Shape{Mapping: workflowShape().Name}}
	column := here.at - start
	if len(here.tokens) > 0 {
		column = here.tokens[0].column
	}
	dash := len(here.tokens) > 0 && here.tokens[0].dash
	parents, have := ancestors(text, start, column, dash)
	w := descent{cursor: &c}
	for _, a := range parents {
		w.down(a.token)
		switch {
		case !a.last:
		case blockHeader().MatchString(a.rest):
			c.block, c.value = true, true
			c.from, c.to = wordAround(text, offset)
			return c
		case strings.HasPrefix(a.rest, "{"), strings.HasPrefix(a.rest, "["):
			w.flow(string(text[a.at:offset]), a.at)
			c.from, c.to = w.from, wordEnd(text, offset)
			c.colon = colonBehind(text, c.to)
			return c
		}
	}
	for _, t := range here.tokens {
		w.down(t)
	}
	w.inLine(here)
	if len(here.tokens) == 0 {
		c.have = append(have, siblingsBelow(text, offset, column)...)
		c.value = len(c.have) == 0
	}
	c.to = wordEnd(text, offset)
	c.colon = c.key && colonBehind(text, c.to)
	return c
}

// inLine finds out what is being written in the line itself.
func (w *descent) inLine(here line) {
	c := w.cursor
	c.from = here.at
	last := token{dash: true}
	if len(here.tokens) > 0 {
		last = here.tokens[len(here.tokens)-1]
	}
	c.key, c.value = last.dash, true
	switch {
	case strings.HasPrefix(here.rest, "{"), strings.HasPrefix(here.rest, "["):
		w.flow(here.rest, here.at)
	case strings.HasPrefix(here.rest, `"`), strings.HasPrefix(here.rest, "'"):
		c.from, c.open, c.key = here.at+1, true, false
	case here.tight:
		c.key, c.value = false, false // a blank has to come first
	}
}

var blockHeader = lazily(`^(?:[&!]\S*[ \t]+)*[|>][-+0-9]{0,2}[ \t]*(?:#.*)?$`)

// ancestors gives the dashes and keys that a place lies under, the outermost
// first, and the keys above it in the same map.
func ancestors(text []byte, start, column int, dash bool) (all []above, have []string) {
	for start > 0 && (column > 0 || dash) {
		end := start - 1
		if end > 0 && text[end] == '\n' && text[end-1] == '\r' {
			end--
		}
		start = lineStart(text, end)
		raw := string(text[start:end])
		if trimmed := strings.TrimLeft(raw, " "); trimmed == "" || trimmed[0] == '#' {
			continue
		}
		l := lineOf(raw, start)
		for i, t := range slices.Backward(l.tokens) {
			switch {
			case t.column < column, t.column == column && dash && !t.dash:
				all = append(all, above{t, l, i == len(l.tokens)-1})
				column, dash = t.column, t.dash
			case t.column == column && !t.dash && !dash && len(all) == 0:
				have = append(have, t.key)
			}
		}
	}
	for ; start > 0 && len(all) == 0; start = lineStart(text, start-1) {
		// At the left edge there is nothing above, but keys beside it.
		end := start - 1
		l := lineOf(string(bytes.TrimRight(text[lineStart(text, end):end], "\r")), 0)
		if len(l.tokens) > 0 && l.tokens[0].column == 0 && !l.tokens[0].dash {
			have = append(have, l.tokens[0].key)
		}
	}
	slices.Reverse(all)
	return all, have
}

// siblingsBelow gives the keys of the same map behind a place.
func siblingsBelow(text []byte, offset, column int) (have []string) {
	for at := skipBreak(text, lineEnd(text, offset)); at < len(text); at = skipBreak(text, lineEnd(text, at)) {
		raw := string(text[at:lineEnd(text, at)])
		if trimmed := strings.TrimLeft(raw, " "); trimmed == "" || trimmed[0] == '#' {
			continue
		}
		if indent(raw) < column {
			break
		}
		if l := lineOf(raw, at); len(l.tokens) > 0 && l.tokens[0].column == column && !l.tokens[0].dash {
			have = append(have, l.tokens[0].key)
		}
	}
	return have
}

// descent goes from the workflow down to the cursor.
type descent struct {
	*cursor
	inTasks bool // the next key is a task's id
}

// down goes into a list or to the value of a key.
func (w *descent) down(t token) {
	if t.dash {
		w.shape = itemOf(w.shape)
		return
	}
	if w.inTasks {
		w.task = t.key
	}
	w.inTasks = w.shape.Mapping == workflowShape().Name && t.key == "tasks"
	w.shape = childOf(w.shape, t.key)
}

func itemOf(s dsl.Shape) dsl.Shape {
	switch {
	case s.Items != nil:
		return *s.Items
	case s.Any:
		return s
	}
	return dsl.Shape{}
}

func childOf(s dsl.Shape, key string) dsl.Shape {
	switch {
	case s.Mapping != "":
		return mappings()[s.Mapping].Shapes[key]
	case s.Values != nil:
		return *s.Values
	case s.Any:
		return s
	}
	return dsl.Shape{}
}

// nest is an open bracket.
type nest struct {
	bracket byte
	shape   dsl.Shape
	have    []string
	task    string
	inTasks bool
	value   bool // in a map: behind the colon
}

// flow reads lists and maps in brackets up to the cursor, which is at the end.
func (w *descent) flow(text string, at int) {
	var open []nest
	from := 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '"', '\'':
			if strings.TrimSpace(text[from:i]) != "" {
				continue
			}
			n := quotedLength(text[i:])
			if n < 0 {
				w.open, from, i = true, i+1, len(text)
				continue
			}
			i += n - 1
		case '{', '[':
			open = append(open, nest{bracket: c, shape: w.shape, inTasks: w.inTasks, task: w.task})
			if from = i + 1; c == '[' {
				w.shape = itemOf(w.shape)
			}
		case '}', ']':
			if len(open) > 0 {
				open = open[:len(open)-1]
			}
			w.shape, from = dsl.Shape{}, i+1
		case ',':
			from = i + 1
			w.again(open)
		case ':':
			if len(open) > 0 && open[len(open)-1].bracket == '{' && (i+1 == len(text) || text[i+1] == ' ') {
				top := &open[len(open)-1]
				key := strings.Trim(strings.TrimSpace(text[from:i]), `"'`)
				top.have, top.value = append(top.have, key), true
				w.down(token{key: key})
				from = i + 1
			}
		case '\n', '\r':
			if strings.TrimSpace(text[from:i]) == "" {
				from = i + 1
			}
		}
	}
	w.from = at + from + indent(text[from:])
	if len(open) == 0 {
		w.shape, w.key, w.value = dsl.Shape{}, false, false
		return
	}
	top := open[len(open)-1]
	w.have = top.have
	w.key, w.value = top.bracket == '{' && !top.value, top.bracket == '[' || top.value
}

// again returns to the shape of the innermost bracket, for its next entry.
func (w *descent) again(open []nest) {
	if len(open) == 0 {
		return
	}
	top := &open[len(open)-1]
	w.shape, w.inTasks, w.task, top.value = top.shape, top.inTasks, top.task, false
	if top.bracket == '[' {
		w.shape = itemOf(w.shape)
	}
}

// quotedLength gives the length of the quoted scalar that a text begins with; -1
// if it has no end.
func quotedLength(text string) int {
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '\\' && text[0] == '"':
			i++
		case text[i] == text[0]:
			return i + 1
		}
	}
	return -1
}

func isNameByte(c byte) bool { return isWord(c) || c == '-' }

// wordAround gives the word that an offset touches.
func wordAround(text []byte, offset int) (from, to int) {
	from = offset
	for from > 0 && isNameByte(text[from-1]) {
		from--
	}
	return from, wordEnd(text, offset)
}

func wordEnd(text []byte, offset int) int {
	for offset < len(text) && isNameByte(text[offset]) {
		offset++
	}
	return offset
}

func colonBehind(text []byte, at int) bool {
	return bytes.HasPrefix(bytes.TrimLeft(text[at:lineEnd(text, at)], `"' `), []byte(":"))
}
