package layout

import (
	"cmp"
	"slices"
)

// railFrom is the number of legs from which those that part or meet at one item
// share a straight rail across. Fewer are clearer as curves; more would be a
// dark wedge.
const railFrom = 12

// railGap is the distance along between two rails, and railRoom that between a
// rail and a layer.
const railGap, railRoom = 7, 9

// fan is the legs of a wire that part, or if in meet, at an item.
type fan struct {
	root  int32
	in    bool
	style int32
}

// rail is the common way of a fan. Fans that part have theirs just before the
// next layer, fans that meet just behind the last one: so these two, of which
// one often follows the other, need not cross.
type rail struct {
	fan
	layer  int // the rail runs behind this layer
	lo, hi int // the outermost legs, across
	legs   int
	track  int // 0 is next to the layer
	along  int
}

// findRails makes a rail for each large fan and gives it a track of its own
// where rails of one side run beside each other. It gives the room that they
// take behind each layer.
func (b *block) findRails() (room []int) {
	b.rails = map[fan]*rail{}
	var all []*rail
	for k, i := range b.wires {
		for _, l := range b.routes[k].legs {
			if l.span == 0 {
				continue // drawn directly
			}
			f := fan{l.root, l.in, b.m.wires[i].style}
			end := b.item[l.unit]
			at := b.across(end, !l.in, f.style)
			r := b.rails[f]
			if r == nil {
				r = &rail{fan: f, lo: at, hi: at, layer: int(min(b.items[f.root].layer, b.items[end].layer))}
				b.rails[f] = r
				all = append(all, r)
			}
			r.lo, r.hi = min(r.lo, at), max(r.hi, at)
			r.legs++
		}
	}
	all = slices.DeleteFunc(all, func(r *rail) bool {
		if r.legs < railFrom {
			delete(b.rails, r.fan)
		}
		return r.legs < railFrom
	})
	return b.findTracks(all)
}

func (b *block) findTracks(all []*rail) (room []int) {
	room = make([]int, len(b.layers))
	side := func(r *rail) int {
		if r.in {
			return 2 * r.layer
		}
		return 2*r.layer + 1
	}
	span := func(r *rail) (lo, hi int) {
		at := b.across(r.root, r.in, r.style)
		return min(r.lo, at), max(r.hi, at)
	}
	slices.SortStableFunc(all, func(r, s *rail) int {
		rlo, _ := span(r)
		slo, _ := span(s)
		return cmp.Or(cmp.Compare(side(r), side(s)), cmp.Compare(rlo, slo))
	})
	var ends []int // where the last rail of each track ends
	for i, r := range all {
		if i == 0 || side(all[i-1]) != side(r) {
			ends = ends[:0]
		}
		lo, hi := span(r)
		r.track = slices.IndexFunc(ends, func(end int) bool { return end+b.look.bendGap < lo })
		if r.track < 0 {
			r.track = len(ends)
			ends = append(ends, 0)
			room[r.layer] += railGap
		}
		ends[r.track] = hi
	}
	return room
}

// setRails gives the rails their places once the layers have theirs.
func (b *block) setRails() {
	for _, r := range b.rails {
		if r.in {
			r.along = b.columns[r.layer].end + railRoom + r.track*railGap
		} else {
			r.along = b.columns[r.layer+1].start - railRoom - r.track*railGap
		}
	}
}

// railOf gives the rail of a leg, or nil, and whether the leg draws the way to
// the root: without a rail each does, with one the outermost on each side of
// the root do, and the others begin or end at the rail.
func (b *block) railOf(l leg, style int32, at int) (r *rail, whole bool) {
	if l.span > 0 {
		r = b.rails[fan{l.root, l.in, style}]
	}
	if r == nil {
		return nil, true
	}
	root := b.across(l.root, l.in, style)
	return r, at == r.lo && at <= root || at == r.hi && at >= root
}

// bows gives the longest way across of a curve behind each layer.
func (b *block) bows() []int {
	bows := make([]int, len(b.layers))
	for _, s := range b.segs {
		if b.rails[fan{s.a, false, s.style}] != nil || b.rails[fan{s.b, true, s.style}] != nil {
			continue
		}
		d := b.items[s.a].at - b.items[s.b].at
		l := b.items[s.a].layer
		bows[l] = max(bows[l], d, -d)
	}
	return bows
}
