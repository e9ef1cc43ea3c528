package lsp

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"

	"go.lsp.dev/protocol"

	"github.com/ax-scheduler/ax/dsl"
)

// Places of the protocol count lines from 0 and, within a line, UTF-16 code
// units; lines end at LF, CRLF or a lone CR. In this package a place is a byte
// offset, and these functions are the border. (Language Server Protocol 3.16,
// "Position".)

// offsetAt gives the byte offset of a place: at the latest that of the line's
// end, and of the text's where there are fewer lines.
func offsetAt(text []byte, p protocol.Position) int {
	at := 0
	for range p.Line {
		if at = lineEnd(text, at); at == len(text) {
			return at
		}
		at = skipBreak(text, at)
	}
	for units := uint32(0); at < len(text) && !isBreak(text[at]); {
		r, size := utf8.DecodeRune(text[at:])
		if units += uint32(utf16.RuneLen(r)); units > p.Character {
			break
		}
		at += size
	}
	return at
}

// positionOf gives the place of a byte offset.
func positionOf(src *dsl.Source, offset int) protocol.Position {
	from := lineStart(src.Text, min(offset, len(src.Text)))
	units := uint32(0)
	for _, r := range string(src.Text[from:min(offset, len(src.Text))]) {
		units += uint32(utf16.RuneLen(r))
	}
	return protocol.Position{Line: uint32(src.Pos(offset).Line - 1), Character: units}
}

// rangeOf gives the range of two byte offsets.
func rangeOf(src *dsl.Source, from, to int) protocol.Range {
	return protocol.Range{Start: positionOf(src, from), End: positionOf(src, to)}
}

// change is one of a didChange: of a range, or of all of the text. That of the
// library cannot tell them apart.
type change struct {
	Range *protocol.Range `json:"range"`
	Text  string          `json:"text"`
}

// changed gives a text with changes made, one after another.
func changed(text []byte, changes []change) []byte {
	for _, c := range changes {
		if c.Range == nil {
			text = []byte(c.Text)
			continue
		}
		from, to := offsetAt(text, c.Range.Start), offsetAt(text, c.Range.End)
		from, to = min(from, to), max(from, to)
		next := make([]byte, 0, len(text)-(to-from)+len(c.Text))
		next = append(append(append(next, text[:from]...), c.Text...), text[to:]...)
		text = next
	}
	return text
}

func isBreak(c byte) bool { return c == '\n' || c == '\r' }

// lineEnd gives the offset of the line end at or behind an offset.
func lineEnd(text []byte, at int) int {
	if i := bytes.IndexAny(text[at:], "\n\r"); i >= 0 {
		return at + i
	}
	return len(text)
}

// lineStart gives the offset at which the line of an offset begins.
func lineStart(text []byte, at int) int { return bytes.LastIndexAny(text[:at], "\n\r") + 1 }

// skipBreak goes over one line end.
func skipBreak(text []byte, at int) int {
	if bytes.HasPrefix(text[at:], []byte("\r\n")) {
		return at + 2
	}
	return min(at+1, len(text))
}
