package layout

import "slices"

// tipTrim is how much before the point of its arrow head a line ends.
const tipTrim = 4

// draw writes down a wire. The longest leg on each side draws the way through
// all bends, so that dashes run on; each other leg draws its own branch.
func (b *block) draw(k int, d *Drawing) {
	w, r := &b.m.wires[b.wires[k]], &b.routes[k]
	st := b.m.styles[w.style]
	out := Wire{Kind: st.kind, Label: st.label, Edges: w.edges}
	c := b.item[w.centre]
	b.drawIn(w, r, &out)
	b.drawOut(w, r, &out)
	if st.label != "" {
		out.LabelAt = b.label(w, c)
	}
	out.From, out.To = b.ends(w)
	d.Wires = append(d.Wires, out)
}

func (b *block) drawOut(w *wire, r *route, out *Wire) {
	trunk := longest(r.legs, false)
	for i, l := range r.legs {
		if l.in {
			continue
		}
		v := b.item[l.unit]
		at := b.across(v, true, w.style)
		var line Line
		if i == trunk {
			c := b.item[w.centre]
			_, from := b.box(c)
			middle := b.across(c, false, w.style)
			line = append(line, b.point(from, middle), b.point(b.column(c).end, middle))
			for _, bend := range r.out[:max(l.span-1, 0)] {
				line = b.pass(line, bend)
			}
		}
		rail, whole := b.railOf(l, w.style, at)
		if whole || i == trunk {
			root := b.across(l.root, false, w.style)
			line = append(line, b.point(b.column(l.root).end, root))
			if rail != nil {
				line = append(line, b.point(rail.along, root))
			}
		}
		if rail != nil {
			line = append(line, b.point(rail.along, at))
		}
		to, _ := b.box(v)
		line = append(line, b.point(b.column(v).start, at), b.point(to-tipTrim, at))
		out.Lines = append(out.Lines, b.tidy(line))
		out.Tips = append(out.Tips, b.point(to, at))
	}
}

func (b *block) drawIn(w *wire, r *route, out *Wire) {
	trunk := longest(r.legs, true)
	for i, l := range r.legs {
		if !l.in {
			continue
		}
		v := b.item[l.unit]
		at := b.across(v, false, w.style)
		_, from := b.box(v)
		line := Line{b.point(from, at), b.point(b.column(v).end, at)}
		rail, whole := b.railOf(l, w.style, at)
		if rail != nil {
			line = append(line, b.point(rail.along, at))
		}
		if whole || i == trunk {
			root := b.across(l.root, true, w.style)
			if rail != nil {
				line = append(line, b.point(rail.along, root))
			}
			line = append(line, b.point(b.column(l.root).start, root))
		}
		if i == trunk {
			for k := l.span - 2; k >= 0; k-- {
				line = b.pass(line, r.in[k])
			}
			line = b.arrive(line, w, out)
		}
		out.Lines = append(out.Lines, b.tidy(line))
	}
}

// pass leads a line straight through a bend.
func (b *block) pass(l Line, bend int32) Line {
	c, at := b.column(bend), b.items[bend].at
	return append(l, b.point(c.start, at), b.point(c.end, at))
}

// arrive leads a line to the centre of its wire.
func (b *block) arrive(l Line, w *wire, out *Wire) Line {
	c := b.item[w.centre]
	at := b.across(c, true, w.style)
	l = append(l, b.point(b.column(c).start, at))
	if b.joint(c) {
		return l
	}
	to, _ := b.box(c)
	out.Tips = append(out.Tips, b.point(to, at))
	return append(l, b.point(to-tipTrim, at))
}

// tidy drops points that change nothing.
func (b *block) tidy(l Line) Line {
	level := func(p, q Point) bool {
		if b.look.down {
			return p.X == q.X
		}
		return p.Y == q.Y
	}
	out := l[:1]
	for i := 1; i < len(l); i++ {
		last := len(out) - 1
		if l[i] == out[last] {
			continue
		}
		if last > 0 && level(out[last-1], out[last]) && level(out[last], l[i]) {
			out[last] = l[i]
			continue
		}
		out = append(out, l[i])
	}
	return out
}

// longest finds the leg that reaches farthest on one side.
func longest(legs []leg, in bool) int {
	best := -1
	for i, l := range legs {
		if l.in == in && (best < 0 || l.span > legs[best].span) {
			best = i
		}
	}
	return best
}

func (b *block) column(v int32) column { return b.columns[b.items[v].layer] }

// across gives where a style meets an item.
func (b *block) across(v int32, in bool, style int32) int {
	it := &b.items[v]
	if it.unit < 0 {
		return it.at
	}
	return it.at + b.ports[port{it.unit, in, style}].across
}

// label gives the place of the text: behind the centre, or before it if the
// wire ends there.
func (b *block) label(w *wire, c int32) Point {
	out := len(w.outs) > 0
	at := b.across(c, !out, w.style)
	along := b.column(c).start
	if out {
		along = b.column(c).to
	}
	if b.look.down {
		row := b.ports[port{w.centre, !out, w.style}].row
		return b.point(along+row*textRow+9, at+6)
	}
	return b.point(along+5, at)
}

// ends lists the nodes at both ends.
func (b *block) ends(w *wire) (from, to []int) {
	nodes := func(units ...int32) []int {
		var vs []int
		for _, u := range units {
			for _, v := range b.m.units[u].nodes {
				vs = append(vs, int(v))
			}
		}
		slices.Sort(vs)
		return vs
	}
	from, to = nodes(w.ins...), nodes(w.outs...)
	switch {
	case len(from) == 0:
		from = nodes(w.centre)
	case len(to) == 0:
		to = nodes(w.centre)
	}
	return from, to
}
