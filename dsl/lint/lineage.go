package lint

import (
	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dsl"
)

// lineage answers which tasks have surely ended when another one starts. It is
// not the same as being upstream: a task that was skipped early has not waited
// for all that it depends on, and one with "join: any" for one of them only.
type lineage struct {
	plan     *dag.Plan
	position []int
	callers  [][]dag.Task
	known    map[dag.Task]bool // for the task that is asked about
	budget   int               // when it is used up, every answer is yes
}

func newLineage(plan *dag.Plan) *lineage {
	l := &lineage{plan: plan, position: make([]int, len(plan.Tasks)), callers: callersOf(plan), budget: stepBudget(plan)}
	for i, t := range plan.Order {
		l.position[t] = i
	}
	return l
}

// surelyBefore tells whether v has ended by the time at which t starts.
func (l *lineage) surelyBefore(v, t dag.Task) bool {
	l.known = map[dag.Task]bool{}
	return l.ended(v, t)
}

func (l *lineage) ended(v, t dag.Task) bool {
	if l.position[v] >= l.position[t] && l.plan.Tasks[t].Handles == 0 {
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
	node := &l.plan.Tasks[t]
	if node.Handles != 0 { // every task that is not late has ended
		if !l.plan.Tasks[v].Late {
			return true
		}
	} else if callers := l.callers[t]; len(callers) > 0 && every(callers, func(c dag.Task) bool { return c == v || l.ended(v, c) }) {
		return true
	}
	one := func(d dsl.Dependency) bool {
		l.budget--
		u, _ := l.plan.Task(d.Task.V)
		// Only a task that has run has waited for what it depends on.
		ran := d.On&(dsl.OnSkipped|dsl.OnCancelled) == 0
		return u == v || ran && l.ended(v, u)
	}
	deps := node.Spec.DependsOn
	if node.Spec.Join.V == dsl.JoinAny {
		return len(deps) > 0 && every(deps, one)
	}
	for _, d := range deps {
		if one(d) {
			return true
		}
	}
	return false
}

func every[T any](all []T, ok func(T) bool) bool {
	for _, x := range all {
		if !ok(x) {
			return false
		}
	}
	return true
}
