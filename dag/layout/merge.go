package layout

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// gridFrom is the number of indistinguishable tasks from which they are drawn
// as a grid. Fewer make a column that is read at a glance.
const gridFrom = 10

// mesh is a graph with what can be drawn together put together.
type mesh struct {
	g      *Graph
	units  []unit
	unitOf []int32 // by node
	styles []style
	links  []link
	wires  []wire
}

// unit is what takes one place in a column: a task, a grid of tasks, or, with
// no nodes, the joint where a wire gathers and spreads.
type unit struct{ nodes []int32 }

func (u *unit) joint() bool { return len(u.nodes) == 0 }
func (u *unit) grid() bool  { return len(u.nodes) > 1 }

// style is what makes lines look different.
type style struct {
	kind  Kind
	label string
}

// link is all edges of one style from one unit to another.
type link struct {
	from, to, style int32
	edges           []int
}

// wire leads from the units ins to a centre and from there to the units outs.
// Unless the centre is a joint, one of the two is empty.
type wire struct {
	centre, style int32
	ins, outs     []int32
	edges         []int
}

func merge(g *Graph) *mesh {
	m := &mesh{g: g}
	styleOf := m.findStyles()
	m.findUnits(styleOf)
	m.findLinks(styleOf)
	m.findWires()
	return m
}

// findStyles numbers the styles in the order in which they stand at a node.
func (m *mesh) findStyles() []int32 {
	number := map[style]int32{}
	for _, e := range m.g.Edges {
		s := style{e.Kind, e.Label}
		if _, ok := number[s]; !ok {
			number[s] = 0
			m.styles = append(m.styles, s)
		}
	}
	slices.SortFunc(m.styles, func(a, b style) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.label, b.label))
	})
	for i, s := range m.styles {
		number[s] = int32(i)
	}
	of := make([]int32, len(m.g.Edges))
	for i, e := range m.g.Edges {
		of[i] = number[style{e.Kind, e.Label}]
	}
	return of
}

// findUnits gathers the nodes that have the same edges. Such nodes never wait
// for each other, so this cannot close a cycle.
func (m *mesh) findUnits(styleOf []int32) {
	n := len(m.g.Nodes)
	type end struct{ way, node, style int32 }
	ends := make([][]end, n)
	for i, e := range m.g.Edges {
		ends[e.To] = append(ends[e.To], end{0, int32(e.From), styleOf[i]})
		ends[e.From] = append(ends[e.From], end{1, int32(e.To), styleOf[i]})
	}
	class := make([]int32, n)
	var members []int32 // by class
	number := map[string]int32{}
	var key []byte
	for v := range class {
		slices.SortFunc(ends[v], func(a, b end) int {
			return cmp.Or(cmp.Compare(a.way, b.way), cmp.Compare(a.node, b.node), cmp.Compare(a.style, b.style))
		})
		key = key[:0]
		for _, e := range slices.Compact(ends[v]) {
			key = binary.AppendUvarint(key, uint64(e.way))
			key = binary.AppendUvarint(key, uint64(e.node))
			key = binary.AppendUvarint(key, uint64(e.style))
		}
		c, ok := number[string(key)]
		if !ok {
			c = int32(len(members))
			number[string(key)] = c
			members = append(members, 0)
		}
		class[v] = c
		members[c]++
	}
	gridOf := make([]int32, len(members)) // unit + 1
	m.unitOf = make([]int32, n)
	for v := range class {
		c := class[v]
		if gridOf[c] == 0 {
			m.units = append(m.units, unit{})
			if members[c] >= gridFrom {
				gridOf[c] = int32(len(m.units))
			}
		}
		u := int32(len(m.units)) - 1
		if gridOf[c] > 0 {
			u = gridOf[c] - 1
		}
		m.unitOf[v] = u
		m.units[u].nodes = append(m.units[u].nodes, int32(v))
	}
}

func (m *mesh) findLinks(styleOf []int32) {
	type key struct{ from, to, style int32 }
	number := map[key]int32{}
	for i, e := range m.g.Edges {
		k := key{m.unitOf[e.From], m.unitOf[e.To], styleOf[i]}
		l, ok := number[k]
		if !ok {
			l = int32(len(m.links))
			number[k] = l
			m.links = append(m.links, link{from: k.from, to: k.to, style: k.style})
		}
		m.links[l].edges = append(m.links[l].edges, i)
	}
}

// findWires first looks for stages, where each of some units leads to each of
// some others; what is left is gathered at the end that has more links.
func (m *mesh) findWires() {
	tasks := len(m.units)
	wired := make([]bool, len(m.links))
	m.findStages(wired, true)
	m.findStages(wired, false)
	ns := len(m.styles)
	out, in := make(map[int]int32), make(map[int]int32) // by unit and style
	for i, l := range m.links {
		if !wired[i] {
			out[int(l.from)*ns+int(l.style)]++
			in[int(l.to)*ns+int(l.style)]++
		}
	}
	number := make(map[int]int32)
	for i, l := range m.links {
		if wired[i] {
			continue
		}
		key, centre := int(l.from)*ns+int(l.style), l.from
		if k := int(l.to)*ns + int(l.style); in[k] > out[key] {
			key, centre = tasks*ns+k, l.to
		}
		w, ok := number[key]
		if !ok {
			w = int32(len(m.wires))
			number[key] = w
			m.wires = append(m.wires, wire{centre: centre, style: l.style})
		}
		if centre == l.from {
			m.wires[w].outs = append(m.wires[w].outs, l.to)
		} else {
			m.wires[w].ins = append(m.wires[w].ins, l.from)
		}
		m.wires[w].edges = append(m.wires[w].edges, l.edges...)
	}
	for i := range m.wires {
		slices.Sort(m.wires[i].edges)
	}
}

// findStages gives a joint to each set of units that have, in one style, the
// same sources (or, if not bySources, the same targets), where that saves
// lines.
func (m *mesh) findStages(wired []bool, bySources bool) {
	type hub struct{ unit, style int32 }
	around := map[hub][]int32{} // links
	var hubs []hub
	for i, l := range m.links {
		if wired[i] {
			continue
		}
		h := hub{l.from, l.style}
		if bySources {
			h.unit = l.to
		}
		if len(around[h]) == 0 {
			hubs = append(hubs, h)
		}
		around[h] = append(around[h], int32(i))
	}
	number := map[string]int{}
	var stages [][]hub
	var key []byte
	for _, h := range hubs {
		far := m.farEnds(around[h], bySources)
		if len(far) < 2 {
			continue
		}
		slices.Sort(far)
		key = binary.AppendUvarint(key[:0], uint64(h.style))
		for _, u := range far {
			key = binary.AppendUvarint(key, uint64(u))
		}
		s, ok := number[string(key)]
		if !ok {
			s = len(stages)
			number[string(key)] = s
			stages = append(stages, nil)
		}
		stages[s] = append(stages[s], h)
	}
	for _, near := range stages {
		far := m.farEnds(around[near[0]], bySources)
		if len(far)*len(near) <= len(far)+len(near) {
			continue
		}
		w := wire{centre: int32(len(m.units)), style: near[0].style, ins: far}
		for _, h := range near {
			w.outs = append(w.outs, h.unit)
			for _, l := range around[h] {
				wired[l] = true
				w.edges = append(w.edges, m.links[l].edges...)
			}
		}
		if !bySources {
			w.ins, w.outs = w.outs, w.ins
		}
		m.units = append(m.units, unit{})
		m.wires = append(m.wires, w)
	}
}

func (m *mesh) farEnds(links []int32, bySources bool) []int32 {
	far := make([]int32, len(links))
	for i, l := range links {
		if bySources {
			far[i] = m.links[l].from
		} else {
			far[i] = m.links[l].to
		}
	}
	return far
}

// parts gives the connected parts, each as its units and wires, in the order of
// their first units.
func (m *mesh) parts() (units, wires [][]int32) {
	root := make([]int32, len(m.units))
	for i := range root {
		root[i] = int32(i)
	}
	find := func(u int32) int32 {
		for root[u] != u {
			root[u] = root[root[u]]
			u = root[u]
		}
		return u
	}
	for _, w := range m.wires {
		for _, us := range [][]int32{w.ins, w.outs} {
			for _, u := range us {
				a, b := find(u), find(w.centre)
				root[max(a, b)] = min(a, b) // so that the root is the first
			}
		}
	}
	number := make([]int32, len(m.units))
	for u := range m.units {
		r := find(int32(u))
		if r == int32(u) {
			number[u] = int32(len(units))
			units, wires = append(units, nil), append(wires, nil)
		}
		units[number[r]] = append(units[number[r]], int32(u))
	}
	for i, w := range m.wires {
		p := number[find(w.centre)]
		wires[p] = append(wires[p], int32(i))
	}
	return units, wires
}
