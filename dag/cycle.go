package dag

import (
	"slices"
	"strings"

	"github.com/dominikbraun/graph"

	"github.com/ax-scheduler/ax/dsl"
)

// maxCyclesInKnot bounds what is told of one knot of cycles: whoever has more
// of them in one place begins by looking at the first.
const maxCyclesInKnot = 10

// cycles reports the cycles among the tasks that Kahn's algorithm left over
// (those with waiting above 0). Each knot, a strongly connected component, is
// taken by itself: its first task's shortest way round is reported where the
// file draws the edge that closes it; then that edge is taken out and what
// still goes round is looked at again, so that two mistakes in one knot are
// both told and one mistake is told once. The knots are given.
func (c *compiler) cycles(waiting []int32) [][]Task {
	out := make(map[Task][]Task)
	drawn := make(map[[2]Task]dsl.Pos)
	for _, l := range c.links {
		if waiting[l.from] == 0 || waiting[l.to] == 0 {
			continue
		}
		if way := [2]Task{l.from, l.to}; !drawn[way].Written() {
			drawn[way] = l.pos
			out[l.from] = append(out[l.from], l.to)
		}
	}
	all := knots(out)
	for _, knot := range all {
		inner := among(knot, out)
		todo := [][]Task{knot}
		for n := 0; len(todo) > 0 && n < maxCyclesInKnot; n++ {
			knot, todo = todo[0], todo[1:]
			way := shortestWayRound(knot[0], inner)
			last := way[len(way)-1]
			c.reportCycle(way, drawn[[2]Task{last, way[0]}])
			inner[last] = slices.DeleteFunc(inner[last], func(t Task) bool { return t == way[0] })
			if len(knot) > 2 { // two tasks have but one way round
				todo = append(knots(among(knot, inner)), todo...)
			}
		}
	}
	return all
}

func (c *compiler) reportCycle(way []Task, pos dsl.Pos) {
	names := make([]string, 0, len(way)+1)
	for _, t := range append(way, way[0]) {
		names = append(names, c.plan.Tasks[t].ID)
	}
	c.report("cycle", dsl.Error, pos, "drop one of these dependencies",
		"tasks wait for each other: %s", strings.Join(names, " -> "))
}

// knots gives the strongly connected components of more than one task, each
// sorted, by their first task. The library takes the zero key for none and
// loses the component that begins there, so the keys are counted from 1.
func knots(out map[Task][]Task) [][]Task {
	g := graph.New(func(t Task) Task { return t + 1 }, graph.Directed())
	for from, tos := range out {
		_ = g.AddVertex(from) // the only error is that it is there already
		for _, to := range tos {
			_ = g.AddVertex(to)
			_ = g.AddEdge(from+1, to+1)
		}
	}
	components, err := graph.StronglyConnectedComponents(g)
	if err != nil {
		panic("strongly connected components of a directed graph: " + err.Error())
	}
	var ks [][]Task
	for _, k := range components {
		if len(k) < 2 {
			continue
		}
		for i := range k {
			k[i]--
		}
		slices.Sort(k)
		ks = append(ks, k)
	}
	slices.SortFunc(ks, func(a, b []Task) int { return int(a[0] - b[0]) })
	return ks
}

// among gives the edges that stay between some tasks.
func among(tasks []Task, out map[Task][]Task) map[Task][]Task {
	inner := make(map[Task][]Task, len(tasks))
	for _, t := range tasks {
		inner[t] = nil
	}
	for _, t := range tasks {
		for _, to := range out[t] {
			if _, ok := inner[to]; ok {
				inner[t] = append(inner[t], to)
			}
		}
	}
	return inner
}

// shortestWayRound gives the tasks of a shortest cycle through start, which
// must lie on one, beginning with start.
func shortestWayRound(start Task, out map[Task][]Task) []Task {
	from := make(map[Task]Task)
	for queue := []Task{start}; ; queue = queue[1:] {
		for _, to := range out[queue[0]] {
			if to == start {
				way := []Task{queue[0]}
				for way[len(way)-1] != start {
					way = append(way, from[way[len(way)-1]])
				}
				slices.Reverse(way)
				return way
			}
			if _, seen := from[to]; !seen {
				from[to] = queue[0]
				queue = append(queue, to)
			}
		}
	}
}
