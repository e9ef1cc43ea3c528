package layout

import "slices"

// align gives the items their coordinates across, after U. Brandes and B.
// Köpf, "Fast and simple horizontal coordinate assignment" (Graph Drawing
// 2001). Items are chained to a median neighbour, so that long wires become
// straight; chains are set as close as they may stand; this is done for each
// of the four corners, and the mean of the two middle results is taken, which
// keeps every distance. Straight wires can cost much room; if the whole becomes
// much wider than its widest layer, relax is used instead.
func (p *part) align() {
	p.markYield()
	var at [4][]int
	var lo, hi [4]int
	narrow := 0
	for c := range at {
		v := p.from(c)
		at[c] = v.compact(v.chain())
		lo[c], hi[c] = p.bounds(at[c])
		if hi[c]-lo[c] < hi[narrow]-lo[narrow] {
			narrow = c
		}
	}
	for c := range at {
		shift := lo[narrow] - lo[c]
		if c >= 2 {
			shift = hi[narrow] - hi[c]
		}
		for v := range at[c] {
			at[c][v] += shift
		}
	}
	mid := at[0]
	for v := range mid {
		four := [4]int{at[0][v], at[1][v], at[2][v], at[3][v]}
		slices.Sort(four[:])
		mid[v] = (four[1] + four[2]) >> 1
	}
	for v := range p.items {
		p.items[v].at = mid[v]
	}
	if lo, hi := p.bounds(mid); hi-lo > 2*p.widest()+400 {
		p.relax()
	}
	p.shift()
}

// widest gives how much the fullest layer takes when packed.
func (p *part) widest() int {
	most := 0
	for _, items := range p.layers {
		sum := 0
		for i, v := range items {
			if i > 0 {
				sum += p.room(items[i-1], v)
			}
		}
		most = max(most, sum)
	}
	return most
}

// bounds gives the outermost edges of all items.
func (p *part) bounds(at []int) (lo, hi int) {
	for v, x := range at {
		half := p.items[v].size / 2
		if v == 0 {
			lo, hi = x-half, x+half
		}
		lo, hi = min(lo, x-half), max(hi, x+half)
	}
	return lo, hi
}

// markYield finds the segs that must not be straight at the cost of others:
// those of failures and handlers where a task has an ordinary one too, and
// those that cross one between two bends. Going through a pair of layers, k0
// and k1 are the places between which the segs of the items up to the next
// such seg must stay.
func (p *part) markYield() {
	minor := func(s int32) bool { return p.m.styles[p.segs[s].style].kind != Depends }
	for v := range p.units {
		for _, segs := range [2][]int32{p.up[v], p.down[v]} {
			if !slices.ContainsFunc(segs, func(s int32) bool { return !minor(s) }) {
				continue
			}
			for _, s := range segs {
				if minor(s) {
					p.segs[s].yield = true
				}
			}
		}
	}
	for l := 1; l < len(p.layers); l++ {
		upper, lower := p.layers[l-1], p.layers[l]
		k0, from := int32(0), 0
		for i, v := range lower {
			u := p.inner(v)
			if u < 0 && i < len(lower)-1 {
				continue
			}
			k1 := int32(len(upper) - 1)
			if u >= 0 {
				k1 = p.items[u].place
			}
			for ; from <= i; from++ {
				for _, s := range p.up[lower[from]] {
					if k := p.items[p.segs[s].a].place; k < k0 || k > k1 {
						p.segs[s].yield = true
					}
				}
			}
			k0 = k1
		}
	}
}

// inner gives the bend in the layer before from which a bend is reached, or -1.
func (p *part) inner(v int32) int32 {
	if p.items[v].unit >= 0 {
		return -1
	}
	for _, s := range p.up[v] {
		if a := p.segs[s].a; p.items[a].unit < 0 {
			return a
		}
	}
	return -1
}

// room is the least distance between the centres of neighbours in a layer.
func (p *part) room(a, b int32) int {
	gap := p.look.boxGap
	if p.items[a].unit < 0 || p.items[b].unit < 0 {
		gap = p.look.bendGap
	}
	return (p.items[a].size+p.items[b].size)/2 + gap
}

// view looks at a part from one of its corners.
type view struct {
	*part
	fromEnd, mirrored bool
}

// from gives the view from one of the corners 0 to 3.
func (p *part) from(corner int) view { return view{p, corner%2 == 1, corner >= 2} }

// layer gives the l-th layer as seen.
func (w view) layer(l int) []int32 {
	if w.fromEnd {
		l = len(w.layers) - 1 - l
	}
	return w.layers[l]
}

// seen turns an index of a list of n into that of the view.
func (w view) seen(i, n int) int {
	if w.mirrored {
		return n - 1 - i
	}
	return i
}

// chain joins items into chains of at most one in a layer, and gives each item
// the first of its chain.
func (w view) chain() []int32 {
	root := make([]int32, len(w.items))
	for v := range root {
		root[v] = int32(v)
	}
	for l := 1; l < len(w.layers); l++ {
		items, before := w.layer(l), len(w.layer(l-1))
		last := -1 // place of the last neighbour that was taken: chains do not cross
		for i := range items {
			v := items[w.seen(i, len(items))]
			segs := w.up[v]
			if w.fromEnd {
				segs = w.down[v]
			}
			n := len(segs)
			for k := (n - 1) / 2; k <= n/2 && n > 0; k++ {
				s := w.segs[segs[w.seen(k, n)]]
				u := s.a
				if w.fromEnd {
					u = s.b
				}
				place := w.seen(int(w.items[u].place), before)
				if !s.yield && place > last {
					root[v], last = root[u], place
					break
				}
			}
		}
	}
	return root
}

// compact places the chains as near to the corner as they may stand, then moves
// each back to its neighbour. Chains do not cross, so "stands before" orders
// them.
func (w view) compact(root []int32) []int {
	type edge struct {
		to   int32
		room int
	}
	next := make([][]edge, len(root))
	waiting := make([]int32, len(root))
	for l := range w.layers {
		items := w.layer(l)
		for i := 1; i < len(items); i++ {
			a, b := items[w.seen(i-1, len(items))], items[w.seen(i, len(items))]
			next[root[a]] = append(next[root[a]], edge{root[b], w.room(a, b)})
			waiting[root[b]]++
		}
	}
	work := make([]int32, 0, len(root))
	for v, r := range root {
		if int(r) == v && waiting[v] == 0 {
			work = append(work, r)
		}
	}
	at := make([]int, len(root))
	for i := 0; i < len(work); i++ {
		v := work[i]
		for _, e := range next[v] {
			at[e.to] = max(at[e.to], at[v]+e.room)
			if waiting[e.to]--; waiting[e.to] == 0 {
				work = append(work, e.to)
			}
		}
	}
	for i := len(work) - 1; i >= 0; i-- {
		v := work[i]
		for k, e := range next[v] {
			if x := at[e.to] - e.room; k == 0 || x < at[v] {
				at[v] = x
			}
		}
	}
	for v, r := range root {
		at[v] = at[r]
	}
	if w.mirrored {
		for v := range at {
			at[v] = -at[v]
		}
	}
	return at
}
