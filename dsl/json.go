package dsl

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"
)

// json gives a list or a map as JSON. Plain scalars that are literals of JSON
// (numbers, true, false, null) stay what they are, all others are strings.
func (v val) json() Value[string] {
	var b strings.Builder
	if !v.p.appendJSON(&b, v.at, v.label(), 0) {
		return Value[string]{}
	}
	return Value[string]{b.String(), v.pos()}
}

var numberForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?$`) })

// appendJSON writes a node; false if something in it was reported.
func (p *parser) appendJSON(b *strings.Builder, at *yaml.Node, where string, depth int) bool {
	v := p.value(nil, at)
	v.what = where
	switch {
	case v.node == nil || !p.spend(len(v.node.Value), at):
		return false
	case depth > maxDepth:
		v.bad(where+" is nested too deeply", "")
		return false
	case v.node.Kind == yaml.SequenceNode:
		b.WriteByte('[')
		for i, item := range v.node.Content {
			if i > 0 {
				b.WriteByte(',')
			}
			if !p.appendJSON(b, item, where, depth+1) {
				return false
			}
		}
		b.WriteByte(']')
	case v.node.Kind == yaml.MappingNode:
		return p.appendJSONMap(b, v.node, where, depth)
	case isPlain(v.node) && (isNull(v.node) || v.node.Value == "true" || v.node.Value == "false" || numberForm().MatchString(v.node.Value)):
		if isNull(v.node) {
			b.WriteString("null")
		} else {
			b.WriteString(v.node.Value)
		}
	default:
		s := v.str()
		writeJSONString(b, s.V)
		return s.Set()
	}
	return true
}

func (p *parser) appendJSONMap(b *strings.Builder, n *yaml.Node, where string, depth int) bool {
	b.WriteByte('{')
	pairs := p.pairs(n, where)
	for i := 0; i < len(pairs); i += 2 {
		if i > 0 {
			b.WriteByte(',')
		}
		writeJSONString(b, p.text(pairs[i]))
		b.WriteByte(':')
		if !p.appendJSON(b, pairs[i+1], where, depth+1) {
			return false
		}
	}
	b.WriteByte('}')
	return true
}

func writeJSONString(b *strings.Builder, s string) {
	text, err := json.Marshal(s)
	if err != nil {
		panic(fmt.Sprintf("dsl: marshal a string: %v", err))
	}
	b.Write(text)
}
