package layout

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// graph reads one task a line, "id: upstream upstream=condition", where ! marks
// a failure and ^ a handler.
func graph(text string) Graph {
	var g Graph
	at := map[string]int{}
	node := func(id string) int {
		if _, ok := at[id]; !ok {
			at[id] = len(g.Nodes)
			g.Nodes = append(g.Nodes, Node{ID: id})
		}
		return at[id]
	}
	for line := range strings.Lines(text) {
		id, ups, _ := strings.Cut(strings.TrimSpace(line), ":")
		if id == "" {
			continue
		}
		to := node(id)
		for _, up := range strings.Fields(ups) {
			e := Edge{To: to}
			if strings.HasPrefix(up, "!") {
				e.Kind = Failure
			} else if strings.HasPrefix(up, "^") {
				e.Kind = Handler
			}
			up, e.Label, _ = strings.Cut(strings.TrimLeft(up, "!^"), "=")
			e.From = node(up)
			g.Edges = append(g.Edges, e)
		}
	}
	return g
}

const etl = `
	orders:
	customers:
	products:
	check: orders customers products
	clean_orders: check
	clean_customers: check
	clean_products: check
	join: clean_orders clean_customers clean_products
	by_region: join
	by_day: join
	train: by_day products=finished
	render: by_region by_day train=succeeded,skipped
	page: !orders !customers !products !check !clean_orders !train !render
	tidy: ^render ^page`

// fanOut is one task before and one after n equal ones.
func fanOut(n int) Graph {
	g := Graph{Nodes: []Node{{ID: "split"}, {ID: "merge"}}}
	for i := range n {
		g.Nodes = append(g.Nodes, Node{ID: fmt.Sprintf("shard[%d]", i)})
		g.Edges = append(g.Edges, Edge{From: 0, To: i + 2}, Edge{From: i + 2, To: 1})
	}
	return g
}

// chains is a fan of n chains of two tasks.
func chains(n int) Graph {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "get%d: split\nput%d: get%d\nmerge: put%d\n", i, i, i, i)
	}
	return graph(text.String())
}

// stages is n stages of k tasks, each waiting for the whole stage before.
func stages(n, k int) Graph {
	var g Graph
	for i := range n * k {
		g.Nodes = append(g.Nodes, Node{ID: strconv.Itoa(i)})
		for j := range k {
			if i >= k {
				g.Edges = append(g.Edges, Edge{From: (i/k-1)*k + j, To: i})
			}
		}
	}
	return g
}

// layered is n tasks in layers, each waiting for two in the layer before, or
// seldom farther back, by a fixed sequence.
func layered(n, wide int) Graph {
	var g Graph
	x := uint32(1)
	next := func(below int) int {
		x = x*1664525 + 1013904223
		return int(x>>8) % below
	}
	for i := range n {
		g.Nodes = append(g.Nodes, Node{ID: fmt.Sprintf("task-%04d", i)})
		for l := i / wide; l > 0 && len(g.Edges) < 2*(i-wide+1); {
			from := (l-1)*wide + next(wide)
			if next(12) == 0 {
				from = next(l * wide)
			}
			g.Edges = append(g.Edges, Edge{From: from, To: i})
		}
	}
	return g
}

func chain(n int) Graph {
	g := Graph{Nodes: []Node{{ID: "0"}}}
	for i := 1; i < n; i++ {
		g.Nodes = append(g.Nodes, Node{ID: strconv.Itoa(i)})
		g.Edges = append(g.Edges, Edge{From: i - 1, To: i})
	}
	return g
}

func TestEveryDrawingKeepsTheLaws(t *testing.T) {
	twoOfAll := graph("a:\nb: a a !a ^a a=x !a=failed\nc: b=finished b=x")
	noted := graph(etl)
	for i := range noted.Nodes {
		noted.Nodes[i].Note = "at 02:30"
	}
	cases := []struct {
		name string
		g    Graph
	}{
		{"no task", Graph{}},
		{"one task", graph("a:")},
		{"a chain", graph("a:\nb: a\nc: b")},
		{"a long chain", chain(60)},
		{"a diamond with a short cut", graph("a:\nb: a\nc: a\nd: b c a")},
		{"an ordinary workflow", graph(etl)},
		{"second lines", noted},
		{"several edges between the same tasks", twoOfAll},
		{"parts without a common edge", graph("a:\nb: a\nx:\ny: x\nalone:\nalone2:")},
		{"only lone tasks", graph("a:\nb:\nc:\nd:\ne:\nf:\ng:\nh:\ni:\nj:\nk:\nl:")},
		{"a fan of 250", fanOut(250)},
		{"a fan that is no grid yet", fanOut(gridFrom - 1)},
		{"stages", stages(5, 4)},
		{"stages of grids", stages(4, 20)},
		{"60 tasks", layered(60, 9)},
		{"500 tasks", layered(500, 25)},
		{"a wide graph that wraps", layered(300, 100)},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			checkLaws(t, c.g)
		})
	}
}

func TestLayers(t *testing.T) {
	cases := []struct {
		name string
		g    Graph
		want []int
	}{
		{"follow the longest path", graph("a:\nb: a\nc: b\nd: a c"), []int{0, 1, 2, 3}},
		{"begin anew in each part", graph("a:\nb: a\nx:\ny: x"), []int{0, 1, 0, 1}},
		{"count the joint between two stages", stages(2, 3), []int{0, 0, 0, 2, 2, 2}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			d := mustPlace(t, c.g)
			var got []int
			for _, b := range d.Boxes {
				got = append(got, b.Layer)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("layers are %v, want %v", got, c.want)
			}
		})
	}
}

func TestWhatLooksAlikeIsDrawnOnce(t *testing.T) {
	mixed := fanOut(12)
	for i := range 12 {
		mixed.Edges[i].Label = "finished" // for half of the shards
	}
	cases := []struct {
		name                 string
		g                    Graph
		frames, wires, lines int
	}{
		{"a fan is a grid with a line in and a line out", fanOut(250), 1, 2, 2},
		{"a small fan has a branch for each task", fanOut(5), 0, 2, 10},
		{"stages meet in a joint", stages(2, 5), 0, 1, 10},
		{"two by two is as clear without", stages(2, 2), 0, 2, 4},
		{"equal edges are one line", graph("a:\nb: a a a"), 0, 1, 1},
		{"a failure is not a dependency", graph("a:\nb: a !a"), 0, 2, 2},
		{"tasks with other conditions are told apart", mixed, 0, 4, 24},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			d := mustPlace(t, c.g)
			lines := 0
			for _, w := range d.Wires {
				lines += len(w.Lines)
			}
			if len(d.Frames) != c.frames || len(d.Wires) != c.wires || lines != c.lines {
				t.Errorf("%d frames, %d wires, %d lines; want %d, %d, %d",
					len(d.Frames), len(d.Wires), lines, c.frames, c.wires, c.lines)
			}
		})
	}
}

func TestPicturesStayReadable(t *testing.T) {
	cases := []struct {
		name          string
		g             Graph
		width, height int // at most
		down          bool
	}{
		{"five tasks fit a small window", graph("a:\nb: a\nc: b\nd: c\ne: !a"), 500, 120, false},
		{"14 tasks fit a window", graph(etl), 1500, 300, false},
		{"a fan of 250 fits a window", fanOut(250), 1500, 900, false},
		{"500 tasks stay within a few windows", layered(500, 25), 5000, 2500, false},
		{"a wide layer wraps", layered(500, 250), 5000, 5000, false},
		{"a long chain goes down", chain(40), 120, 3200, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			d := mustPlace(t, c.g)
			if d.Width > c.width || d.Height > c.height || d.Down != c.down {
				t.Errorf("%d by %d, down %v; want at most %d by %d, down %v",
					d.Width, d.Height, d.Down, c.width, c.height, c.down)
			}
		})
	}
}

func TestLongEdgesAreStraight(t *testing.T) {
	d := mustPlace(t, graph("a:\nb: a\nc: b\nd: c\ne: d a"))
	for _, w := range d.Wires {
		for _, l := range w.Lines {
			bends := 0
			for i := 1; i < len(l); i++ {
				if l[i-1].Y != l[i].Y {
					bends++
				}
			}
			if bends > 2 {
				t.Errorf("wire from %v to %v bends %d times: %v", w.From, w.To, bends, l)
			}
		}
	}
}

func TestTheMainWayIsStraightWhereAFailureBranchesOff(t *testing.T) {
	d := mustPlace(t, graph("a:\nb: a\nc: b\nfix: !a !b"))
	if a, b, c := d.Boxes[0].Y, d.Boxes[1].Y, d.Boxes[2].Y; a != b || b != c {
		t.Errorf("a, b and c stand at heights %d, %d and %d", a, b, c)
	}
}

func TestBendsStayWithinTheirBudget(t *testing.T) {
	g := chain(700) // each task waits for one of the first ones too
	for i := 20; i < 700; i++ {
		g.Edges = append(g.Edges, Edge{From: i % 20, To: i})
	}
	for i := range 3 * railFrom { // and some have a fan beside
		n := len(g.Nodes)
		g.Nodes = append(g.Nodes, Node{ID: strconv.Itoa(n)}, Node{ID: strconv.Itoa(n + 1)})
		g.Edges = append(g.Edges, Edge{From: i % 3, To: n}, Edge{From: n, To: n + 1})
	}
	for _, p := range newSketch(merge(&g), &toDown).parts() {
		direct := 0
		for _, r := range p.routes {
			for _, l := range r.legs {
				if l.span == 0 {
					direct++
				}
			}
		}
		bends, most := len(p.items)-len(p.units), bendBudget(len(p.units))
		if direct == 0 || bends == 0 || bends > most {
			t.Errorf("%d bends, at most %d are allowed, and %d direct legs; want some of both", bends, most, direct)
		}
	}
	d := mustPlace(t, g)
	checkBoxes(t, g, d)
	checkWires(t, g, d) // what is drawn directly may pass behind boxes
}

func TestWideGraphsWrapByFinishingWhatHasBegun(t *testing.T) {
	g := chains(250)
	at, height := map[string]int{}, map[string]int{}
	d := mustPlace(t, g)
	for _, b := range d.Boxes {
		at[b.ID], height[b.ID] = b.Layer, b.Y
	}
	for i := range 250 {
		get, put := at[fmt.Sprint("get", i)], at[fmt.Sprint("put", i)]
		if put != get+1 {
			t.Errorf("put%d stands in layer %d, get%d in %d", i, put, i, get)
		}
		if y, z := height[fmt.Sprint("get", i)], height[fmt.Sprint("put", i)]; y != z {
			t.Errorf("put%d stands at %d, get%d at %d", i, z, i, y)
		}
		if before := at[fmt.Sprint("get", i-1)]; i > 0 && get < before {
			t.Errorf("get%d stands in layer %d, before get%d in %d", i, get, i-1, before)
		}
	}
	checkDrawing(t, g, d)
}

func TestFloorDivRoundsDown(t *testing.T) {
	for _, c := range [][3]int{{7, 2, 3}, {-7, 2, -4}, {-8, 2, -4}, {0, 5, 0}, {-1, 5, -1}} {
		if got := floorDiv(c[0], c[1]); got != c[2] {
			t.Errorf("%d / %d is %d, want %d", c[0], c[1], got, c[2])
		}
	}
}

func TestMistakesInTheGraph(t *testing.T) {
	link := func(s string) Graph { return Graph{Nodes: []Node{{ID: "a", Link: s}}} }
	long := chain(30)
	long.Edges = append(long.Edges, Edge{From: 29, To: 0})
	cases := []struct {
		name string
		g    Graph
		want string
	}{
		{"a cycle is named from its first task", graph("a: c\nb: a\nc: b\nd: c"),
			`tasks wait for each other: "a" -> "b" -> "c" -> "a"; drop one of these edges`},
		{"a task that waits for itself", graph("a: a"), `task "a" waits for itself; drop that edge`},
		{"a long cycle is shortened", long, `: "0" -> "1" -> "2" -> "3" -> "4" -> … (21 more) -> "26" -> "27" -> "28" -> "29" -> "0";`},
		{"an edge to nowhere", Graph{Nodes: []Node{{}}, Edges: []Edge{{To: 1}}},
			"edge 0 goes from node 0 to node 1, but nodes are numbered from 0 to 0"},
		{"an edge from nowhere", Graph{Nodes: []Node{{}}, Edges: []Edge{{From: -1}}}, "edge 0 goes from node -1"},
		{"an unknown kind", Graph{Nodes: []Node{{}, {}}, Edges: []Edge{{0, 1, 9, ""}}},
			"edge 0 has the unknown kind 9; known are depends, failure, handler"},
		{"a script as a link", link("javascript:alert(1)"), `link "javascript:alert(1)" of task "a" is not allowed; give`},
		{"a hidden script", link(" javascript:alert(1)"), "is not allowed"},
		{"a script cut by a tab", link("java\tscript:alert(1)"), "is not allowed"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if _, err := Place(c.g); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error is %v, want %q in it", err, c.want)
			}
		})
	}
	for _, s := range []string{"/runs/1", "runs?a=b&c=d#x", "http://localhost:80/", "https://example.com/", "?task=a:b"} {
		if _, err := Place(link(s)); err != nil {
			t.Errorf("link %q: %v", s, err)
		}
	}
}

func mustPlace(t fataler, g Graph) *Drawing {
	t.Helper()
	d, err := Place(g)
	if err != nil {
		t.Fatalf("place: %v", err)
	}
	return d
}

func svg(t fataler, d *Drawing) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := d.WriteSVG(&b); err != nil {
		t.Fatalf("write: %v", err)
	}
	return b.Bytes()
}

// parse reads a whole document and gives its elements.
func parse(t fataler, doc []byte) []xml.StartElement {
	t.Helper()
	var all []xml.StartElement
	dec := xml.NewDecoder(bytes.NewReader(doc))
	for {
		tok, err := dec.Token()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatalf("not well-formed: %v", err)
		}
		if e, ok := tok.(xml.StartElement); ok {
			all = append(all, e.Copy())
		}
	}
}

func BenchmarkPlace(b *testing.B) {
	for _, c := range []struct {
		name string
		g    Graph
	}{
		{"14", graph(etl)}, {"fan-250", fanOut(250)}, {"500", layered(500, 25)},
		{"5000", layered(5000, 100)}, {"100000", layered(100_000, 300)}, {"chain-100000", chain(100_000)},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				mustPlace(b, c.g)
			}
		})
	}
}

func BenchmarkWriteSVG(b *testing.B) {
	d := mustPlace(b, layered(500, 25))
	for b.Loop() {
		if err := d.WriteSVG(io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}
