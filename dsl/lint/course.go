package lint

import (
	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dsl"
)

// end is a set of ways in which a task can end, by what had happened before.
type end uint8

const (
	endSucceeded end = 1 << iota
	endFailed
	endSkipped // by itself, once its edges held
	endPassed  // skipped since an edge did not hold, as soon as that was certain
	endCut     // cancelled since the run's time was over
	endNever   // not before the task in question starts

	endWays = iota
	anyway  = endSucceeded | endFailed | endSkipped | endPassed | endCut
)

// course looks for a course of a run in which one task starts before another one
// has ended. It goes backwards: a task starts because others ended in certain
// ways, which they did because of others. Tasks that nothing is asked of may end
// in any way, since an edge, once resolved, stays what it is: no end of theirs
// can take back what was asked for. A budget bounds the search, and one that is
// used up means that none was found.
type course struct {
	*graph
	without dag.Task         // the task that has not ended
	ends    map[dag.Task]end // how tasks end, as far as it matters
	cut     bool             // the task in question starts even when the run's time is over
	budget  int
}

// startsWithout tells whether t can start before v has ended.
func (g *graph) startsWithout(t, v dag.Task, budget *int) bool {
	node := &g.Tasks[t]
	c := &course{graph: g, without: v, ends: map[dag.Task]end{v: endNever}, budget: *budget}
	c.cut = node.Late || node.Callers > 0 && g.Workflow.Timeout.Set()
	found := c.lasts(v, &ask{t, endSucceeded, nil})
	*budget = c.budget
	return found
}

// ask is one thing that must be so, with what else must be.
type ask struct {
	task dag.Task
	ways end
	rest *ask
}

// holds tells whether all that is asked for can be.
func (c *course) holds(a *ask) bool {
	if a == nil {
		return true
	}
	if c.budget--; c.budget < 0 || a.task == dag.None {
		return false
	}
	if e := c.ends[a.task]; e != 0 {
		return e&a.ways != 0 && c.holds(a.rest)
	}
	ways := a.ways & c.possible(a.task)
	for way := end(1); way < 1<<endWays; way <<= 1 {
		if ways&way == 0 {
			continue
		}
		c.ends[a.task] = way
		if c.follows(a.task, way, a.rest) {
			return true
		}
		delete(c.ends, a.task)
	}
	return false
}

// follows tells whether a task can end in one way, and the rest hold too.
func (c *course) follows(t dag.Task, way end, rest *ask) bool {
	switch way {
	case endCut:
		return c.holds(rest)
	case endPassed:
		return c.passed(t, rest)
	case endNever:
		return c.lasts(t, rest)
	}
	return c.starts(t, rest)
}

// possible gives the ways in which a task can end as far as it alone decides.
func (c *course) possible(t dag.Task) end {
	node := &c.Tasks[t]
	ways := endNever | endSucceeded
	if !node.Spec.Disabled.V { // what waits for that takes it for a success
		ways |= endFailed
		if maySkip(node.Spec) {
			ways |= endSkipped
		}
	}
	if node.Upstreams+node.Callers > 0 || node.Handles != 0 {
		ways |= endPassed
	}
	if c.cut && node.Callers == 0 {
		ways |= endCut
	}
	return ways
}

// fulfilling gives the ends of a task for which a dependency on it holds.
func fulfilling(spec *dsl.Task, on dsl.Outcomes) (ways end) {
	if on&dsl.OnSucceeded != 0 {
		ways |= endSucceeded
		if spec.AllowFailure.V {
			ways |= endFailed
		}
	}
	if on&dsl.OnFailed != 0 && !spec.AllowFailure.V {
		ways |= endFailed
	}
	if on&dsl.OnSkipped != 0 {
		ways |= endSkipped | endPassed
	}
	if on&dsl.OnCancelled != 0 {
		ways |= endCut
	}
	return ways
}

// starts tells whether the edges into a task can let it start, and the rest hold
// too.
func (c *course) starts(t dag.Task, rest *ask) bool {
	node := &c.Tasks[t]
	switch {
	case c.looseEdges[t] || c.uncalled[t]:
		return false
	case node.Handles != 0:
		return c.Tasks[c.without].Late && c.depends(t, rest)
	case len(c.callers[t]) == 0:
		return c.depends(t, rest)
	}
	for _, caller := range c.callers[t] {
		if c.depends(t, &ask{caller, endFailed, rest}) {
			return true
		}
	}
	return false
}

// depends tells whether the dependencies of a task can hold, and the rest too.
func (c *course) depends(t dag.Task, rest *ask) bool {
	spec := c.Tasks[t].Spec
	if spec.Join.V == dsl.JoinAny && len(c.upstreams[t]) > 0 {
		for i := range c.upstreams[t] {
			if c.holds(c.edge(t, i, true, 0, rest)) {
				return true
			}
		}
		return false
	}
	for i := range c.upstreams[t] {
		rest = c.edge(t, i, true, 0, rest)
	}
	return c.holds(rest)
}

// edge asks for the end that lets a dependency of a task hold, or not hold, or
// for one of some other ways.
func (c *course) edge(t dag.Task, i int, held bool, or end, rest *ask) *ask {
	u := c.upstreams[t][i]
	if u == dag.None {
		return &ask{dag.None, 0, rest}
	}
	ways := fulfilling(c.Tasks[u].Spec, c.Tasks[t].Spec.DependsOn[i].On)
	if !held {
		ways = anyway &^ ways
	}
	return &ask{u, ways | or, rest}
}

// passed tells whether the edges into a task can keep it from starting, and the
// rest hold too.
func (c *course) passed(t dag.Task, rest *ask) bool {
	node := &c.Tasks[t]
	if c.looseEdges[t] || c.uncalled[t] {
		return false
	}
	if node.Handles != 0 {
		if c.Tasks[c.without].Late && c.holds(rest) {
			return true
		}
	} else if len(c.callers[t]) > 0 {
		uncalled := rest
		for _, caller := range c.callers[t] {
			uncalled = &ask{caller, anyway &^ endFailed, uncalled}
		}
		if c.holds(uncalled) {
			return true
		}
	}
	if node.Spec.Join.V == dsl.JoinAny {
		if len(c.upstreams[t]) == 0 {
			return false
		}
		for i := range c.upstreams[t] {
			rest = c.edge(t, i, false, 0, rest)
		}
		return c.holds(rest)
	}
	for i := range c.upstreams[t] {
		if c.holds(c.edge(t, i, false, 0, rest)) {
			return true
		}
	}
	return false
}

// lasts tells whether a task can be under way, or wait for others, and the rest
// hold too.
func (c *course) lasts(t dag.Task, rest *ask) bool {
	node := &c.Tasks[t]
	switch {
	case c.looseEdges[t] || c.uncalled[t]:
		return false
	case !node.Spec.Disabled.V && c.starts(t, rest):
		return true
	case node.Handles != 0:
		return false
	case len(c.callers[t]) == 0:
		return c.undecided(t, rest)
	}
	for i, caller := range c.callers[t] {
		if c.undecided(t, &ask{caller, endFailed | endNever, rest}) {
			return true
		}
		waits := &ask{caller, endNever, rest}
		for j, other := range c.callers[t] {
			if j != i {
				waits = &ask{other, anyway&^endFailed | endNever, waits}
			}
		}
		if c.depends(t, waits) {
			return true
		}
	}
	return false
}

// undecided tells whether the dependencies of a task can leave open whether it
// starts, and the rest hold too.
func (c *course) undecided(t dag.Task, rest *ask) bool {
	all := c.Tasks[t].Spec.Join.V == dsl.JoinAll
	for i, u := range c.upstreams[t] {
		waits := &ask{u, endNever, rest}
		for j := range c.upstreams[t] {
			if j != i {
				waits = c.edge(t, j, all, endNever, waits)
			}
		}
		if c.holds(waits) {
			return true
		}
	}
	return false
}
