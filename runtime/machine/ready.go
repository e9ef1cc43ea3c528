package machine

import "github.com/ax-scheduler/ax/dag"

// readyQueue holds the ready tasks by pool, since a pool that is full must not
// hide the tasks of others. An entry that has been used or overtaken stays in it
// until it comes up, and is known by its number then.
type readyQueue struct {
	pools []poolQueue // few, by order of appearance
	seq   int
}

type poolQueue struct {
	pool string
	heap []readyTask
}

type readyTask struct {
	task     dag.Task
	priority int
	seq      int
}

func (a readyTask) before(b readyTask) bool {
	if a.priority != b.priority {
		return a.priority > b.priority
	}
	return a.seq < b.seq
}

// push gives the number of the new entry, from 1.
func (q *readyQueue) push(t dag.Task, priority int, pool string) int {
	q.seq++
	p := q.of(pool)
	p.heap = append(p.heap, readyTask{t, priority, q.seq})
	for i := len(p.heap) - 1; i > 0; {
		up := (i - 1) / 2
		if !p.heap[i].before(p.heap[up]) {
			break
		}
		p.heap[i], p.heap[up] = p.heap[up], p.heap[i]
		i = up
	}
	return q.seq
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

// best gives the first task whose entry is still good, over all pools that are
// not full.
func (q *readyQueue) best(good func(readyTask) bool, full func(string) bool) (dag.Task, bool) {
	var first *readyTask
	for i := range q.pools {
		p := &q.pools[i]
		for len(p.heap) > 0 && !good(p.heap[0]) {
			p.pop()
		}
		if len(p.heap) == 0 || p.pool != "" && full != nil && full(p.pool) {
			continue
		}
		if first == nil || p.heap[0].before(*first) {
			first = &p.heap[0]
		}
	}
	if first == nil {
		return dag.None, false
	}
	return first.task, true
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
