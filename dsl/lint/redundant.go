package lint

import (
	"slices"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dsl"
)

// redundant reports dependencies that follow from others: a task that depends
// on b need not depend on a, if b succeeds only after a has. The search goes
// back from each task no further than the earliest of its dependencies, and ends
// where a budget is used up: what it finds is tidiness, not a fault.
func (p *pass) redundant() {
	g := p.graphOf()
	s := &reduction{pass: p, graph: g, budget: g.stepBudget()}
	for t := range p.sketch.Tasks {
		spec := p.sketch.Tasks[t].Spec
		if len(spec.DependsOn) > 1 && spec.Join.V == dsl.JoinAll && s.budget > 0 && !g.looseEdges[t] {
			s.reduce(dag.Task(t))
		}
	}
}

// reduction is the search for redundant dependencies. The slices are made for
// the first task that needs them; stamp says for which task an entry was set.
type reduction struct {
	*pass
	graph  *graph
	budget int
	stamp  []dag.Task // the task, plus one, for which the others are set
	source []dag.Task // the dependency by which the search came here
	direct []bool     // it is a dependency itself
}

func (s *reduction) reduce(t dag.Task) {
	g := s.graph
	if s.stamp == nil {
		n := len(g.Tasks)
		s.stamp, s.source, s.direct = make([]dag.Task, n), make([]dag.Task, n), make([]bool, n)
	}
	var work []dag.Task
	earliest := len(g.Tasks)
	for i, u := range g.upstreams[t] {
		s.stamp[u], s.source[u], s.direct[u] = t+1, u, true
		earliest = min(earliest, g.position[u])
		if g.Tasks[t].Spec.DependsOn[i].On == dsl.OnSucceeded {
			work = append(work, u)
		}
	}
	by := map[dag.Task]dag.Task{} // redundant dependencies, and what they follow from
	for len(work) > 0 && s.budget > 0 {
		u := work[len(work)-1]
		work = work[:len(work)-1]
		spec := g.Tasks[u].Spec
		if spec.Join.V != dsl.JoinAll || g.looseEdges[u] {
			continue
		}
		for i, v := range g.upstreams[u] {
			s.budget--
			switch {
			case spec.DependsOn[i].On != dsl.OnSucceeded || g.position[v] < earliest:
			case s.stamp[v] != t+1:
				s.stamp[v], s.source[v], s.direct[v] = t+1, s.source[u], false
				work = append(work, v)
			case s.direct[v]:
				if _, ok := by[v]; !ok {
					by[v] = s.source[u]
				}
			}
		}
	}
	if s.budget > 0 {
		s.say(t, by)
	}
}

// say reports the redundant dependencies of a task in file order.
func (s *reduction) say(t dag.Task, by map[dag.Task]dag.Task) {
	node := &s.sketch.Tasks[t]
	var said []string
	for i, d := range node.Spec.DependsOn {
		u := s.graph.upstreams[t][i]
		via, ok := by[u]
		if !ok || d.On&dsl.OnSucceeded == 0 || slices.Contains(said, d.Task.V) {
			continue
		}
		said = append(said, d.Task.V)
		s.report("redundant-dependency", d.Task.Pos, "remove it, if it is there for the order alone",
			"task %q need not depend on %q: %q succeeds only after it", node.ID, d.Task.V, s.sketch.Tasks[via].ID)
	}
}
