package lint

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

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
		p.report("missing-file", name.Pos, p.nearFile(p.Dir, name.V, full), "%s: there is no file %q", what, name.V)
	}
}

// nearFile suggests the file that was probably meant by a name in a folder.
func (p *pass) nearFile(dir, name, full string) string {
	if strings.HasPrefix(name, "~") {
		return `"~" means nothing here, only in a script`
	}
	if near := p.disk.nearest(full); near != "" {
		return dsl.DidYouMean(strings.TrimSuffix(name, path.Base(name)) + near)
	}
	if strings.HasPrefix(name, "/") {
		return ""
	}
	return "relative paths start at " + dir
}

// workflowFiles looks for the files that the workflow itself names.
func (p *pass) workflowFiles() {
	for _, f := range p.wf.EnvFile {
		p.needFile("env_file", f)
		p.envFile(f)
	}
	for _, s := range p.wf.Secrets {
		p.needFile("secret "+s.Name.V, s.File)
	}
	for _, e := range p.wf.Except {
		if _, err := dsl.ParseDate(e.V); err == nil {
			continue
		}
		if full, missing := p.missing(p.Dir, e.V); missing && e.Set() {
			hint := dayHint(e.V)
			if hint == "" {
				hint = p.nearFile(p.Dir, e.V, full)
			}
			p.report("missing-file", e.Pos, hint, "except: there is no file %q", e.V)
		}
	}
}

// dayHint says how to write a day that is written as in 2026/1/31, 2026.01.31 or
// 20260131; nothing for what is no such day.
func dayHint(text string) string {
	for _, layout := range []string{"2006/1/2", "2006.1.2", "20060102"} {
		if day, err := time.Parse(layout, text); err == nil {
			return fmt.Sprintf("write %s if it is a day", day.Format(time.DateOnly))
		}
	}
	return ""
}

// envFile reports a file of variables that is there and that a run would refuse.
func (p *pass) envFile(name dsl.Value[string]) {
	full, ok := p.absolute(name.V)
	if !ok || !name.Set() || strings.Contains(name.V, "${{") {
		return
	}
	text, ok := p.disk.read(full)
	if !ok {
		return
	}
	if _, err := dsl.EnvFile(name.V, text); err != nil {
		p.report("missing-file", name.Pos, `a line is NAME=value, a comment that begins with "#", or empty`, "env_file: %s", err)
	}
}

// taskFiles looks for the files that a task's keys name.
func (p *pass) taskFiles(t *dsl.Task) {
	p.call(t)
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
			p.report("missing-file", t.Workdir.Pos, p.nearFile(p.Dir, t.Workdir.V, full), "workdir: there is no folder %q", t.Workdir.V)
			return
		}
	}
	if t.Kind == dsl.KindCommand {
		var words []string
		for _, w := range t.Command {
			words = append(words, w.V)
		}
		for _, n := range needed(words) {
			p.needProgram(t, n, first(t), func(hint, message string) {
				p.report("missing-file", t.Command[n.word].Pos, hint, "%s", message)
			})
		}
	}
}

// call reports a function of Go where it is known that there are none.
func (p *pass) call(t *dsl.Task) {
	if p.o.NoFunctions && t.Call.Set() {
		p.report("missing-file", t.Call.Pos, "call is for programs that embed the engine and register functions: use run or command",
			"call: ax itself has no function %q, and refuses to run it", t.Call.V)
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

// needProgram reports a file that a command of a task needs and that is not
// there. What may have been made before, by a task or in the script itself, must
// look like a script that somebody wrote, in a folder that is there.
func (p *pass) needProgram(t *dsl.Task, n need, atFirst bool, report func(hint, message string)) {
	full, missing := p.missing(p.workdir(t), n.name)
	if !missing {
		return
	}
	hint := p.nearFile(p.workdir(t), n.name, full)
	if there := p.disk.stat(path.Dir(full)).there; !there {
		moved := p.disk.besides(full)
		if moved == "" && (!atFirst || n.what != toRun) {
			return
		}
		if moved != "" {
			hint = dsl.DidYouMean(strings.TrimSuffix(path.Clean(n.name), path.Join(path.Base(path.Dir(full)), path.Base(full))) + moved)
		}
	}
	if !atFirst && !n.code {
		return
	}
	report(hint, fmt.Sprintf("there is no file %q %s", n.name, n.what))
}

// scriptEnds are the ends of names of files that people write by hand.
var scriptEnds = []string{".sh", ".bash", ".py", ".js", ".mjs", ".rb", ".pl", ".php", ".R"}

// isProgram tells whether a name looks like that of what a program such as awk or
// psql is told to do.
func isProgram(name string) bool {
	return slices.Contains([]string{".awk", ".sed", ".sql"}, path.Ext(name))
}

func isScript(name string) bool { return slices.Contains(scriptEnds, path.Ext(name)) }
