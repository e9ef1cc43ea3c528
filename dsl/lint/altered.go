package lint

import (
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/dsl/expression"
)

const keepLines = `write "run: |", which keeps the lines`

// altered reports a script that YAML has changed on its way to the shell so that
// it does something else than its lines say: lines that were joined to one. The
// first such place is reported, for one remedy is good for all of them.
func (p *pass) altered(t *dsl.Task, s *script) {
	folds := p.Source.Folds(t.Run.Pos)
	if len(folds) == 0 {
		return
	}
	j := &joined{text: s.text, folds: folds}
	s.tree.Walk(j.visit)
	if j.what != "" {
		p.within("altered-script", t.Run, j.from, j.to-j.from, keepLines, "YAML joins the lines of this script: %s", j.what)
	}
}

// joined looks for the first place of a script at which lines were joined that
// were surely meant to be several.
type joined struct {
	text     string
	folds    []int // in ascending order
	from, to int
	what     string
}

func (j *joined) say(from, to int, what string) {
	if j.what == "" || from < j.from {
		j.from, j.to, j.what = from, to, what
	}
}

func (j *joined) visit(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.Comment:
		from, to := int(n.Hash.Offset()), int(n.End().Offset())
		if i, _ := slices.BinarySearch(j.folds, from); i < len(j.folds) && j.folds[i] < to {
			j.say(from, to, "for the shell all that follows this # is a comment")
		}
	case *syntax.Lit:
		from, to := int(n.Pos().Offset()), int(n.End().Offset())
		for i, _ := slices.BinarySearch(j.folds, from); i < len(j.folds) && j.folds[i] < to; i++ {
			if at := j.folds[i]; escaped(j.text[:at]) {
				j.say(at-1, at, "this backslash makes the blank behind it a part of a word")
			}
		}
	case *syntax.CallExpr:
		j.call(n)
	}
	return true
}

// escaped tells whether a text ends with a backslash that is not itself escaped.
func escaped(text string) bool {
	return (len(text)-len(strings.TrimRight(text, `\`)))%2 == 1
}

// call looks for a line that became arguments of the command above it.
func (j *joined) call(c *syntax.CallExpr) {
	for i, w := range c.Args {
		if i == 0 || !j.beginsLine(w) || !surplus(c, i) {
			continue
		}
		at := int(w.Pos().Offset())
		end := len(j.text)
		if next, _ := slices.BinarySearch(j.folds, at); next < len(j.folds) {
			end = j.folds[next]
		}
		j.say(at, min(end, int(c.End().Offset())), "the shell takes this one for arguments of \""+c.Args[0].Lit()+"\"")
		return
	}
}

func (j *joined) beginsLine(w *syntax.Word) bool {
	_, ok := slices.BinarySearch(j.folds, int(w.Pos().Offset())-1)
	return ok
}

// commands are names of programs that hardly stand for anything else, and that
// run no program that their arguments name.
var commands = strings.Fields("awk aws chmod chown cp curl echo gsutil gzip mkdir mv mysql pg_dump printf psql python python3 rm rsync scp sqlite3 tar wget")

var (
	setFlags   = regexp.MustCompile(`^[-+][a-np-z]+$`)
	exportable = regexp.MustCompile(`^[A-Za-z_]\w*(=.*)?$`)
	duration   = regexp.MustCompile(`^[\d.]+[smhd]?$|^infinity$`)
)

// surplus tells whether the word of a command, which begins a line, is one that
// the command cannot be meant to have.
func surplus(c *syntax.CallExpr, i int) bool {
	text, written := literal(c.Args[i])
	first, _ := literal(c.Args[1])
	switch name := c.Args[0].Lit(); name {
	case "cd", "exit", "umask", "shift", "return":
		return i > 1
	case "set":
		return i == 2 && setFlags.MatchString(first) && written && !setFlags.MatchString(text)
	case "export", "readonly":
		return i > 1 && written && !exportable.MatchString(text) && !strings.HasPrefix(text, "-")
	case "sleep":
		return i > 1 && written && !duration.MatchString(text)
	default:
		return slices.Contains(commands, name) && slices.Contains(commands, text) && i < len(c.Args)-1 && c.Args[i].Lit() != ""
	}
}

// joinedBadly reports a script that the shell cannot read because YAML joined
// its lines, or because it took a part of its line for a comment.
func (p *pass) joinedBadly(t *dsl.Task, lang syntax.LangVariant, s *script) bool {
	reads := func(text string) bool {
		_, err := p.scripts.Parser(lang).Parse(strings.NewReader(overwritten(text)), "")
		return err == nil
	}
	if from, to, ok := p.Source.CommentBehind(t.Run.Pos); ok {
		comment := string(p.Source.Text[from:to])
		if reads(t.Run.V + " " + comment) {
			p.commentTaken("shell-syntax", from, to)
			return true
		}
	}
	folds := p.Source.Folds(t.Run.Pos)
	if len(folds) == 0 {
		return false
	}
	lines := []byte(s.text)
	for _, at := range folds {
		lines[at] = '\n'
	}
	if !reads(string(lines)) {
		return false
	}
	end := len(s.text)
	if len(folds) > 1 {
		end = folds[1]
	}
	p.within("shell-syntax", t.Run, folds[0]+1, end-folds[0]-1, keepLines,
		"the script cannot be read: YAML joins its lines to one, this to the one above")
	return true
}

// commentTaken reports the part of a script that YAML took for a comment, by its
// offsets in the file.
func (p *pass) commentTaken(rule string, from, to int) {
	d := p.Source.Diagnostic(rule, severityOf(rule), p.Source.Pos(from),
		`YAML takes this for a comment, in the middle of quotes of the script`, `write the script below "run: |"`)
	d.End = p.Source.Pos(to)
	p.found = append(p.found, finding{Diagnostic: d})
}

// cutOff reports a script for another language than shell that ends in the
// middle of quotes where YAML took the rest of the line for a comment.
func (p *pass) cutOff(t *dsl.Task) {
	if expression.ShellOf(t.Shell.Argv) != expression.Other {
		return
	}
	from, to, ok := p.Source.CommentBehind(t.Run.Pos)
	if !ok {
		return
	}
	rest := string(p.Source.Text[from:to])
	for _, quote := range []string{`"`, `'`} {
		other := map[string]string{`"`: `'`, `'`: `"`}[quote]
		if strings.Count(t.Run.V, quote)%2 == 1 && strings.Count(rest, quote)%2 == 1 && !strings.Contains(t.Run.V+rest, other) {
			p.commentTaken("altered-script", from, to)
			return
		}
	}
}
