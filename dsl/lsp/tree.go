package lsp

import (
	"bytes"
	"slices"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"

	"github.com/ax-scheduler/ax/dsl"
)

// mappings are those of the language, by name.
var mappings = sync.OnceValue(func() map[string]dsl.Mapping {
	all := map[string]dsl.Mapping{}
	for _, m := range dsl.Mappings() {
		all[m.Name] = m
	}
	return all
})

// workflowShape is the mapping that a file is.
var workflowShape = sync.OnceValue(func() dsl.Mapping { return dsl.Mappings()[0] })

// span is a part of a text, by byte offsets.
type span struct{ from, to int }

// holds tells whether a cursor at an offset touches the span.
func (s span) holds(offset int) bool { return s.from <= offset && offset <= s.to }

// taskID is a place where a task is named.
type taskID struct {
	span
	id         string
	definition bool // as a key of tasks
	end        int  // of a definition: where the task ends
}

// writtenKey is a key with a meaning.
type writtenKey struct {
	span
	mapping, key string
}

// writtenText is a scalar whose value matters.
type writtenText struct {
	span
	pos   dsl.Pos
	value string
	task  string // that it is in
}

// written is an expression within a scalar: its text begins at an offset of the
// scalar's value.
type written struct {
	writtenText
	code   string
	offset int
}

// tree is what stands where in a text, in the order of the text.
type tree struct {
	src    *dsl.Source
	ids    []taskID
	keys   []writtenKey
	crons  []writtenText
	codes  []written
	isTask map[string]bool
}

// walk goes over the nodes of a file along the shapes of the language: so it
// knows what a text means, wherever an alias or a merge has put it. What the
// language does not know is passed over.
func walk(src *dsl.Source, root *yaml.Node) *tree {
	t := &tree{src: src, isTask: map[string]bool{}}
	if root == nil {
		return t
	}
	w := &walker{tree: t, seen: map[visit]bool{}}
	w.value(root, dsl.Shape{Mapping: workflowShape().Name})
	for i := range t.codes {
		c := &t.codes[i]
		for _, name := range names(c.code, func(id string) bool { return t.isTask[id] }) {
			if name[0].word == "tasks" && len(name) > 1 {
				t.ids = append(t.ids, taskID{span: c.part(src, name[1]), id: name[1].word})
			}
		}
	}
	byPlace := func(a, b taskID) int { return a.from - b.from }
	slices.SortStableFunc(t.ids, byPlace)
	t.ids = slices.CompactFunc(t.ids, func(a, b taskID) bool { return a.from == b.from })
	return t
}

// part gives where a part of the expression stands.
func (c *written) part(src *dsl.Source, p part) span {
	return span{src.Offset(src.InScalar(c.pos, c.offset+p.from)), src.Offset(src.InScalar(c.pos, c.offset+p.to))}
}

// visit is one meaning of one node.
type visit struct {
	node    *yaml.Node
	scalar  dsl.Scalar
	mapping string
}

type walker struct {
	*tree
	seen map[visit]bool
	task string // that is being walked
}

// value goes over a node that has a shape.
func (w *walker) value(n *yaml.Node, s dsl.Shape) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	v := visit{n, s.Scalar, s.Mapping}
	if n == nil || w.seen[v] {
		return
	}
	w.seen[v] = true
	switch n.Kind {
	case yaml.ScalarNode:
		w.scalar(n, s)
	case yaml.SequenceNode:
		for i, item := range n.Content {
			switch {
			case s.First != nil && i == 0:
				w.value(item, *s.First)
			case s.Items != nil:
				w.value(item, *s.Items)
			case s.Any:
				w.value(item, s)
			}
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			w.entry(n.Content[i], n.Content[i+1], s)
		}
	}
}

// entry goes over a key and its value within a map of a shape.
func (w *walker) entry(key, value *yaml.Node, s dsl.Shape) {
	if key.Tag == "!!merge" {
		w.merge(value, s)
		return
	}
	if key.Kind != yaml.ScalarNode {
		return
	}
	switch {
	case s.Mapping != "":
		child, ok := mappings()[s.Mapping].Shapes[key.Value]
		if !ok {
			return
		}
		w.keys = append(w.keys, writtenKey{w.spanOf(key), s.Mapping, key.Value})
		if s.Mapping == workflowShape().Name && key.Value == "tasks" {
			w.tasks(value, child)
			return
		}
		w.value(value, child)
	case s.Values != nil:
		if s.Names == dsl.ScalarTaskID {
			w.ids = append(w.ids, taskID{span: w.spanOf(key), id: key.Value})
		}
		w.value(value, *s.Values)
	case s.Any:
		w.value(value, s)
	}
}

// merge goes over what << brings in: a map, or a list of maps.
func (w *walker) merge(n *yaml.Node, s dsl.Shape) {
	if n.Kind == yaml.SequenceNode {
		for _, item := range n.Content {
			w.value(item, s)
		}
		return
	}
	w.value(n, s)
}

// tasks goes over the tasks of the workflow.
func (w *walker) tasks(n *yaml.Node, s dsl.Shape) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind != yaml.MappingNode || s.Values == nil {
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind != yaml.ScalarNode || key.Tag == "!!merge" {
			w.entry(key, value, s)
			continue
		}
		w.task = key.Value
		w.isTask[key.Value] = true
		at := w.spanOf(key)
		w.ids = append(w.ids, taskID{span: at, id: key.Value, definition: true, end: max(at.to, w.endOf(value))})
		w.value(value, *s.Values)
	}
	w.task = ""
}

// scalar notes what a scalar means.
func (w *walker) scalar(n *yaml.Node, s dsl.Shape) {
	text := writtenText{pos: posOf(n), value: n.Value, task: w.task}
	switch {
	case s.Scalar == dsl.ScalarTaskID && n.Value != "":
		w.ids = append(w.ids, taskID{span: w.spanOf(n), id: n.Value})
	case s.Scalar == dsl.ScalarCronTime:
		text.span = w.spanOf(n)
		w.crons = append(w.crons, text)
	case strings.Contains(n.Value, "${{"):
		list, _ := dsl.Expressions(n.Value)
		for _, e := range list {
			w.code(text, e.Text, e.Offset)
		}
	case s.Scalar == dsl.ScalarExpression:
		w.code(text, n.Value, 0)
	}
}

func (w *walker) code(text writtenText, code string, offset int) {
	c := written{text, code, offset}
	c.span = c.part(w.src, part{from: 0, to: len(code)})
	w.codes = append(w.codes, c)
}

func posOf(n *yaml.Node) dsl.Pos { return dsl.Pos{Line: int32(n.Line), Col: int32(n.Column)} }

// spanOf gives where the characters of a scalar's value stand, quotes excluded.
func (w *walker) spanOf(n *yaml.Node) span {
	at := posOf(n)
	if from := w.src.Offset(at); n.Style == 0 && n.Anchor == "" && bytes.HasPrefix(w.src.Text[from:], []byte(n.Value)) {
		return span{from, from + len(n.Value)} // as most are
	}
	return span{w.src.Offset(w.src.InScalar(at, 0)), w.src.Offset(w.src.InScalar(at, len(n.Value)))}
}

// endOf gives where a node ends, blank lines behind it excluded.
func (w *walker) endOf(n *yaml.Node) int {
	for n.Style&yaml.FlowStyle == 0 && n.Kind != yaml.AliasNode && len(n.Content) > 0 {
		n = n.Content[len(n.Content)-1]
	}
	end := w.src.Extent(posOf(n))
	return len(bytes.TrimRight(w.src.Text[:end], " \t\r\n"))
}
