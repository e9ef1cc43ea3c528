package dsl

import "gopkg.in/yaml.v3"

// Tree reads a file for those who look at how it is written rather than at
// what it declares, such as the formatter: the nodes of its one document, whose
// lines and columns are places of the source. The root is nil where the file
// has nothing in it, and where it could not be read; then, and where a second
// document follows, the diagnostics say so.
func Tree(file string, text []byte) (src *Source, root *yaml.Node, ds Diagnostics) {
	p, root, bad := open(file, text)
	if bad != nil {
		return NewSource(file, text), nil, Diagnostics{*bad}
	}
	return p.src, root, p.ds
}

// Extent gives the byte offset behind the scalar, the alias or the brackets at
// a place; an anchor or tag before it is skipped. A block scalar ends behind
// all its lines, the blank ones that follow it included, which is where the
// next line that is not its own begins.
func (s *Source) Extent(p Pos) int {
	at := s.skipProperties(s.Offset(p))
	t, c := s.tokenAt(at)
	if t.end <= at || t.start > at {
		return at
	}
	if t.kind != openToken {
		return t.end
	}
	for depth := c.depth; c.depth >= depth; {
		var ok bool
		if t, ok = c.next(); !ok {
			return len(s.Text)
		}
	}
	return t.end
}
