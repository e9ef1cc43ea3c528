package lint

import "github.com/ax-scheduler/ax/dag"

// graph is what the rules about edges ask a plan for, by number.
type graph struct {
	*dag.Plan
	position  []int        // of each task in the topological order
	upstreams [][]dag.Task // in the order of depends_on
	callers   [][]dag.Task // whose on_failure names the task
}

func newGraph(plan *dag.Plan) *graph {
	g := &graph{
		Plan:     plan,
		position: make([]int, len(plan.Tasks)), upstreams: make([][]dag.Task, len(plan.Tasks)), callers: make([][]dag.Task, len(plan.Tasks)),
	}
	for i, t := range plan.Order {
		g.position[t] = i
	}
	for t := range plan.Tasks {
		node := &plan.Tasks[t]
		for _, d := range node.Spec.DependsOn {
			u, _ := plan.Task(d.Task.V) // a plan has no unknown tasks
			g.upstreams[t] = append(g.upstreams[t], u)
		}
		for _, e := range node.Downstream {
			if e.Kind == dag.Failure {
				g.callers[e.To] = append(g.callers[e.To], dag.Task(t))
			}
		}
	}
	return g
}

// stepBudget bounds the searches that are not linear in every graph. Where it
// is used up the search ends and nothing more is reported, which only graphs of
// many thousand tasks with entangled conditions can do.
func (g *graph) stepBudget() int {
	const least, eachTask = 1_000_000, 20
	return max(least, eachTask*len(g.Tasks))
}
