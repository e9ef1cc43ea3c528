package layout

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// fataler is what tests, benchmarks and rapid have in common.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// checkLaws places a graph and checks what is true of every picture.
func checkLaws(t fataler, g Graph) {
	t.Helper()
	d := mustPlace(t, g)
	checkDrawing(t, g, d)
	doc := svg(t, d)
	if again := svg(t, mustPlace(t, g)); !bytes.Equal(doc, again) {
		t.Fatalf("the same graph gives two pictures")
	}
	nodes := 0
	for _, e := range parse(t, doc) {
		for _, a := range e.Attr {
			if a.Name.Local == "data-id" {
				nodes++
			}
		}
	}
	if nodes != len(g.Nodes) {
		t.Fatalf("%d nodes are drawn, want %d", nodes, len(g.Nodes))
	}
}

func checkDrawing(t fataler, g Graph, d *Drawing) {
	t.Helper()
	checkBoxes(t, g, d)
	checkWires(t, g, d)
	if len(g.Nodes) <= 600 {
		checkWays(t, d)
	}
}

// checkBoxes: everything is on the picture, boxes keep apart, edges go on along
// the flow.
func checkBoxes(t fataler, g Graph, d *Drawing) {
	t.Helper()
	if len(d.Boxes) != len(g.Nodes) || d.Width <= 0 || d.Height <= 0 {
		t.Fatalf("%d boxes on %d by %d, want %d", len(d.Boxes), d.Width, d.Height, len(g.Nodes))
	}
	order := make([]int, len(d.Boxes))
	for i, b := range d.Boxes {
		order[i] = i
		if b.X < 0 || b.Y < 0 || b.W <= 0 || b.H <= 0 || b.X+b.W > d.Width || b.Y+b.H > d.Height {
			t.Fatalf("box %d is not on the picture: %+v", i, b)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(d.Boxes[a].X, d.Boxes[b].X) })
	for i, v := range order {
		for _, w := range order[i+1:] {
			a, b := d.Boxes[v], d.Boxes[w]
			if b.X >= a.X+a.W {
				break
			}
			if a.Y < b.Y+b.H && b.Y < a.Y+a.H {
				t.Fatalf("boxes %d and %d overlap: %+v %+v", v, w, a, b)
			}
		}
	}
	for i, e := range g.Edges {
		a, b := d.Boxes[e.From], d.Boxes[e.To]
		forward := a.X+a.W < b.X
		if d.Down {
			forward = a.Y+a.H < b.Y
		}
		if a.Layer >= b.Layer || !forward {
			t.Fatalf("edge %d does not go forward: %+v %+v", i, a, b)
		}
	}
}

// checkWires: every edge is in one wire of its kind and label, and can be
// followed on it from box to arrow head.
func checkWires(t fataler, g Graph, d *Drawing) {
	t.Helper()
	drawn := make([]int, len(g.Edges))
	for i := range d.Wires {
		w := &d.Wires[i]
		starts, heads := map[Point]bool{}, map[Point]bool{}
		for _, v := range w.From {
			starts[meets(d, w, v, false)] = true
		}
		for _, v := range w.To {
			heads[meets(d, w, v, true)] = true
		}
		if len(starts)*len(heads) != len(w.reach(d, starts, heads)) {
			t.Fatalf("wire %d from %v to %v does not join all its ends: %v", i, w.From, w.To, w.Lines)
		}
		for _, e := range w.Edges {
			drawn[e]++
			edge := g.Edges[e]
			if edge.Kind != w.Kind || edge.Label != w.Label ||
				!slices.Contains(w.From, edge.From) || !slices.Contains(w.To, edge.To) {
				t.Fatalf("edge %d %+v is in a wire from %v to %v, %v %q", e, edge, w.From, w.To, w.Kind, w.Label)
			}
		}
	}
	for e, n := range drawn {
		if n != 1 {
			t.Fatalf("edge %d is drawn %d times", e, n)
		}
	}
}

// meets finds where a wire leaves or meets the box or frame of a node.
func meets(d *Drawing, w *Wire, v int, in bool) Point {
	b := d.Boxes[v]
	x, y, wide, high := b.X, b.Y, b.W, b.H
	for _, f := range d.Frames {
		if slices.Contains(f.Nodes, v) {
			x, y, wide, high = f.X, f.Y, f.W, f.H
		}
	}
	on := func(p Point) bool {
		switch {
		case d.Down && in:
			return p.Y == y && p.X > x && p.X < x+wide
		case d.Down:
			return p.Y == y+high && p.X > x && p.X < x+wide
		case in:
			return p.X == x && p.Y > y && p.Y < y+high
		default:
			return p.X == x+wide && p.Y > y && p.Y < y+high
		}
	}
	if in {
		for _, p := range w.Tips {
			if on(p) {
				return p
			}
		}
	}
	for _, l := range w.Lines {
		if on(l[0]) {
			return l[0]
		}
	}
	return Point{-1, v}
}

// reach follows the lines from each start and gives the pairs of a start and a
// head that are joined.
func (w *Wire) reach(d *Drawing, starts, heads map[Point]bool) map[[2]Point]bool {
	joined := map[[2]Point]bool{}
	for s := range starts {
		seen := map[Point]bool{}
		for work := []Point{s}; len(work) > 0; {
			p := work[0]
			work = work[1:]
			if seen[p] {
				continue
			}
			seen[p] = true
			if heads[p] {
				joined[[2]Point{s, p}] = true
			}
			for _, l := range w.Lines {
				work = append(work, after(d, w, l, p)...)
			}
		}
	}
	return joined
}

// after gives the points at which one may be next when on a line at p: its
// corners, and where other lines of the wire begin or end on it.
func after(d *Drawing, w *Wire, l Line, p Point) []Point {
	var next []Point
	for i := 1; i < len(l); i++ {
		a, b := l[i-1], l[i]
		if p != a && !between(p, a, b) {
			continue
		}
		next = append(next, b)
		for _, m := range w.Lines {
			for _, q := range []Point{m[0], m[len(m)-1]} {
				if between(q, p, b) {
					next = append(next, q)
				}
			}
		}
	}
	if p == l[len(l)-1] {
		for _, h := range w.Tips {
			if h == (Point{p.X + tipTrim, p.Y}) && !d.Down || h == (Point{p.X, p.Y + tipTrim}) && d.Down {
				next = append(next, h)
			}
		}
	}
	return next
}

// between tells whether q lies on the straight line from a to b.
func between(q, a, b Point) bool {
	level := a.Y == b.Y && q.Y == a.Y || a.X == b.X && q.X == a.X
	return level && q.X >= min(a.X, b.X) && q.X <= max(a.X, b.X) && q.Y >= min(a.Y, b.Y) && q.Y <= max(a.Y, b.Y)
}

// checkWays: lines stay on the picture and pass no box or frame.
func checkWays(t fataler, d *Drawing) {
	t.Helper()
	type rect struct{ x, y, w, h int }
	var rects []rect
	framed := map[int]bool{}
	for _, f := range d.Frames {
		rects = append(rects, rect{f.X, f.Y, f.W, f.H})
		for _, v := range f.Nodes {
			framed[v] = true
		}
	}
	for v, b := range d.Boxes {
		if !framed[v] {
			rects = append(rects, rect{b.X, b.Y, b.W, b.H})
		}
	}
	for i, w := range d.Wires {
		for _, l := range w.Lines {
			for k := 1; k < len(l); k++ {
				for _, p := range samples(d.Down, l[k-1], l[k]) {
					if p[0] < 0 || p[1] < 0 || p[0] > float64(d.Width) || p[1] > float64(d.Height) {
						t.Fatalf("wire %d leaves the picture at %v", i, p)
					}
					for _, r := range rects {
						if p[0] > float64(r.x) && p[0] < float64(r.x+r.w) && p[1] > float64(r.y) && p[1] < float64(r.y+r.h) {
							t.Fatalf("wire %d from %v to %v passes through %v at %v", i, w.From, w.To, r, p)
						}
					}
				}
			}
		}
		if w.Label != "" {
			right := w.LabelAt.X + min(textWidth(clean(w.Label), wireSize), labelMax)
			if w.LabelAt.X < 0 || right > d.Width || w.LabelAt.Y < 0 || w.LabelAt.Y > d.Height {
				t.Fatalf("text %q of wire %d is not on the picture: %v", w.Label, i, w.LabelAt)
			}
		}
	}
}

// samples gives points on a straight line or a curve.
func samples(down bool, a, b Point) [][2]float64 {
	var all [][2]float64
	for i := range 9 {
		s := float64(i) / 8
		level := 3*s*s - 2*s*s*s // of a curve whose ends are level
		x, y := s, level
		if down {
			x, y = level, s
		}
		all = append(all, [2]float64{
			float64(a.X) + x*float64(b.X-a.X), float64(a.Y) + y*float64(b.Y-a.Y),
		})
	}
	return all
}

// anyGraph draws acyclic graphs: plain ones, and ones with fans and stages, in
// any order of nodes.
func anyGraph(most int) *rapid.Generator[Graph] {
	return rapid.Custom(func(t *rapid.T) Graph {
		n := rapid.IntRange(0, most).Draw(t, "nodes")
		g := Graph{Title: "random"}
		name := rapid.SampledFrom([]string{"t", "task-", "a rather long name of a task, ", "名", "\x00"})
		for i := range n {
			node := Node{ID: name.Draw(t, "name") + fmt.Sprint(i)}
			if rapid.IntRange(0, 4).Draw(t, "noted") == 0 {
				node.Note = "02:30"
			}
			g.Nodes = append(g.Nodes, node)
		}
		if n < 2 {
			return g
		}
		place := rapid.Permutation(slices.Collect(func(yield func(int) bool) {
			for i := range n {
				if !yield(i) {
					return
				}
			}
		})).Draw(t, "order")
		kind := rapid.SampledFrom([]Kind{Depends, Depends, Depends, Failure, Handler})
		label := rapid.SampledFrom([]string{"", "", "", "finished", "succeeded, skipped or anything else"})
		for range rapid.IntRange(0, 2*n).Draw(t, "edges") {
			a := rapid.IntRange(0, n-2).Draw(t, "from")
			b := rapid.IntRange(a+1, n-1).Draw(t, "to")
			g.Edges = append(g.Edges, Edge{place[a], place[b], kind.Draw(t, "kind"), label.Draw(t, "label")})
		}
		for range rapid.IntRange(0, 3).Draw(t, "stages") {
			a := rapid.IntRange(0, n-2).Draw(t, "first")
			b := rapid.IntRange(a+1, n-1).Draw(t, "middle")
			c := rapid.IntRange(b, n-1).Draw(t, "last")
			k := kind.Draw(t, "kind of stage")
			for i := a; i < b; i++ {
				for j := b; j <= c; j++ {
					g.Edges = append(g.Edges, Edge{place[i], place[j], k, ""})
				}
			}
		}
		return g
	})
}

func TestRandomDrawingsKeepTheLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := anyGraph(40).Draw(t, "graph")
		checkLaws(t, g)
		m := merge(&g)
		checkDrawing(t, g, place(m, &toRight))
		checkDrawing(t, g, place(m, &toDown))
	})
}

func TestSweepsNeverAddCrossings(t *testing.T) {
	fewer := 0
	rapid.Check(t, func(t *rapid.T) {
		g := anyGraph(40).Draw(t, "graph")
		for _, p := range newSketch(merge(&g), &toRight).parts() {
			p.first()
			before := p.crossings()
			for l := range p.layers {
				p.layers[l] = nil
			}
			p.order()
			after := p.crossings()
			if after > before {
				t.Fatalf("%d crossings became %d", before, after)
			}
			if after < before {
				fewer++
			}
		}
	})
	if fewer == 0 {
		t.Error("no graph of all came to have fewer crossings")
	}
}

func TestCrossingsAreThePairsThatCross(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := anyGraph(25).Draw(t, "graph")
		for _, p := range newSketch(merge(&g), &toRight).parts() {
			p.order()
			want := 0
			for i, s := range p.segs {
				for _, r := range p.segs[i+1:] {
					if p.items[s.a].layer != p.items[r.a].layer {
						continue
					}
					a := cmp.Compare(p.items[s.a].place, p.items[r.a].place)
					if a*cmp.Compare(p.items[s.b].place, p.items[r.b].place) < 0 {
						want++
					}
				}
			}
			if got := p.crossings(); got != want {
				t.Fatalf("%d crossings are counted, there are %d", got, want)
			}
		}
	})
}

func TestRelaxedLayersKeepTheirOrderAndDistances(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := anyGraph(40).Draw(t, "graph")
		for _, p := range newSketch(merge(&g), &toDown).parts() {
			p.order()
			p.markYield()
			p.relax()
			for _, items := range p.layers {
				for i := 1; i < len(items); i++ {
					a, b := items[i-1], items[i]
					if gap := p.items[b].at - p.items[a].at; gap < p.room(a, b) {
						t.Fatalf("items %d and %d are %d apart, want %d", a, b, gap, p.room(a, b))
					}
				}
			}
		}
	})
}

func TestEllipsisFitsAndKeepsBothEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := clean(rapid.String().Draw(t, "text"))
		width := rapid.IntRange(40, 200).Draw(t, "width")
		got := ellipsis(s, labelSize, width)
		if textWidth(got, labelSize) > width {
			t.Fatalf("%q takes %d of %d pixels", got, textWidth(got, labelSize), width)
		}
		if got == s {
			return
		}
		head, tail, _ := strings.Cut(got, "…")
		if !strings.HasPrefix(s, head) || !strings.HasSuffix(s, tail) {
			t.Fatalf("%q is not a shortened %q", got, s)
		}
	})
}

func TestEllipsis(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"short", "short"},
		{"process_customer_orders[212]", "process_c…rders[212]"},
		{"数据清洗数据清洗数据清洗数据清洗", "数据清洗数…洗数据清洗"},
	} {
		if got := ellipsis(c.in, labelSize, 160); got != c.want {
			t.Errorf("%q became %q, want %q", c.in, got, c.want)
		}
	}
}

func TestCleanTextIsValidXML(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := clean(string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")))
		if !utf8.ValidString(s) || strings.ContainsAny(s, "\x00\x01\x1b\n\r\t\x7f\u202e\ufffe") {
			t.Fatalf("%q is not clean", s)
		}
	})
}

func TestRailsKeepApartAndBetweenLayers(t *testing.T) {
	most := 0
	rapid.Check(t, func(t *rapid.T) {
		sources := rapid.IntRange(1, 7).Draw(t, "sources")
		var g Graph
		for i := range sources {
			g.Nodes = append(g.Nodes, Node{ID: fmt.Sprint("source ", i)})
		}
		for range sources * rapid.IntRange(railFrom, 16).Draw(t, "targets of each") {
			n := len(g.Nodes) // the target, and one behind it to tell it from others
			g.Nodes = append(g.Nodes, Node{ID: fmt.Sprint(n)}, Node{ID: fmt.Sprint(n + 1)})
			g.Edges = append(g.Edges, Edge{From: n / 2 % sources, To: n}, Edge{From: n, To: n + 1})
			if rapid.IntRange(0, 3).Draw(t, "also") == 0 {
				kind := rapid.SampledFrom([]Kind{Depends, Failure}).Draw(t, "kind")
				g.Edges = append(g.Edges, Edge{From: rapid.IntRange(0, sources-1).Draw(t, "from"), To: n, Kind: kind})
			}
		}
		if rapid.Bool().Draw(t, "turned round") {
			for i, e := range g.Edges {
				g.Edges[i].From, g.Edges[i].To = e.To, e.From
			}
		}
		look := toRight
		look.full = 1 << 20 // one layer for all, so that rails run beside each other
		checkDrawing(t, g, place(merge(&g), &look))
		s := newSketch(merge(&g), &look)
		for _, p := range s.parts() {
			p.order()
			p.align()
			b := s.block(p)
			most = max(most, len(b.rails))
			checkRails(t, b)
		}
	})
	if most < 2 {
		t.Error("no graph of all had two rails")
	}
}

func checkRails(t fataler, b *block) {
	t.Helper()
	for _, r := range b.rails {
		if r.along <= b.columns[r.layer].end || r.along >= b.columns[r.layer+1].start {
			t.Fatalf("a rail runs at %d, between layers %+v and %+v", r.along, b.columns[r.layer], b.columns[r.layer+1])
		}
		for _, o := range b.rails {
			if o.layer == r.layer && r.in && !o.in && r.along+railGap > o.along {
				t.Fatalf("a rail behind a layer passes one before the next: %+v and %+v", r, o)
			}
			if o == r || o.layer != r.layer || o.along != r.along {
				continue
			}
			rootR, rootO := b.across(r.root, r.in, r.style), b.across(o.root, o.in, o.style)
			if min(r.lo, rootR) <= max(o.hi, rootO) && min(o.lo, rootO) <= max(r.hi, rootR) {
				t.Fatalf("two rails lie on each other: %+v and %+v", r, o)
			}
		}
	}
}
