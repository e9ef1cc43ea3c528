package dsl

import (
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// key is one key of a mapping and how its value is read.
type key[T any] struct {
	name string
	read func(v val, to *T)
}

// table is a mapping with a fixed set of keys.
type table[T any] struct {
	name  string // as messages name the mapping: `"retry"`
	shape string // what is expected in its place
	keys  []key[T]
}

// section is a table without its type, for hints.
type section interface {
	title() string
	names() []string
}

func (t *table[T]) title() string { return t.name }

func (t *table[T]) names() []string {
	names := make([]string, len(t.keys))
	for i, k := range t.keys {
		names[i] = k.name
	}
	return names
}

// given says which keys of a table a mapping has.
type given struct {
	p       *parser
	keys    []*yaml.Node // key, value, key, value
	there   gaps         // those that it has, in the order of the table as well
	gaps    gaps
	broken  []string // the keys with something wrong in their values
	unknown []unknownKey
	perhaps []string // what an unknown key without a likely meaning may have been meant to be
}

// unknownKey is a key that the table does not have.
type unknownKey struct {
	key, value *yaml.Node
	meant      string // the key that it was probably meant to be, empty if there is none
	clear      bool   // it is known what is wrong with it
}

// has tells whether the mapping has a key, or an unknown one that was probably
// meant to be it: then one mistake is reported and not two.
func (f given) has(name string) bool {
	return f.key(name) != nil || f.p.budget < 0 || slices.Contains(f.perhaps, name) ||
		slices.ContainsFunc(f.unknown, func(u unknownKey) bool { return u.meant == name })
}

// key gives the node of a key, nil if the mapping does not have it.
func (f given) key(name string) *yaml.Node {
	for i := 0; i < len(f.keys); i += 2 {
		if f.keys[i].Value == name {
			return f.keys[i]
		}
	}
	return nil
}

// value gives the node of a key's value.
func (f given) value(name string) *yaml.Node {
	for i := 0; i < len(f.keys); i += 2 {
		if f.keys[i].Value == name {
			return f.keys[i+1]
		}
	}
	return nil
}

// need reports each of some keys that the mapping does not have.
func (f given) need(v val, names ...string) {
	for _, name := range names {
		if !f.has(name) {
			f.missing(v, name, fmt.Sprintf("%s has no %q", f.p.where(v), name))
		}
	}
}

// needOne reports that a mapping has none of some keys.
func (f given) needOne(v val, names ...string) {
	if !slices.ContainsFunc(names, f.has) {
		f.missing(v, names[0], f.p.where(v)+" needs "+eitherQuoted(names))
	}
}

// missing reports a key that is not there, but should be.
func (f given) missing(v val, name, message string) {
	at := v.place()
	f.p.addOnce(mistake{"missing-key", at, name}, at, message, "")
}

// exactlyOne reports that a mapping has none of some keys, or each that it has
// besides the first.
func (f given) exactlyOne(v val, names ...string) {
	f.needOne(v, names...)
	var first *yaml.Node
	for i := 0; i < len(f.keys); i += 2 {
		k := f.keys[i]
		switch {
		case !slices.Contains(names, k.Value), isNull(f.keys[i+1]):
		case first == nil:
			first = k
		default:
			f.p.add("bad-value", f.p.pos(k), fmt.Sprintf("%s has both %q and %q", f.p.where(v), first.Value, k.Value), "keep one of them")
		}
	}
}

// read reads a mapping by its table. Unknown keys are reported. It is false
// where there is no mapping.
func read[T any](v val, t *table[T], to *T) (given, bool) {
	f := given{p: v.p}
	if v.node == nil {
		return f, false
	}
	if v.node.Kind != yaml.MappingNode {
		v.wrongType(t.shape)
		return f, false
	}
	f.keys = v.p.pairs(v.node, v.label())
	for i := 0; i < len(f.keys); i += 2 {
		name := f.keys[i].Value
		j := slices.IndexFunc(t.keys, func(k key[T]) bool { return k.name == name })
		switch {
		case j >= 0:
			f.there |= 1 << j
			before := v.p.faults
			if n := outdented(f, t, v, i); n > 0 {
				f.keys = adopt(f.keys, i, n)
				v.p.add("wrong-type", v.p.pos(f.keys[i]), quote(name)+" has no value", indentHint)
			}
			if t.keys[j].read(v.p.value(f.keys[i], f.keys[i+1]), to); v.p.faults > before || v.p.budget < 0 {
				f.gaps |= 1 << j
				f.broken = append(f.broken, name)
			}
		case t.name == taskTitle && v.p.deepTask(v, f.keys[i], f.keys[i+1]):
		case t.name != workflowTitle || !strings.HasPrefix(name, "x-"):
			likely := func() []string { return likeliest(f, t, i) }
			f.unknown = append(f.unknown, v.p.unknownKey(v, f.keys, i, t, likely))
		}
	}
	for _, u := range f.unknown {
		f.gaps |= gapOf(t, u.meant)
		if !u.clear && !v.p.trial {
			unclear(&f, t, v.p.value(u.key, u.value))
		}
	}
	return f, true
}

// pairs gives the keys and values of a mapping in file order, those that it
// merges with << behind its own. A key that is given twice is reported and
// left out the second time, as is one that is no text.
func (p *parser) pairs(n *yaml.Node, where string) []*yaml.Node {
	clean := len(n.Content) <= 32
	for i := 0; clean && i < len(n.Content); i += 2 {
		k := n.Content[i]
		clean = k.Kind == yaml.ScalarNode && k.Tag == "!!str"
		for j := 0; clean && j < i; j += 2 {
			clean = n.Content[j].Value != k.Value
		}
	}
	if clean {
		return n.Content
	}
	m := merged{p: p, where: where, have: make(map[string]entry, len(n.Content)/2), pairs: make([]*yaml.Node, 0, len(n.Content))}
	m.take(n, 0)
	return m.pairs
}

// merged gathers the entries of a mapping and of those that it merges.
type merged struct {
	p     *parser
	where string
	have  map[string]entry // by the text of the key
	pairs []*yaml.Node
	taken int // mappings so far
}

// entry is a key and the number of the mapping that it stands in.
type entry struct {
	key *yaml.Node
	of  int
}

// take adds the entries of a mapping that are not there yet, then those of the
// mappings that it merges.
func (m *merged) take(n *yaml.Node, depth int) {
	var mergeKey, merge *yaml.Node
	m.taken++
	number := m.taken
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := m.p.key(n.Content[i], m.where)
		if k == nil {
			continue
		}
		first, ok := m.have[k.Value]
		if k.Tag == mergeTag {
			first, ok = entry{mergeKey, number}, mergeKey != nil
		}
		switch {
		case ok && first.of == number:
			m.p.add("duplicate-key", m.p.pos(n.Content[i]),
				fmt.Sprintf("key %s is given twice in %s, first in line %d", quote(m.p.text(k)), m.where, first.key.Line),
				"remove one of them, or give it another name")
		case k.Tag == mergeTag:
			mergeKey, merge = k, n.Content[i+1]
		case !ok:
			m.have[k.Value] = entry{k, number}
			m.pairs = append(m.pairs, k, n.Content[i+1])
		}
	}
	if merge == nil {
		return
	}
	if m.p.merging == nil {
		m.p.merging = map[*yaml.Node]bool{}
	}
	m.p.merging[n] = true
	m.merge(merge, true, depth)
	delete(m.p.merging, n)
}

// mergeTag is what yaml.v3 calls a plain <<.
const mergeTag = "!!merge"

// maxDepth is how deeply values and merges may nest.
const maxDepth = 1000

// merge takes the entries of a mapping, or of a list of them, where the earlier
// win.
func (m *merged) merge(at *yaml.Node, list bool, depth int) {
	n := at
	if at.Kind == yaml.AliasNode {
		n = at.Alias
	}
	switch {
	case !m.p.spend(1+len(n.Content), at):
	case m.p.merging[n]:
		m.p.add("bad-value", m.p.pos(at), "this value would be merged into itself", "remove it")
	case depth > maxDepth:
		m.p.add("bad-value", m.p.pos(at), "maps are merged into each other too deeply", "")
	case n.Kind == yaml.SequenceNode && list:
		for _, item := range n.Content {
			m.merge(item, false, depth)
		}
	case n.Kind != yaml.MappingNode:
		m.p.add("wrong-type", m.p.pos(at), `expected a map or a list of maps for "<<", got `+m.p.describe(n), "")
	default:
		m.take(n, depth+1)
	}
}

// key gives the scalar that a key is, nil if it is none.
func (p *parser) key(n *yaml.Node, where string) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind != yaml.ScalarNode {
		p.add("wrong-type", p.pos(n), "expected a text as a key of "+where+", got "+p.describe(n),
			"put a value that begins with { or [ into quotes")
		return nil
	}
	return n
}
