package lint

import (
	"bytes"
	"index/suffixarray"
	"path"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/ax-scheduler/ax/dsl"
)

// need is a word of a command that names a file that must be there.
type need struct {
	word int
	name string // of the file: the word, or what stands behind "=" in it
	what purpose
	code bool // it tells a program what to do, so that somebody wrote it
}

type purpose string

const (
	toRun  purpose = "to run"
	toRead purpose = "to read"
)

// interpreters take a script file as their first argument, behind flags. With
// one of the letters in a flag there is no script file.
var interpreters = map[string]string{
	"sh": "cis", "bash": "cis", "dash": "cis", "python": "cm", "python3": "cm", "node": "epr", "ruby": "e", "perl": "eE", "php": "rB", "Rscript": "e",
}

// openers are interpreters to which any name is that of a file. Others complete
// it, or look for it in PATH.
var openers = strings.Fields("sh dash python python3")

// programOptions are options by which a program is told the file that says what
// to do: the file is the word behind, or stands behind "=".
var programOptions = map[string]*regexp.Regexp{
	"awk": shortFile, "gawk": shortFile, "mawk": shortFile,
	"sed":  regexp.MustCompile(`^-[Enrsz]*f$`),
	"psql": regexp.MustCompile(`^(-[1AabeEnqSsTtwWXx]*f|--file|--file=.+)$`),
}

var shortFile = regexp.MustCompile(`^-f$`)

// wrappers run the command behind them.
var wrappers = strings.Fields("exec nohup nice time command env timeout")

// wrapped gives where the command begins that wrappers run, if they have no
// options of which nobody knows how many words they take.
func wrapped(words []string) int {
	from := 0
	for from < len(words)-1 && slices.Contains(wrappers, words[from]) && !strings.HasPrefix(words[from+1], "-") {
		switch name := words[from]; name {
		case "timeout":
			from++
		case "env":
			for from+1 < len(words)-1 && strings.Contains(words[from+1], "=") {
				from++
			}
		}
		if from < len(words)-1 {
			from++
		}
	}
	return from
}

// needed gives the words of a command line that surely name files that must be
// there. A program's name without a slash is looked for in PATH.
func needed(words []string) []need {
	from := wrapped(words)
	if from == len(words) {
		return nil
	}
	if i := programFile(words[from:]); i >= 0 {
		return []need{{from + i, words[from+i], toRun, isScript(words[from+i])}}
	}
	option := programOptions[words[from]]
	if option == nil {
		return nil
	}
	var list []need
	for i := from + 1; i < len(words); i++ {
		if !option.MatchString(words[i]) {
			continue
		}
		if _, name, ok := strings.Cut(words[i], "="); ok {
			list = append(list, need{i, name, toRead, isProgram(name)})
		} else if i+1 < len(words) && words[i+1] != "" && !strings.HasPrefix(words[i+1], "-") {
			list = append(list, need{i + 1, words[i+1], toRead, isProgram(words[i+1])})
		}
	}
	return list
}

// programFile gives which word of a command line names a file that is run; -1 if
// none surely does.
func programFile(words []string) int {
	if strings.Contains(words[0], "/") {
		return 0
	}
	letters, ok := interpreters[words[0]]
	if !ok {
		return -1
	}
	for i, w := range words[1:] {
		switch {
		case w == "" || strings.HasPrefix(w, "--") || strings.HasPrefix(w, "-") && strings.ContainsAny(w, letters+"oOWX"):
			return -1
		case strings.HasPrefix(w, "-"):
		case isScript(w) || slices.Contains(openers, words[0]) || strings.Contains(w, "/") && words[0] == "bash":
			return i + 1
		default:
			return -1
		}
	}
	return -1
}

// quietCommands are those after which the folder is what it was, and no file is
// there that the script has not named.
var quietCommands = slices.Concat(sayers, filters, strings.Fields(
	"[ basename chmod chown curl cmp diff dirname egrep fgrep gawk gzip gunzip jq kill ls md5sum mkdir mysql psql rm rmdir sha256sum sleep sqlite3 test touch trap umask unset wait"))

// made tells what may have been made by what a script did so far.
type made int

const (
	nothing made = iota
	data         // files that are no scripts
	anything
)

// scriptFiles looks for the files that the commands of a script need, those that
// are carried out in any case, as long as it is certain where they are looked
// for and that the script does not make them.
func (p *pass) scriptFiles(t *dsl.Task, s *script) {
	if p.disk.root == nil || t.RunsOn.Set() {
		return
	}
	f := &fileFinder{pass: p, task: t, script: s}
	for _, stmt := range s.tree[0].Node.(*syntax.File).Stmts {
		if f.statement(stmt); f.made == anything {
			return
		}
	}
}

type fileFinder struct {
	*pass
	task      *dsl.Task
	script    *script
	made      made
	functions map[string]bool // of the script: what they do was looked at where they are declared
	at        int             // the number of the statement that was come to last
	words     []string        // of the present command
}

// statement looks at a statement that is carried out if those before it
// succeeded, and notes what it may make.
func (f *fileFinder) statement(s *syntax.Stmt) {
	number := f.number(s)
	if s.Background {
		f.note(number)
		return
	}
	f.inputs(s)
	switch c := s.Cmd.(type) {
	case *syntax.BinaryCmd:
		if c.Op == syntax.OrStmt && !endsScript(c.Y) {
			f.note(number)
			return
		}
		f.statement(c.X)
		if c.Op == syntax.OrStmt {
			f.note(f.number(c.Y))
		} else if f.made != anything {
			f.statement(c.Y)
		}
	case *syntax.CallExpr:
		f.call(c)
		f.note(number)
	case *syntax.Subshell:
		for _, inner := range c.Stmts {
			if f.statement(inner); f.made == anything {
				return
			}
		}
		f.note(number)
	default:
		f.note(number)
	}
}

// endsScript tells whether a statement only ends the script: what stands before it and
// || must not fail.
func endsScript(s *syntax.Stmt) bool {
	c, ok := s.Cmd.(*syntax.CallExpr)
	return ok && len(c.Args) > 0 && slices.Contains([]string{"exit", "return", "false"}, c.Args[0].Lit())
}

// call looks for the files that a command needs.
func (f *fileFinder) call(c *syntax.CallExpr) {
	if len(c.Args) == 0 {
		return
	}
	words := f.literals(c)
	list := needed(words)
	if len(words) > 1 && strings.Contains(words[1], "/") && (words[0] == "." || words[0] == "source") {
		list = []need{{1, words[1], toRun, isScript(words[1])}}
	}
	for _, n := range list {
		f.need(n, c.Args[n.word])
	}
}

// inputs looks for the files that a statement reads.
func (f *fileFinder) inputs(s *syntax.Stmt) {
	for _, r := range s.Redirs {
		if name, ok := literal(r.Word); ok && r.Op == syntax.RdrIn && f.mentionedOnce(name) {
			f.need(need{name: name, what: toRead}, r.Word)
		}
	}
}

// fewCounted is how many names are looked for by reading all of a file: for more
// of them an index of it costs less.
const fewCounted = 50

// mentionedOnce tells whether a file is named nowhere else, where it might be
// made for the next run.
func (f *fileFinder) mentionedOnce(name string) bool {
	base := []byte(path.Base(name))
	if f.shared.counted.Add(1) <= fewCounted {
		return bytes.Count(f.Source.Text, base) == 1
	}
	f.shared.textOnce.Do(func() { f.shared.text = suffixarray.New(f.Source.Text) })
	places := f.shared.text.Lookup(base, 2)
	if len(places) == 2 && max(places[0]-places[1], places[1]-places[0]) < len(base) { // they overlap
		return bytes.Count(f.Source.Text, base) == 1
	}
	return len(places) == 1
}

func (f *fileFinder) need(n need, w *syntax.Word) {
	name := n.name
	from, to := int(w.Pos().Offset()), int(w.End().Offset())
	if name == "" || n.what == toRead && path.IsAbs(name) || strings.Contains(f.script.text[:from], path.Base(name)) {
		return // it may have been made or asked for, or is the machine's
	}
	f.needProgram(f.task, n, f.made == nothing && first(f.task), func(hint, message string) {
		f.within("missing-file", f.task.Run, from, to-from, hint, "%s", message)
	})
}

// number gives the number of a statement that comes behind the last one.
func (f *fileFinder) number(s *syntax.Stmt) int {
	f.at = f.script.tree.Find(f.at, s)
	return f.at
}

// note adds what a statement, by its number, may make, or where it may go.
func (f *fileFinder) note(number int) {
	f.script.tree.WalkPart(number, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.FuncDecl:
			if f.functions == nil {
				f.functions = map[string]bool{}
			}
			f.functions[n.Name.Value] = true
		case *syntax.Redirect:
			if _, ok := literal(n.Word); !ok && n.Op != syntax.RdrIn && n.Hdoc == nil {
				f.made = max(f.made, data)
			}
		case *syntax.CallExpr:
			f.made = max(f.made, f.effect(f.literals(n)))
		}
		return true
	})
}

func (f *fileFinder) effect(words []string) made {
	switch {
	case len(words) == 0 || f.functions[words[0]]:
		return nothing
	case slices.Contains(quietCommands, words[0]):
		if slices.Contains(words, "") && slices.Contains([]string{"tee", "touch", "mkdir"}, words[0]) {
			return data
		}
		return nothing
	case words[0] != "" && programFile(words) >= 0:
		return data
	}
	if from := wrapped(words); from > 0 && from < len(words) {
		return f.effect(words[from:])
	}
	return anything
}

// literals gives the words of a command, as far as they are written out, and an
// empty one for each that is not.
func literals(c *syntax.CallExpr) []string {
	return appendLiterals(make([]string, 0, len(c.Args)), c)
}

// literals is the same until the next call.
func (f *fileFinder) literals(c *syntax.CallExpr) []string {
	f.words = appendLiterals(f.words[:0], c)
	return f.words
}

func appendLiterals(words []string, c *syntax.CallExpr) []string {
	for _, w := range c.Args {
		text, ok := literal(w)
		if !ok {
			text = ""
		}
		words = append(words, text)
	}
	return words
}

// literal gives the text of a word that nothing is expanded in.
func literal(w *syntax.Word) (string, bool) { return literalOf(w.Parts) }

func literalOf(parts []syntax.WordPart) (string, bool) {
	var b strings.Builder
	for i, part := range parts {
		var text string
		ok := true
		switch part := part.(type) {
		case *syntax.Lit:
			text, ok = part.Value, !expands(part.Value)
		case *syntax.SglQuoted:
			text = part.Value
		case *syntax.DblQuoted:
			text, ok = literalOf(part.Parts)
		default:
			ok = false
		}
		switch {
		case !ok:
			return "", false
		case i == 0 && len(parts) == 1: // as most are: nothing is to be put together
			return text, !strings.Contains(text, "____")
		}
		b.WriteString(text)
	}
	text := b.String()
	return text, !strings.Contains(text, "____")
}

// expands tells whether a shell may make something else of a plain text.
func expands(text string) bool {
	for i := range len(text) {
		switch text[i] {
		case '\\', '*', '?', '[', '~', '{':
			return true
		}
	}
	return false
}
