package machine

import (
	"cmp"
	"slices"
	"time"
)

// readyQueue holds the ready units by pool, since a pool that is full must not
// hide those of others. An entry that has been used or overtaken stays in it
// until it comes up, and is known by its number then.
type readyQueue struct {
	pools  []poolQueue // few, by order of appearance
	seq    int
	latest time.Time
}

type poolQueue struct {
	pool string
	heap []readyUnit
}

type readyUnit struct {
	unit Unit
	turn time.Time
	seq  int
}

func (a readyUnit) compare(b readyUnit) int {
	return cmp.Or(a.turn.Compare(b.turn), cmp.Compare(a.seq, b.seq))
}

func (a readyUnit) before(b readyUnit) bool { return a.compare(b) < 0 }

// AgeStep is how long what waits has to wait until it stands as high as a new
// one of the next priority, so that nothing starves.
const AgeStep = time.Minute

// Turn gives the place of what has been waiting since some time among others:
// the earlier goes first. A step of priority counts like AgeStep of waiting.
func Turn(since time.Time, priority int) time.Time {
	return since.Add(-time.Duration(priority) * AgeStep)
}

// TurnSince gives since when something of a turn has been waiting.
func TurnSince(turn time.Time, priority int) time.Time {
	return turn.Add(time.Duration(priority) * AgeStep)
}

// next gives the number of the next entry, from 1, and since when it waits: what
// gets ready later has not waited longer, even if the clock was set back. An
// entry may be pushed later than others with a higher number.
func (q *readyQueue) next(now time.Time) (seq int, since time.Time) {
	q.seq++
	if now.After(q.latest) {
		q.latest = now
	}
	return q.seq, q.latest
}

func (q *readyQueue) push(e readyUnit, pool string) {
	p := q.of(pool)
	p.heap = append(p.heap, e)
	for i := len(p.heap) - 1; i > 0; {
		up := (i - 1) / 2
		if !p.heap[i].before(p.heap[up]) {
			break
		}
		p.heap[i], p.heap[up] = p.heap[up], p.heap[i]
		i = up
	}
}

func (q *readyQueue) of(pool string) *poolQueue {
	for i := range q.pools {
		if q.pools[i].pool == pool {
			return &q.pools[i]
		}
	}
	q.pools = append(q.pools, poolQueue{pool: pool})
	return &q.pools[len(q.pools)-1]
}

// best gives the first unit whose entry is still good, over all queues that are
// not closed.
func (q *readyQueue) best(good func(readyUnit) bool, closed func(string) bool) (Unit, bool) {
	var first *readyUnit
	for i := range q.pools {
		p := &q.pools[i]
		for len(p.heap) > 0 && !good(p.heap[0]) {
			p.pop()
		}
		if len(p.heap) == 0 || closed(p.pool) {
			continue
		}
		if first == nil || p.heap[0].before(*first) {
			first = &p.heap[0]
		}
	}
	if first == nil {
		return Unit{}, false
	}
	return first.unit, true
}

// waiting gives the units of a pool whose entries are still good, whose turn it
// is first. The others are thrown out.
func (q *readyQueue) waiting(pool string, good func(readyUnit) bool) []Unit {
	p := q.of(pool)
	p.heap = slices.DeleteFunc(p.heap, func(e readyUnit) bool { return !good(e) })
	slices.SortFunc(p.heap, readyUnit.compare) // still a heap
	us := make([]Unit, len(p.heap))
	for i, e := range p.heap {
		us[i] = e.unit
	}
	return us
}

func (p *poolQueue) pop() {
	last := len(p.heap) - 1
	p.heap[0] = p.heap[last]
	p.heap = p.heap[:last]
	for i := 0; ; {
		least := i
		for _, down := range [2]int{2*i + 1, 2*i + 2} {
			if down < last && p.heap[down].before(p.heap[least]) {
				least = down
			}
		}
		if least == i {
			return
		}
		p.heap[i], p.heap[least] = p.heap[least], p.heap[i]
		i = least
	}
}
