package format

import (
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/ax-scheduler/ax/dsl"
)

// document is a whole file.
type document struct {
	before []string // directives and the mark of the document
	root   *group
	after  []string // from the mark that ends the document on
}

// group is a mapping or a list in block style.
type group struct {
	node    *yaml.Node
	column  int      // where its entries begin in the file, from 0
	keys    []string // the keys of the language in their order; nil where keys are free
	head    []note   // comments above the first entry that are about all of them
	entries []*entry
	tail    []note // comments below the last entry
	root    bool   // it is the whole of a file
}

// entry is a key with its value, or an item of a list.
type entry struct {
	key   string       // as the parser reads it; empty for an item
	nodes []*yaml.Node // the key and the value
	lead  []note       // what stands above it
	head  string       // the key with its colon, or the dash; properties and a comment

	// The value is one of these, or nothing.
	inner   *group
	compact bool     // inner begins on the line of the dash
	value   []string // lines, of which the first follows the head
	below   []string // lines of a value that begins on a line of its own

	block bool   // it ends with a block scalar
	keeps bool   // blank lines below would be part of that
	deep  []note // comments below it, indented more deeply
	foot  []note // comments right below it

	anchors map[string]bool // names that it marks (true) or only uses (false)
}

// reader cuts a text into groups, following the nodes. Its methods are false
// where they find a form that they do not know. Offsets called next are those
// of the line behind what was read.
type reader struct {
	src      *dsl.Source
	text     string
	anchored bool                  // there are anchors
	frozen   map[*yaml.Node]bool   // anchored values that must keep the order of their keys
	uses     map[*yaml.Node]string // what anchored values are used as
}

// document reads all. The root must be a mapping in block style.
func (r *reader) document(root *yaml.Node) (*document, bool) {
	if !isBlock(root) || root.Kind != yaml.MappingNode {
		return nil, false
	}
	d, next := &document{}, 0
	for at := 0; at < r.begin(root.Content[0]); at = r.nextLine(at) {
		if isMark(r.text[at:], "---") {
			next = r.nextLine(at)
		}
	}
	d.before = tidyLines(r.text[:next])
	g, next, ok := r.mapping(root, next, &dsl.Shape{Mapping: dsl.Mappings()[0].Name})
	if !ok {
		return nil, false
	}
	stop := next
	for stop < len(r.text) && !isMark(r.text[stop:], "...") {
		stop = r.nextLine(stop)
	}
	d.after = tidyLines(r.text[stop:])
	notes, ok := r.notes(next, stop)
	g.below(notes)
	d.root, g.root = g, true
	return d, ok
}

// use notes what an anchored value is used as, where it stands and by aliases.
// If these are different things, its keys must keep their order: what sorts
// the keys of a task must not sort the variables of an environment.
func (r *reader) use(n *yaml.Node, as string) {
	target := n
	if n.Kind == yaml.AliasNode {
		target = n.Alias
	} else if r.anchored = r.anchored || n.Anchor != ""; n.Anchor == "" {
		return
	}
	if other, ok := r.uses[target]; ok && other != as {
		r.frozen[target] = true
	}
	r.uses[target] = as
}

// useAll notes that a value and those within it are used as anything.
func (r *reader) useAll(n *yaml.Node) {
	r.use(n, "")
	for _, c := range n.Content {
		r.useAll(c)
	}
}

// isMark tells whether a text begins with a line that is a mark of a document.
func isMark(text, mark string) bool {
	rest, ok := strings.CutPrefix(text, mark)
	return ok && (rest == "" || strings.IndexByte(" \t\n", rest[0]) >= 0)
}

// tidyLines gives the lines of a text without blanks at their ends.
func tidyLines(text string) (lines []string) {
	for line := range strings.Lines(text) {
		lines = append(lines, strings.TrimRight(line, " \t\n"))
	}
	return lines
}

// isBlock tells whether a node is a collection in block style.
func isBlock(n *yaml.Node) bool {
	return (n.Kind == yaml.MappingNode || n.Kind == yaml.SequenceNode) && n.Style&yaml.FlowStyle == 0 && len(n.Content) > 0
}

// isEmpty tells whether a node has no text but anchors and tags.
func isEmpty(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Value == "" && n.Style&^yaml.TaggedStyle == 0
}

func hasProperties(n *yaml.Node) bool { return n.Anchor != "" || n.Style&yaml.TaggedStyle != 0 }

func place(n *yaml.Node) dsl.Pos { return dsl.Pos{Line: int32(n.Line), Col: int32(n.Column)} }

// begin gives the offset of a node, or of an anchor or tag before it.
func (r *reader) begin(n *yaml.Node) int { return r.src.Offset(place(n)) }

func (r *reader) lineStart(at int) int { return strings.LastIndexByte(r.text[:at], '\n') + 1 }

func (r *reader) lineEnd(at int) int {
	if i := strings.IndexByte(r.text[at:], '\n'); i >= 0 {
		return at + i
	}
	return len(r.text)
}

// nextLine gives the offset of the line behind that of an offset.
func (r *reader) nextLine(at int) int { return min(r.lineEnd(at)+1, len(r.text)) }

// notes gives the lines from one to another, which must be comments or blank.
func (r *reader) notes(from, to int) (notes []note, ok bool) {
	for at := from; at < to; at = r.nextLine(at) {
		line := r.text[at:r.lineEnd(at)]
		text := strings.Trim(line, " \t")
		if text != "" && text[0] != '#' {
			return nil, false
		}
		notes = append(notes, note{len(line) - len(strings.TrimLeft(line, " \t")), text})
	}
	return notes, true
}

// comment gives what stands behind an offset on its line: blanks and a
// comment, or nothing.
func (r *reader) comment(at int) (string, bool) {
	rest := strings.TrimRight(r.text[at:r.lineEnd(at)], " \t")
	text := strings.TrimLeft(rest, " \t")
	return rest, text == "" || text[0] == '#' && len(text) < len(rest)
}

// column gives the column of an entry, which must begin its line but for the
// dashes of lists around it.
func (r *reader) column(at int) (column int, ok bool) {
	before := r.text[r.lineStart(at):at]
	rest := strings.TrimLeft(before, " ")
	for strings.HasPrefix(rest, "- ") {
		rest = strings.TrimLeft(rest[2:], " ")
	}
	return len(before), rest == ""
}

// add gives a group its next entry, with the lines that stand above it.
func (r *reader) add(g *group, e *entry, next, start int) bool {
	column, ok := r.column(start)
	notes, clean := r.notes(next, r.lineStart(start))
	if len(g.entries) == 0 {
		g.column, e.lead = column, notes
	} else {
		e.lead = g.between(notes)
	}
	g.entries = append(g.entries, e)
	return ok && clean && column == g.column
}

// mapping reads a mapping in block style, above whose first entry the lines
// from next on stand.
func (r *reader) mapping(n *yaml.Node, next int, shape *dsl.Shape) (*group, int, bool) {
	m := meant(shape)
	g := &group{node: n, keys: m.Keys}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if k.Kind != yaml.ScalarNode && k.Kind != yaml.AliasNode || isEmpty(k) {
			return nil, 0, false
		}
		start, stop := r.begin(k), r.src.Extent(place(k))
		colon := stop + len(r.text[stop:]) - len(strings.TrimLeft(r.text[stop:], " \t"))
		if stop <= start || !strings.HasPrefix(r.text[colon:], ":") || strings.Contains(r.text[start:stop], "\n") {
			return nil, 0, false
		}
		e := &entry{key: k.Value, head: r.text[start:stop] + ":", nodes: n.Content[i : i+2]}
		if k.Kind == yaml.AliasNode {
			e.key, e.head = k.Alias.Value, r.text[start:stop]+" :" // without the blank the colon is part of the name
		}
		ok := r.add(g, e, next, start)
		if !ok {
			return nil, 0, false
		}
		inner := m.shape(e.key)
		if e.key == "<<" && m.Name != "" {
			inner = shape // what is merged is the same kind of mapping
		}
		if next, ok = r.value(e, v, colon+1, g.column, inner); !ok {
			return nil, 0, false
		}
	}
	return g, next, true
}

// list reads a list in block style, whose first dash is the next thing behind
// an offset.
func (r *reader) list(n *yaml.Node, at, next int, shape *dsl.Shape) (*group, int, bool) {
	g, item := &group{node: n}, (*dsl.Shape)(nil)
	if shape != nil {
		item = shape.Items
	}
	for i, v := range n.Content {
		start, ok := r.dash(at)
		e := &entry{head: "-", nodes: n.Content[i : i+1]}
		if !ok || !r.add(g, e, next, start) {
			return nil, 0, false
		}
		if next, ok = r.value(e, v, start+1, g.column, item); !ok {
			return nil, 0, false
		}
		at = next
	}
	return g, next, true
}

// dash finds the dash that is the next thing behind an offset.
func (r *reader) dash(at int) (int, bool) {
	for ; at < len(r.text); at++ {
		switch c := r.text[at]; c {
		case ' ', '\t', '\n':
		case '#':
			at = r.lineEnd(at)
		default:
			return at, c == '-' && isMark(r.text[at:], "-")
		}
	}
	return 0, false
}
