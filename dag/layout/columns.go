package layout

import "slices"

// part is a connected piece of the picture on its way to coordinates. Along is
// the direction in which the layers follow each other, across the other one.
type part struct {
	m      *mesh
	look   *look
	sizes  []size  // by unit
	units  []int32 // in the order of their first nodes, joints last
	wires  []int32
	item   []int32 // by unit, shared by all parts
	items  []item  // those of the units first
	layers [][]int32
	segs   []seg
	up     [][]int32 // by item: segs that come in, by place of the other end
	down   [][]int32 // by item: segs that go out, likewise
	routes []route   // by wire of the part
}

// size is what a unit takes, in pixels.
type size struct{ along, across int }

// item is a unit in its layer, or a bend where a wire passes a layer.
type item struct {
	unit  int32 // -1: a bend
	layer int32
	place int32 // within the layer
	size  int   // across
	at    int   // the centre, across
}

// seg joins items of neighbouring layers.
type seg struct {
	a, b  int32
	style int32
	yield bool // leaves the straight way to another
}

// route is the way of a wire: its bends in order from the centre, and how it
// comes to each of its ends.
type route struct {
	in, out []int32 // bends
	legs    []leg
}

// leg joins a unit to a bend of the route or to the centre.
type leg struct {
	unit int32
	root int32 // item
	span int   // layers between centre and unit; 0 if it is drawn directly
	in   bool
}

// layering gives each unit its layer: twice its column, so that joints find room
// between columns; then layers that stay empty are dropped.
func (p *part) layering(limit int) {
	p.items = make([]item, len(p.units))
	for i, u := range p.units {
		p.item[u] = int32(i)
		p.items[i] = item{unit: u, size: p.sizes[u].across}
	}
	p.fill(limit)
	last := int32(0)
	for i := range p.items {
		last = max(last, p.items[i].layer)
	}
	number := make([]int32, last+1)
	for i := range p.items {
		number[p.items[i].layer] = 1
	}
	n := int32(0)
	for l, used := range number {
		number[l] = n
		n += used
	}
	for i := range p.items {
		p.items[i].layer = number[p.items[i].layer]
	}
	p.layers = make([][]int32, n)
}

// fill puts each unit as far forward as its upstreams allow, which is the
// layer of its longest path, unless the column is full. Then those go first
// whose upstreams ended last: wide graphs wrap by finishing what has begun, and
// few lines pass by. The stack holds what is ready, the next on top.
func (p *part) fill(limit int) {
	next, waiting := p.ties()
	var stack []int32
	for i := len(p.items) - 1; i >= 0; i-- {
		if waiting[i] == 0 {
			stack = append(stack, int32(i))
		}
	}
	for c := int32(0); len(stack) > 0; c++ {
		var ready []int32
		for used := 0; len(stack) > 0; {
			top := stack[len(stack)-1]
			need := p.items[top].size + p.look.boxGap
			if used > 0 && used+need > limit {
				break
			}
			used += need
			stack = stack[:len(stack)-1]
			p.items[top].layer = 2 * c
			for _, to := range next[top] {
				if waiting[to]--; waiting[to] > 0 {
					continue
				}
				if !p.joint(to) {
					ready = append(ready, to)
					continue
				}
				p.items[to].layer = 2*c + 1
				for _, to := range next[to] {
					if waiting[to]--; waiting[to] == 0 {
						ready = append(ready, to)
					}
				}
			}
		}
		slices.Sort(ready)
		slices.Reverse(ready)
		stack = append(stack, ready...)
	}
}

func (p *part) joint(item int32) bool {
	u := p.items[item].unit
	return u >= 0 && p.m.units[u].joint()
}

// ties lists who waits for whom and counts for how many, as items.
func (p *part) ties() (next [][]int32, waiting []int32) {
	next = make([][]int32, len(p.items))
	waiting = make([]int32, len(p.items))
	tie := func(from, to int32) {
		from, to = p.item[from], p.item[to]
		next[from] = append(next[from], to)
		waiting[to]++
	}
	for _, i := range p.wires {
		w := &p.m.wires[i]
		for _, u := range w.ins {
			tie(u, w.centre)
		}
		for _, u := range w.outs {
			tie(w.centre, u)
		}
	}
	return next, waiting
}

// route gives the wires their bends, one in each layer that they pass. All ends
// of a wire share them. If that makes more bends than budget, long legs are
// drawn directly, and so are shorter ones until the rest fits.
func (p *part) route(budget int) {
	p.routes = make([]route, len(p.wires))
	longest := 0
	for k, i := range p.wires {
		w := &p.m.wires[i]
		c := p.item[w.centre]
		r := &p.routes[k]
		for _, u := range w.ins {
			r.legs = append(r.legs, leg{unit: u, root: c, span: p.span(p.item[u], c), in: true})
		}
		for _, u := range w.outs {
			r.legs = append(r.legs, leg{unit: u, root: c, span: p.span(c, p.item[u])})
		}
		for _, l := range r.legs {
			longest = max(longest, l.span)
		}
	}
	reach := longest
	for reach > 1 && p.bends(reach) > budget {
		reach /= 2
	}
	for k := range p.routes {
		p.bend(&p.routes[k], reach, p.m.wires[p.wires[k]].style)
	}
}

func (p *part) span(a, b int32) int { return int(p.items[b].layer - p.items[a].layer) }

// bends counts the bends if legs are as long as reach at most.
func (p *part) bends(reach int) int {
	sum := 0
	for _, r := range p.routes {
		in, out := r.extent(reach)
		sum += in + out
	}
	return sum
}

// extent gives the number of bends before and after the centre.
func (r *route) extent(reach int) (in, out int) {
	for _, l := range r.legs {
		switch {
		case l.span > reach:
		case l.in:
			in = max(in, l.span-1)
		default:
			out = max(out, l.span-1)
		}
	}
	return in, out
}

func (p *part) bend(r *route, reach int, style int32) {
	if len(r.legs) == 0 {
		return
	}
	c := r.legs[0].root
	in, out := r.extent(reach)
	from := c
	for k := range in {
		b := p.add(p.items[c].layer - int32(k) - 1)
		r.in = append(r.in, b)
		p.segs = append(p.segs, seg{a: b, b: from, style: style})
		from = b
	}
	from = c
	for k := range out {
		b := p.add(p.items[c].layer + int32(k) + 1)
		r.out = append(r.out, b)
		p.segs = append(p.segs, seg{a: from, b: b, style: style})
		from = b
	}
	for i := range r.legs {
		l := &r.legs[i]
		end := p.item[l.unit]
		switch {
		case l.span > reach:
			l.span = 0
		case l.in:
			if l.span > 1 {
				l.root = r.in[l.span-2]
			}
			p.segs = append(p.segs, seg{a: end, b: l.root, style: style})
		default:
			if l.span > 1 {
				l.root = r.out[l.span-2]
			}
			p.segs = append(p.segs, seg{a: l.root, b: end, style: style})
		}
	}
}

// add makes a bend.
func (p *part) add(layer int32) int32 {
	p.items = append(p.items, item{unit: -1, layer: layer})
	return int32(len(p.items) - 1)
}
