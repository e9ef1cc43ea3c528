// Package layout gives the tasks of a workflow their places on a picture and
// draws it as SVG.
//
// The steps are those of Sugiyama's layered drawing: tasks into columns by
// longest path, an order within each column with few crossings, then
// coordinates. Two things are done so that a picture of 500 tasks can be read
// as well as one of five: tasks that nothing tells apart (the same edges in and
// out) stand together in one framed grid with one line in and one out, and
// lines that share an end and a condition share their way.
//
// It takes a plain graph and must not know what a workflow, a plan or a run
// is. It reads no clock and starts nothing. It counts in whole pixels, and no
// map decides an order, so that one graph gives the same bytes on every
// machine.
package layout

import (
	"fmt"
	"net/url"
	"strings"
)

// Graph is what is to be drawn. The zero value is the empty graph.
type Graph struct {
	Title string // the accessible name of the picture
	Nodes []Node
	Edges []Edge
}

// Node is one task. Any bytes are allowed in its texts.
type Node struct {
	ID    string // written to the data-id attribute
	Label string // the ID if empty
	Note  string // a second, smaller line: a schedule, a state
	Class string // CSS classes between spaces, as "succeeded"
	Link  string // relative, http or https; empty for none
}

// Edge says that the node numbered To waits for the node numbered From.
type Edge struct {
	From, To int // places in Graph.Nodes
	Kind     Kind
	Label    string // the condition, if it is worth showing
}

// Kind says why one task waits for another.
type Kind uint8

// The kinds of edges.
const (
	Depends Kind = iota // an ordinary dependency
	Failure             // the target is started by a failure
	Handler             // the target runs after the others of the workflow
)

var kinds = [...]string{"depends", "failure", "handler"}

// String gives the name of the kind, which is also its CSS class.
func (k Kind) String() string {
	if int(k) >= len(kinds) {
		return fmt.Sprintf("Kind(%d)", uint8(k))
	}
	return kinds[k]
}

// Drawing is a graph with places. All measures are CSS pixels, from the left
// upper corner.
type Drawing struct {
	Title         string
	Width, Height int
	Down          bool    // layers follow each other downwards, not to the right
	Boxes         []Box   // one for each node, in the order of Graph.Nodes
	Frames        []Frame // grids of boxes that share all their edges
	Wires         []Wire  // every edge is in exactly one of them
}

// Box is the place of a node. Boxes do not overlap.
type Box struct {
	Node
	X, Y, W, H int
	Layer      int // greater than the layers of all nodes it waits for
}

// Frame is drawn around the boxes of nodes that have the same edges.
type Frame struct {
	X, Y, W, H int
	Nodes      []int // at least two
}

// Wire draws the edges that have an end, a kind and a label in common, or that
// lead from each of some nodes to each of some others, as one branching line.
// A node of a frame is reached through the frame.
type Wire struct {
	Kind     Kind
	Label    string
	Edges    []int // places in Graph.Edges
	From, To []int // the nodes at the ends, each once
	Lines    []Line
	Tips     []Point // where the arrow heads point
	LabelAt  Point   // the start of the text, at half its height
}

// Line is a chain of points. Two that follow each other and lie level, along the
// flow or across, are joined by a straight line, others by a curve that leaves
// and arrives along the flow.
type Line []Point

// Point is a place on the picture.
type Point struct{ X, Y int }

// Place computes the picture of g, in time near to linear in its size. It
// reports an edge to a node that is not there, an unknown kind, a link that is
// neither relative nor http(s), and a cycle, naming the tasks on it.
func Place(g Graph) (*Drawing, error) {
	if err := g.check(); err != nil {
		return nil, err
	}
	depth, err := g.depth()
	if err != nil {
		return nil, err
	}
	m := merge(&g)
	if n := len(g.Nodes); n > bothBelow {
		// Too large to try both: down if that gives less of a strip.
		if depth*depth > 4*n {
			return place(m, &toDown), nil
		}
		return place(m, &toRight), nil
	}
	right, down := place(m, &toRight), place(m, &toDown)
	if down.strain()*5 < right.strain()*4 {
		return down, nil
	}
	return right, nil
}

// bothBelow is the number of nodes up to which both directions are computed and
// the better one is taken.
const bothBelow = 2000

// strain is how many times larger than a window the picture is, in percent.
// Scrolling down is less trouble than scrolling sideways.
func (d *Drawing) strain() int {
	return max(d.Width*100/1400, d.Height*100/2000, 100)
}

func (g *Graph) check() error {
	for i, e := range g.Edges {
		if e.From < 0 || e.From >= len(g.Nodes) || e.To < 0 || e.To >= len(g.Nodes) {
			return fmt.Errorf("edge %d goes from node %d to node %d, but nodes are numbered from 0 to %d",
				i, e.From, e.To, len(g.Nodes)-1)
		}
		if int(e.Kind) >= len(kinds) {
			return fmt.Errorf("edge %d has the unknown kind %d; known are %s", i, e.Kind, strings.Join(kinds[:], ", "))
		}
	}
	for _, n := range g.Nodes {
		if n.Link == "" {
			continue
		}
		// A file must not be able to put a script behind a task.
		u, err := url.Parse(n.Link)
		if err != nil || u.Scheme != "" && u.Scheme != "http" && u.Scheme != "https" {
			return fmt.Errorf("link %q of task %q is not allowed; give a relative, http or https address", n.Link, n.ID)
		}
	}
	return nil
}

// depth gives the number of tasks on a longest path, or an error that names a
// cycle.
func (g *Graph) depth() (int, error) {
	n := len(g.Nodes)
	waiting := make([]int, n)
	next := make([][]int32, n)
	for _, e := range g.Edges {
		waiting[e.To]++
		next[e.From] = append(next[e.From], int32(e.To))
	}
	level := make([]int, n)
	work := make([]int32, 0, n)
	for v := range waiting {
		if waiting[v] == 0 {
			work = append(work, int32(v))
		}
	}
	deepest := 0
	for i := 0; i < len(work); i++ {
		v := work[i]
		deepest = max(deepest, level[v]+1)
		for _, to := range next[v] {
			level[to] = max(level[to], level[v]+1)
			if waiting[to]--; waiting[to] == 0 {
				work = append(work, to)
			}
		}
	}
	if len(work) < n {
		return 0, g.cycle(waiting)
	}
	return deepest, nil
}

// cycle names a cycle among the nodes that still wait: each of them has an
// upstream that waits too, so walking upstream must come round.
func (g *Graph) cycle(waiting []int) error {
	up := make([]int, len(g.Nodes))
	start := -1
	for i := len(g.Edges) - 1; i >= 0; i-- {
		if e := g.Edges[i]; waiting[e.From] > 0 && waiting[e.To] > 0 {
			up[e.To], start = e.From, e.To
		}
	}
	seen := make([]bool, len(g.Nodes))
	for !seen[start] {
		seen[start] = true
		start = up[start]
	}
	for v := up[start]; v != start; v = up[v] {
		if v < start {
			start = v // the first in the file begins; going on from it ends at it
		}
	}
	if up[start] == start {
		return fmt.Errorf("task %q waits for itself; drop that edge", g.Nodes[start].ID)
	}
	path := []int{start}
	for v := up[start]; v != start; v = up[v] {
		path = append(path, v)
	}
	path = append(path, start)
	var b strings.Builder
	for i := len(path) - 1; i >= 0; i-- {
		if skip := len(path) - 10; skip > 0 && i == len(path)-6 {
			fmt.Fprintf(&b, "… (%d more) -> ", skip)
			i -= skip
		}
		fmt.Fprintf(&b, "%q", g.Nodes[path[i]].ID)
		if i > 0 {
			b.WriteString(" -> ")
		}
	}
	return fmt.Errorf("tasks wait for each other: %s; drop one of these edges", &b)
}
