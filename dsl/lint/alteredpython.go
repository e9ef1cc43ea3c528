package lint

import (
	"path"
	"regexp"
	"strings"

	"github.com/ax-scheduler/ax/dsl"
)

// alteredPython reports the first line of a script for Python that YAML joined to
// a statement which was at its end.
func (p *pass) alteredPython(t *dsl.Task) {
	if len(t.Shell.Argv) == 0 || !pythonName.MatchString(path.Base(t.Shell.Argv[0])) {
		return
	}
	text, from := overwritten(t.Run.V), 0
	folds := p.Source.Folds(t.Run.Pos)
	open := pythonState{}
	for i, at := range folds {
		open.read(text[from:at])
		from = at
		end := len(text)
		if i+1 < len(folds) {
			end = folds[i+1]
		}
		what := ""
		switch line := text[max(0, at-20):at]; { // no more is needed of it
		case open.comment:
			what = "is in the comment above"
		case open.quote == "" && open.depth == 0 && !goesOn.MatchString(line) && !takesUp.MatchString(text[at:end]):
			what = "is no statement of its own"
		}
		if what != "" {
			p.within("altered-script", t.Run, at+1, end-at-1, keepLines, "YAML joins the lines of this script: for Python this one %s", what)
			return
		}
	}
}

var (
	pythonName = regexp.MustCompile(`^python[\d.]*$`)
	goesOn     = regexp.MustCompile(`([-+*/%=<>|&^~,;:.@]|\b(and|or|not|in|is|if|else|for|return|import|from|as|lambda|yield|assert|await|print))\s*$`)
	takesUp    = regexp.MustCompile(`^\s*([-+*/%=<>|&^,;:.)\]}]|(and|or|in|is|if|else|for|as|import|not)\b)`)
)

// pythonState is what a text of Python leaves open.
type pythonState struct {
	depth   int    // of brackets
	quote   string // that is not closed
	comment bool
}

func (s *pythonState) read(text string) {
	for i := 0; i < len(text); i++ {
		rest := text[i:]
		switch c := text[i]; {
		case s.comment:
			s.comment = c != '\n'
		case s.quote != "" && c == '\\':
			i++
		case s.quote != "":
			if strings.HasPrefix(rest, s.quote) {
				i += len(s.quote) - 1
				s.quote = ""
			}
		case c == '"' || c == '\'':
			s.quote = string(c)
			if three := strings.Repeat(s.quote, 3); strings.HasPrefix(rest, three) {
				s.quote = three
				i += 2
			}
		case c == '#':
			s.comment = true
		case strings.IndexByte("([{", c) >= 0:
			s.depth++
		case strings.IndexByte(")]}", c) >= 0:
			s.depth--
		}
	}
}
