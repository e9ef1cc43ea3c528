package layout

import (
	"cmp"
	"slices"
)

// order puts the items of each layer into an order with few crossings.
func (p *part) order() {
	p.first()
	best := p.crossings()
	keep := p.snapshot(nil)
	rounds := 12
	if len(p.items) > 20_000 {
		rounds = 4
	}
	for r, idle := 0, 0; r < rounds && idle < 4 && best > 0; r++ {
		p.sweep(r%2 == 0)
		n := p.crossings()
		if idle++; n < best {
			best, idle = n, 0
			keep = p.snapshot(keep)
		}
	}
	for l := range p.layers {
		copy(p.layers[l], keep[l])
		p.number(l)
	}
	p.swap()
	p.sortSegs()
}

func (p *part) snapshot(to [][]int32) [][]int32 {
	if to == nil {
		to = make([][]int32, len(p.layers))
	}
	for l, items := range p.layers {
		to[l] = append(to[l][:0], items...)
	}
	return to
}

// number writes down the places of a layer.
func (p *part) number(l int) {
	for i, v := range p.layers[l] {
		p.items[v].place = int32(i)
	}
}

// sortSegs lists the segs of each item by the places of their other ends. It
// goes through the layers in order, so nothing needs sorting.
func (p *part) sortSegs() {
	for v := range p.up {
		p.up[v] = p.up[v][:0]
	}
	for _, items := range p.layers {
		for _, a := range items {
			for _, s := range p.down[a] {
				b := p.segs[s].b
				p.up[b] = append(p.up[b], s)
			}
		}
	}
	for v := range p.down {
		p.down[v] = p.down[v][:0]
	}
	for _, items := range p.layers {
		for _, b := range items {
			for _, s := range p.up[b] {
				a := p.segs[s].a
				p.down[a] = append(p.down[a], s)
			}
		}
	}
}

// first fills the layers in the order of a walk that follows each way to its
// end, in file order: what belongs together comes to stand together.
func (p *part) first() {
	p.up = make([][]int32, len(p.items))
	p.down = make([][]int32, len(p.items))
	for i, s := range p.segs {
		p.down[s.a] = append(p.down[s.a], int32(i))
		p.up[s.b] = append(p.up[s.b], int32(i))
	}
	seen := make([]bool, len(p.items))
	var stack []int32
	for v := range p.items {
		if len(p.up[v]) > 0 {
			continue
		}
		stack = append(stack, int32(v))
		for len(stack) > 0 {
			v := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if seen[v] {
				continue
			}
			seen[v] = true
			it := &p.items[v]
			it.place = int32(len(p.layers[it.layer]))
			p.layers[it.layer] = append(p.layers[it.layer], v)
			for i := len(p.down[v]) - 1; i >= 0; i-- {
				stack = append(stack, p.segs[p.down[v][i]].b)
			}
		}
	}
}

// sweep goes through the layers, forwards or backwards, and sorts each by the
// mean place of the neighbours in the layer before. Items without neighbours
// there keep their places.
func (p *part) sweep(forwards bool) {
	type weighed struct {
		item int32
		mean float64
	}
	var moving []weighed
	var places []int
	for i := range p.layers {
		l := i
		if !forwards {
			l = len(p.layers) - 1 - i
		}
		moving, places = moving[:0], places[:0]
		for place, v := range p.layers[l] {
			if mean, ok := p.mean(v, forwards); ok {
				moving = append(moving, weighed{v, mean})
				places = append(places, place)
			}
		}
		slices.SortStableFunc(moving, func(a, b weighed) int { return cmp.Compare(a.mean, b.mean) })
		for k, w := range moving {
			p.layers[l][places[k]] = w.item
		}
		p.number(l)
	}
}

func (p *part) mean(v int32, ofUp bool) (float64, bool) {
	segs := p.down[v]
	if ofUp {
		segs = p.up[v]
	}
	if len(segs) == 0 {
		return 0, false
	}
	sum := 0
	for _, s := range segs {
		if ofUp {
			sum += int(p.items[p.segs[s].a].place)
		} else {
			sum += int(p.items[p.segs[s].b].place)
		}
	}
	return float64(sum) / float64(len(segs)), true
}

// crossings counts the pairs of segs that cross, by inversions in a Fenwick
// tree.
func (p *part) crossings() int {
	total := 0
	var tree []int
	for l := 0; l+1 < len(p.layers); l++ {
		size := len(p.layers[l+1])
		tree = append(tree[:0], make([]int, size+1)...)
		seen := 0
		for _, a := range p.layers[l] {
			for _, s := range p.down[a] {
				before := 0
				for i := p.items[p.segs[s].b].place + 1; i > 0; i &= i - 1 {
					before += tree[i]
				}
				total += seen - before
			}
			for _, s := range p.down[a] {
				for i := int(p.items[p.segs[s].b].place) + 1; i <= size; i += i & -i {
					tree[i]++
				}
			}
			seen += len(p.down[a])
		}
	}
	return total
}

// swapBelow is the number of segs up to which neighbours are compared pair by
// pair.
const swapBelow = 4000

// swap exchanges neighbours in a layer as long as that removes crossings.
func (p *part) swap() {
	if len(p.segs) > swapBelow {
		return
	}
	for better, round := true, 0; better && round < 8; round++ {
		better = false
		for _, items := range p.layers {
			for i := 0; i+1 < len(items); i++ {
				a, b := items[i], items[i+1]
				now, then := p.pair(a, b)
				if then >= now {
					continue
				}
				items[i], items[i+1] = b, a
				p.items[a].place, p.items[b].place = int32(i+1), int32(i)
				better = true
			}
		}
	}
}

// pair counts the crossings between the segs of two neighbours as they stand,
// and as they would be exchanged.
func (p *part) pair(a, b int32) (now, then int) {
	count := func(x, y int32) {
		switch px, py := p.items[x].place, p.items[y].place; {
		case px > py:
			now++
		case px < py:
			then++
		}
	}
	for _, s := range p.up[a] {
		for _, t := range p.up[b] {
			count(p.segs[s].a, p.segs[t].a)
		}
	}
	for _, s := range p.down[a] {
		for _, t := range p.down[b] {
			count(p.segs[s].b, p.segs[t].b)
		}
	}
	return now, then
}
