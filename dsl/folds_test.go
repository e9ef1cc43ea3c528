package dsl

import (
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
	"pgregory.net/rapid"
)

func TestFolds(t *testing.T) {
	for _, c := range []struct{ name, text, joined string }{
		{"a literal block", "a: |\n  b\n  c\n", ""},
		{"a folded block", "a: >\n  b\n  c\n\n  d\n    e\n  f\n  g\n", "b c; f g"},
		{"a folded block with a comment at its header", "a: >- # note\n  b\n  c\n", "b c"},
		{"plain, on one line", "a: b c\n", ""},
		{"plain, on several", "a: b\n  c\n\n  d\n", "b c"},
		{"in double quotes", "a: \"b\n  c\\\n  d \\\"\n  e\"\n", "b c; \" e"},
		{"in single quotes", "a: 'b''\n  c'\n", "' c"},
		{"anchored, and with other letters", "a: &x é\n  ☃\n", "é ☃"},
		{"CRLF", "a: >\r\n  b\r\n  c\r\n", "b c"},
	} {
		var doc yaml.Node
		if err := yaml.Unmarshal([]byte(c.text), &doc); err != nil {
			t.Fatal(err)
		}
		node := doc.Content[0].Content[1]
		s := NewSource("", []byte(c.text))
		var joined []string
		for _, at := range s.Folds(Pos{int32(node.Line), int32(node.Column)}) {
			before, after := []rune(node.Value[:at]), []rune(node.Value[at:])
			joined = append(joined, string(before[len(before)-1])+string(after[:2]))
		}
		if got := strings.Join(joined, "; "); got != c.joined {
			t.Errorf("%s: got %q, want %q", c.name, got, c.joined)
		}
	}
}

// A fold is a blank of the value that InScalar finds at the end of a line.
func TestEveryFoldIsTheEndOfALine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.SampledFrom([]string{"b", "  c d", "", "é  ☃", "'' x"}), 1, 6).Draw(t, "lines")
		style := rapid.SampledFrom([]string{">", ">-", "'", "\"", ""}).Draw(t, "style")
		text := "a: " + style + "b" + strings.Join(append(lines, "e"), "\n  ")
		if strings.HasPrefix(style, ">") {
			text = "a: " + style + "\n  " + strings.Join(append([]string{"b"}, lines...), "\n  ") + "\n"
		} else {
			text += strings.Trim(style, ">-") + "\n"
		}
		var doc yaml.Node
		if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
			t.Skip()
		}
		node := doc.Content[0].Content[1]
		s, p := NewSource("", []byte(text)), Pos{int32(node.Line), int32(node.Column)}
		folds := s.Folds(p)
		for at := range node.Value {
			line := s.InScalar(p, at).Line
			joined := node.Value[at] == ' ' && at+1 < len(node.Value) && s.InScalar(p, at+1).Line > line &&
				s.Offset(s.InScalar(p, at)) == len(strings.TrimRight(text[:lineEnd([]byte(text), s.Offset(Pos{line, 1}))], " "))
			if joined != slices.Contains(folds, at) {
				t.Fatalf("offset %d of %q: in Folds %v, in InScalar %v, in\n%s", at, node.Value, !joined, joined, text)
			}
		}
	})
}

func TestCommentBehind(t *testing.T) {
	for text, want := range map[string]string{
		"a: b # c\n": "# c", "a: b #c\r\nd: e\n": "#c", "a: b\n": "", "a: b#c\n": "", "a: \"b\" # c\n": "", "a: |  # c\n  d\n": "", "a: b\n# c\n": "",
	} {
		s := NewSource("", []byte(text))
		from, to, _ := s.CommentBehind(Pos{1, 4})
		if got := text[from:to]; got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestAnExpressionThatACommentCutsOffIsToldAsSuch(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"in a script", as("run: echo ${{ count(x, # != 1) }}"), "3:28-38 bad-expression: put the whole text into quotes"},
		{"in a variable", inTask("env: {A: b}") + "env:\n  A: ${{ any(x, # > 1) }} y\n", "6:17-28 bad-expression: YAML takes"},
		{"a comment without the end of it", as("run: echo ${{ a # b"), `3:15-18 bad-expression: has no "}}"`},
		{"in quotes", as("run: \"echo ${{ a\" # }}"), `3:16-19 bad-expression: has no "}}"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, ds := Parse("f.yaml", []byte(c.text))
			compare(t, ds, []string{c.want})
		})
	}
}
