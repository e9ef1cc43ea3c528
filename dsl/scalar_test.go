package dsl

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
	"pgregory.net/rapid"
)

func TestInScalar(t *testing.T) {
	for _, c := range []struct {
		name   string
		text   string
		at     Pos
		offset int
		want   Pos
	}{
		{"plain", "k: abc", Pos{1, 4}, 2, Pos{1, 6}},
		{"behind a plain scalar", "k: abc # no", Pos{1, 4}, 3, Pos{1, 7}},
		{"plain on two lines", "k: ab\n   cd", Pos{1, 4}, 3, Pos{2, 4}},
		{"the fold of two lines", "k: ab\n   cd", Pos{1, 4}, 2, Pos{1, 6}},
		{"behind letters of two bytes", "k: äöü", Pos{1, 4}, 4, Pos{1, 6}},
		{"inside of a letter", "k: äöü", Pos{1, 4}, 3, Pos{1, 5}},
		{"single quotes", "k: 'it''s'", Pos{1, 4}, 3, Pos{1, 9}},
		{"the end of single quotes", "k: 'it''s'", Pos{1, 4}, 4, Pos{1, 10}},
		{"double quotes", `k: "a\tb"`, Pos{1, 4}, 2, Pos{1, 8}},
		{"an escape of three bytes", `k: "\u2028b"`, Pos{1, 4}, 3, Pos{1, 11}},
		{"an escaped line end", "k: \"ab\\\n   cd\"", Pos{1, 4}, 2, Pos{2, 4}},
		{"literal", "k: |\n  ab\n  cd\n", Pos{1, 4}, 4, Pos{2 + 1, 4}},
		{"literal with blanks of its own", "k: |2\n    ab\n", Pos{1, 4}, 2, Pos{2, 5}},
		{"literal in a list in a list", "- - |1\n    ab\n", Pos{1, 5}, 1, Pos{2, 5}},
		{"literal on a line of its own", "o:\n  k:\n    |1\n    ab\n", Pos{3, 5}, 1, Pos{4, 5}},
		{"the line end of a literal", "k: |\n  ab\n", Pos{1, 4}, 2, Pos{2, 5}},
		{"an empty line of a literal", "k: |\n  a\n\n  b\n", Pos{1, 4}, 2, Pos{3, 1}},
		{"kept line ends", "k: |+\n  a\n\n\n", Pos{1, 4}, 3, Pos{4, 1}},
		{"folded", "k: >\n  ab\n  cd\n", Pos{1, 4}, 3, Pos{3, 3}},
		{"folded over an empty line", "k: >\n  ab\n\n  cd\n", Pos{1, 4}, 3, Pos{4, 3}},
		{"CRLF", "k: |\r\n  ab\r\n  cd\r\n", Pos{1, 4}, 3, Pos{3, 3}},
		{"behind an anchor", "k: &a abc", Pos{1, 4}, 1, Pos{1, 8}},
		{"behind an anchor on its line", "k: &a\n  abc", Pos{1, 4}, 1, Pos{2, 4}},
		{"behind a tag and a comment", "k: !!str # no\n  abc", Pos{1, 4}, 1, Pos{2, 4}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := NewSource("f", []byte(c.text)).InScalar(c.at, c.offset); got != c.want {
				t.Errorf("offset %d is at %v, want %v", c.offset, got, c.want)
			}
		})
	}
}

// scalarText draws a document whose last scalar is the one to look into. No
// letter occurs twice in it, so that a place tells which letter was meant.
type scalarText struct {
	*rapid.T
	next rune
	end  string // the line end
}

func (s *scalarText) pick(label string, all ...string) string {
	return rapid.SampledFrom(all).Draw(s.T, label)
}

// word makes letters of one to four bytes that nothing else in the text has.
func (s *scalarText) word() string {
	var b strings.Builder
	for range rapid.IntRange(1, 4).Draw(s.T, "letters") {
		base := []rune{0x4e00, 0x400, 0x1f300, 0x13000}[rapid.IntRange(0, 3).Draw(s.T, "script")]
		b.WriteRune(base + s.next)
		s.next++
	}
	return b.String()
}

// folds draws words with blanks and line ends between them.
func (s *scalarText) folds(indent int, piece func() string) string {
	text := piece()
	for range rapid.IntRange(0, 6).Draw(s.T, "pieces") {
		switch {
		case rapid.Bool().Draw(s.T, "break"):
			text += s.pick("trailing", "", " ", "\t ")
			for range rapid.IntRange(1, 3).Draw(s.T, "breaks") {
				text += s.end
			}
			text += strings.Repeat(" ", indent+rapid.IntRange(0, 3).Draw(s.T, "more"))
		default:
			text += s.pick("blanks", "", " ", "   ", " \t")
		}
		text += piece()
	}
	return text
}

func (s *scalarText) quoted() string {
	return s.word() + s.pick("escape", "", `\n`, `\t`, `\"`, `\\`, `\x41`, `\u00e9`, `\U0001F600`, `\N`, `\_`, `\L`, `\P`, `\ `, `\0`)
}

func (s *scalarText) block(indent int) string {
	mark := s.pick("indicator", "", "", "1", "2", "3")
	if mark != "" {
		indent = max(indent, 0) + int(mark[0]-'0')
	} else {
		indent += rapid.IntRange(1, 3).Draw(s.T, "indent")
	}
	chomp := s.pick("chomp", "", "+", "-")
	text := s.pick("style", "|", ">") + s.pick("order", mark+chomp, chomp+mark) + s.pick("comment", "", " # note") + s.end
	first := mark == ""
	for range rapid.IntRange(1, 7).Draw(s.T, "lines") {
		switch {
		case rapid.IntRange(0, 3).Draw(s.T, "empty") == 0:
			text += s.pick("blank", "", " ") + s.end
			continue
		case !first:
			text += s.pick("own blanks", "", "", " ", "  ", "\t")
		}
		first = false
		at := strings.LastIndexAny(text, "\r\n") + 1
		text = text[:at] + strings.Repeat(" ", indent) + text[at:]
		text += s.word() + s.pick("between", "", "  ") + s.word() + s.pick("trailing", "", " ") + s.end
	}
	if rapid.Bool().Draw(s.T, "cut") {
		text = strings.TrimRight(text, "\r\n")
	}
	return text
}

func (s *scalarText) draw() string {
	frame := rapid.SampledFrom([]struct {
		before string
		column int
		after  string
	}{
		{"k: ", 0, ""}, {"- ", 0, ""}, {"- - ", 2, ""}, {"- k: ", 2, ""}, {"o:\n  k: ", 2, ""}, {"o:\n- k: ", 2, ""},
		{"o:\n    - ", 4, ""}, {"k:\n  ", 0, ""}, {"- k:\n    ", 2, ""}, {"k: &a ", 0, ""}, {"k: !!str ", 0, ""},
		{"é: &ä !!str ", 0, ""}, {"o: # note\n  &x k: ", 2, ""}, {"? q\n: ", 0, ""}, {"p: |2\n   z\n  y\nk: ", 0, ""},
		{"b: {x: [1, \"]\"]}\n\"k\": ", 0, ""}, {"d: it's\n  \"so\n  to say\nk: ", 0, ""}, {"", -1, ""}, {"--- ", -1, ""},
		{"[x, ", -1, "]"}, {"k: {a: b, c: ", 0, "}"},
	}).Draw(s.T, "frame")
	before := strings.ReplaceAll(frame.before, "\n", s.end)
	flow := frame.after != ""
	styles := []string{"plain", "single", "double", "block"}
	if flow {
		styles = styles[:3]
	}
	body := ""
	switch s.pick("kind", styles...) {
	case "plain":
		body = s.folds(frame.column+1, s.word)
	case "single":
		body = "'" + s.folds(frame.column+1, func() string { return s.word() + s.pick("quote", "", "''") }) + "'"
	case "double":
		body = `"` + s.folds(frame.column+1, s.quoted)
		if rapid.Bool().Draw(s.T, "continued") {
			body += `\` + s.end + strings.Repeat(" ", frame.column+2) + s.word()
		}
		body += `"`
	case "block":
		body = s.block(frame.column)
	}
	return before + body + frame.after
}

func lastScalar(n *yaml.Node) *yaml.Node {
	for len(n.Content) > 0 {
		n = n.Content[len(n.Content)-1]
	}
	return n
}

func TestEveryLetterOfAScalarIsFoundInTheFile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &scalarText{T: t, end: rapid.SampledFrom([]string{"\n", "\r\n", "\r"}).Draw(t, "line end")}
		text := s.draw()
		var doc yaml.Node
		if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
			t.Skip(err)
		}
		n := lastScalar(&doc)
		src := NewSource("f", []byte(text))
		at := Pos{int32(n.Line), int32(n.Column)}
		last := -1
		for i, r := range n.Value {
			p := src.InScalar(at, i)
			offset := src.Offset(p)
			if offset < last || offset == last && r > ' ' {
				t.Fatalf("%q: offset %d of %q goes back to %v", text, i, n.Value, p)
			}
			last = offset
			if offset == len(text) {
				t.Fatalf("%q: offset %d of %q is at the end of the text", text, i, n.Value)
			}
			got, _ := utf8.DecodeRuneInString(text[offset:])
			escaped := n.Style&yaml.DoubleQuotedStyle != 0 && got == '\\'
			folded := (r == ' ' || r == '\n') && (isBreak(byte(got)) || isBlank(byte(got)))
			if got != r && !escaped && !folded {
				t.Fatalf("%q: offset %d of %q is %q, but %v has %q", text, i, n.Value, r, p, got)
			}
			if r >= utf8.RuneSelf && !escaped && src.InScalar(at, i+1) != p {
				t.Fatalf("%q: the second byte at offset %d is not at the place of the first", text, i)
			}
		}
		if end := src.Offset(src.InScalar(at, len(n.Value))); end < last || end > len(text) {
			t.Fatalf("%q: the end of %q is at offset %d, its last letter at %d", text, n.Value, end, last)
		}
	})
}

func ExampleSource_InScalar() {
	src := NewSource("w.yaml", []byte("cron: \"0 25\\t* * *\"\n"))
	fmt.Println(src.InScalar(Pos{1, 7}, 2), src.InScalar(Pos{1, 7}, 5))
	// Output: {1 10} {1 14}
}
