package lint

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/ax-scheduler/ax/dsl"
)

// The most lines that are mended in a file, and the largest file in which any is:
// each costs another reading of the file.
const (
	mostMended  = 10
	mendedBytes = 1 << 20
)

// standIns puts, for each file that is no YAML for a slip in single lines, one in
// its place in which these lines are mended: so a slip hides no other mistake.
func standIns(files []*File) []*File {
	all := slices.Clone(files)
	for i, f := range all {
		if f.Workflow == nil && len(f.Source.Text) <= mendedBytes {
			if m := mended(f); m != nil {
				all[i] = m
			}
		}
	}
	return all
}

// mended gives a file with its broken lines mended, all other lines being what
// they were; nil where it cannot be read even so. What is reported about it is
// the slips, and what is wrong elsewhere.
func mended(f *File) *File {
	slips := slices.Clone(f.Diagnostics)
	lines := map[int32]bool{}
	for text := f.Source.Text; len(slips) <= mostMended; {
		last := slips[len(slips)-1]
		if last.Rule != "syntax" || lines[last.Pos.Line] {
			return nil
		}
		var ok bool
		if text, ok = mendLine(text, int(last.Pos.Line)); !ok {
			return nil
		}
		lines[last.Pos.Line] = true
		m := Parse(f.Source.File, text, f.Dir, f.Folder)
		if m.Workflow != nil {
			m.mended = lines
			m.Diagnostics = append(slips, m.Diagnostics...)
			return m
		}
		slips = append(slips, m.Diagnostics...)
	}
	return nil
}

// elsewhere leaves out what is said about mended lines, but for the slips.
func (f *File) elsewhere(ds dsl.Diagnostics) dsl.Diagnostics {
	if len(f.mended) == 0 {
		return ds
	}
	return slices.DeleteFunc(ds, func(d dsl.Diagnostic) bool { return f.mended[d.Pos.Line] && d.Rule != "syntax" })
}

// valued is a line with a value that may be text: behind dashes, a key or both.
var valued = regexp.MustCompile(`^([ ]*(?:- +)*(?:[\w-]+:[ \t]+|- +))([^\s|>&*#].*)$`)

// alias is the same where an asterisk begins a text rather than the name of an
// anchor.
var alias = regexp.MustCompile(`^([ ]*(?:- +)*[\w-]+:[ \t]+)(\*(?:[ /].*)?)$`)

// mendLine makes text of what a line gives a key, or indents it by blanks like
// the line below; false where neither can be done.
func mendLine(text []byte, number int) ([]byte, bool) {
	lines := bytes.Split(text, []byte("\n"))
	if number < 1 || number > len(lines) {
		return nil, false
	}
	line := strings.TrimSuffix(string(lines[number-1]), "\r")
	body := strings.TrimLeft(line, " \t")
	if strings.Contains(line[:len(line)-len(body)], "\t") {
		below := indentBelow(lines[number:])
		lines[number-1] = []byte(below + body)
		return bytes.Join(lines, []byte("\n")), !strings.Contains(below, "\t")
	}
	m := valued.FindStringSubmatch(line)
	if m == nil {
		m = alias.FindStringSubmatch(line)
	}
	if m == nil {
		return nil, false
	}
	lines[number-1] = []byte(m[1] + "'" + strings.ReplaceAll(m[2], "'", "''") + "'")
	return bytes.Join(lines, []byte("\n")), true
}

// indentBelow gives the indentation of the first line that has text.
func indentBelow(lines [][]byte) string {
	for _, l := range lines {
		if body := bytes.TrimLeft(l, " \t"); len(bytes.TrimSpace(body)) > 0 {
			return string(l[:len(l)-len(body)])
		}
	}
	return ""
}
