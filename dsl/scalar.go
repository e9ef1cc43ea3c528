package dsl

import (
	"bytes"
	"unicode/utf8"
)

// skipBreaks goes over blanks and line ends and counts the latter.
func skipBreaks(text []byte, at int) (next, breaks int) {
	for ; at < len(text); at++ {
		switch {
		case isBreak(text[at]):
			if text[at] == '\r' && at+1 < len(text) && text[at+1] == '\n' {
				at++
			}
			breaks++
		case !isBlank(text[at]):
			return at, breaks
		}
	}
	return at, breaks
}

// escape gives how many bytes an escape makes and how many it takes.
func escape(text []byte) (made, size int) {
	if len(text) < 2 {
		return 1, 1
	}
	digits := 0
	switch text[1] {
	case 'N', '_':
		return 2, 2
	case 'L', 'P':
		return 3, 2
	case 'x':
		digits = 2
	case 'u':
		digits = 4
	case 'U':
		digits = 8
	default:
		_, size = utf8.DecodeRune(text[1:])
		return 1, 1 + size
	}
	var r rune
	for _, c := range text[2:min(2+digits, len(text))] {
		r = r<<4 | rune(hexDigit(c))
	}
	return max(utf8.RuneLen(r), 1), 2 + digits
}

func hexDigit(c byte) byte {
	switch {
	case c >= 'a':
		return c - 'a' + 10
	case c >= 'A':
		return c - 'A' + 10
	}
	return c - '0'
}

// block walks the content lines of a block scalar.
type block struct {
	text    []byte
	at      int // where the line after the present one begins
	indent  int // 0 until it is known
	minimum int // what the indentation is at least

	folded bool
	// The present line: where its text begins behind the indentation, where
	// it ends, and the line ends of the blank lines before it.
	from, to int
	blank    []int
}

// readBlock reads the header at an offset. The column is where the collection
// around the scalar begins, -1 for none.
func readBlock(text []byte, at, column int) block {
	b := block{text: text, folded: text[at] == '>', minimum: max(column+1, 1)}
	end := lineEnd(text, at)
	for _, c := range text[at+1 : min(at+3, end)] {
		if c >= '1' && c <= '9' {
			b.indent = max(column, 0) + int(c-'0')
		}
	}
	b.at = skipBreak(text, end)
	return b
}

// next goes to the next line that is not empty; false at the end of the
// scalar, where at is the start of the first line that is not its own.
func (b *block) next() bool {
	b.blank = b.blank[:0]
	after, deepest := b.at, 0
	for {
		at := after
		for at < len(b.text) && b.text[at] == ' ' && (b.indent == 0 || at-after < b.indent) {
			at++
		}
		width := at - after
		deepest = max(deepest, width)
		if at < len(b.text) && isBreak(b.text[at]) {
			b.blank = append(b.blank, at)
			after = skipBreak(b.text, at)
			continue
		}
		if b.indent == 0 {
			b.indent = max(deepest, b.minimum)
		}
		if at >= len(b.text) || width < b.indent {
			b.at = after
			return false
		}
		b.from, b.to = at, lineEnd(b.text, at)
		b.at = skipBreak(b.text, b.to)
		return true
	}
}

// runeStart goes back to the first byte of a character.
func runeStart(text []byte, at int) int {
	for at > 0 && at < len(text) && !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}

// skipBreak goes over one line end.
func skipBreak(text []byte, at int) int {
	if bytes.HasPrefix(text[at:], []byte("\r\n")) {
		return at + 2
	}
	return min(at+1, len(text))
}
