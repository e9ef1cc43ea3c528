package server

import (
	"bytes"
	"fmt"
	"html/template"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// terminal turns what a program wrote for a terminal into markup: its colours
// become classes, everything else that is not text goes or is shown as an
// escape. A colour goes on from one line to the next.
type terminal struct {
	fg, bg                         int8 // from 1; 0 for the usual one
	bold, faint, italic, underline bool
	inverse                        bool
}

func (t *terminal) classes() string {
	var all []string
	fg, bg := t.fg, t.bg
	if t.inverse {
		fg, bg = bg, fg
		all = append(all, "inv")
	}
	if fg > 0 {
		all = append(all, "f"+strconv.Itoa(int(fg-1)))
	}
	if bg > 0 {
		all = append(all, "b"+strconv.Itoa(int(bg-1)))
	}
	for _, c := range []struct {
		on   bool
		name string
	}{{t.bold, "bold"}, {t.faint, "faint"}, {t.italic, "ital"}, {t.underline, "under"}} {
		if c.on {
			all = append(all, c.name)
		}
	}
	return strings.Join(all, " ")
}

// line gives the markup of one line.
func (t *terminal) line(text []byte) template.HTML {
	var out, piece strings.Builder
	flush := func() {
		if piece.Len() == 0 {
			return
		}
		text := template.HTMLEscapeString(piece.String())
		if class := t.classes(); class != "" {
			text = `<span class="` + class + `">` + text + `</span>`
		}
		out.WriteString(text)
		piece.Reset()
	}
	t.scan(overwritten(text), &piece, flush)
	flush()
	return template.HTML(out.String()) //nolint:gosec // all text went through HTMLEscapeString
}

// overwritten leaves out what a carriage return has let be overwritten.
func overwritten(text []byte) []byte {
	text = bytes.TrimRight(text, "\r")
	return text[bytes.LastIndexByte(text, '\r')+1:]
}

// scan writes the text of a line to piece; flush is called before the colours
// change.
func (t *terminal) scan(text []byte, piece *strings.Builder, flush func()) {
	for len(text) > 0 {
		if text[0] == 0x1b {
			params, final, rest := escape(text)
			if final == 'm' {
				flush()
				t.set(params)
			}
			text = rest
			continue
		}
		r, n := utf8.DecodeRune(text)
		text = text[n:]
		switch {
		case r == '\t' || r == ' ' || unicode.IsPrint(r):
			piece.WriteRune(r)
		case r < 0x20 || r == 0x7f:
			// a control of the terminal: bell, backspace
		default: // what turns or hides text is shown
			fmt.Fprintf(piece, "<U+%04X>", r)
		}
	}
}

// escape takes one escape sequence off the beginning of text.
func escape(text []byte) (params string, final byte, rest []byte) {
	if len(text) < 2 {
		return "", 0, nil
	}
	switch text[1] {
	case '[':
		for i := 2; i < len(text); i++ {
			if c := text[i]; c >= 0x40 && c <= 0x7e {
				return string(text[2:i]), c, text[i+1:]
			}
		}
		return "", 0, nil
	case ']', 'P', '_', '^', 'X': // a string for the terminal, to its end
		for i := 2; i < len(text); i++ {
			if text[i] == 0x07 {
				return "", 0, text[i+1:]
			}
			if text[i] == 0x1b && i+1 < len(text) && text[i+1] == '\\' {
				return "", 0, text[i+2:]
			}
		}
		return "", 0, nil
	}
	return "", 0, text[2:]
}

// set takes in the parameters of a sequence for colours.
func (t *terminal) set(params string) {
	codes := strings.FieldsFunc(params, func(r rune) bool { return r == ';' || r == ':' })
	if len(codes) == 0 {
		codes = []string{"0"}
	}
	for i := 0; i < len(codes); i++ {
		n, err := strconv.Atoi(codes[i])
		if err != nil {
			return
		}
		if n == 38 || n == 48 {
			colour, used := extended(codes[i+1:])
			if i += used; n == 38 {
				t.fg = colour
			} else {
				t.bg = colour
			}
			continue
		}
		t.code(n)
	}
}

func (t *terminal) code(n int) {
	switch {
	case n == 0:
		*t = terminal{}
	case n == 1:
		t.bold = true
	case n == 2:
		t.faint = true
	case n == 3:
		t.italic = true
	case n == 4:
		t.underline = true
	case n == 7:
		t.inverse = true
	case n == 22:
		t.bold, t.faint = false, false
	case n == 23:
		t.italic = false
	case n == 24:
		t.underline = false
	case n == 27:
		t.inverse = false
	case n >= 30 && n <= 37:
		t.fg = int8(n - 30 + 1)
	case n == 39:
		t.fg = 0
	case n >= 40 && n <= 47:
		t.bg = int8(n - 40 + 1)
	case n == 49:
		t.bg = 0
	case n >= 90 && n <= 97:
		t.fg = int8(n - 90 + 9)
	case n >= 100 && n <= 107:
		t.bg = int8(n - 100 + 9)
	}
}

// extended gives the nearest of the sixteen colours to one of 256 or of all, and
// how many codes it took.
func extended(codes []string) (colour int8, used int) {
	number := func(i int) int {
		if i >= len(codes) {
			return 0
		}
		n, _ := strconv.Atoi(codes[i]) // 0 where it is none
		return min(max(n, 0), 255)
	}
	switch number(0) {
	case 5:
		n := number(1)
		switch {
		case n < 16:
			return int8(n + 1), 2
		case n >= 232:
			grey := (n - 232) * 255 / 23
			return nearest(grey, grey, grey), 2
		}
		n -= 16
		return nearest(n/36*51, n/6%6*51, n%6*51), 2
	case 2:
		return nearest(number(1), number(2), number(3)), 4
	}
	return 0, 1
}

func nearest(r, g, b int) int8 {
	bright := max(r, g, b)
	if bright < 48 {
		return 1
	}
	n := int8(0)
	for i, v := range []int{r, g, b} {
		if v*2 > bright {
			n |= 1 << i
		}
	}
	if bright > 200 {
		n += 8
	}
	return n + 1
}

// plain gives the text of a line alone.
func plain(text []byte) string {
	var t terminal
	var out strings.Builder
	t.scan(overwritten(text), &out, func() {})
	return out.String()
}
