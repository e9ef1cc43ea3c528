package lsp

import (
	"bytes"

	"go.lsp.dev/protocol"

	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/dsl/format"
)

// formatting lays a document out as `ax fmt` does. One that cannot be read stays
// as it is: its diagnostics say why.
func (s *server) formatting(p *protocol.DocumentFormattingParams) (any, error) {
	d, _, err := s.document(p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	edits := []protocol.TextEdit{}
	if d.foreign() {
		return edits, nil
	}
	out, ds := format.Format(d.name, d.text)
	if len(ds) > 0 || bytes.Equal(out, d.text) {
		return edits, nil
	}
	from, to := changedLines(d.text, out)
	with := out[from : len(out)-(len(d.text)-to)]
	return append(edits, protocol.TextEdit{Range: rangeOf(dsl.NewSource(d.name, d.text), from, to), NewText: string(with)}), nil
}

// changedLines gives the part of a text, of whole lines, in which another one
// differs, so that a cursor elsewhere stays where it is.
func changedLines(text, other []byte) (from, to int) {
	for same := 0; same < min(len(text), len(other)) && text[same] == other[same]; same++ {
		if text[same] == '\n' {
			from = same + 1
		}
	}
	to = len(text)
	most := min(len(text), len(other)) - from
	for same := 1; same <= most && text[len(text)-same] == other[len(other)-same]; same++ {
		if at := len(text) - same; at == from || text[at-1] == '\n' {
			to = at
		}
	}
	return from, to
}
