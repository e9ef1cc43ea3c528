// Package format lays out a workflow file: the keys of the language in the
// order of its reference, two blanks of indentation, at most one blank line,
// no blanks at the end of a line, LF.
//
// It moves and indents the text that is there and never writes a value anew:
// comments, quotes, block scalars, brackets, anchors and line breaks within
// values stay. What it cannot lay out safely it leaves as it is. It reads one
// text and gives another; it must not touch files, nor import anything of the
// project but dsl.
package format

import (
	"bytes"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/ax-scheduler/ax/dsl"
)

// Format lays out the text of a workflow file. The result means the same to
// dsl.Parse, places aside, has every comment, and does not change when it is
// formatted again. A text that cannot be read as one YAML document gives
// diagnostics and no text; other mistakes do not matter. A text whose form is
// beyond this package comes back as it is.
func Format(file string, text []byte) ([]byte, dsl.Diagnostics) {
	if _, _, ds := dsl.Tree(file, text); len(ds) > 0 {
		return nil, ds
	}
	out, ok := layOut(file, text)
	if !ok {
		return bytes.Clone(text), nil
	}
	return out, nil
}

// layOut is Format for a text that can be read; false where its form is beyond
// this package.
func layOut(file string, text []byte) ([]byte, bool) {
	unix := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.TrimPrefix(string(text), "\ufeff"))
	src, root, _ := dsl.Tree(file, []byte(unix))
	if strings.HasPrefix(unix, "\ufeff") { // a second one is text
		return nil, false
	}
	if root == nil {
		return joined(onlyComments(unix)), true
	}
	r := &reader{src: src, text: unix, frozen: map[*yaml.Node]bool{}, uses: map[*yaml.Node]string{}}
	doc, ok := r.document(root)
	if !ok {
		return nil, false
	}
	if r.anchored {
		doc.root.link()
	}
	doc.root.sort(r.frozen, false)
	out := joined(doc.lines())
	_, after, ds := dsl.Tree(file, out)
	return out, len(ds) == 0 && after != nil && same(root, after)
}

// onlyComments gives the lines of a text that has nothing else.
func onlyComments(text string) []string {
	p := &page{}
	p.notes(tidyLines(text), 0)
	return p.closed()
}

// joined ends every line with a line end.
func joined(lines []string) []byte {
	if len(lines) == 0 {
		return nil
	}
	return []byte(strings.Join(lines, "\n") + "\n")
}
