package format

import "gopkg.in/yaml.v3"

// same tells whether two documents hold the same, written in the same style;
// the entries of mappings may stand in another order.
func same(a, b *yaml.Node) bool {
	return pairs{}.same(a, b)
}

// pairs says which node of one document is which of the other.
type pairs map[*yaml.Node]*yaml.Node

func (p pairs) same(a, b *yaml.Node) bool {
	if a.Kind != b.Kind || a.Tag != b.Tag || a.Value != b.Value || a.Style != b.Style || a.Anchor != b.Anchor || len(a.Content) != len(b.Content) {
		return false
	}
	p[a] = b
	if a.Kind == yaml.AliasNode {
		return p[a.Alias] == b.Alias
	}
	if a.Kind != yaml.MappingNode {
		for i := range a.Content {
			if !p.same(a.Content[i], b.Content[i]) {
				return false
			}
		}
		return true
	}
	type name struct{ tag, text string }
	places := map[name][]int{} // of equal keys, in their order
	for i := 0; i+1 < len(b.Content); i += 2 {
		k := name{b.Content[i].Tag, b.Content[i].Value}
		places[k] = append(places[k], i)
	}
	for i := 0; i+1 < len(a.Content); i += 2 {
		k := name{a.Content[i].Tag, a.Content[i].Value}
		if len(places[k]) == 0 {
			return false
		}
		j := places[k][0]
		places[k] = places[k][1:]
		if !p.same(a.Content[i], b.Content[j]) || !p.same(a.Content[i+1], b.Content[j+1]) {
			return false
		}
	}
	return true
}
