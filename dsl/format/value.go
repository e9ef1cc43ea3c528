package format

import (
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/ax-scheduler/ax/dsl"
)

// step is how much deeper a value is indented than its key.
const step = 2

// value reads the value of an entry, which stands behind an offset and belongs
// to a group of a column.
func (r *reader) value(e *entry, n *yaml.Node, at, column int, shape *dsl.Shape) (next int, ok bool) {
	r.use(n, kindOf(shape))
	switch {
	case isEmpty(n):
		return r.empty(e, n, at)
	case isBlock(n):
		head := e.head
		if next, ok = r.collection(e, n, at, shape); !ok {
			e.head, e.inner, e.compact = head, nil, false
			r.useAll(n)
			next, ok = r.asItIs(e, n, at, column)
		}
		return next, ok
	}
	for _, c := range n.Content {
		r.useAll(c)
	}
	return r.leaf(e, n, at, column)
}

// empty reads a value of which nothing is written but, perhaps, properties.
func (r *reader) empty(e *entry, n *yaml.Node, at int) (next int, ok bool) {
	if hasProperties(n) {
		start := r.begin(n)
		if strings.Trim(r.text[at:start], " \t") != "" {
			return 0, false
		}
		at = r.properties(start)
		e.head += " " + r.text[start:at]
	}
	comment, ok := r.comment(at)
	e.head += comment
	return r.nextLine(at), ok
}

// properties gives the offset behind the anchors and tags of a line.
func (r *reader) properties(at int) int {
	end := at
	for at < len(r.text) && (r.text[at] == '&' || r.text[at] == '!') {
		for end = at; end < len(r.text) && strings.IndexByte(" \t\n", r.text[end]) < 0; end++ {
		}
		for at = end; at < len(r.text) && (r.text[at] == ' ' || r.text[at] == '\t'); at++ {
		}
	}
	return end
}

// collection reads a value that is a group of its own.
func (r *reader) collection(e *entry, n *yaml.Node, at int, shape *dsl.Shape) (next int, ok bool) {
	first := r.begin(n.Content[0])
	if n.Kind == yaml.SequenceNode && !hasProperties(n) {
		first = r.begin(n)
	}
	next = r.nextLine(at)
	if e.compact = first < next && !hasProperties(n); !e.compact {
		start := at
		if hasProperties(n) {
			if start = r.begin(n); strings.Trim(r.text[at:start], " \t") != "" {
				return 0, false
			}
			e.head += " "
		}
		end := r.properties(start)
		comment, ok := r.comment(end)
		if !ok {
			return 0, false
		}
		e.head += r.text[start:end] + comment
		at = next
	}
	if n.Kind == yaml.SequenceNode {
		e.inner, next, ok = r.list(n, at, next, shape)
	} else {
		e.inner, next, ok = r.mapping(n, next, shape)
	}
	return next, ok
}

// leaf reads a scalar, an alias or a collection in brackets.
func (r *reader) leaf(e *entry, n *yaml.Node, at, column int) (next int, ok bool) {
	start, end := r.begin(n), r.src.Extent(place(n))
	if end <= start || start < at {
		return 0, false
	}
	if below := r.lineEnd(at) < start; below {
		comment, ok := r.comment(at)
		notes, clean := r.notes(r.nextLine(at), r.lineStart(start))
		if !ok || !clean || strings.Trim(r.text[r.lineStart(start):start], " ") != "" {
			return 0, false
		}
		e.head += comment
		for _, line := range tidy(notes) {
			e.below = append(e.below, indented(line, step))
		}
		lines, next, ok := r.lines(e, n, start, end, column, step-(start-r.lineStart(start)-column))
		if ok {
			lines[0] = indented(lines[0], step)
			e.below = append(e.below, lines...)
		}
		return next, ok
	}
	if strings.Trim(r.text[at:start], " \t") != "" {
		return 0, false
	}
	e.value, next, ok = r.lines(e, n, start, end, column, 0)
	return next, ok
}

// lines gives the lines of a leaf: the first as it is, the others relative to
// the column of its group, moved by shift.
func (r *reader) lines(e *entry, n *yaml.Node, start, end, column, shift int) (lines []string, next int, ok bool) {
	if n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		return r.blockScalar(e, n, end, column)
	}
	comment, ok := r.comment(end)
	least := step
	if n.Kind == yaml.MappingNode || n.Kind == yaml.SequenceNode {
		least = 0 // brackets may close in the column of the key
	}
	for i, line := range strings.Split(r.text[start:end]+comment, "\n") {
		text := strings.TrimLeft(line, " \t")
		switch trimmed := strings.TrimRight(text, " \t"); {
		case i == 0:
			text = trimRight(line)
		case trimmed == "":
			text = ""
		default:
			text = indented(trimRight(text), max(len(line)-len(text)-column+shift, least))
		}
		lines = append(lines, text)
	}
	return lines, r.nextLine(end), ok
}

// trimRight removes blanks from the end, unless the first of them is escaped.
func trimRight(line string) string {
	if trimmed := strings.TrimRight(line, " \t"); !strings.HasSuffix(trimmed, `\`) {
		return trimmed
	}
	return line
}

// header is the first line of a block scalar.
type header struct {
	sign  int    // offset of its | or >
	marks string // what follows: a digit, + or -
}

func (r *reader) header(n *yaml.Node) (h header, ok bool) {
	for h.sign = r.begin(n); r.text[h.sign] == '&' || r.text[h.sign] == '!'; {
		end := r.properties(h.sign)
		h.sign = end + len(r.text[end:]) - len(strings.TrimLeft(r.text[end:], " \t"))
		if h.sign == len(r.text) {
			return h, false
		}
	}
	rest := r.text[h.sign+1:]
	h.marks = rest[:len(rest)-len(strings.TrimLeft(rest, "+-123456789"))]
	return h, r.text[h.sign] == '|' || r.text[h.sign] == '>'
}

// digit is how much deeper than its group the header says that the text is
// indented; 0 where that is to be seen from the text.
func (h header) digit() int {
	if d := strings.Trim(h.marks, "+-"); d != "" {
		return int(d[0] - '0')
	}
	return 0
}

func (h header) keeps() bool { return strings.Contains(h.marks, "+") }

// blockScalar gives the lines of a block scalar, its header first. The text is
// indented by one step, or by what the header says.
func (r *reader) blockScalar(e *entry, n *yaml.Node, end, column int) (lines []string, next int, ok bool) {
	h, ok := r.header(n)
	if !ok {
		return nil, 0, false
	}
	next = r.nextLine(h.sign)
	body := r.text[next:end]
	own, deeper := column+h.digit(), h.digit()
	if deeper == 0 {
		text := strings.TrimLeft(body, " \n")
		blanks := body[:len(body)-len(text)]
		own, deeper = len(blanks)-strings.LastIndexByte(blanks, '\n')-1, step
		if text == "" {
			own = len(body)
		}
	}
	for line := range strings.Lines(body) {
		line = strings.TrimSuffix(line, "\n")
		lines = append(lines, indented(line[min(own, len(line)):], deeper))
	}
	whole := body == "" || strings.HasSuffix(body, "\n")
	for !h.keeps() && len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	for range lines {
		next = r.nextLine(next)
	}
	marks := h.marks
	if !whole { // its last line has no end in the file, but will have one
		marks = strings.Trim(h.marks, "+-") + "-"
	}
	behind := strings.TrimRight(r.text[h.sign+1+len(h.marks):r.lineEnd(h.sign)], " \t")
	e.block, e.keeps = true, h.keeps() && whole
	return append([]string{r.text[r.begin(n):h.sign+1] + marks + behind}, lines...), next, true
}

// asItIs keeps the lines of a value in a form that is not known, only moved as
// a whole.
func (r *reader) asItIs(e *entry, n *yaml.Node, at, column int) (next int, ok bool) {
	last := n
	for isBlock(last) {
		last = last.Content[len(last.Content)-1]
	}
	end := r.begin(last)
	switch {
	case isEmpty(last) && hasProperties(last):
		end = r.properties(end)
	case !isEmpty(last):
		end = r.src.Extent(place(last))
	}
	if last.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		h, ok := r.header(last)
		if !ok || end == len(r.text) {
			return 0, false
		}
		e.block, e.keeps = true, h.keeps()
		end--
		for !e.keeps && r.text[end-1] == '\n' {
			end--
		}
	}
	comment, ok := r.comment(end)
	for i, line := range strings.Split(r.text[at:end]+comment, "\n") {
		if i == 0 {
			e.head += line
			continue
		}
		blanks := len(line) - len(strings.TrimLeft(line, " "))
		e.below = append(e.below, line[min(blanks, column):])
	}
	return r.nextLine(end), ok
}
