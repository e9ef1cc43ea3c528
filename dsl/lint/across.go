package lint

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/ax-scheduler/ax/dsl"
)

// across adds what only shows when files are looked at together.
func across(files []*File, o *Options, found map[*File][]finding) {
	folders := map[string][]*File{}
	var names []string
	for _, f := range files {
		if _, ok := folders[f.Folder]; !ok {
			names = append(names, f.Folder)
		}
		folders[f.Folder] = append(folders[f.Folder], f)
	}
	for _, name := range names {
		a := &folder{o: o, files: slices.Clone(folders[name]), byName: map[string]*File{}, passes: map[*File]*pass{}, inputs: map[*File]*inputs{}}
		slices.SortStableFunc(a.files, func(a, b *File) int { return strings.Compare(a.Source.File, b.Source.File) })
		a.checked = len(a.files)
		a.check()
		for f, p := range a.passes {
			found[f] = append(found[f], p.found...)
		}
	}
}

// folder is what one engine loads together.
type folder struct {
	o       *Options
	files   []*File // by path; those that are checked come first
	checked int
	byName  map[string]*File
	asked   bool // for the others
	passes  map[*File]*pass
	inputs  map[*File]*inputs
}

// inputs are the parameters that a workflow declares.
type inputs struct {
	wf     *dsl.Workflow
	byName map[string]*dsl.Param
	names  []string
}

func inputsOf(wf *dsl.Workflow) *inputs {
	in := &inputs{wf: wf, byName: make(map[string]*dsl.Param, len(wf.Params))}
	for i := range wf.Params {
		q := &wf.Params[i]
		in.byName[q.Name.V] = q
		in.names = append(in.names, q.Name.V)
	}
	return in
}

func (a *folder) check() {
	for _, f := range a.files {
		a.enter(f)
	}
	for _, f := range a.files[:a.checked] {
		if f.Workflow != nil {
			a.references(f)
		}
	}
	a.cycles()
}

// enter notes a file under its name, and reports that the name is taken: of two
// files with one name the first by path is loaded. (DETAILS.md, "Files".)
func (a *folder) enter(f *File) {
	name := nameOf(f)
	first := a.byName[name]
	if first == nil {
		a.byName[name] = f
		return
	}
	if f.Workflow != nil && first.Workflow != nil {
		at := f.Workflow.Name.Pos
		if !at.Written() {
			at = dsl.Pos{Line: 1, Col: 1}
		}
		a.pass(f).report("duplicate-workflow", at, "give one of them another name: only the first is loaded", "workflow %q is declared in %s already", name, first.Source.File)
	}
}

// nameOf gives the name of the workflow in a file; of one that could not be read
// what stands behind "name:", or else the file's own.
func nameOf(f *File) string {
	if f.Workflow != nil {
		return f.Workflow.Name.V
	}
	for line := range bytes.Lines(f.Source.Text) {
		if rest, ok := bytes.CutPrefix(line, []byte("name:")); ok {
			text, _, _ := strings.Cut(string(rest), " #")
			return strings.Trim(text, " \t\r\n'\"")
		}
	}
	base := f.Source.File[strings.LastIndexByte(f.Source.File, '/')+1:]
	return strings.TrimSuffix(strings.TrimSuffix(base, ".yaml"), ".yml")
}

// nameless tells whether nobody knows what the workflow in a file is called.
func nameless(f *File) bool { return f.Workflow != nil && f.Workflow.Unread("name") }

func (a *folder) pass(f *File) *pass {
	p := a.passes[f]
	if p == nil {
		p = &pass{File: f, o: a.o, wf: f.Workflow}
		a.passes[f] = p
	}
	return p
}

// find gives the file of a workflow, nil if there is none.
func (a *folder) find(name string) *File {
	if f := a.byName[name]; f != nil || a.asked || a.o.Others == nil {
		return f
	}
	a.asked = true
	for _, f := range a.o.Others(a.files[0].Folder) {
		if same := func(g *File) bool { return g.Source.File == f.Source.File }; slices.ContainsFunc(a.files[:a.checked], same) {
			continue
		}
		a.files = append(a.files, f)
		if n := nameOf(f); a.byName[n] == nil {
			a.byName[n] = f
		}
	}
	return a.byName[name]
}

// references reports names of workflows that there are not, and what does not
// fit the parameters of those that there are.
func (a *folder) references(f *File) {
	for _, after := range f.Workflow.After {
		a.refer(f, after.Workflow)
	}
	for i := range f.Workflow.Tasks {
		child := f.Workflow.Tasks[i].Workflow
		if child == nil || !child.Name.Set() {
			continue
		}
		other := a.refer(f, child.Name)
		if other == nil || other.Workflow == nil {
			continue
		}
		if a.inputs[other] == nil {
			a.inputs[other] = inputsOf(other.Workflow)
		}
		p := a.pass(f)
		p.given(a.inputs[other], child.Params)
		if f.Workflow.Tasks[i].Unread("workflow") {
			continue
		}
		p.required(child.Name.Pos, fmt.Sprintf("task %q", f.Workflow.Tasks[i].ID.V), other.Workflow.Params, child.Params)
	}
}

func (a *folder) refer(f *File, name dsl.Value[string]) *File {
	other := a.find(name.V)
	if other == nil {
		hint := "workflows that are loaded together know each other by their names"
		var names []string
		for _, g := range a.files {
			names = append(names, nameOf(g))
		}
		if meant := dsl.DidYouMean(dsl.Nearest(name.V, names)); meant != "" {
			hint = meant
		} else if slices.ContainsFunc(a.files, nameless) {
			return nil
		}
		a.pass(f).report("unknown-workflow", name.Pos, hint, "there is no workflow %q", name.V)
	}
	return other
}

// start is how one workflow starts another: by a task, or by "after" of the
// other.
type start struct {
	to *File
	in *File // where it is written
	at dsl.Pos
}

// cycles reports workflows that start each other without end, each once. An
// "after" that waits for a failure may come to an end, and is left aside.
func (a *folder) cycles() {
	starts := map[*File][]start{}
	for _, f := range a.files {
		if f.Workflow == nil || a.byName[nameOf(f)] != f {
			continue
		}
		for i := range f.Workflow.Tasks {
			if c := f.Workflow.Tasks[i].Workflow; c != nil && a.byName[c.Name.V] != nil {
				starts[f] = append(starts[f], start{a.byName[c.Name.V], f, c.Name.Pos})
			}
		}
		for _, after := range f.Workflow.After {
			if g := a.byName[after.Workflow.V]; g != nil && after.On != dsl.AfterFailed {
				starts[g] = append(starts[g], start{f, f, after.Workflow.Pos})
			}
		}
	}
	trim(starts)
	told := map[*File]bool{}
	for _, f := range a.files[:a.checked] {
		if told[f] || len(starts[f]) == 0 {
			continue
		}
		way := wayRound(f, starts)
		for _, s := range way {
			told[s.to] = true
		}
		a.sayCycle(f, way)
	}
}

// trim takes out what starts nothing that can start anything in turn, until
// nothing is left but circles and the ways between them.
func trim(starts map[*File][]start) {
	left := map[*File]int{} // how many of what it starts are still there
	startedBy := map[*File][]*File{}
	var ends []*File
	for f, list := range starts {
		left[f] = len(list)
		for _, s := range list {
			startedBy[s.to] = append(startedBy[s.to], f)
			if len(starts[s.to]) == 0 && len(startedBy[s.to]) == 1 {
				ends = append(ends, s.to)
			}
		}
	}
	for ; len(ends) > 0; ends = ends[1:] {
		delete(starts, ends[0])
		for _, f := range startedBy[ends[0]] {
			if left[f]--; left[f] == 0 {
				ends = append(ends, f)
			}
		}
	}
	for f, list := range starts {
		starts[f] = slices.DeleteFunc(list, func(s start) bool { return len(starts[s.to]) == 0 })
	}
}

// wayRound gives a shortest way from a file back to it; nil if there is none.
func wayRound(f *File, starts map[*File][]start) []start {
	from := map[*File]*start{}
	came := map[*File]*File{}
	for queue := []*File{f}; len(queue) > 0; queue = queue[1:] {
		here := queue[0]
		for i := range starts[here] {
			s := &starts[here][i]
			if s.to == f {
				way := []start{*s}
				for g := here; g != f; g = came[g] {
					way = append(way, *from[g])
				}
				slices.Reverse(way)
				return way
			}
			if from[s.to] == nil {
				from[s.to], came[s.to] = s, here
				queue = append(queue, s.to)
			}
		}
	}
	return nil
}

// sayCycle reports a circle where it is first written in a file that is checked.
func (a *folder) sayCycle(f *File, way []start) {
	names := []string{nameOf(f)}
	for _, s := range way {
		names = append(names, nameOf(s.to))
	}
	message := "workflows start each other without end: " + strings.Join(names, " -> ")
	if len(way) == 1 {
		message = fmt.Sprintf("workflow %q starts itself without end", names[0])
	}
	for _, s := range way {
		if slices.Contains(a.files[:a.checked], s.in) {
			a.pass(s.in).report("workflow-cycle", s.at, "take one of these steps out", "%s", message)
			return
		}
	}
}
