package dsl

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxCells is how much of a line is shown, in terminal cells. Of a longer line
// the part around the place is shown.
const maxCells = 120

// Render prints diagnostics as a compiler does, each with its line and the
// place in it underlined, an empty line between two of them. A place that
// reaches over several lines is underlined to the end of the first. The source
// of a file is asked for once for each diagnostic; where it is nil, or the
// diagnostic is about a file as a whole, no line is shown.
func Render(w io.Writer, ds Diagnostics, source func(file string) *Source, color bool) error {
	b := bufio.NewWriter(w)
	for i, d := range ds {
		if i > 0 {
			b.WriteByte('\n')
		}
		r := renderer{b, color}
		r.head(d)
		gutter := max(len(strconv.Itoa(int(d.Pos.Line))), 2)
		if src := source(d.File); src != nil && d.Pos.Written() {
			r.excerpt(d, src, gutter)
		}
		if d.Hint != "" {
			fmt.Fprintf(b, "%*s%s help: %s\n", gutter+1, "", r.paint(blue, "="), d.Hint)
		}
	}
	return b.Flush()
}

// renderer prints one diagnostic.
type renderer struct {
	*bufio.Writer
	color bool
}

const (
	bold = "1"
	red  = "1;31"
	gold = "1;33"
	cyan = "1;36"
	blue = "1;34"
)

// paint puts a text into a colour, if there are any.
func (r renderer) paint(code, text string) string {
	if !r.color || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// head prints the first line. What of it comes from a file was made printable
// when the message was quoted; the file's own name was not.
func (r renderer) head(d Diagnostic) {
	place := strings.Map(printable, d.File)
	if d.Pos.Written() {
		place += fmt.Sprintf(":%d:%d", d.Pos.Line, d.Pos.Col)
	}
	fmt.Fprintf(r, "%s: %s %s [%s]\n", place, r.paint(shade(d.Severity), d.Severity.String()+":"), r.paint(bold, d.Message), d.Rule)
}

func shade(s Severity) string {
	return [...]string{Error: red, Warning: gold, Info: cyan}[s]
}

// excerpt prints the line and underlines the place.
func (r renderer) excerpt(d Diagnostic, src *Source, gutter int) {
	l := show(src, d.Pos, d.End)
	bar := r.paint(blue, "|")
	fmt.Fprintf(r, "%*s%s\n", gutter+1, "", bar)
	fmt.Fprintf(r, "%s %s %s\n", r.paint(blue, fmt.Sprintf("%*d", gutter, d.Pos.Line)), bar, l.text)
	fmt.Fprintf(r, "%*s%s %*s%s\n", gutter+1, "", bar, l.before, "", r.paint(shade(d.Severity), "^"+strings.Repeat("~", max(l.width, 1)-1)))
}

// shown is a line as it is printed: how many cells stand before the place, and
// how many the place takes.
type shown struct {
	text          string
	before, width int
}

// show prepares the line of a place. Of a long line it reads no more than it
// shows.
func show(src *Source, from, to Pos) shown {
	at, stop := src.Offset(from), len(src.Text)
	if to.Line == from.Line {
		stop = max(src.Offset(to), at)
	}
	start, cutLeft := src.back(at, maxCells)
	if cutLeft || !src.fits(start) {
		start, cutLeft = src.back(at, maxCells/2)
	}
	var b strings.Builder
	s, n, before := shown{}, 0, rune(0) // n: cells so far
	if cutLeft {
		b.WriteString("…")
		n = 1
	}
	for i := start; !src.ends(i); {
		if i == at {
			s.before = n
		}
		c, size := utf8.DecodeRune(src.Text[i:])
		c = printable(c)
		wide, text := cells(before, c), string(c)
		if c == '\t' {
			wide = tabWidth - n%tabWidth
			text = strings.Repeat(" ", wide)
		}
		if n+wide > maxCells {
			b.WriteString("…")
			n++
			break
		}
		b.WriteString(text)
		if i >= at && i < stop {
			s.width += wide
		}
		n, before, i = n+wide, c, i+size
	}
	if src.ends(at) {
		s.before = n
	}
	s.text = strings.TrimRight(b.String(), " ")
	return s
}

// back goes back from an offset by some cells, at most to the beginning of the
// line, and tells whether there is more before.
func (s *Source) back(at, room int) (start int, more bool) {
	for start = at; start > s.start().offset && !isBreak(s.Text[start-1]); {
		c, size := utf8.DecodeLastRune(s.Text[:start])
		if room -= cellsAtMost(c); room < 0 {
			return start, true
		}
		start -= size
	}
	return start, false
}

// ends tells whether a line ends at an offset.
func (s *Source) ends(at int) bool { return at >= len(s.Text) || isBreak(s.Text[at]) }

// fits tells whether all of the line behind an offset can be shown.
func (s *Source) fits(start int) bool {
	for room := maxCells; !s.ends(start); {
		c, size := utf8.DecodeRune(s.Text[start:])
		if room -= cellsAtMost(c); room < 0 {
			return false
		}
		start += size
	}
	return true
}

func cellsAtMost(c rune) int {
	if c == '\t' {
		return tabWidth
	}
	return max(cells(0, c), 1)
}
