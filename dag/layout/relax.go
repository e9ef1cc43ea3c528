package layout

// relax gives the items coordinates across that keep every layer close
// together. Going to and fro through the layers, each item is drawn to the mean
// of its neighbours, strongest along a wire that passes a layer, and each layer
// takes the nearest places that keep its order and distances. Wires come out nearly straight; straighten does the rest.
func (p *part) relax() {
	for _, items := range p.layers {
		at := 0
		for i, v := range items {
			if i > 0 {
				at += p.room(items[i-1], v)
			}
			p.items[v].at = at
		}
		for _, v := range items {
			p.items[v].at -= at / 2
		}
	}
	rounds := 10
	if len(p.items) > 20_000 {
		rounds = 4
	}
	for r := range rounds {
		for i := range p.layers {
			if r%2 == 0 {
				p.settle(p.layers[i])
			} else {
				p.settle(p.layers[len(p.layers)-1-i])
			}
		}
	}
	for corner := range 4 {
		p.straighten(p.from(corner).chain())
	}
}

// shift moves the part so that it begins at 0, across.
func (p *part) shift() {
	start := 0
	for i, it := range p.items {
		if x := it.at - it.size/2; i == 0 || x < start {
			start = x
		}
	}
	for i := range p.items {
		p.items[i].at -= start
	}
}

// pull gives where the neighbours want an item to be, and how strongly. A
// neighbour pulls the less, the more others it has on that side: the one task
// that follows is kept beside, the 30th of a fan is not. A bend follows its
// wire, whatever joins it there.
func (p *part) pull(v int32) (at, weight int) {
	const whole = 4096
	sum, inner, inners := 0, 0, 0
	for side, segs := range [2][]int32{p.up[v], p.down[v]} {
		for _, s := range segs {
			u := p.segs[s].a
			others := len(p.down[u])
			if side == 1 {
				u = p.segs[s].b
				others = len(p.up[u])
			}
			w := max(whole/(others*others), 1)
			sum += w * p.items[u].at
			weight += w
			if p.items[u].unit < 0 {
				inner += p.items[u].at
				inners++
			}
		}
	}
	switch {
	case inners > 0 && p.items[v].unit < 0:
		return floorDiv(inner, inners), 16 * whole
	case weight > 0:
		return floorDiv(sum, weight), weight
	}
	return p.items[v].at, 1
}

// settle is an isotonic regression: with the least distances taken off, places
// must not decrease, so neighbours that want to pass each other are pooled at
// their common mean.
func (p *part) settle(items []int32) {
	type pool struct{ sum, weight, n int }
	var pools []pool
	offset := 0
	for i, v := range items {
		if i > 0 {
			offset += p.room(items[i-1], v)
		}
		at, w := p.pull(v)
		last := pool{(at - offset) * w, w, 1}
		for len(pools) > 0 {
			before := pools[len(pools)-1]
			if floorDiv(before.sum, before.weight) <= floorDiv(last.sum, last.weight) {
				break
			}
			last = pool{before.sum + last.sum, before.weight + last.weight, before.n + last.n}
			pools = pools[:len(pools)-1]
		}
		pools = append(pools, last)
	}
	offset, i := 0, 0
	for _, pool := range pools {
		at := floorDiv(pool.sum, pool.weight)
		for range pool.n {
			if i > 0 {
				offset += p.room(items[i-1], items[i])
			}
			p.items[items[i]].at = at + offset
			i++
		}
	}
}

// floorDiv rounds down for negative numbers too, so that equal distances stay
// equal on both sides of zero.
func floorDiv(a, b int) int {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// straighten puts stretches of each chain onto one line where their neighbours
// leave room. Boxes give way a little, bends as far as they may.
func (p *part) straighten(root []int32) {
	chains := make([][]int32, len(p.items))
	for _, items := range p.layers {
		for _, v := range items {
			chains[root[v]] = append(chains[root[v]], v)
		}
	}
	for _, items := range p.layers {
		for _, v := range items {
			for chain := chains[v]; len(chain) > 1; {
				chain = chain[p.line(chain):]
			}
		}
	}
}

// line moves the longest first stretch of a chain that fits onto one line, and
// gives its length.
func (p *part) line(chain []int32) int {
	lo, hi := p.freedom(chain[0])
	sum, n := p.items[chain[0]].at, 1
	for n < len(chain) {
		l, h := p.freedom(chain[n])
		if max(l, lo) > min(h, hi) {
			break
		}
		lo, hi = max(l, lo), min(h, hi)
		sum += p.items[chain[n]].at
		n++
	}
	at := min(max(floorDiv(sum, n), lo), hi)
	for _, v := range chain[:n] {
		p.items[v].at = at
	}
	return n
}

// freedom gives between which places an item may be moved.
func (p *part) freedom(v int32) (lo, hi int) {
	const far = 1 << 40
	it := &p.items[v]
	lo, hi = -far, far
	if it.unit >= 0 {
		lo, hi = it.at-14, it.at+14
	}
	items := p.layers[it.layer]
	if i := int(it.place); i > 0 {
		lo = max(lo, p.items[items[i-1]].at+p.room(items[i-1], v))
	}
	if i := int(it.place); i+1 < len(items) {
		hi = min(hi, p.items[items[i+1]].at-p.room(v, items[i+1]))
	}
	return lo, hi
}
