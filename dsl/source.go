package dsl

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"sort"
	"sync"
	"unicode/utf8"
)

// Source is the text of one workflow file and the map between its bytes and
// its lines and columns. Lines end at LF, CRLF or a lone CR, as editors see
// them; a byte-order mark at the beginning belongs to no column. It is safe for
// concurrent use.
type Source struct {
	File string // the name that diagnostics give
	Text []byte // as it was read; never changed

	indexed sync.Once
	index   []mark // sparse; only made when a place is asked for

	scanned sync.Once
	states  []scanner // sparse; only made when an extent is asked for
	long    []extent

	walking sync.Mutex
	trails  map[int]*trail // through long scalars, by their offsets; only made when a place in one is asked for
}

// NewSource wraps the text of a file. The text must not be changed afterwards.
func NewSource(file string, text []byte) *Source { return &Source{File: file, Text: text} }

// Hash identifies this version of the file: the SHA-256 of its bytes, in hex.
func (s *Source) Hash() string {
	sum := sha256.Sum256(s.Text)
	return hex.EncodeToString(sum[:])
}

// Diagnostic makes a diagnostic about the token at a place of this file: its
// end is found by Span. The zero Pos stands for the file as a whole.
func (s *Source) Diagnostic(rule string, severity Severity, at Pos, message, hint string) Diagnostic {
	if end := s.Pos(len(s.Text)); at.compare(end) > 0 {
		at = end // a value that is missing at the end stands behind it for YAML's parser
	}
	d := Diagnostic{File: s.File, Pos: at, Severity: severity, Rule: rule, Message: message, Hint: hint}
	if at.Written() {
		d.End = s.Span(at)
	}
	return d
}

// DiagnosticInScalar makes a diagnostic about width bytes at an offset of the
// value of the scalar that begins at a place; see InScalar.
func (s *Source) DiagnosticInScalar(rule string, severity Severity, scalar Pos, offset, width int, message, hint string) Diagnostic {
	d := Diagnostic{File: s.File, Severity: severity, Rule: rule, Message: message, Hint: hint}
	d.Pos = s.InScalar(scalar, offset)
	d.End = s.InScalar(scalar, offset+max(width, 1))
	if d.End.compare(d.Pos) <= 0 {
		d.End = Pos{d.Pos.Line, d.Pos.Col + 1}
	}
	return d
}

const bom = "\ufeff"

// markStep is the distance of marks in bytes: small enough that walking from
// one to a place costs nothing beside the rest of a diagnostic, large enough
// that the index is small beside the text.
const markStep = 256

// mark is a place of which both forms are known. The offset is that of a
// character, never the middle of one nor the LF of a CRLF.
type mark struct {
	offset int
	pos    Pos
}

func (s *Source) start() mark {
	m := mark{0, Pos{1, 1}}
	if bytes.HasPrefix(s.Text, []byte(bom)) {
		m.offset = len(bom)
	}
	return m
}

// step goes on by one character.
func (s *Source) step(m mark) mark {
	switch c := s.Text[m.offset]; {
	case c == '\r' && m.offset+1 < len(s.Text) && s.Text[m.offset+1] == '\n':
		return mark{m.offset + 2, Pos{m.pos.Line + 1, 1}}
	case isBreak(c):
		return mark{m.offset + 1, Pos{m.pos.Line + 1, 1}}
	case c < utf8.RuneSelf:
		return mark{m.offset + 1, Pos{m.pos.Line, m.pos.Col + 1}}
	}
	_, size := utf8.DecodeRune(s.Text[m.offset:])
	return mark{m.offset + size, Pos{m.pos.Line, m.pos.Col + 1}}
}

func (s *Source) marks() []mark {
	s.indexed.Do(func() {
		m := s.start()
		s.index = append(make([]mark, 0, len(s.Text)/markStep+1), m)
		for next := markStep; m.offset < len(s.Text); m = s.step(m) {
			for end := min(next, len(s.Text)-1); m.offset < end && isSimple(s.Text[m.offset]); m.offset++ { // what step does, faster
				m.pos.Col++
			}
			if m.offset >= next {
				s.index = append(s.index, m)
				next = m.offset + markStep
			}
		}
	})
	return s.index
}

// Offset gives the byte offset of a place. Behind the end of a line it gives
// the end of that line, behind the last line the end of the text.
func (s *Source) Offset(p Pos) int {
	marks := s.marks()
	i := sort.Search(len(marks), func(i int) bool { return marks[i].pos.compare(p) > 0 })
	m := marks[max(i-1, 0)]
	for m.offset < len(s.Text) && m.pos.compare(p) < 0 {
		next := s.step(m)
		if next.pos.compare(p) > 0 {
			break
		}
		m = next
	}
	return m.offset
}

// Pos gives the place of a byte offset, at the latest that of the end of the
// text.
func (s *Source) Pos(offset int) Pos {
	marks := s.marks()
	i := sort.Search(len(marks), func(i int) bool { return marks[i].offset > offset })
	m := marks[max(i-1, 0)]
	for m.offset < len(s.Text) && m.offset < offset {
		next := s.step(m)
		if next.offset > offset {
			break
		}
		m = next
	}
	return m.pos
}

// Line gives the text of a line, without its end; nothing where there is no
// such line.
func (s *Source) Line(n int) string {
	p := Pos{int32(n), 1}
	from := s.Offset(p)
	if s.Pos(from) != p {
		return ""
	}
	return string(s.Text[from:lineEnd(s.Text, from)])
}

// lineEnd gives the offset of the line end at or behind an offset.
func lineEnd(text []byte, at int) int {
	if i := bytes.IndexAny(text[at:], "\n\r"); i >= 0 {
		return at + i
	}
	return len(text)
}

// lineStart gives the offset at which the line of an offset begins.
func lineStart(text []byte, at int) int {
	for at > 0 && !isBreak(text[at-1]) {
		at--
	}
	return at
}

// lineBefore gives where the line before one begins that begins at an offset.
func lineBefore(text []byte, at int) int {
	if at >= 2 && text[at-1] == '\n' && text[at-2] == '\r' {
		at--
	}
	return lineStart(text, max(at-1, 0))
}

func isBreak(c byte) bool { return c == '\n' || c == '\r' }
func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// isSimple tells whether a byte is a character of its own that ends no line.
func isSimple(c byte) bool { return c < utf8.RuneSelf && !isBreak(c) }
