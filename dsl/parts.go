package dsl

import (
	"bytes"
	"io"
	"regexp"
	"runtime"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"
)

// partSize is the least that is read on a processor of its own, in bytes.
const partSize = 256 << 10

// nodes reads a text as decode does. Of what a large file takes most goes into its
// nodes, and tasks are read apart from one another: it is cut before some of them,
// and the parts are read side by side, where that gives the same.
func nodes(text []byte) (doc *yaml.Node, second Pos, err error) {
	if n := min(runtime.GOMAXPROCS(0), len(text)/partSize); n > 1 {
		if doc := inParts(text, cuts(text, n)); doc != nil {
			return doc, Pos{}, nil
		}
	}
	return decode(bytes.NewReader(text))
}

// cut is a place between two tasks.
type cut struct {
	offset int
	line   int // that begins there, from 0
	indent int // of the tasks
}

var (
	tasksLine     = regexp.MustCompile(`(?m)^tasks:[ \t]*(?:#.*)?$`)
	directiveLine = regexp.MustCompile(`(?m)^%`)
)

// cuts looks for places that divide a text into n parts of about one size, each
// before a key of the block mapping that is the value of `tasks`. It goes by the
// indentation of the lines alone: inParts finds out where that deceives. There may
// be fewer than are asked for.
func cuts(text []byte, n int) (found []cut) {
	tasks := tasksLine.FindIndex(text)
	if tasks == nil || bytes.IndexByte(text, '\r') >= 0 || directiveLine.Match(text[:tasks[0]]) {
		return nil
	}
	c := cut{offset: tasks[0], line: bytes.Count(text[:tasks[0]], []byte("\n"))}
	for next := len(text) / n; ; {
		length := bytes.IndexByte(text[c.offset:], '\n')
		if length < 0 {
			return found
		}
		c.offset, c.line = c.offset+length+1, c.line+1
		rest := text[c.offset:]
		in := len(rest) - len(bytes.TrimLeft(rest, " "))
		switch {
		case in == len(rest) || rest[in] == '\n' || rest[in] == '#':
			continue
		case c.indent == 0:
			c.indent = in
		}
		if in == 0 || in < c.indent { // the tasks are over
			return found
		}
		if in == c.indent && c.offset >= next && startsKey(rest[in]) {
			found = append(found, c)
			next = c.offset + max(1, len(text)/n)
		}
	}
}

// startsKey tells whether a character can begin nothing but a word.
func startsKey(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c|' ' && c|' ' <= 'z'
}

// inParts reads a text that is cut into parts. It gives nil where one of them is not
// whole: where a bracket, a quote or an anchor of one part belongs to another, where
// there is a second document, or where the cuts are not between tasks.
func inParts(text []byte, cuts []cut) *yaml.Node {
	if len(cuts) == 0 {
		return nil
	}
	docs := make([]*yaml.Node, len(cuts)+1)
	var reading sync.WaitGroup
	for i := range docs {
		reading.Go(func() {
			from, to := cut{}, len(text)
			if i > 0 {
				from = cuts[i-1]
			}
			if i < len(cuts) {
				to = cuts[i].offset
			}
			docs[i] = part(text[from.offset:to], from)
		})
	}
	reading.Wait()
	tasks := make([]*yaml.Node, len(docs))
	for i, doc := range docs {
		if tasks[i] = tasksOf(doc, cuts[0].indent, i > 0, i < len(cuts)); tasks[i] == nil {
			return nil
		}
		if i < len(cuts) && endsInNothing(tasks[i]) {
			return nil
		}
	}
	root, last := docs[0].Content[0], docs[len(cuts)].Content[0]
	for _, more := range tasks[1:] {
		tasks[0].Content = append(tasks[0].Content, more.Content...)
	}
	root.Content = append(root.Content, last.Content[2:]...)
	return docs[0]
}

// part reads one part, behind a key of its own where it is not the first, and gives
// its nodes the lines of the whole text.
func part(text []byte, from cut) *yaml.Node {
	if from.offset == 0 {
		doc, second, err := decode(bytes.NewReader(text))
		if err != nil || second.Written() {
			return nil
		}
		return doc
	}
	doc, second, err := decode(io.MultiReader(strings.NewReader("tasks:\n"), bytes.NewReader(text)))
	if err != nil || second.Written() || doc == nil {
		return nil
	}
	lower(doc, from.line-1)
	return doc
}

func lower(n *yaml.Node, by int) {
	n.Line += by
	for _, c := range n.Content {
		lower(c, by)
	}
}

// endsInNothing tells whether the last value of a node is missing: then its place
// may be that of whatever comes next.
func endsInNothing(n *yaml.Node) bool {
	for len(n.Content) > 0 {
		n = n.Content[len(n.Content)-1]
	}
	const written = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	return n.Kind == yaml.ScalarNode && n.Value == "" && n.Style&written == 0
}

// tasksOf gives the mapping of the tasks of a part, where it is the block mapping
// that is expected, and the first, or the last, of what stands at the top.
func tasksOf(doc *yaml.Node, indent int, first, last bool) *yaml.Node {
	if doc == nil || doc.Content[0].Kind != yaml.MappingNode {
		return nil
	}
	top := doc.Content[0].Content
	i := 0
	if !first {
		i = len(top) - 2
	}
	if i < 0 || len(top) < 2 || last && i != len(top)-2 {
		return nil
	}
	key, value := top[i], top[i+1]
	if key.Value != "tasks" || key.Column != 1 || value.Kind != yaml.MappingNode || value.Style != 0 || value.Content[0].Column != indent+1 {
		return nil
	}
	return value
}
