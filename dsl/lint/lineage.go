package lint

import (
	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dsl"
)

// lineage answers which tasks have surely ended when another one starts. It is
// not the same as being upstream: a task that was skipped early has not waited
// for all that it depends on, and one with "join: any" for one of them only.
type lineage struct {
	*graph
	about  dag.Task          // the task that was asked about last
	known  map[dag.Task]bool // whether it has ended when another one starts, by what must hold
	behind map[dag.Task]bool // whether another one waits for it in any way
	budget int               // when it is used up, every answer is yes
}

func newLineage(g *graph) *lineage {
	const steps = 250_000 // for one stretch of tasks
	return &lineage{graph: g, about: dag.None, budget: steps}
}

// surelyBefore tells whether v has ended by the time at which t starts. What
// must have happened on every way to t answers that for most graphs; for the
// others a course of the run is looked for in which t starts without v.
func (l *lineage) surelyBefore(v, t dag.Task) bool {
	if l.about != v {
		l.about, l.known, l.behind = v, map[dag.Task]bool{}, map[dag.Task]bool{}
	}
	switch {
	case l.ended(v, t):
		return true
	case !l.looseWay[t] && !l.waits(v, t):
		return false
	}
	const most = 10_000
	steps := min(most, l.budget)
	l.budget -= steps
	found := l.startsWithout(t, v, &steps)
	l.budget += max(steps, 0)
	return !found
}

func (l *lineage) ended(v, t dag.Task) bool {
	if l.position[v] >= l.position[t] && !l.Tasks[t].Late && !l.looseWay[t] { // what is late waits for all that is not
		return false
	}
	if known, ok := l.known[t]; ok {
		return known
	}
	if l.budget--; l.budget < 0 {
		return true
	}
	answer := l.endedByEdges(v, t)
	l.known[t] = answer
	return answer
}

// endedByEdges looks at what must have happened before t could start: its
// dependencies must hold, and if it is a handler, somebody must have called it.
func (l *lineage) endedByEdges(v, t dag.Task) bool {
	node := &l.Tasks[t]
	if l.looseEdges[t] || l.uncalled[t] {
		return true
	}
	if node.Handles != 0 { // every task that is not late has ended
		if !l.Tasks[v].Late {
			return true
		}
	} else if l.endedInAll(v, l.callers[t]) {
		return true
	}
	all := len(l.upstreams[t]) > 0
	for i, u := range l.upstreams[t] {
		l.budget--
		if u == dag.None {
			return true
		}
		// Only a task that has run has waited for what it depends on.
		ran := node.Spec.DependsOn[i].On&(dsl.OnSkipped|dsl.OnCancelled) == 0
		ended := u == v || ran && l.ended(v, u)
		if ended && node.Spec.Join.V == dsl.JoinAll {
			return true
		}
		all = all && ended
	}
	return all
}

// endedInAll tells whether v has ended when any one of some tasks has.
func (l *lineage) endedInAll(v dag.Task, tasks []dag.Task) bool {
	for _, t := range tasks {
		if t != v && !l.ended(v, t) {
			return false
		}
	}
	return len(tasks) > 0
}

// waits tells whether edges of any kind lead from v to t.
func (l *lineage) waits(v, t dag.Task) bool {
	if l.position[v] >= l.position[t] {
		return false
	}
	if known, ok := l.behind[t]; ok {
		return known
	}
	if l.budget--; l.budget < 0 {
		return true
	}
	answer := false
	for _, list := range [][]dag.Task{l.upstreams[t], l.callers[t]} {
		for _, u := range list {
			answer = answer || u == v || u != dag.None && l.waits(v, u)
		}
	}
	l.behind[t] = answer
	return answer
}
