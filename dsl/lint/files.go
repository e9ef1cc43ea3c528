package lint

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/ax-scheduler/ax/dsl"
)

// missing gives the absolute path of a file that is certainly not there. A path
// that is not written out is never missing, nor is one in an absolute folder that
// this machine does not have: the workflow is to run on another one.
func (p *pass) missing(dir, name string) (string, bool) {
	if name == "" || strings.Contains(name, "${{") {
		return "", false
	}
	full := path.Clean(name)
	if !strings.HasPrefix(name, "/") {
		if dir == "" {
			return "", false
		}
		full = path.Join(dir, name)
	} else if !p.disk.stat(path.Dir(full)).there {
		return "", false
	}
	at := p.disk.stat(full)
	return full, at.certain && !at.there
}

// needFile reports a file that a key names and that is not there.
func (p *pass) needFile(what string, name dsl.Value[string]) {
	if full, missing := p.missing(p.Dir, name.V); missing && name.Set() {
		p.report("missing-file", name.Pos, p.nearFile(name.V, full), "%s: there is no file %q", what, name.V)
	}
}

// nearFile suggests the file that was probably meant.
func (p *pass) nearFile(name, full string) string {
	if strings.HasPrefix(name, "~") {
		return `"~" means nothing here, only in a script`
	}
	if near := p.disk.nearest(full); near != "" {
		return "did you mean \"" + strings.TrimSuffix(name, path.Base(name)) + near + "\"?"
	}
	if strings.HasPrefix(name, "/") {
		return ""
	}
	return "relative paths start at " + path.Dir(full)
}

// workflowFiles looks for the files that the workflow itself names.
func (p *pass) workflowFiles() {
	for _, f := range p.wf.EnvFile {
		p.needFile("env_file", f)
	}
	for _, s := range p.wf.Secrets {
		p.needFile("secret "+s.Name.V, s.File)
	}
	for _, e := range p.wf.Except {
		if _, err := dsl.ParseDate(e.V); err != nil {
			p.needFile("except", e)
		}
	}
}

// taskFiles looks for the files that a task's keys name.
func (p *pass) taskFiles(t *dsl.Task) {
	if !p.whole || p.disk.root == nil || t.RunsOn.Set() { // another machine may have other files
		return
	}
	if t.SQL != nil {
		p.needFile("sql", t.SQL.File)
	}
	if t.WaitFor != nil && t.WaitFor.SQL != nil {
		p.needFile("sql", t.WaitFor.SQL.File)
	}
	if t.Workdir.Set() && first(t) { // a task before it may make the folder
		if full, missing := p.missing(p.Dir, t.Workdir.V); missing {
			p.report("missing-file", t.Workdir.Pos, p.nearFile(t.Workdir.V, full), "workdir: there is no folder %q", t.Workdir.V)
			return
		}
	}
	if t.Kind == dsl.KindCommand {
		var words []string
		for _, w := range t.Command {
			words = append(words, w.V)
		}
		if i := programFile(words); i >= 0 {
			p.needProgram(t, words[i], first(t), func(hint, message string) {
				p.report("missing-file", t.Command[i].Pos, hint, "%s", message)
			})
		}
	}
}

// first tells whether nothing of the workflow comes before a task, so that what
// it needs must be there already.
func first(t *dsl.Task) bool { return len(t.DependsOn) == 0 }

// workdir gives the absolute folder that a task works in; empty if that is not
// known or not there.
func (p *pass) workdir(t *dsl.Task) string {
	if !t.Workdir.Set() {
		return p.Dir
	}
	full, ok := p.absolute(t.Workdir.V)
	if !ok || strings.Contains(t.Workdir.V, "${{") {
		return ""
	}
	if !p.disk.stat(full).isDir {
		return ""
	}
	return full
}

// needProgram reports a program or script that a task starts and that is not
// there. What may have been made before, by a task or in the script itself, must
// look like a script that somebody wrote, in a folder that is there.
func (p *pass) needProgram(t *dsl.Task, name string, atFirst bool, report func(hint, message string)) {
	full, missing := p.missing(p.workdir(t), name)
	if !missing {
		return
	}
	if !atFirst && (!isScript(name) || !p.disk.stat(path.Dir(full)).there) {
		return
	}
	report(p.nearFile(name, full), "there is no file \""+name+"\" to run")
}

// scriptEnds are the ends of names of files that people write by hand.
var scriptEnds = []string{".sh", ".bash", ".py", ".js", ".mjs", ".rb", ".pl", ".php", ".R"}

func isScript(name string) bool { return slices.Contains(scriptEnds, path.Ext(name)) }

// interpreters take a script file as their first argument, behind flags. With
// one of the letters in a flag there is no script file.
var interpreters = map[string]string{
	"sh": "cis", "bash": "cis", "dash": "cis", "python": "cm", "python3": "cm", "node": "epr", "ruby": "e", "perl": "eE", "php": "rB", "Rscript": "e",
}

// programFile gives which word of a command line names a file that is run; -1 if
// none surely does. A name without a slash is looked for in PATH.
func programFile(words []string) int {
	if len(words) == 0 {
		return -1
	}
	if strings.Contains(words[0], "/") {
		return 0
	}
	letters, ok := interpreters[words[0]]
	if !ok {
		return -1
	}
	for i, w := range words[1:] {
		switch {
		case w == "" || strings.HasPrefix(w, "--") || strings.HasPrefix(w, "-") && strings.ContainsAny(w, letters):
			return -1
		case strings.HasPrefix(w, "-"):
		case isScript(w):
			return i + 1
		default:
			return -1
		}
	}
	return -1
}

// aside are commands after which the folder and its files are what they were.
var aside = append(strings.Fields("mkdir rm sleep test ["), sayers...)

// scriptFiles looks for the files that a script runs, as long as it is certain
// where they are looked for and that the script does not make them.
func (p *pass) scriptFiles(t *dsl.Task, s *script) {
	if p.disk.root == nil || t.RunsOn.Set() {
		return
	}
	for n, c := range leadingCalls(s.file.Stmts) {
		words := literals(c)
		i := programFile(words)
		if len(words) > 1 && words[0] == "." && strings.Contains(words[1], "/") {
			i = 1
		}
		if i < 0 {
			if len(words) == 0 || slices.Contains(aside, words[0]) {
				continue
			}
			return
		}
		from, to := int(c.Args[i].Pos().Offset()), int(c.Args[i].End().Offset())
		if strings.Contains(s.text[:from], path.Base(words[i])) {
			continue // it may have been made, or asked for
		}
		p.needProgram(t, words[i], n == 0 && first(t), func(hint, message string) {
			p.within("missing-file", t.Run, from, to-from, hint, "%s", message)
		})
		if words[0] == "." {
			return
		}
	}
}

// leadingCalls gives the commands of a script that are carried out one after
// another in any case, and whose failure ends it.
func leadingCalls(stmts []*syntax.Stmt) (calls []*syntax.CallExpr) {
	for _, s := range stmts {
		cmd := s.Cmd
		for {
			b, ok := cmd.(*syntax.BinaryCmd)
			if !ok || b.Op == syntax.OrStmt {
				break
			}
			cmd = b.X.Cmd
		}
		c, ok := cmd.(*syntax.CallExpr)
		if !ok || s.Negated || s.Background {
			break
		}
		calls = append(calls, c)
		if s.Cmd != cmd {
			break
		}
	}
	return calls
}

// literals gives the words of a command, as far as they are written out, and an
// empty one for each that is not.
func literals(c *syntax.CallExpr) []string {
	words := make([]string, len(c.Args))
	for i, w := range c.Args {
		if text, ok := literal(w); ok {
			words[i] = text
		}
	}
	return words
}

// literal gives the text of a word that nothing is expanded in.
func literal(w *syntax.Word) (string, bool) {
	var b strings.Builder
	for _, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			if strings.ContainsAny(part.Value, "\\*?[~{") {
				return "", false
			}
			b.WriteString(part.Value)
		case *syntax.SglQuoted:
			b.WriteString(part.Value)
		case *syntax.DblQuoted:
			inner, ok := literal(&syntax.Word{Parts: part.Parts})
			if !ok {
				return "", false
			}
			b.WriteString(inner)
		default:
			return "", false
		}
	}
	text := b.String()
	return text, !strings.Contains(text, "____")
}
