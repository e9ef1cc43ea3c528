package dsl

import (
	"io"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
	"pgregory.net/rapid"
)

func TestTree(t *testing.T) {
	for _, c := range []struct {
		name, text string
		root       yaml.Kind // 0 for none
		rule       string    // of the diagnostic, if there is one
	}{
		{"a map", "a: b\n", yaml.MappingNode, ""},
		{"what it says does not matter", "- a\n", yaml.SequenceNode, ""},
		{"nothing", "", 0, ""},
		{"comments only", "# a\n", 0, ""},
		{"no YAML", "a: [", 0, "syntax"},
		{"a second document", "a: b\n---\nc: d\n", yaml.MappingNode, "several-documents"},
	} {
		t.Run(c.name, func(t *testing.T) {
			src, root, ds := Tree("w.yaml", []byte(c.text))
			if string(src.Text) != c.text || src.File != "w.yaml" {
				t.Errorf("the source is %s: %q", src.File, src.Text)
			}
			if root == nil != (c.root == 0) || root != nil && root.Kind != c.root {
				t.Errorf("the root is %v", root)
			}
			if len(ds) > 1 || len(ds) == 0 != (c.rule == "") || len(ds) == 1 && ds[0].Rule != c.rule {
				t.Errorf("got %v, want %q", ds, c.rule)
			}
		})
	}
}

func TestExtent(t *testing.T) {
	for _, c := range []struct {
		name, text string
		at         Pos
		want       string // what stands from there on
	}{
		{"plain", "k: a b # c\n", Pos{1, 4}, "a b"},
		{"plain on two lines", "k: a\n  b\nl: c\n", Pos{1, 4}, "a\n  b"},
		{"quotes on two lines", "k: 'a\n  b' # c\n", Pos{1, 4}, "'a\n  b'"},
		{"brackets on two lines", "k: [a, {b: ']'},\n c]\n", Pos{1, 4}, "[a, {b: ']'},\n c]"},
		{"an alias", "k: *a # c\n", Pos{1, 4}, "*a"},
		{"behind an anchor", "k: &a b\n", Pos{1, 4}, "&a b"},
		{"a block", "k: |\n  a\n\n  b\nl: c\n", Pos{1, 4}, "|\n  a\n\n  b\n"},
		{"a block with blank lines below", "k: |+\n  a\n\nl: c\n", Pos{1, 4}, "|+\n  a\n\n"},
		{"a block with a comment below", "o:\n  k: |\n    a\n  # c\n", Pos{2, 6}, "|\n    a\n"},
		{"a block at the end", "k: |\n  a", Pos{1, 4}, "|\n  a"},
		{"a key", "größe: a\n", Pos{1, 1}, "größe"},
		{"nothing", "k: a\n", Pos{1, 3}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := NewSource("f", []byte(c.text))
			if got := c.text[src.Offset(c.at):src.Extent(c.at)]; got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestTheExtentOfAScalarHoldsAllOfIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &scalarText{T: t, end: rapid.SampledFrom([]string{"\n", "\r\n", "\r"}).Draw(t, "line end")}
		text := s.draw()
		var doc yaml.Node
		decoder := yaml.NewDecoder(strings.NewReader(text))
		if err := decoder.Decode(&doc); err != nil {
			t.Skip(err)
		}
		// Unindented lines are no content of a scalar outside of any collection
		// (yaml.v3 begins another document with them, which is not this one's).
		if err := decoder.Decode(new(yaml.Node)); err != io.EOF {
			t.Skip("more than one document")
		}
		n := lastScalar(&doc)
		src := NewSource("f", []byte(text))
		at := Pos{int32(n.Line), int32(n.Column)}
		end := src.Extent(at)
		if last := src.Offset(src.InScalar(at, len(n.Value))); end < last {
			t.Fatalf("%q: the extent ends at %d, the value at %d", text, end, last)
		}
		for _, c := range text[end:] { // brackets and blanks of the frame
			if c != ']' && c != '}' && c != ' ' && c != '\t' && c != '\n' && c != '\r' {
				t.Fatalf("%q: the extent ends at %d, before %q", text, end, text[end:])
			}
		}
	})
}

func TestEveryKeyHasAShape(t *testing.T) {
	all := Mappings()
	if len(all) != len(Keys()) || all[0].Name != workflowTitle {
		t.Errorf("%d mappings, the first of them %s", len(all), all[0].Name)
	}
	for _, m := range all {
		for _, key := range m.Keys {
			s, ok := m.Shapes[key]
			if !ok || s.Scalar == NoScalar && s.Items == nil && s.Values == nil && s.Mapping == "" {
				t.Errorf("key %q of %s has no shape", key, m.Name)
			}
			if s.Scalar == ScalarWord && len(s.Words) == 0 {
				t.Errorf("key %q of %s has no words", key, m.Name)
			}
		}
	}
}
