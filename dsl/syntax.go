package dsl

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	yaml4 "go.yaml.in/yaml/v4"
	"gopkg.in/yaml.v3"
)

// decode reads the first document of a text, nil if there is none, and tells
// where a second one begins. There may be a document with an error, if what is
// behind it cannot be read.
func decode(text io.Reader) (doc *yaml.Node, second Pos, err error) {
	defer func() {
		if r := recover(); r != nil { // yaml.v3 can panic on bad input
			doc, err = nil, fmt.Errorf("yaml: %v", r)
		}
	}()
	d := yaml.NewDecoder(text)
	var first, next yaml.Node
	switch err = d.Decode(&first); {
	case errors.Is(err, io.EOF):
		return nil, Pos{}, nil
	case err != nil:
		return nil, Pos{}, err
	}
	switch err = d.Decode(&next); {
	case errors.Is(err, io.EOF):
		return &first, Pos{}, nil
	case err != nil:
		return &first, Pos{}, err
	}
	return &first, Pos{int32(next.Line), int32(next.Column)}, nil
}

// secondDocument gives the place of the line that ends a document, the zero Pos
// if there is none.
func (s *Source) secondDocument(first *yaml.Node) Pos {
	if first == nil {
		return Pos{}
	}
	from := s.Offset(Pos{int32(first.Content[0].Line), 1})
	if m := documentMark.FindIndex(s.Text[from:]); m != nil {
		return s.Pos(from + m[0])
	}
	return Pos{}
}

var documentMark = regexp.MustCompile(`(?m)^---(?:[ \t\r]|$)`)

// slip is what is known about a mistake that the YAML parser gave up on: its
// words and offsets, and what stands before the place.
type slip struct {
	src              *Source
	problem, context string
	at               int // where the parser gave up
	began            int // where the construct began that it was reading

	before token   // the last token that ends before at; kind 0 for none
	open   []token // the brackets that are open at the place

	message, hint string
	to            int // end of what is underlined, 0 for one character
}

// syntax explains why yaml.v3 could not read a text. It points at the slip
// rather than at where the parser noticed it.
func (s *Source) syntax(text []byte, err error) Diagnostic {
	x := &slip{src: s}
	x.locate(text, err)
	x.lookBack()
	for _, explain := range []func(*slip) bool{
		(*slip).conflict, (*slip).tab, (*slip).oddBlank, (*slip).overrun, (*slip).quote, (*slip).forgottenBar, (*slip).bracket, (*slip).swallowed, (*slip).explain,
	} {
		if explain(x) {
			break
		}
	}
	x.visible()
	at := s.Pos(x.at)
	d := Diagnostic{File: s.File, Pos: at, End: Pos{at.Line, at.Col + 1}, Rule: "syntax", Message: x.message, Hint: x.hint}
	if end := s.Pos(x.to); end.Line == at.Line && end.Col > at.Col {
		d.End = end
	}
	return d
}

// visible moves a place at the end of a line, where there is nothing to
// underline, to the character before it.
func (x *slip) visible() {
	text, first := x.src.Text, x.src.start().offset
	if x.at < len(text) && !isBreak(text[x.at]) {
		return
	}
	for x.at > first && (x.at >= len(text) || isBreak(text[x.at]) || isBlank(text[x.at])) {
		x.at--
	}
	x.at = runeStart(text, x.at)
}

// locate finds the place. yaml.v3 says only a line, and often a wrong one; its
// successor, which reads nearly the same language, knows it well.
func (x *slip) locate(text []byte, err error) {
	if e := marked(text); e != nil {
		x.problem, x.context = e.Message, e.ContextMsg
		x.at = x.src.Offset(Pos{int32(e.Mark.Line), int32(e.Mark.Column)})
		x.began = x.at
		if e.ContextMark.Line > 0 {
			x.began = x.src.Offset(Pos{int32(e.ContextMark.Line), int32(e.ContextMark.Column)})
		}
		return
	}
	x.problem = strings.TrimPrefix(err.Error(), "yaml: ")
	line := 1
	if n, _ := fmt.Sscanf(x.problem, "line %d:", &line); n == 1 {
		_, x.problem, _ = strings.Cut(x.problem, ": ")
	}
	x.at = x.src.Offset(Pos{int32(line), 1})
	x.began = x.at
}

// marked reads a text with yaml/v4 for the place of its first mistake.
func marked(text []byte) (found *yaml4.LoadError) {
	defer func() {
		if recover() != nil {
			found = nil
		}
	}()
	l, err := yaml4.NewLoader(bytes.NewReader(text))
	for err == nil {
		var n yaml4.Node
		err = l.Load(&n)
	}
	if errors.As(err, &found) && found.Mark.Line > 0 {
		return found
	}
	return nil
}

// lookBack reads the tokens up to the place.
func (x *slip) lookBack() {
	c := newScanner(x.src)
	for {
		t, ok := c.next()
		if !ok || t.end > x.at {
			return
		}
		switch {
		case c.depth == 0:
			x.open = x.open[:0]
		case t.kind == openToken:
			x.open = append(x.open, t)
		case t.kind == closeToken:
			x.open = x.open[:len(x.open)-1]
		}
		if !x.isComment(t) {
			x.before = t
		}
	}
}

func (x *slip) isComment(t token) bool { return t.kind == otherToken && x.src.Text[t.start] == '#' }

// blockBefore tells whether a block scalar ends right before an offset.
func (x *slip) blockBefore(at int) bool {
	block := false
	c := newScanner(x.src)
	for {
		t, ok := c.next()
		if !ok || t.end > at {
			return block
		}
		if !x.isComment(t) {
			block = t.kind == blockToken
		}
	}
}

// say sets the outcome: what is wrong from one offset to another.
func (x *slip) say(from, to int, message, hint string) bool {
	x.at, x.to, x.message, x.hint = from, to, message, hint
	return true
}

// char gives the character at an offset, for messages.
func (x *slip) char(at int) string {
	p := x.src.Pos(at)
	return strconv.Quote(string(x.src.Text[at:x.src.Offset(Pos{p.Line, p.Col + 1})]))
}

// indent gives where the text of the line of an offset begins, and its column.
func (x *slip) indent(at int) (begin, column int) {
	start := lineStart(x.src.Text, at)
	begin = start
	for begin < len(x.src.Text) && isBlank(x.src.Text[begin]) {
		begin++
	}
	return begin, begin - start
}

// conflict finds what a version control system left behind.
func (x *slip) conflict() bool {
	from := lineBefore(x.src.Text, lineStart(x.src.Text, x.at))
	to := lineEnd(x.src.Text, skipBreak(x.src.Text, lineEnd(x.src.Text, x.at)))
	m := regexp.MustCompile(`(?m)^(<{7}|={7}|>{7}|\|{7})( |\r|$)`).FindSubmatchIndex(x.src.Text[from:to])
	return m != nil && x.say(from+m[2], from+m[3], "a mark of an unfinished merge", "resolve the conflict and remove its marks")
}

// tab finds a tab where only blanks may indent.
func (x *slip) tab() bool {
	start := lineStart(x.src.Text, x.at)
	begin, _ := x.indent(x.at)
	i := bytes.IndexByte(x.src.Text[start:begin], '\t')
	if i < 0 || x.at > begin && !strings.Contains(x.problem, "mapping values") {
		return false
	}
	return x.say(start+i, 0, "a tab in the indentation", "indent with blanks only")
}

// quote explains what is wrong inside of quotes.
func (x *slip) quote() bool {
	switch {
	case !strings.Contains(x.context, "quoted scalar"):
		return false
	case strings.Contains(x.problem, "escape character"):
		return x.say(x.at, 0, "unknown escape in double quotes", `write a backslash as "\\", or use single quotes`)
	case strings.Contains(x.problem, "number") || strings.Contains(x.problem, "escape code"):
		return x.say(x.at, 0, "bad escape in double quotes", `such as "\x41", "\u00e9" or "\U0001f600"`)
	}
	return x.say(x.began, 0, "this quote is never closed", "close it")
}

// bracket explains what is wrong inside of brackets.
func (x *slip) bracket() bool {
	text := x.src.Text
	_, column := x.indent(x.at)
	for i := len(x.open) - 1; i >= 0; i-- {
		o := x.open[i].start
		_, outer := x.indent(o)
		if lineStart(text, o) < lineStart(text, x.at) && column <= outer || x.at >= len(bytes.TrimRight(text, " \t\r\n")) {
			return x.say(o, 0, x.char(o)+" is never closed", "close it, or put the value into quotes if it is text")
		}
	}
	if len(x.open) == 0 || x.at >= len(text) || !strings.Contains(x.problem, "expected ','") {
		return false
	}
	o := x.open[len(x.open)-1].start
	end := map[byte]string{'[': `"]"`, '{': `"}"`}[text[o]]
	switch c := text[x.at]; {
	case c == '{' && x.at > 0 && text[x.at-1] == '$':
		return x.say(x.at-1, 0, `unquoted "${{" inside brackets`, "put the value into quotes")
	case c == ']' || c == '}':
		return x.say(x.at, 0, x.char(x.at)+" does not close "+x.char(o), "")
	}
	return x.say(x.at, 0, `expected "," or `+end, "put a text that holds one of , [ ] { } or ? into quotes")
}

// swallowed finds a quote that was closed by the opening quote of a later
// value: everything in between was taken for text.
func (x *slip) swallowed() bool {
	t := x.before
	if t.kind != singleQuote && t.kind != doubleQuote || lineStart(x.src.Text, t.end-1) != lineStart(x.src.Text, x.at) {
		return false
	}
	body := x.src.Text[t.start:t.end]
	i := bytes.IndexAny(body, "\n\r")
	if i < 0 || !regexp.MustCompile(`(?m)^[ -]*[\w-]+:(\s|$)`).Match(body[i+1:]) {
		return false
	}
	return x.say(t.start, 0, fmt.Sprintf("this quote is closed only in line %d", x.src.Pos(t.end-1).Line), "close it where its text ends")
}
