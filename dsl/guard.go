package dsl

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// MaxSize is how many bytes of a workflow file are read at most.
const MaxSize = 16 << 20

// The characters that YAML 1.1, but neither YAML 1.2 nor an editor, takes for
// line ends.
const (
	nextLine           = '\u0085'
	lineSeparator      = '\u2028'
	paragraphSeparator = '\u2029'
)

// guard looks for what no YAML parser should be asked to read: too much of it,
// another encoding, control characters. It gives the first that it finds; odd
// tells whether there are characters that yaml.v3 takes for line ends.
func (s *Source) guard() (bad *Diagnostic, odd bool) {
	if len(s.Text) > MaxSize {
		d := s.Diagnostic("too-large", Error, Pos{},
			fmt.Sprintf("the file has more than %d MiB, which is the most that is read", MaxSize>>20),
			"split the workflow, or generate smaller ones")
		return &d, false
	}
	if name := wideEncoding(s.Text); name != "" {
		d := s.Diagnostic("syntax", Error, Pos{1, 1}, "the file is encoded as "+name+", not as UTF-8", "save it as UTF-8")
		d.End = Pos{1, 2}
		return &d, false
	}
	for i, size := s.start().offset, 0; i < len(s.Text); i += size {
		r := rune(s.Text[i])
		if size = 1; r >= ' ' && r <= '~' {
			continue
		}
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(s.Text[i:])
		}
		switch {
		case r == utf8.RuneError && size == 1:
			return s.badCharacter(i, fmt.Sprintf("invalid UTF-8: byte 0x%02x", s.Text[i]),
				"save the file as UTF-8; it may be in Latin-1 or another older encoding"), odd
		case r == nextLine || r == lineSeparator || r == paragraphSeparator:
			odd = true
		case isOddBlank(r) && s.indentsKey(i):
			return s.badCharacter(i, oddBlankMessage(r), oddBlankHint), odd
		case isControl(r):
			return s.badCharacter(i, fmt.Sprintf("control character %U", r),
				`remove it; within double quotes it can be written as an escape such as "\x1b"`), odd
		}
	}
	return nil, odd
}

func (s *Source) badCharacter(at int, message, hint string) *Diagnostic {
	p := s.Pos(at)
	return &Diagnostic{File: s.File, Pos: p, End: Pos{p.Line, p.Col + 1}, Rule: "syntax", Message: message, Hint: hint}
}

// isControl tells whether YAML forbids a character.
func isControl(r rune) bool {
	switch {
	case r < ' ':
		return r != '\t' && r != '\n' && r != '\r'
	case r >= 0x7f && r <= 0x9f:
		return r != nextLine
	}
	return r == 0xfffe || r == 0xffff
}

// wideEncoding names an encoding of two or four bytes a character, known by
// its byte-order mark or by the zero bytes of its first ASCII character.
func wideEncoding(text []byte) string {
	for _, e := range []struct{ mark, name string }{
		{"\x00\x00\xfe\xff", "UTF-32 (big-endian)"},
		{"\xff\xfe\x00\x00", "UTF-32 (little-endian)"},
		{"\xfe\xff", "UTF-16 (big-endian)"},
		{"\xff\xfe", "UTF-16 (little-endian)"},
	} {
		if bytes.HasPrefix(text, []byte(e.mark)) {
			return e.name
		}
	}
	if len(text) < 4 {
		return ""
	}
	zeros := ""
	for _, b := range text[:4] {
		zeros += map[bool]string{true: "0", false: "x"}[b == 0]
	}
	return map[string]string{
		"000x": "UTF-32 (big-endian)", "x000": "UTF-32 (little-endian)",
		"0x0x": "UTF-16 (big-endian)", "x0x0": "UTF-16 (little-endian)",
	}[zeros]
}

// readable gives the text that yaml.v3 reads instead of the file's own, with
// every character in its place, and what undoes the change in values (nil for
// nothing). Two things differ: characters that are line ends only for YAML 1.1
// are replaced by unused ones, and a %YAML directive, which yaml.v3 refuses for
// 1.2, becomes a comment.
func (s *Source) readable(odd bool) ([]byte, *strings.Replacer) {
	text := s.Text
	if at := directive(text, s.start().offset); at >= 0 {
		text = bytes.Clone(text)
		text[at] = '#'
	}
	if !odd {
		return text, nil
	}
	var there, back []string
	unused := rune(0xF0000)
	escapes := bytes.ToUpper(text)
	for _, r := range []rune{nextLine, lineSeparator, paragraphSeparator} {
		for bytes.ContainsRune(text, unused) || bytes.Contains(escapes, fmt.Appendf(nil, `\U%08X`, unused)) {
			unused++
		}
		there = append(there, string(r), string(unused))
		back = append(back, string(unused), string(r))
		unused++
	}
	return []byte(strings.NewReplacer(there...).Replace(string(text))), strings.NewReplacer(back...)
}

// directive finds a %YAML 1.x line before the document, or gives -1.
func directive(text []byte, at int) int {
	for at < len(text) {
		line := text[at:lineEnd(text, at)]
		switch {
		case bytes.HasPrefix(line, []byte("%YAML 1.")):
			return at
		case len(line) > 0 && line[0] != '#' && line[0] != '%':
			return -1
		}
		at = skipBreak(text, at+len(line))
	}
	return -1
}
