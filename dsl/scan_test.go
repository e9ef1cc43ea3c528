package dsl

import (
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
	"pgregory.net/rapid"
)

func TestSpan(t *testing.T) {
	for _, c := range []struct {
		name string
		text string
		at   Pos
		want string // the text that is covered
	}{
		{"a key", "depends_on: clean", Pos{1, 1}, "depends_on"},
		{"a quoted key", `"a b" : clean`, Pos{1, 1}, `"a b"`},
		{"a plain scalar", "depends_on: clean  # really", Pos{1, 13}, "clean"},
		{"words", "d: two words, really", Pos{1, 4}, "two words, really"},
		{"a plain scalar with colons and hashes", "d: http://a/#b:c", Pos{1, 4}, "http://a/#b:c"},
		{"an item", "d: [a, bc, d]", Pos{1, 8}, "bc"},
		{"an item on a line of its own", "d: [\n  a,\n  bc, d]", Pos{3, 3}, "bc"},
		{"a list in brackets", "d: [a, [b, '['], c]", Pos{1, 4}, "[a, [b, '['], c]"},
		{"brackets over lines", "d: {a: 1, # }\n  b: 2}\ne: 1", Pos{1, 4}, "{a: 1, # }\n  b: 2}"},
		{"brackets never closed", "d: [a, b", Pos{1, 4}, "[a, b"},
		{"single quotes", "d: 'it''s' # x", Pos{1, 4}, "'it''s'"},
		{"double quotes", `d: "a\"b" # x`, Pos{1, 4}, `"a\"b"`},
		{"quotes over lines", "d: \"a\n  b\"", Pos{1, 4}, "\"a\n  b\""},
		{"an alias", "d: *a # x", Pos{1, 4}, "*a"},
		{"an alias among items", "d: [*a, *b]", Pos{1, 5}, "*a"},
		{"the header of a block", "d: |2- # x\n    y\n", Pos{1, 4}, "|2-"},
		{"the text of a block", "d: |\n  one two\n", Pos{2, 7}, "two"},
		{"what looks like YAML in a block", "d: |\n  [a\n  'b\ne: f g", Pos{4, 4}, "f g"},
		{"behind an anchor", "d: &a !!str abc", Pos{1, 4}, "&a !!str abc"},
		{"a key after a dash", "- ab: c", Pos{1, 3}, "ab"},
		{"a dash", "- ab: c", Pos{1, 1}, "-"},
		{"letters of other scripts", "d: größe # x", Pos{1, 4}, "größe"},
		{"plain text over lines", "d: a b\n  c d\ne: f", Pos{1, 4}, "a b\n  c d"},
		{"a colon", "d:\ne: f", Pos{1, 2}, ":"},
		{"the end of a line", "d: a\ne: f", Pos{1, 5}, "\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := NewSource("f", []byte(c.text))
			end := src.Span(c.at)
			if end.compare(c.at) <= 0 {
				t.Fatalf("the span ends at %v, before it begins", end)
			}
			got := c.text[src.Offset(c.at):src.Offset(end)]
			if got == "" { // one column behind the end of a line
				got = "\n"
			}
			if got != c.want {
				t.Errorf("covered %q, want %q", got, c.want)
			}
		})
	}
}

func TestTheSpanOfEveryNodeIsItsText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &scalarText{T: t, end: rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "line end")}
		text := s.draw()
		var doc yaml.Node
		if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
			t.Skip(err)
		}
		src := NewSource("f", []byte(text))
		var walk func(n *yaml.Node)
		walk = func(n *yaml.Node) {
			for _, c := range n.Content {
				walk(c)
			}
			at := src.skipProperties(src.Offset(Pos{int32(n.Line), int32(n.Column)}))
			got := text[at:src.Offset(src.Span(src.Pos(at)))]
			ok := true
			switch {
			case n.Kind == yaml.DocumentNode || n.Kind != yaml.ScalarNode && n.Style&yaml.FlowStyle == 0:
				return
			case n.Kind == yaml.SequenceNode:
				ok = got[0] == '[' && got[len(got)-1] == ']' && len(got) > 1
			case n.Kind == yaml.MappingNode:
				ok = got[0] == '{' && got[len(got)-1] == '}' && len(got) > 1
			case n.Style&yaml.DoubleQuotedStyle != 0:
				ok = got[0] == '"' && got[len(got)-1] == '"' && len(got) > 1
			case n.Style&yaml.SingleQuotedStyle != 0:
				ok = got[0] == '\'' && got[len(got)-1] == '\'' && len(got) > 1
			case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
				ok = strings.Trim(got, "|>123+-") == ""
			default:
				ok = strings.Join(strings.Fields(got), "") == strings.Join(strings.Fields(n.Value), "")
			}
			if !ok {
				t.Fatalf("%q: the span of %q at %d:%d is %q", text, n.Value, n.Line, n.Column, got)
			}
		}
		walk(&doc)
	})
}
