package dsl

import (
	"slices"

	"gopkg.in/yaml.v3"
)

// indentHint is for a key whose map stands in the same column as itself.
const indentHint = "indent the lines below it: what belongs to a key stands further to the right"

// outdented counts the keys of a mapping behind the one of a number that belong
// into that one's own map, but are not indented more than it is.
func outdented[T any](f given, t *table[T], v val, number int) (n int) {
	if v.node.Style&yaml.FlowStyle != 0 || !isMissing(f.keys[number+1]) {
		return 0
	}
	names, inner := t.names(), f.p.keysOf(t.name, f.keys[number].Value)
	for i := number + 2; i < len(f.keys); i += 2 {
		name := f.keys[i].Value
		switch {
		case slices.Contains(names, name):
			return n
		case inner.fixed != nil && !slices.Contains(inner.fixed, name), inner.fixed == nil && !inner.free:
			return n
		case inner.free && n == 0 && Nearest(name, names) != "" && f.keys[i+1].Kind == yaml.ScalarNode:
			return n
		}
		n++
	}
	return n
}

// isMissing tells whether nothing at all is written as a value.
func isMissing(n *yaml.Node) bool { return isNull(n) && n.Value == "" }

// innerKeys are those that the map of a key can have.
type innerKeys struct {
	fixed []string
	free  bool // any
}

// keysOf tells which keys the map can have that is the value of a key.
func (p *parser) keysOf(table, key string) innerKeys {
	switch shape := p.shapes()[table][key]; {
	case key == "depends_on" || key == "after": // nearly always a list
	case shape.Mapping != "":
		for _, s := range p.tables {
			if s.title() == shape.Mapping {
				return innerKeys{fixed: s.names()}
			}
		}
	case shape.Values != nil:
		return innerKeys{free: true}
	}
	return innerKeys{}
}

// adopt gives the value of a key that is meant by keys that stand behind it in
// the same column, and takes these out of the mapping.
func adopt(pairs []*yaml.Node, number, n int) []*yaml.Node {
	children := pairs[number+2 : number+2+2*n]
	inner := *pairs[number+1]
	inner.Kind, inner.Tag, inner.Content = yaml.MappingNode, "!!map", children
	inner.Line, inner.Column = children[0].Line, children[0].Column
	return slices.Concat(pairs[:number+1], []*yaml.Node{&inner}, pairs[number+2+2*n:])
}

// indentTasks gives what "tasks" has with the keys of tasks in these, where they
// stand in the column of the tasks' ids.
func (v val) indentTasks() *yaml.Node {
	n := v.node
	if n == nil || n.Kind != yaml.MappingNode || n.Style&yaml.FlowStyle != 0 {
		return n
	}
	for i := 0; i+3 < len(n.Content); i += 2 {
		if keys := v.p.leftBehind(n.Content[i:]); keys > 0 {
			id := n.Content[i]
			v.p.add("missing-key", v.p.pos(id), "task "+quote(v.p.text(id))+" does nothing", indentHint)
			whole := *n
			whole.Content = adopt(n.Content, i, keys)
			n = &whole
		}
	}
	return n
}

// leftBehind counts the keys of a task that stand in the column of its id: pairs
// is what "tasks" has, from that task on.
func (p *parser) leftBehind(pairs []*yaml.Node) (n int) {
	if !isMissing(pairs[1]) || doesSomething(pairs[3]) {
		return 0
	}
	names := p.tables[1].names() // those of a task
	for i := 2; i < len(pairs) && slices.Contains(names, pairs[i].Value) && !doesSomething(pairs[i+1]); i += 2 {
		n++
	}
	return n
}

// doesSomething tells whether a mapping has a key that says what a task does.
func doesSomething(n *yaml.Node) bool {
	for i := 0; n.Kind == yaml.MappingNode && i < len(n.Content); i += 2 {
		if slices.Contains(actions[1:], n.Content[i].Value) {
			return true
		}
	}
	return false
}

// deepTask reports a key of a task that looks like the task below it.
func (p *parser) deepTask(v val, k, value *yaml.Node) bool {
	if p.trial || p.task == "" || !isIdentifier(k.Value) || !doesSomething(value) || !doesSomething(v.node) {
		return false
	}
	if _, hint, _ := p.suggest(k.Value, p.tables[1], p.tables[1].names); hint != "" {
		return false
	}
	p.add("unknown-key", p.pos(k), "unknown key "+quote(k.Value)+" in "+p.where(v), "it looks like a task that is indented too deeply")
	p.deep = append(p.deep, k, value)
	return true
}
