package layout

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Font sizes in pixels.
const (
	labelSize = 13
	noteSize  = 11
	wireSize  = 11
)

// clean makes s fit for showing: what is not UTF-8, what XML forbids and what
// would turn the direction of the text around becomes U+FFFD, and white space
// becomes a space.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t', r == '\n', r == '\r', r == '\u2028', r == '\u2029':
			return ' '
		case unicode.IsControl(r), r == 0xFFFE, r == 0xFFFF,
			r >= 0x202A && r <= 0x202E, r >= 0x2066 && r <= 0x2069:
			return utf8.RuneError
		}
		return r // an invalid byte arrives here as U+FFFD
	}, s)
}

// shown is the text of the first line of a node.
func (n *Node) shown() string {
	if n.Label != "" {
		return clean(n.Label)
	}
	return clean(n.ID)
}

// textWidth estimates the pixels that s takes in a sans-serif font, on the wide
// side: an SVG cannot measure, and centred text hides what is too much.
func textWidth(s string, size int) int {
	sum := 0
	for _, r := range s {
		sum += advance(r)
	}
	return (sum*size + 999) / 1000
}

// advance is the width of a character in thousandths of the font size.
func advance(r rune) int {
	switch {
	case r < 0x80:
		return ascii(byte(r))
	case unicode.Is(unicode.Mn, r), unicode.Is(unicode.Me, r), unicode.Is(unicode.Cf, r):
		return 0
	case r >= 0x1100 && r <= 0x115F, r >= 0x2E80 && r <= 0xA4CF, r >= 0xAC00 && r <= 0xD7A3,
		r >= 0xF900 && r <= 0xFAFF, r >= 0xFE30 && r <= 0xFE6F, r >= 0xFF00 && r <= 0xFF60,
		r >= 0x1F000, r == utf8.RuneError, r == '…':
		return 1030
	}
	return 680
}

func ascii(c byte) int {
	switch {
	case strings.IndexByte("iIjl.,:;'|! ", c) >= 0:
		return 320
	case strings.IndexByte("frt()[]/\\-`\"*", c) >= 0:
		return 420
	case strings.IndexByte("mMW%@", c) >= 0:
		return 990
	case c == 'w':
		return 820
	case c >= 'A' && c <= 'Z', c == '+', c == '=', c == '<', c == '>', c == '~', c == '#':
		return 750
	}
	return 630
}

// ellipsis shortens s to a width. The middle is what goes, for names that
// differ differ most often at their end.
func ellipsis(s string, size, width int) string {
	if textWidth(s, size) <= width {
		return s
	}
	budget := (width*1000/size - advance('…')) / 2
	runes := []rune(s)
	head, tail := 0, len(runes)
	for used := 0; head < tail; head++ {
		if used += advance(runes[head]); used > budget {
			break
		}
	}
	for used := 0; tail > head; tail-- {
		if used += advance(runes[tail-1]); used > budget {
			break
		}
	}
	for tail < len(runes) && advance(runes[tail]) == 0 {
		tail++ // an accent must not land on the dots
	}
	return strings.TrimRight(string(runes[:head]), " ") + "…" + strings.TrimLeft(string(runes[tail:]), " ")
}
