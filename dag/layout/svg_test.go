package layout

import (
	"bytes"
	"errors"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestGoldenPictures(t *testing.T) {
	states := graph(etl)
	states.Title = "nightly <etl>"
	for i, s := range []string{"succeeded", "failed", "running", "retrying", "ready", "pending", "skipped", "cancelled"} {
		states.Nodes[i].Class = s
		states.Nodes[i].Note = s
		states.Nodes[i].Link = "/tasks/" + states.Nodes[i].ID + "?a=1&b=2"
	}
	deep := chain(24)
	deep.Edges = append(deep.Edges, Edge{3, 9, Depends, "finished"}, Edge{3, 20, Failure, "failed"}, Edge{4, 20, Failure, "failed"})
	for name, g := range map[string]Graph{"states": states, "fan": fanOut(24), "rails": chains(14), "down": deep, "empty": {}} {
		t.Run(name, func(t *testing.T) {
			got := svg(t, mustPlace(t, g))
			file := filepath.Join("testdata", name+".svg")
			if *update {
				if err := os.WriteFile(file, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s differs; look at the new picture after go test -update", file)
			}
		})
	}
}

func TestAnyBytesMakeWellFormedXML(t *testing.T) {
	nasty := "\x00\x1b]<b a='1' \"&amp;]]>\xff\xfe\ufffe\u202e\r\n\t--><script>😀é"
	g := Graph{Title: nasty, Nodes: []Node{
		{ID: nasty, Label: nasty, Note: nasty, Class: nasty, Link: "/?q=<&\"'>"},
		{ID: nasty + "2"},
	}, Edges: []Edge{{0, 1, Failure, nasty}}}
	doc := svg(t, mustPlace(t, g))
	if i := bytes.IndexAny(doc, "\x00\x1b\r\t\u202e\ufffe"); i >= 0 {
		t.Errorf("byte %d is %q", i, doc[i:i+4])
	}
	for _, e := range parse(t, doc) {
		if e.Name.Local == "script" || e.Name.Local == "b" {
			t.Errorf("text became the element %s", e.Name.Local)
		}
		for _, a := range e.Attr {
			if a.Name.Local == "data-id" && !strings.HasSuffix(strings.TrimSuffix(a.Value, "2"), "--><script>😀é") {
				t.Errorf("data-id is %q", a.Value)
			}
		}
	}
}

func TestAPictureIsStandaloneAndAccessible(t *testing.T) {
	g := graph("a:\nb: a=finished")
	g.Title = "two tasks"
	g.Nodes[1].Label = strings.Repeat("a very long name ", 9)
	out := string(svg(t, mustPlace(t, g)))
	for _, want := range []string{
		`<svg xmlns="http://www.w3.org/2000/svg"`, `role="img"`, `viewBox="0 0 `, "<title>two tasks</title>",
		"prefers-color-scheme:dark", "var(--ax-ink)", "<title>a → a very", "(finished)</title>", "…",
		"<title>" + strings.TrimSpace(g.Nodes[1].Label) + " </title>", `class="node" data-id="a"`,
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in %s", want, out)
		}
	}
	for _, ban := range []string{"$", "url(", "@import", "<script", ` id="`} {
		if strings.Contains(out, ban) {
			t.Errorf("%q is in it", ban)
		}
	}
}

func TestAWriteErrorIsReported(t *testing.T) {
	d := mustPlace(t, fanOut(200))
	if err := d.WriteSVG(failing{}); !errors.Is(err, errFull) {
		t.Errorf("error is %v", err)
	}
}

var errFull = errors.New("disk full")

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errFull }

func TestColoursHaveContrast(t *testing.T) {
	colours := map[string][2]string{}
	for _, c := range palette {
		colours[c.name] = [2]string{c.light, c.dark}
	}
	pairs := []struct {
		front, back []string
		least       float64
	}{
		{[]string{"ink"}, []string{"paper", "box", "frame", "good-box", "bad-box", "busy-box", "again-box", "stop-box"}, 7},
		{[]string{"dim"}, []string{"paper", "box", "frame", "good-box", "bad-box", "busy-box", "again-box", "stop-box"}, 4.5},
		{[]string{"failure", "handler"}, []string{"paper"}, 4.5},
		{[]string{"edge", "wire", "good", "busy", "again"}, []string{"paper", "frame"}, 3},
	}
	for _, p := range pairs {
		for _, f := range p.front {
			for _, b := range p.back {
				for night := range 2 {
					if c := contrast(colours[f][night], colours[b][night]); c < p.least {
						t.Errorf("%s on %s has a contrast of %.2f (night %d), want %.1f", f, b, c, night, p.least)
					}
				}
			}
		}
	}
}

// contrast is the ratio that WCAG 2 defines.
func contrast(a, b string) float64 {
	light := func(s string) float64 {
		sum := 0.0
		for i, w := range []float64{0.2126, 0.7152, 0.0722} {
			n, err := strconv.ParseUint(s[1+2*i:3+2*i], 16, 8)
			if err != nil {
				panic(err)
			}
			c := float64(n) / 255
			if c <= 0.04045 {
				c /= 12.92
			} else {
				c = math.Pow((c+0.055)/1.055, 2.4)
			}
			sum += w * c
		}
		return sum
	}
	x, y := light(a), light(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func TestThePictureInAPageIsTheSameButForItsStyles(t *testing.T) {
	d := mustPlace(t, graph(etl))
	var inline bytes.Buffer
	if err := d.WriteInline(&inline); err != nil {
		t.Fatal(err)
	}
	if want := bytes.Replace(svg(t, d), []byte("<style>"+Style()+"</style>\n"), nil, 1); !bytes.Equal(inline.Bytes(), want) {
		t.Errorf("the picture is %.200q", inline.String())
	}
	if strings.Contains(inline.String(), "style") {
		t.Error("the picture in a page has a style of its own")
	}
}
