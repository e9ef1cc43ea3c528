package layout

import (
	"cmp"
	"slices"
)

// block is a part with coordinates of its own.
type block struct {
	*part
	sketch        *sketch
	columns       []column // by layer
	ports         map[port]berth
	rails         map[fan]*rail
	length, width int // along and across
	x, y          int // on the picture
}

// column is the room of a layer, along. Between start and end, which leave
// room for arrow heads and for text on wires, no wire bends; boxes stand
// between from and to.
type column struct{ start, from, to, end, single int }

// port is where wires of one style meet a unit.
type port struct {
	unit  int32
	in    bool
	style int32
}

// berth is where, from the middle of the side, a style meets a unit, and how
// many other texts stand before its own.
type berth struct{ across, row int }

// block gives the layers of a part their places along.
func (s *sketch) block(p *part) *block {
	b := &block{part: p, sketch: s, columns: make([]column, len(p.layers))}
	b.findPorts()
	lead, trail := b.texts()
	rails := b.findRails()
	bows := b.bows()
	at := 0
	for l, items := range p.layers {
		c := &b.columns[l]
		wide, tips := 0, 0
		for _, v := range items {
			u := p.items[v].unit
			if u < 0 || p.joint(v) {
				continue
			}
			wide = max(wide, p.sizes[u].along)
			if !p.m.units[u].grid() {
				c.single = max(c.single, p.sizes[u].along)
			}
			if len(p.up[v]) > 0 {
				tips = tipRoom
			}
		}
		c.start = at
		c.from = c.start + lead[l] + tips
		c.to = c.from + wide
		c.end = c.to + trail[l]
		at = c.end + s.look.curve + min(bows[l]/8, 90) + rails[l]
		b.length = c.end
		for _, v := range items {
			b.width = max(b.width, p.items[v].at+p.items[v].size/2)
		}
	}
	b.setRails()
	return b
}

// texts gives the room that the texts on wires take before and after the boxes
// of each layer, and makes the block wide enough for them.
func (b *block) texts() (lead, trail []int) {
	lead, trail = make([]int, len(b.layers)), make([]int, len(b.layers))
	for k, i := range b.wires {
		w := &b.m.wires[i]
		text := clean(b.m.styles[w.style].label)
		if text == "" || len(b.routes[k].legs) == 0 {
			continue
		}
		c := b.item[w.centre]
		wide := min(textWidth(text, wireSize), labelMax)
		room := wide + 10
		if b.look.down {
			room = (b.ports[port{w.centre, len(w.outs) == 0, w.style}].row + 1) * textRow
			b.width = max(b.width, b.across(c, len(w.outs) == 0, w.style)+wide+10)
		}
		l := b.items[c].layer
		if len(w.outs) > 0 {
			trail[l] = max(trail[l], room)
		} else {
			lead[l] = max(lead[l], room)
		}
	}
	return lead, trail
}

// findPorts spreads the styles that meet a side of a unit around its middle, in
// the order of where they lead, so that they need not cross.
func (b *block) findPorts() {
	type end struct {
		port
		mean int
	}
	leads := b.leads()
	ends := make([]end, 0, len(leads))
	add := func(p port) {
		mean, ok := leads[p]
		if !ok {
			mean = b.items[b.item[p.unit]].at // drawn directly
		}
		ends = append(ends, end{p, mean})
	}
	for _, i := range b.wires {
		w := &b.m.wires[i]
		for _, u := range w.ins {
			add(port{u, false, w.style})
		}
		for _, u := range w.outs {
			add(port{u, true, w.style})
		}
		if len(w.ins) > 0 {
			add(port{w.centre, true, w.style})
		}
		if len(w.outs) > 0 {
			add(port{w.centre, false, w.style})
		}
	}
	slices.SortFunc(ends, func(a, b end) int {
		return cmp.Or(cmp.Compare(a.side(), b.side()), cmp.Compare(a.mean, b.mean), cmp.Compare(a.style, b.style))
	})
	ends = slices.Compact(ends)
	b.ports = make(map[port]berth, len(ends))
	var side []port
	for i, e := range ends {
		side = append(side, e.port)
		if i+1 == len(ends) || ends[i+1].side() != e.side() {
			b.spread(side)
			side = side[:0]
		}
	}
}

// side numbers the sides of all units.
func (p port) side() int32 {
	if p.in {
		return 2 * p.unit
	}
	return 2*p.unit + 1
}

// leads gives, for each port, the mean place across of where its segs lead.
func (b *block) leads() map[port]int {
	sum, n := map[port]int{}, map[port]int{}
	add := func(v, to int32, in bool, style int32) {
		if u := b.items[v].unit; u >= 0 {
			p := port{u, in, style}
			sum[p] += b.items[to].at
			n[p]++
		}
	}
	for _, s := range b.segs {
		add(s.a, s.b, false, s.style)
		add(s.b, s.a, true, s.style)
	}
	for p := range sum {
		sum[p] = floorDiv(sum[p], n[p])
	}
	return sum
}

// spread gives the ports of one side their places. The ordinary style gets the
// middle, so that the main way is straight.
func (b *block) spread(side []port) {
	half := b.sizes[side[0].unit].across/2 - 5
	last := len(side) - 1
	middle := slices.IndexFunc(side, func(p port) bool { return b.m.styles[p.style] == style{} })
	step := min(b.look.portGap, half/max(middle, last-middle, 1))
	shift := middle * step
	if middle < 0 {
		step = min(b.look.portGap, 2*half/max(last, 1))
		shift = last * step / 2
	}
	row := 0
	for i, p := range side {
		b.ports[p] = berth{i*step - shift, row}
		if b.m.styles[p.style].label != "" {
			row++
		}
	}
}

// box gives where the box of an item begins and ends, along. Boxes of a column
// are as wide as the widest, and grids stand in the middle like them.
func (b *block) box(v int32) (from, to int) {
	c := b.columns[b.items[v].layer]
	u := b.items[v].unit
	if u < 0 || b.joint(v) {
		return c.start, c.start
	}
	wide := c.single
	if b.m.units[u].grid() {
		wide = b.sizes[u].along
	}
	from = c.from + (c.to-c.from-wide)/2
	return from, from + wide
}

// point turns coordinates of the block into those of the picture.
func (b *block) point(along, across int) Point {
	if b.look.down {
		along, across = across, along
	}
	return Point{b.x + along, b.y + across}
}

// rect gives the rectangle of a unit on the picture.
func (b *block) rect(v int32) (x, y, w, h int) {
	from, to := b.box(v)
	it := &b.items[v]
	p, q := b.point(from, it.at-it.size/2), b.point(to, it.at+it.size/2)
	return p.X, p.Y, q.X - p.X, q.Y - p.Y
}

// boxes writes down the places of the nodes.
func (b *block) boxes(d *Drawing) {
	for v, u := range b.units {
		unit := &b.m.units[u]
		x, y, w, h := b.rect(int32(v))
		layer := int(b.items[v].layer)
		switch {
		case unit.joint():
		case unit.grid():
			c := b.sketch.cells[u]
			f := Frame{X: x, Y: y, W: w, H: h}
			for i, node := range unit.nodes {
				f.Nodes = append(f.Nodes, int(node))
				d.Boxes[node] = Box{
					Node: b.m.g.Nodes[node], W: c.w, H: c.h, Layer: layer,
					X: x + frameSide + i%c.columns*(c.w+cellGap),
					Y: y + frameTop + i/c.columns*(c.h+cellGap),
				}
			}
			d.Frames = append(d.Frames, f)
		default:
			node := unit.nodes[0]
			d.Boxes[node] = Box{Node: b.m.g.Nodes[node], X: x, Y: y, W: w, H: h, Layer: layer}
		}
	}
}
