package layout

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// WriteSVG writes the picture as a standalone SVG document, in UTF-8. Its
// styles apply within class "ax-graph" only, and it has no element ids, so that
// several fit into one page. Each task is a group with class "node", its own
// classes and data-id; each wire a group with class "wire" and its kind.
func (d *Drawing) WriteSVG(w io.Writer) error { return d.write(w, "<style>"+css+"</style>\n") }

// WriteInline writes the picture as an element of an HTML page, without the
// style sheet, which Style gives: a page whose policy forbids styles of its own
// has it in a file.
func (d *Drawing) WriteInline(w io.Writer) error { return d.write(w, "") }

// Style gives the style sheet of the pictures that WriteInline writes.
func Style() string { return css }

func (d *Drawing) write(w io.Writer, style string) error {
	p := &pen{Writer: bufio.NewWriter(w), down: d.Down}
	p.head(d, style)
	for _, f := range d.Frames {
		p.frame(f)
	}
	for i := range d.Wires {
		p.wire(d, &d.Wires[i])
	}
	for i := range d.Wires {
		p.condition(&d.Wires[i])
	}
	for i := range d.Boxes {
		p.node(&d.Boxes[i])
	}
	if len(d.Boxes) == 0 {
		p.text("none", d.Width/2, d.Height/2+5, "no tasks")
	}
	p.put("</svg>\n")
	return p.Flush()
}

// pen writes elements. Errors stay in the buffered writer until Flush.
type pen struct {
	*bufio.Writer
	down bool
}

// put writes strings as they are and numbers in decimal.
func (p *pen) put(parts ...any) {
	for _, x := range parts {
		switch x := x.(type) {
		case string:
			p.WriteString(x)
		case int:
			p.Write(strconv.AppendInt(p.AvailableBuffer(), int64(x), 10))
		}
	}
}

// say writes text that may hold anything.
func (p *pen) say(s string) {
	// The only error is that of the buffered writer, which Flush reports.
	_ = xml.EscapeText(p, []byte(clean(s)))
}

func (p *pen) head(d *Drawing, style string) {
	p.put(`<svg xmlns="http://www.w3.org/2000/svg" class="ax-graph" role="img" width="`, d.Width, `" height="`, d.Height,
		`" viewBox="0 0 `, d.Width, ` `, d.Height, `">`, "\n<title>")
	if d.Title == "" {
		p.put("workflow")
	}
	p.say(d.Title)
	edges := 0
	for i := range d.Wires {
		edges += len(d.Wires[i].Edges)
	}
	p.put("</title>\n<desc>", count(len(d.Boxes), "task"), ", ", count(edges, "edge"), "</desc>\n", style,
		`<rect class="paper" width="`, d.Width, `" height="`, d.Height, "\"/>\n")
}

func count(n int, of string) string {
	if n == 1 {
		return "1 " + of
	}
	return strconv.Itoa(n) + " " + of + "s"
}

func (p *pen) rect(x, y, w, h, round int) {
	p.put(`<rect x="`, x, `" y="`, y, `" width="`, w, `" height="`, h, `" rx="`, round, `"/>`)
}

func (p *pen) text(class string, x, y int, s string) {
	p.put(`<text class="`, class, `" x="`, x, `" y="`, y, `">`)
	p.say(s)
	p.put("</text>")
}

func (p *pen) frame(f Frame) {
	p.put(`<g class="frame">`)
	p.rect(f.X, f.Y, f.W, f.H, 10)
	p.text("count", f.X+frameSide, f.Y+frameTop-8, count(len(f.Nodes), "task"))
	p.put("</g>\n")
}

func (p *pen) node(b *Box) {
	if b.Link != "" {
		p.put(`<a href="`)
		p.say(b.Link)
		p.put(`">`)
	}
	p.put(`<g class="node`)
	for _, c := range strings.Fields(b.Class) {
		p.put(" ", className(c))
	}
	p.put(`" data-id="`)
	p.say(b.ID)
	p.put(`"><title>`)
	p.say(b.shown())
	if b.Note != "" {
		p.put("\n")
		p.say(b.Note)
	}
	p.put(`</title>`)
	p.rect(b.X, b.Y, b.W, b.H, 6)
	x, y, room := b.X+b.W/2, b.Y+b.H/2, b.W-2*padding+2
	if b.Note == "" {
		p.text("label", x, y+5, ellipsis(b.shown(), labelSize, room))
	} else {
		p.text("label", x, y-2, ellipsis(b.shown(), labelSize, room))
		p.text("note", x, y+13, ellipsis(clean(b.Note), noteSize, room))
	}
	p.put("</g>")
	if b.Link != "" {
		p.put("</a>")
	}
	p.put("\n")
}

// className makes a name that needs no escaping.
func className(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' {
			return r
		}
		return '-'
	}, s)
}

func (p *pen) wire(d *Drawing, w *Wire) {
	p.put(`<g class="wire `, w.Kind.String(), `"><title>`)
	p.names(d, w.From)
	p.put(" → ")
	p.names(d, w.To)
	if w.Label != "" {
		p.put(" (")
		p.say(w.Label)
		p.put(")")
	}
	p.put(`</title><path class="line" d="`)
	for _, l := range w.Lines {
		p.line(l)
	}
	p.put(`"/>`)
	if len(w.Tips) > 0 {
		p.put(`<path class="tip" d="`)
		for _, t := range w.Tips {
			if p.down {
				p.put("M", t.X, " ", t.Y, "l-4-8h8z")
			} else {
				p.put("M", t.X, " ", t.Y, "l-8-4v8z")
			}
		}
		p.put(`"/>`)
	}
	p.put("</g>\n")
}

// condition writes the text of a wire, which no line may cross: so all texts
// come after all lines.
func (p *pen) condition(w *Wire) {
	if w.Label == "" {
		return
	}
	p.put(`<g class="wire `, w.Kind.String(), `"><title>`)
	p.say(w.Label)
	p.put("</title>")
	p.text("on", w.LabelAt.X, w.LabelAt.Y+4, ellipsis(clean(w.Label), wireSize, labelMax))
	p.put("</g>\n")
}

// names lists the tasks at one end of a wire.
func (p *pen) names(d *Drawing, nodes []int) {
	const most = 6
	for i, v := range nodes {
		if i == most && len(nodes) > most+1 {
			p.put(", and ", len(nodes)-most, " more")
			return
		}
		if i > 0 {
			p.put(", ")
		}
		p.say(d.Boxes[v].shown())
	}
}

func (p *pen) line(l Line) {
	p.put("M", l[0].X, " ", l[0].Y)
	for i := 1; i < len(l); i++ {
		a, b := l[i-1], l[i]
		switch {
		case a.X == b.X || a.Y == b.Y:
			if i+1 < len(l) && square(a, b, l[i+1]) {
				p.round(a, b, l[i+1])
			} else {
				p.put("L", b.X, " ", b.Y)
			}
		case p.down:
			k := min((b.Y-a.Y)/2, 100)
			p.put("C", a.X, " ", a.Y+k, " ", b.X, " ", b.Y-k, " ", b.X, " ", b.Y)
		default:
			k := min((b.X-a.X)/2, 100)
			p.put("C", a.X+k, " ", a.Y, " ", b.X-k, " ", b.Y, " ", b.X, " ", b.Y)
		}
	}
}

// square tells whether a line turns by a right angle at b.
func square(a, b, c Point) bool {
	return a.X == b.X && b.Y == c.Y || a.Y == b.Y && b.X == c.X
}

// round goes to b on a straight line and around the corner there.
func (p *pen) round(a, b, c Point) {
	toward := func(q Point) Point {
		step := func(d int) int { return min(max(d/2, -6), 6) }
		return Point{b.X + step(q.X-b.X), b.Y + step(q.Y-b.Y)}
	}
	from, to := toward(a), toward(c)
	p.put("L", from.X, " ", from.Y, "Q", b.X, " ", b.Y, " ", to.X, " ", to.Y)
}

// palette is every colour, by day and by night. Text has a contrast of at least
// 4.5 to 1 to what it stands on, lines and borders of 3 to 1.
var palette = []struct{ name, light, dark string }{
	{"paper", "#ffffff", "#0d1117"},
	{"ink", "#1b1f24", "#e6edf3"},
	{"dim", "#57606a", "#9da7b3"},
	{"box", "#f6f8fa", "#1a2029"},
	{"edge", "#818b98", "#767f8a"},
	{"frame", "#fafbfc", "#12171e"},
	{"wire", "#6e7781", "#8b949e"},
	{"failure", "#cf222e", "#ff7b72"},
	{"handler", "#8250df", "#bc8cff"},
	{"good", "#1a7f37", "#3fb950"},
	{"good-box", "#dafbe1", "#12281d"},
	{"bad-box", "#ffebe9", "#331618"},
	{"busy", "#0969da", "#58a6ff"},
	{"busy-box", "#ddf4ff", "#0c2a47"},
	{"again", "#9a6700", "#d29922"},
	{"again-box", "#fff4d6", "#2e2410"},
	{"stop-box", "#f3edff", "#251c38"},
}

// rules is the style sheet; $name stands for a colour of the palette.
const rules = `
.ax-graph text{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",Arial,sans-serif;fill:$ink}
.ax-graph .paper{fill:$paper}
.ax-graph .label{font-size:13px;text-anchor:middle}
.ax-graph .note{font-size:11px;text-anchor:middle;fill:$dim}
.ax-graph .none{font-size:13px;text-anchor:middle;fill:$dim}
.ax-graph .count{font-size:11px;fill:$dim}
.ax-graph .on{font-size:11px;fill:$dim;stroke:$paper;stroke-width:4px;stroke-linejoin:round;paint-order:stroke}
.ax-graph .frame rect{fill:$frame;stroke:$edge;stroke-dasharray:2 3}
.ax-graph .node rect{fill:$box;stroke:$edge;stroke-width:1.2px}
.ax-graph a:hover rect,.ax-graph a:focus rect{stroke-width:2.4px}
.ax-graph .line{fill:none;stroke:$wire;stroke-width:1.4px}
.ax-graph .tip{fill:$wire}
.ax-graph .wire:hover .line{stroke-width:2.8px}
.ax-graph .failure .line{stroke:$failure;stroke-dasharray:6 4}
.ax-graph .failure .tip,.ax-graph .failure .on{fill:$failure}
.ax-graph .handler .line{stroke:$handler;stroke-dasharray:2 3}
.ax-graph .handler .tip,.ax-graph .handler .on{fill:$handler}
.ax-graph .succeeded rect{fill:$good-box;stroke:$good}
.ax-graph .failed rect{fill:$bad-box;stroke:$failure;stroke-width:2px}
.ax-graph .running rect{fill:$busy-box;stroke:$busy;stroke-width:2px}
.ax-graph .ready rect{stroke:$busy}
.ax-graph .retrying rect{fill:$again-box;stroke:$again;stroke-width:2px}
.ax-graph .skipped rect{fill:$paper;stroke-dasharray:4 3}
.ax-graph .skipped .label{fill:$dim}
.ax-graph .cancelled rect{fill:$stop-box;stroke:$handler;stroke-dasharray:4 3}
`

var css = styleSheet()

// styleSheet writes each colour twice: as it is by day, for programs that know
// no variables, then as a variable, which the night and a page may change.
func styleSheet() string {
	var day, night strings.Builder
	values := map[string]string{}
	for _, c := range palette {
		fmt.Fprintf(&day, "--ax-%s:%s;", c.name, c.light)
		fmt.Fprintf(&night, "--ax-%s:%s;", c.name, c.dark)
		values[c.name] = c.light
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n.ax-graph{%s}\n@media(prefers-color-scheme:dark){.ax-graph{%s}}", day.String(), night.String())
	for rule := range strings.Lines(rules) {
		for {
			at := strings.IndexByte(rule, '$')
			if at < 0 {
				break
			}
			start := strings.LastIndexAny(rule[:at], "{;") + 1
			end := at + strings.IndexAny(rule[at:], ";}")
			property, name := rule[start:at], rule[at+1:end]
			rule = rule[:start] + property + values[name] + ";" + property + "var(--ax-" + name + ")" + rule[end:]
		}
		b.WriteString(rule)
	}
	return b.String()
}
