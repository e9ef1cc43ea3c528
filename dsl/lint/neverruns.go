package lint

import (
	"slices"
	"strings"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dsl"
)

// ends is a set of ways in which a task can end. A cancel is left aside: after
// it nothing is started any more.
type ends = dsl.Outcomes

const anyEnd = dsl.OnSucceeded | dsl.OnFailed | dsl.OnSkipped

// neverRuns reports tasks whose edges can never all hold. Two faults are found,
// each for certain: an edge that waits for an end that the task before it cannot
// have, and edges that need one task to end in two ways at once, however far
// back that is. A task behind one that never runs is not reported as well.
func (p *pass) neverRuns() {
	g := p.graphOf()
	n := &necessities{pass: p, graph: g, budget: g.stepBudget()}
	n.impossibleEdges()
	n.contradictions()
}

// necessities is the work of never-runs on one plan.
type necessities struct {
	*pass
	graph  *graph
	budget int
	bad    []bool // tasks that were reported

	need    []ends // how the task in question must end for a task to run
	reached []int  // the round in which need was set
	round   int
}

// impossibleEdges reports edges that wait for an end that cannot come.
func (n *necessities) impossibleEdges() {
	plan := n.sketch
	n.bad = make([]bool, len(plan.Tasks))
	possible := make([]ends, len(plan.Tasks))
	for _, t := range plan.Order {
		spec := plan.Tasks[t].Spec
		if n.graph.looseEdges[t] {
			possible[t] = anyEnd
			continue
		}
		skippable := maySkip(spec) || n.graph.uncalled[t] || plan.Tasks[t].Callers > 0 || plan.Tasks[t].Handles != 0
		held := 0
		for i, d := range spec.DependsOn {
			u := n.graph.upstreams[t][i]
			if possible[u]&^d.On != 0 {
				skippable = true
			}
			if possible[u]&d.On != 0 {
				held++
			}
		}
		possible[t] = dsl.OnSucceeded | dsl.OnFailed
		if spec.AllowFailure.V { // what depends on it sees a success
			possible[t] = dsl.OnSucceeded
		}
		if skippable {
			possible[t] |= dsl.OnSkipped
		}
		if n.graph.looseEnd[t] {
			possible[t] = anyEnd
		}
		if held == len(spec.DependsOn) || held > 0 && spec.Join.V == dsl.JoinAny {
			continue
		}
		n.bad[t] = true
		possible[t] = anyEnd
		for i, d := range spec.DependsOn {
			u := n.graph.upstreams[t][i]
			if possible[u]&d.On == 0 {
				n.sayImpossible(spec, plan.Tasks[u].Spec, d)
				break
			}
		}
	}
}

func (n *necessities) sayImpossible(t, up *dsl.Task, d dsl.Dependency) {
	why, hint := "nothing can skip that task", `a task is skipped by "when", by "skip_codes" or by what it depends on`
	if d.On&dsl.OnFailed != 0 {
		why, hint = "its failure is allowed and counts as a success", `remove "allow_failure", or name the task in on_failure of the other: that still sees the failure`
	}
	n.report("never-runs", d.Task.Pos, hint, "task %q never runs: it waits for %q to end as %s, but %s", t.ID.V, up.ID.V, either(d.On), why)
}

// maySkip tells whether a task can be skipped for a reason of its own.
func maySkip(t *dsl.Task) bool {
	switch t.Kind {
	case dsl.KindWorkflow, dsl.KindWaitFor, dsl.KindCall: // they decide themselves
		return true
	}
	return t.When.Set() || len(t.SkipCodes) > 0 || t.Foreach != nil || t.Disabled.V || t.Pool != nil && t.Pool.Busy.V == dsl.BusySkip
}

// holds gives the ends of a task for which an edge from it holds.
func holds(from *dsl.Task, on dsl.Outcomes, kind dag.Kind) ends {
	switch {
	case kind == dag.Failure:
		return dsl.OnFailed
	case from.AllowFailure.V && on&dsl.OnSucceeded != 0:
		return on&dsl.OnSkipped | dsl.OnSucceeded | dsl.OnFailed
	case from.AllowFailure.V:
		return on & dsl.OnSkipped
	}
	return on & anyEnd
}

// contradictions reports tasks that need another one to end in two ways.
func (n *necessities) contradictions() {
	meets := n.meetings()
	if meets == nil {
		return
	}
	plan := n.sketch
	n.need = make([]ends, len(plan.Tasks))
	n.reached = make([]int, len(plan.Tasks))
	for t := range plan.Tasks {
		if n.budget > 0 && !n.graph.looseEnd[t] && forks(&plan.Tasks[t], meets) {
			n.follow(dag.Task(t))
		}
	}
}

// meetings tells for each task whether edges that must hold together meet at it
// or behind it; nil if they do nowhere.
func (n *necessities) meetings() []bool {
	plan := n.sketch
	meets, some := make([]bool, len(plan.Tasks)), false
	for _, t := range slices.Backward(plan.Order) {
		node := &plan.Tasks[t]
		meets[t] = node.Upstreams > 1 && node.Spec.Join.V == dsl.JoinAll || node.Upstreams > 0 && node.Callers > 0
		some = some || meets[t]
		for _, e := range node.Downstream {
			meets[t] = meets[t] || meets[e.To]
		}
	}
	if !some {
		return nil
	}
	return meets
}

// forks tells whether two edges of a task exclude each other and may meet again:
// one of the two does not hold on success, and what lies behind that one is
// usually little.
func forks(node *dag.Node, meets []bool) bool {
	var seen uint8 // a bit for each set of ends
	behind := false
	for _, e := range node.Downstream {
		h := holds(node.Spec, e.On, e.Kind)
		seen |= 1 << h
		behind = behind || h&dsl.OnSucceeded == 0 && meets[e.To]
	}
	if !behind {
		return false
	}
	for a := ends(1); a < 8; a++ {
		for b := a + 1; b < 8; b++ {
			if a&b == 0 && seen>>a&1 != 0 && seen>>b&1 != 0 {
				return true
			}
		}
	}
	return false
}

// follow works out what every task downstream of x needs of x, in topological
// order.
func (n *necessities) follow(x dag.Task) {
	n.round++
	n.reached[x] = n.round
	var behind []dag.Task
	for work := []dag.Task{x}; len(work) > 0; {
		t := work[len(work)-1]
		work = work[:len(work)-1]
		for _, e := range n.sketch.Tasks[t].Downstream {
			n.budget--
			if n.reached[e.To] != n.round {
				n.reached[e.To] = n.round
				behind = append(behind, e.To)
				work = append(work, e.To)
			}
		}
	}
	if n.budget <= 0 {
		return
	}
	slices.SortFunc(behind, func(a, b dag.Task) int { return n.graph.position[a] - n.graph.position[b] })
	for _, t := range behind {
		if n.need[t] = n.needs(t, x); n.need[t] == 0 {
			n.need[t] = anyEnd // what is behind it is not at fault
		}
	}
}

// needs gives how x must end for task t to run, and reports where that is in no
// way.
func (n *necessities) needs(t, x dag.Task) ends {
	if n.graph.looseEdges[t] {
		return anyEnd
	}
	node := &n.sketch.Tasks[t]
	all := n.calls(t, x)
	some := ends(0)
	for i, d := range node.Spec.DependsOn {
		n.budget--
		u := n.graph.upstreams[t][i]
		via := n.through(u, x, d.On)
		some |= via
		if node.Spec.Join.V == dsl.JoinAny {
			continue
		}
		if all != 0 && all&via == 0 && via != 0 {
			n.sayContradiction(t, x, d, all, via)
		}
		all &= via
	}
	if node.Spec.Join.V == dsl.JoinAny && len(node.Spec.DependsOn) > 0 {
		if all&some == 0 && all != 0 && some != 0 {
			n.sayContradiction(t, x, node.Spec.DependsOn[0], all, some)
		}
		all &= some
	}
	return all
}

// calls gives how x must end for task t to be called as a handler.
func (n *necessities) calls(t, x dag.Task) ends {
	if len(n.graph.callers[t]) == 0 || n.graph.uncalled[t] || n.sketch.Tasks[t].Handles != 0 {
		return anyEnd
	}
	some := ends(0)
	for _, c := range n.graph.callers[t] {
		n.budget--
		switch {
		case c == x:
			some |= dsl.OnFailed
		case n.reached[c] == n.round:
			some |= n.need[c]
		default:
			return anyEnd
		}
	}
	return some
}

// through gives how x must end for an edge from u to hold. A skipped u says
// nothing of x.
func (n *necessities) through(u, x dag.Task, on dsl.Outcomes) ends {
	switch {
	case u == x:
		return holds(n.sketch.Tasks[x].Spec, on, dag.Depends)
	case n.reached[u] != n.round || on&dsl.OnSkipped != 0:
		return anyEnd
	}
	return n.need[u]
}

func (n *necessities) sayContradiction(t, x dag.Task, d dsl.Dependency, a, b ends) {
	if n.bad[t] {
		return
	}
	n.bad[t] = true
	hint := `choose conditions that can hold together, or "join: any" for a task that one of them is enough for`
	if len(n.graph.callers[t]) > 0 && d.Task.V == n.sketch.Tasks[x].ID {
		hint = "remove the dependency: a handler waits for the tasks that it handles in any case"
	}
	n.report("never-runs", d.Task.Pos, hint, "task %q never runs: that needs %q to end as %s and as %s",
		n.sketch.Tasks[t].ID, n.sketch.Tasks[x].ID, either(a), either(b))
}

// either names ends in a sentence.
func either(e ends) string { return strings.ReplaceAll(e.String(), ", ", " or ") }
