package dsl

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

func render(t *testing.T, src *Source, color bool, ds ...Diagnostic) string {
	t.Helper()
	var b bytes.Buffer
	if err := Render(&b, ds, func(string) *Source { return src }, color); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestADiagnosticReadsLikeACompilers(t *testing.T) {
	src := NewSource("workflows/nightly.yaml", []byte(strings.Repeat("\n", 11)+"    depends_on: clean\n"))
	got := render(t, src, false, src.Diagnostic("self-dependency", Error, Pos{12, 17}, `task "clean" depends on itself`,
		"remove it, or name the task that must come first"))
	const want = `workflows/nightly.yaml:12:17: error: task "clean" depends on itself [self-dependency]
   |
12 |     depends_on: clean
   |                 ^~~~~
   = help: remove it, or name the task that must come first
`
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestTheUnderlineIsCountedInCells(t *testing.T) {
	for _, c := range []struct {
		name, line string
		from, to   int32
		want       string // the line and its underline
	}{
		{"plain", "a: bcd", 4, 7, "a: bcd\n   ^~~"},
		{"wide letters before", "漢字: bcd", 5, 8, "漢字: bcd\n      ^~~"},
		{"wide letters below", "a: 漢字", 4, 6, "a: 漢字\n   ^~~~"},
		{"one wide letter", "a: 漢", 4, 5, "a: 漢\n   ^~"},
		{"combining marks", "a: e\u0301e\u0301 x", 4, 8, "a: e\u0301e\u0301 x\n   ^~"},
		{"emoji", "🙂: b", 4, 5, "🙂: b\n    ^"},
		{"joined emoji", "👩‍🔬: b", 6, 7, "👩‍🔬: b\n    ^"},
		{"emoji with a skin tone", "👍🏽: b", 5, 6, "👍🏽: b\n    ^"},
		{"an emoji made of a text character", "❤️: b", 5, 6, "❤️: b\n    ^"},
		{"half-width kana", "ｱ: b", 4, 5, "ｱ: b\n   ^"},
		{"hangul", "한: b", 4, 5, "한: b\n    ^"},
		{"a joiner first", "a: \u200db", 5, 6, "a: \u200db\n   ^"},
		{"tabs", "\ta:\tb", 5, 6, "        a:      b\n                ^"},
		{"a tab below", "a\tb", 2, 3, "a       b\n ^~~~~~~"},
		{"behind the end", "a", 5, 6, "a\n ^"},
		{"control characters", "a\x1b[0m: b", 8, 9, "a\ufffd[0m: b\n       ^"},
		{"the direction of writing", "a: \u202eb", 5, 6, "a: \ufffdb\n    ^"},
		{"old line ends", "a: b\u2028c", 6, 7, "a: b\ufffdc\n     ^"},
		{"to another line", "a: bcd", 4, 0, "a: bcd\n   ^~~"},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := NewSource("f", []byte(c.line+"\nnext\n"))
			d := Diagnostic{File: "f", Pos: Pos{1, c.from}, End: Pos{1, c.to}, Message: "m", Rule: "r"}
			if c.to == 0 {
				d.End = Pos{2, 3}
			}
			lines := strings.Split(render(t, src, false, d), "\n")
			got := strings.TrimPrefix(lines[2], " 1 | ") + "\n" + strings.TrimPrefix(lines[3], "   | ")
			if got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestALongLineIsShownAroundThePlace(t *testing.T) {
	for _, c := range []struct{ name, left, right, text, under string }{
		{"both ends cut", strings.Repeat("a", 500), strings.Repeat("b", 500), "…" + strings.Repeat("a", 60) + "HERE" + strings.Repeat("b", 55) + "…", strings.Repeat(" ", 61) + "^~~~"},
		{"the right end cut", "a", strings.Repeat("b", 500), "aHERE" + strings.Repeat("b", 115) + "…", " ^~~~"},
		{"the left end cut", strings.Repeat("a", 500), "b", "…" + strings.Repeat("a", 60) + "HEREb", strings.Repeat(" ", 61) + "^~~~"},
		{"wide letters", strings.Repeat("漢", 500), "b", "…" + strings.Repeat("漢", 30) + "HEREb", strings.Repeat(" ", 61) + "^~~~"},
		{"a line that just fits", strings.Repeat("a", 100), strings.Repeat("b", 16), strings.Repeat("a", 100) + "HERE" + strings.Repeat("b", 16), strings.Repeat(" ", 100) + "^~~~"},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := NewSource("f", []byte("x\n"+c.left+"HERE"+c.right))
			col := int32(len([]rune(c.left)) + 1)
			lines := strings.Split(render(t, src, false, Diagnostic{Pos: Pos{2, col}, End: Pos{2, col + 4}}), "\n")
			if got := strings.TrimPrefix(lines[2], " 2 | "); got != c.text {
				t.Errorf("got  %s\nwant %s", got, c.text)
			}
			if got := strings.TrimPrefix(lines[3], "   | "); got != c.under {
				t.Errorf("got  %s\nwant %s", got, c.under)
			}
		})
	}
}

func TestRenderWithoutALine(t *testing.T) {
	d := Diagnostic{File: "f.yaml", Pos: Pos{1234, 5}, End: Pos{1234, 6}, Severity: Warning, Rule: "r", Message: "m", Hint: "h"}
	if got, want := render(t, nil, false, d), "f.yaml:1234:5: warning: m [r]\n     = help: h\n"; got != want {
		t.Errorf("no source: got %q, want %q", got, want)
	}
	d.Pos = Pos{}
	if got, want := render(t, NewSource("f.yaml", []byte("x")), false, d, d), "f.yaml: warning: m [r]\n   = help: h\n\nf.yaml: warning: m [r]\n   = help: h\n"; got != want {
		t.Errorf("the file as a whole: got %q, want %q", got, want)
	}
	if got := render(t, NewSource("", nil), false); got != "" {
		t.Errorf("no diagnostics: got %q", got)
	}
}

func TestRenderInColour(t *testing.T) {
	src := NewSource("f", []byte("a: b\n"))
	got := render(t, src, true, Diagnostic{File: "f", Pos: Pos{1, 4}, End: Pos{1, 5}, Severity: Info, Rule: "r", Message: "m", Hint: "h"})
	const want = "f:1:4: \x1b[1;36minfo:\x1b[0m \x1b[1mm\x1b[0m [r]\n   \x1b[1;34m|\x1b[0m\n\x1b[1;34m 1\x1b[0m \x1b[1;34m|\x1b[0m a: b\n" +
		"   \x1b[1;34m|\x1b[0m    \x1b[1;36m^\x1b[0m\n   \x1b[1;34m=\x1b[0m help: h\n"
	if got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if plain := render(t, src, false, Diagnostic{File: "a\x1b[31m", Message: "m"}); strings.Contains(plain, "\x1b") {
		t.Errorf("a file's name may not colour the terminal: %q", plain)
	}
}

// full is a writer that takes nothing.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestRenderSaysWhenItCannotWrite(t *testing.T) {
	if err := Render(full{}, Diagnostics{{Message: "m"}}, func(string) *Source { return nil }, false); err == nil {
		t.Error("want an error")
	}
}
