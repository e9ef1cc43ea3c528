package dsl

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
	"pgregory.net/rapid"
)

// tree writes down all that is used of nodes.
func tree(n *yaml.Node) string {
	var b strings.Builder
	place := map[*yaml.Node]int{}
	var write func(n *yaml.Node)
	write = func(n *yaml.Node) {
		place[n] = len(place)
		fmt.Fprintf(&b, "%d:%d kind %d style %d tag %q anchor %q alias %d %q (", n.Line, n.Column, n.Kind, n.Style, n.Tag, n.Anchor, place[n.Alias], n.Value)
		for _, c := range n.Content {
			write(c)
		}
		b.WriteString(")\n")
	}
	if n != nil {
		write(n)
	}
	return b.String()
}

// readInParts reads a text in n parts, and tells whether that could be done.
func readInParts(t interface{ Fatalf(string, ...any) }, text []byte, n int) bool {
	doc := inParts(text, cuts(text, n))
	if doc == nil {
		return false
	}
	whole, second, err := decode(bytes.NewReader(text))
	if err != nil || second.Written() || tree(doc) != tree(whole) {
		t.Fatalf("in %d parts it is\n%s\nas a whole\n%s%v %v\n%s", n, tree(doc), tree(whole), second, err, text)
	}
	return true
}

func TestWhatIsReadInPartsIsWhatIsReadAsAWhole(t *testing.T) {
	// Lines as they stand in files, and such as deceive whoever goes by indentation.
	lines := []string{
		"  a: {run: x}\n", "  b:\n", "    run: |\n", "      echo\n", "\n", "    run: >+\n", "      x\n\n\n", "    retry: {max: 3,\n", "  delay: 1s}\n",
		"  c: \"\n", "  d: x\"\n", "  e: [a,\n", "  f, g]\n", "# no\n", "    # nor this\n", "  # this\n", "    env: &e {A: b}\n", "    env: *e\n", "  <<: *e\n",
		"  - x\n", "  ? y\n", "  : z\n", "    depends_on: a\n", "   g: x\n", " h: x\n", "i: 1\n", "tasks:\n", "tasks: # again\n", "---\n", "...\n", "%TAG ! x\n",
		"\tj: x\n", "  k: 'x\n", "    y'\n", "  l: x\n    y\n", "  m: !!str 1\n", "  !!map\n", "  &all\n", "    run: |2\n", "   deep\n", "  n: |-\n", "  \n", "     \n",
		"  o: x # why\n", "  \"p\": x\n", "  q : x\n", "  r: x", "  s:\n    - x\n", "  t:\n  - x\n", "  u: 1\n", "  v: 2\n", "  w: 3\n",
	}
	heads := []string{"", "name: x\n", "---\nname: x\n", "name: |\n  x\n", "name: [\n", "name: &e x\n"}
	tasks := []string{"  t: {run: x}\n", "  t:\n    run: |\n      x\n", "  t:\n    run: x\n"}
	texts := rapid.Custom(func(t *rapid.T) string {
		text := rapid.SampledFrom(heads).Draw(t, "head") + "tasks:\n"
		for range rapid.IntRange(2, 10).Draw(t, "pieces") {
			from := tasks
			if rapid.IntRange(1, 4).Draw(t, "trap") == 1 {
				from = lines
			}
			text += rapid.SampledFrom(from).Draw(t, "piece")
		}
		return text
	})
	tried, read := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		for _, text := range rapid.SliceOfN(texts, 1, 40).Draw(t, "texts") {
			tried++
			if readInParts(t, []byte(text), rapid.IntRange(2, 4).Draw(t, "parts")) {
				read++
			}
		}
	})
	if read < tried/5 {
		t.Errorf("of %d texts only %d could be read in parts", tried, read)
	}
}

func TestFilesOfTasksAreReadInParts(t *testing.T) {
	for _, text := range [][]byte{large(100), bytes.ReplaceAll(large(100), []byte("\n  "), []byte("\n     "))} {
		for n := 2; n <= 8; n++ {
			if found := cuts(text, n); len(found) != n-1 || !readInParts(t, text, n) {
				t.Errorf("in %d parts: %v", n, found)
			}
		}
	}
	files, err := filepath.Glob("../workflows/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !readInParts(t, text, 2) {
			t.Errorf("%s is not read in parts", file)
		}
	}
}

// A mistake in one part is told as ever, at its place.
func TestAMistakeInALargeFileIsToldAtItsPlace(t *testing.T) {
	const n = 20_000
	text := large(n)
	if len(text) < 2*partSize {
		t.Fatalf("%d bytes are not large", len(text))
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	for _, at := range []int{10, len(lines) / 2, len(lines) - 5} {
		for _, c := range []struct{ line, rule string }{{"    runn: x\n", "unknown-key"}, {"    env: {A: [\n", "syntax"}, {"    env: *none\n", "syntax"}} {
			at := at - (at-3)%4 // the first line of a task
			broken := bytes.Join(slices.Insert(slices.Clone(lines), at+1, []byte(c.line)), nil)
			_, ds := Parse("w.yaml", broken)
			if len(ds) == 0 || ds[0].Rule != c.rule || int(ds[0].Pos.Line) < at+2 || int(ds[0].Pos.Line) > at+3 {
				t.Errorf("%q in line %d: %v", c.line, at+2, ds[:min(3, len(ds))])
			}
		}
	}
}
