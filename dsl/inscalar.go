package dsl

import (
	"slices"
	"sort"
	"unicode/utf8"
)

// InScalar maps a byte offset in the value of a scalar back to the file. The
// scalar begins at p (an anchor or tag before it is skipped) and may be plain,
// quoted or a block, on any number of lines. The offset of a character that an
// escape or the folding of lines made gives the place of the escape or of the
// line end; an offset behind the value gives the place behind its last
// character. All places in one scalar together take time linear in its size.
func (s *Source) InScalar(p Pos, offset int) Pos {
	at := s.skipProperties(s.Offset(p))
	if at >= len(s.Text) {
		return s.Pos(at)
	}
	s.walking.Lock()
	defer s.walking.Unlock()
	way := s.trails[at]
	if way == nil {
		way = &trail{}
	}
	found := s.inScalar(way, at, offset)
	if len(way.flow) > 0 || len(way.block) > 0 {
		if s.trails == nil {
			s.trails = map[int]*trail{}
		}
		s.trails[at] = way
	}
	return s.Pos(found)
}

func (s *Source) inScalar(way *trail, at, offset int) int {
	switch c := s.Text[at]; c {
	case '|', '>':
		if block, column := s.blockAt(at); block {
			return way.inBlock(s.Text, at, column, offset)
		}
	case '"', '\'':
		return way.inFlow(s.Text, at+1, c, offset)
	}
	return way.inFlow(s.Text, at, 0, offset)
}

// blockAt tells whether a block scalar begins at an offset, and in which
// column the collection around it begins.
func (s *Source) blockAt(at int) (bool, int) {
	t, c := s.tokenAt(at)
	return t.kind == blockToken && t.start == at, c.column
}

// trail remembers stations on the way through a scalar, so that not every place
// in it is looked for from its beginning. A station may be left for a place
// where more of the value comes before the place than before the station.
type trail struct {
	flow  []station
	block []blockWalk
}

// trailStep is the distance of stations in bytes of the text.
const trailStep = 512

// station is a place in a quoted or plain scalar, and how many bytes of the
// value come before it.
type station struct{ n, at int }

// inFlow finds the offset in the text of the byte that is number want of the
// value of a quoted or plain (quote 0) scalar whose characters begin at an
// offset.
func (way *trail) inFlow(text []byte, at int, quote byte, want int) int {
	n, last := 0, at
	if k := len(way.flow); k > 0 {
		last = way.flow[k-1].at
	}
	if i := sort.Search(len(way.flow), func(i int) bool { return way.flow[i].n >= want }); i > 0 {
		n, at = way.flow[i-1].n, way.flow[i-1].at
	}
	for at < len(text) {
		if at >= last+trailStep {
			way.flow, last = append(way.flow, station{n, at}), at
		}
		c := text[at]
		if c == '\\' && quote == '"' && at+1 < len(text) && isBreak(text[at+1]) {
			var breaks int
			at, breaks = skipBreaks(text, at+1)
			n += max(breaks-1, 0)
			continue
		}
		if n >= want || c == quote && !(c == '\'' && at+1 < len(text) && text[at+1] == '\'') {
			return at
		}
		made, size := flowStep(text, at, quote)
		switch {
		case n+made <= want:
		case isBlank(c) && made == size: // several blanks
			return at + want - n
		default:
			return at
		}
		n += made
		at += size
	}
	return len(text)
}

// flowStep gives how many bytes of the value the next piece of a quoted or plain
// scalar makes, and how many bytes of the text it takes.
func flowStep(text []byte, at int, quote byte) (made, size int) {
	switch c := text[at]; {
	case isBlank(c) || isBreak(c):
		next, breaks := skipBreaks(text, at)
		if breaks == 0 {
			return next - at, next - at
		}
		return max(breaks-1, 1), next - at
	case c == '\\' && quote == '"':
		return escape(text[at:])
	case c == '\'' && quote == '\'':
		return 1, 2
	case c >= utf8.RuneSelf:
		_, size = utf8.DecodeRune(text[at:])
		return size, size
	}
	return 1, 1
}

// blockWalk is at a line of a block scalar.
type blockWalk struct {
	block
	n        int  // bytes of the value before the end of the line before
	last     int  // where the line before ended, -1 for none
	indented bool // the line before has blanks of its own
	end      int  // where the text ends so far
}

// inBlock finds the offset in the text of the byte that is number want of the
// value of the block scalar whose header is at an offset.
func (way *trail) inBlock(text []byte, at, column, want int) int {
	w, more, last := blockWalk{}, true, at
	if k := len(way.block); k > 0 {
		last = way.block[k-1].at
	}
	if i := sort.Search(len(way.block), func(i int) bool { return way.block[i].n >= want }); i > 0 {
		w = way.block[i-1]
		w.blank = slices.Clone(w.blank)
	} else {
		w = blockWalk{block: readBlock(text, at, column), last: -1, end: lineEnd(text, at)}
		more = w.next()
	}
	for ; more; more = w.next() {
		if w.at >= last+trailStep {
			last = w.at
			kept := w
			kept.blank = slices.Clone(w.blank)
			way.block = append(way.block, kept)
		}
		if found := w.line(want); found >= 0 {
			return found
		}
	}
	switch { // the kept line ends behind the last line
	case want == w.n || len(w.blank) == 0:
		return w.end
	case w.last >= 0:
		w.n++
	}
	return w.blank[min(max(want-w.n, 0), len(w.blank)-1)]
}

// line finds a byte of the value in the present line or in the blank ones
// before it; -1 if it is further on.
func (w *blockWalk) line(want int) int {
	blank := isBlank(w.text[w.from])
	if w.last >= 0 && !(w.folded && !w.indented && !blank && len(w.blank) > 0) {
		if w.n == want {
			return w.last
		}
		w.n++ // its line end, or the blank that it was folded to
	}
	if want < w.n+len(w.blank) {
		return w.blank[want-w.n]
	}
	w.n += len(w.blank)
	if want <= w.n+w.to-w.from {
		return runeStart(w.text, w.from+want-w.n)
	}
	w.n += w.to - w.from
	w.last, w.indented, w.end = w.to, blank, w.to
	return -1
}
