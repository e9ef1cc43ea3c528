package lint

import (
	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dsl"
)

// graph is what the rules about edges ask a plan for, by number.
type graph struct {
	*dag.Plan
	position  []int        // of each task in the topological order
	upstreams [][]dag.Task // in the order of depends_on
	callers   [][]dag.Task // whose on_failure names the task

	// What mistakes in the file keep from being known. A rule says nothing that
	// depends on it.
	looseEdges []bool // of each task: which depends_on edges lead to it
	uncalled   []bool // of each task: whether it is a handler, or whose
	looseEnd   []bool // of each task: in what ways it can end
	looseWay   []bool // of each task: which edges of any kind lead to it or to what comes before it
}

func newGraph(plan *dag.Plan) *graph {
	g := &graph{
		Plan:     plan,
		position: make([]int, len(plan.Tasks)), upstreams: make([][]dag.Task, len(plan.Tasks)), callers: make([][]dag.Task, len(plan.Tasks)),
		looseEdges: make([]bool, len(plan.Tasks)), looseEnd: make([]bool, len(plan.Tasks)), looseWay: make([]bool, len(plan.Tasks)),
		uncalled: make([]bool, len(plan.Tasks)),
	}
	for i, t := range plan.Order {
		g.position[t] = i
	}
	for t := range plan.Tasks {
		node := &plan.Tasks[t]
		g.looseEdges[t] = node.Cut || node.Spec.Unread("depends_on", "join")
		g.uncalled[t] = node.Uncalled || node.Spec.Uncalled()
		g.looseEnd[t] = node.Spec.Kind == dsl.NoKind || node.Spec.Unread(decidesEnd...)
		g.upstreams[t] = make([]dag.Task, len(node.Spec.DependsOn))
		for i, d := range node.Spec.DependsOn {
			u, ok := plan.Task(d.Task.V)
			if !ok || node.Cut && g.position[u] >= g.position[t] { // an edge that the sketch lacks
				u = dag.None
			}
			g.upstreams[t][i] = u
		}
		for _, e := range node.Downstream {
			if e.Kind == dag.Failure {
				g.callers[e.To] = append(g.callers[e.To], dag.Task(t))
			}
		}
	}
	for _, t := range plan.Order {
		g.looseWay[t] = g.looseWay[t] || g.looseEdges[t] || g.uncalled[t]
		for _, e := range plan.Tasks[t].Downstream {
			g.looseWay[e.To] = g.looseWay[e.To] || g.looseWay[t]
		}
	}
	return g
}

// decidesEnd are the keys that say, besides what a task does, in what ways it can
// end.
var decidesEnd = []string{"when", "skip_codes", "foreach", "disabled", "pool", "allow_failure"}

// stepBudget bounds the searches that are not linear in every graph. Where it
// is used up the search ends and nothing more is reported, which only graphs of
// many thousand tasks with entangled conditions can do.
func (g *graph) stepBudget() int {
	const least, eachTask = 1_000_000, 20
	return max(least, eachTask*len(g.Tasks))
}
