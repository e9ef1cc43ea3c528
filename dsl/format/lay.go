package format

import (
	"slices"
	"strings"
)

// note is a line between values: a comment or, without text, a blank line.
type note struct {
	column int
	text   string
}

// ignoreWord is in comments that are about the next line.
const ignoreWord = "ax-ignore:"

// tidy gives the lines of notes, with no two blank ones next to each other.
func tidy(notes []note) (lines []string) {
	for _, n := range notes {
		if n.text != "" || len(lines) == 0 || lines[len(lines)-1] != "" {
			lines = append(lines, n.text)
		}
	}
	return lines
}

// between parts the lines between the last entry of a group and its next. What
// it gives stands above the next: all but comments that are indented more
// deeply, which belong to what the last entry holds, and comments that follow
// it without a blank line, but have one behind them.
func (g *group) between(notes []note) []note {
	last, deep := g.entries[len(g.entries)-1], 0
	for i, n := range notes {
		if n.text != "" && (n.column <= g.column || strings.Contains(n.text, ignoreWord)) {
			break
		}
		if n.text != "" {
			deep = i + 1
		}
	}
	last.hold(notes[:deep])
	notes = notes[deep:]
	foot := slices.IndexFunc(notes, func(n note) bool { return n.text == "" })
	if foot <= 0 || slices.ContainsFunc(notes[:foot], func(n note) bool { return strings.Contains(n.text, ignoreWord) }) {
		return notes
	}
	last.foot = notes[:foot]
	return notes[foot:]
}

// hold gives an entry comments that are indented more deeply than it.
func (e *entry) hold(notes []note) {
	if e.inner != nil && len(notes) > 0 {
		e.inner.below(notes)
	} else {
		e.deep = notes
	}
}

// below gives a group the lines below its last entry.
func (g *group) below(notes []note) {
	g.tail = g.between(notes)
	if last := g.entries[len(g.entries)-1]; len(last.foot) > 0 { // nothing comes that it must be told from
		g.tail, last.foot = append(last.foot, g.tail...), nil
	}
}

// lines gives the whole file.
func (d *document) lines() []string {
	lines := append(slices.Clone(d.before), d.root.page().lines...)
	return append(lines, d.after...)
}

// page is what a group is written to.
type page struct {
	lines []string
	keeps bool // a blank line now would be part of a block scalar
}

// notes writes comments and single blank lines. None is written first on a
// page, nor where it would be part of a text.
func (p *page) notes(lines []string, indent int) {
	for _, line := range lines {
		last := len(p.lines) - 1
		switch {
		case line != "":
			p.lines = append(p.lines, indented(line, indent))
			p.keeps = false
		case last >= 0 && !p.keeps && p.lines[last] != "":
			p.lines = append(p.lines, "")
		}
	}
}

// closed gives the lines without blank ones at the end that belong to nothing.
func (p *page) closed() []string {
	if last := len(p.lines) - 1; last >= 0 && p.lines[last] == "" && !p.keeps {
		return p.lines[:last]
	}
	return p.lines
}

// page writes a group, relative to its column.
func (g *group) page() *page {
	p := &page{}
	p.notes(tidy(g.head), 0)
	for i, e := range g.entries {
		lead := tidy(e.lead)
		if i > 0 && (len(g.entries[i-1].foot) > 0 || parted(lead)) {
			p.notes([]string{""}, 0)
		}
		p.notes(lead, 0)
		e.write(p)
	}
	p.notes(tidy(g.tail), 0)
	p.lines = p.closed()
	return p
}

// parted tells whether there is a blank line below a comment above an entry:
// then one above the comment too keeps it from the entry before.
func parted(lead []string) bool {
	return len(lead) > 0 && lead[0] != "" && slices.Contains(lead, "")
}

// write writes an entry with what stands below it.
func (e *entry) write(p *page) {
	first := e.head
	if len(e.value) > 0 {
		first += " " + e.value[0]
	}
	lines := e.below
	if len(e.value) > 1 {
		lines = e.value[1:]
	}
	keeps := e.keeps
	if e.inner != nil {
		inner := e.inner.page()
		keeps = inner.keeps
		for _, line := range inner.lines {
			lines = append(lines, indented(line, step))
		}
		if e.compact { // comments above the first entry stand above the dash
			above := slices.IndexFunc(inner.lines, func(line string) bool { return line != "" && line[0] != '#' })
			p.notes(inner.lines[:above], 0)
			first += " " + inner.lines[above]
			lines = lines[above+1:]
		}
	}
	p.lines = append(append(p.lines, first), lines...)
	p.keeps = keeps
	deeper := step
	if e.block { // what is as deep as its text would be part of it
		deeper = 0
	}
	p.notes(tidy(e.deep), deeper)
	p.notes(tidy(e.foot), 0)
}

// indented puts blanks before a line that is not empty.
func indented(line string, blanks int) string {
	if line == "" {
		return ""
	}
	return strings.Repeat(" ", blanks) + line
}
