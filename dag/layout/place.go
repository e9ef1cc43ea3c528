package layout

import (
	"cmp"
	"math"
	"slices"
)

// Measures in pixels.
const (
	margin     = 16
	padding    = 12 // between the edge of a box and its text
	boxMin     = 56
	boxMax     = 220
	boxHigh    = 34
	boxHighTwo = 46 // with a note
	cellMax    = 150
	cellGap    = 6
	frameSide  = 10
	frameTop   = 24 // room for the number of tasks
	tipRoom    = 10 // straight run before an arrow head
	partGapX   = 60 // between parts without a common edge
	partGapY   = 30
	labelMax   = 120 // width of a text on a wire
	textRow    = 15  // height of one
)

// look is what depends on the direction.
type look struct {
	down            bool
	boxGap, bendGap int // across, between boxes and beside wires
	portGap         int // across, between styles that meet a box
	curve           int // along, least room for a curve
	full            int // across, what a layer may always take
}

var (
	toRight = look{boxGap: 14, bendGap: 10, portGap: 12, curve: 36, full: 1000}
	toDown  = look{down: true, boxGap: 22, bendGap: 12, portGap: 40, curve: 30, full: 1400}
)

// place computes the picture in one direction.
func place(m *mesh, l *look) *Drawing {
	s := newSketch(m, l)
	for _, p := range s.parts() {
		p.order()
		p.align()
		s.blocks = append(s.blocks, s.block(p))
	}
	return s.pack()
}

// parts gives the connected pieces with their layers and bends.
func (s *sketch) parts() []*part {
	units, wires := s.m.parts()
	item := make([]int32, len(s.m.units))
	limit := s.limit()
	parts := make([]*part, len(units))
	for i := range units {
		p := &part{m: s.m, look: s.look, sizes: s.sizes, units: units[i], wires: wires[i], item: item}
		p.layering(limit)
		p.route(bendBudget(len(p.units)))
		parts[i] = p
	}
	return parts
}

// bendBudget is how many bends a part may have.
func bendBudget(units int) int { return min(2000+8*units, 100_000) }

// sketch is a picture in the making.
type sketch struct {
	m      *mesh
	look   *look
	sizes  []size // by unit
	cells  map[int32]cell
	boxW   []int // by node
	boxH   int
	blocks []*block
}

// cell is the measure of a grid of tasks.
type cell struct{ w, h, columns, rows int }

func newSketch(m *mesh, l *look) *sketch {
	s := &sketch{m: m, look: l, boxH: boxHigh, cells: map[int32]cell{}, boxW: make([]int, len(m.g.Nodes))}
	for i := range m.g.Nodes {
		n := &m.g.Nodes[i]
		w := textWidth(n.shown(), labelSize)
		if n.Note != "" {
			w = max(w, textWidth(clean(n.Note), noteSize))
			s.boxH = boxHighTwo
		}
		s.boxW[i] = even(min(max(w+2*padding, boxMin), boxMax))
	}
	s.sizes = make([]size, len(m.units))
	for u := range m.units {
		s.sizes[u] = s.unitSize(int32(u))
	}
	return s
}

func even(n int) int { return n + n&1 }

// unitSize gives the size of a unit. Columns to the right are later made as
// wide as their widest box.
func (s *sketch) unitSize(u int32) size {
	unit := &s.m.units[u]
	w, h := 0, 0
	switch {
	case unit.joint():
		return size{}
	case unit.grid():
		c := s.grid(unit.nodes)
		s.cells[u] = c
		w = c.columns*(c.w+cellGap) - cellGap + 2*frameSide
		h = c.rows*(c.h+cellGap) - cellGap + frameSide + frameTop
	default:
		w, h = s.boxW[unit.nodes[0]], s.boxH
	}
	if s.look.down {
		return size{along: h, across: even(w)}
	}
	return size{along: w, across: even(h)}
}

// grid arranges tasks like words on a page of 8 to 5.
func (s *sketch) grid(nodes []int32) cell {
	c := cell{h: s.boxH - 6}
	for _, v := range nodes {
		c.w = max(c.w, min(s.boxW[v], cellMax))
	}
	n := len(nodes)
	c.columns = sqrt(n * 8 * (c.h + cellGap) / (5 * (c.w + cellGap)))
	c.columns = min(max(c.columns, 1), n)
	c.rows = (n + c.columns - 1) / c.columns
	c.columns = (n + c.rows - 1) / c.rows
	return c
}

// limit is how much of a layer is filled, across, before the next is begun:
// about a screen, or what makes a large picture as wide as it is high.
func (s *sketch) limit() int {
	area := 0
	for _, z := range s.sizes {
		area += (z.along + 60) * (z.across + s.look.boxGap)
	}
	return max(s.look.full, sqrt(area))
}

func sqrt(n int) int { return int(math.Sqrt(float64(n))) }

// pack puts the blocks into rows, the largest first, and everything onto the
// picture.
func (s *sketch) pack() *Drawing {
	d := &Drawing{Title: s.m.g.Title, Down: s.look.down, Boxes: make([]Box, len(s.m.g.Nodes))}
	area, wide := 0, 0
	for _, b := range s.blocks {
		w, h := b.extent()
		area += (w + partGapX) * (h + partGapY)
		wide = max(wide, w)
	}
	wide = max(wide, sqrt(area*8/5))
	slices.SortStableFunc(s.blocks, func(a, b *block) int {
		_, h := a.extent()
		_, k := b.extent()
		return cmp.Compare(k, h)
	})
	x, y, high := 0, 0, 0
	for _, b := range s.blocks {
		w, h := b.extent()
		if x > 0 && x+w > wide {
			x, y, high = 0, y+high+partGapY, 0
		}
		b.x, b.y = margin+x, margin+y
		d.Width, d.Height = max(d.Width, b.x+w+margin), max(d.Height, b.y+h+margin)
		x += w + partGapX
		high = max(high, h)
		b.boxes(d)
		for k := range b.wires {
			b.draw(k, d)
		}
	}
	if len(s.blocks) == 0 {
		d.Width, d.Height = 160, 2*margin+boxHigh
	}
	return d
}

// extent gives the width and height of the block.
func (b *block) extent() (w, h int) {
	if b.look.down {
		return b.width, b.length
	}
	return b.length, b.width
}
