package lsp

import (
	"testing"

	"go.lsp.dev/protocol"
	"pgregory.net/rapid"

	"github.com/ax-scheduler/ax/dsl/format"
)

// layout asks for the layout and gives the text with the edits made.
func (f *file) layout() string {
	f.c.t.Helper()
	var edits []protocol.TextEdit
	f.c.call(protocol.MethodTextDocumentFormatting, protocol.DocumentFormattingParams{
		TextDocument: protocol.TextDocumentIdentifier{URI: f.uri}, Options: protocol.FormattingOptions{TabSize: 8},
	}, &edits)
	text := f.text
	for _, e := range edits {
		text = text[:offsetAt([]byte(text), e.Range.Start)] + e.NewText + text[offsetAt([]byte(text), e.Range.End):]
	}
	return text
}

func TestTheLayoutIsThatOfTheFormatter(t *testing.T) {
	session(t, nil, func(c *client) {
		for _, text := range []string{
			"tasks:\n    a:\n        timeout: 1m # é😀\n        run: x\n    b: {run: y}\nname: z",
			"\ufefftasks:\r\n  a:\r\n    timeout: 1m\r\n    run: |\r\n      x\r\n",
			"tasks:\n  a: {run: x}\n\n\n\n",
			flow, everyday,
		} {
			f := c.open("workflows/a.yaml", text)
			want, _ := format.Format("a.yaml", []byte(text))
			if got := f.layout(); got != string(want) {
				t.Errorf("the layout of %q is %q", text, got)
			}
		}
		for name, text := range map[string]string{"workflows/a.yaml": "tasks:   [\n", "compose.yaml": "services:\n    web: {image: x}\n"} {
			if got := c.open(name, text).layout(); got != text {
				t.Errorf("%s is laid out as %q", name, got)
			}
		}
	})
}

func TestOnlyTheLinesThatDifferAreReplaced(t *testing.T) {
	lines := rapid.SliceOfN(rapid.SampledFrom([]string{"a\n", "b\n", "\n", "é\n", "a"}), 0, 8)
	rapid.Check(t, func(t *rapid.T) {
		join := func(all []string) (text []byte) {
			for _, l := range all {
				text = append(text, l...)
			}
			return text
		}
		text, other := join(lines.Draw(t, "text")), join(lines.Draw(t, "other"))
		from, to := changedLines(text, other)
		if from > to || from > 0 && text[from-1] != '\n' || to < len(text) && to > from && text[to-1] != '\n' {
			t.Fatalf("%q and %q differ from %d to %d", text, other, from, to)
		}
		made := string(text[:from]) + string(other[from:len(other)-(len(text)-to)]) + string(text[to:])
		if made != string(other) {
			t.Fatalf("%q became %q, not %q", text, made, other)
		}
	})
}
