package dsl

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// Parse reads a workflow file. It gives as much of the workflow as could be
// read, and everything that is wrong with the file, each mistake once, sorted
// by place. The workflow is nil only where the text is no YAML at all; then
// there is one diagnostic. The workflow must not be run if there are errors.
//
// The file's name is used for diagnostics and for the workflow's default name;
// nothing is read from disk. Time and memory are linear in the size of the
// text, whatever its aliases would expand to.
func Parse(file string, text []byte) (*Workflow, Diagnostics) {
	p, doc, bad := open(file, text)
	if bad != nil {
		return nil, Diagnostics{*bad}
	}
	p.workflow(doc)
	p.ds.Sort()
	return p.wf, p.ds
}

// open reads the nodes of a file: the root of its one document, or nil if there
// is nothing in it.
func open(file string, text []byte) (*parser, *yaml.Node, *Diagnostic) {
	src := NewSource(file, text)
	bad, odd := src.guard()
	if bad != nil {
		return nil, nil, bad
	}
	readable, restore := src.readable(odd)
	doc, second, err := nodes(readable)
	if err != nil {
		if second = src.secondDocument(doc); !second.Written() {
			d := src.syntax(readable, err)
			return nil, nil, &d
		}
	}
	p := &parser{
		src: src, restore: restore, wf: &Workflow{Source: src},
		budget: freeNodes + 2*len(text),
		tables: tables(), rules: rules, shapes: shapes,
	}
	if p.cut = second.Written(); p.cut {
		p.add("several-documents", second, "a second document in one file", "move it to a file of its own")
	}
	if doc == nil || isNull(doc.Content[0]) {
		return p, nil, nil
	}
	return p, doc.Content[0], nil
}

// tables lists every mapping of the language that has a fixed set of keys.
func tables() []section {
	return []section{
		workflowKeys, taskKeys, defaultsKeys, retryKeys, poolKeys, foreachKeys, sqlKeys, httpKeys, childKeys, waitKeys,
		cronKeys, paramKeys, secretKeys, retentionKeys, notifyKeys,
	}
}

// freeNodes is how many values a file may have besides those that its size
// allows, so that a small file may use its aliases freely.
const freeNodes = 100_000

// parser turns nodes into a workflow.
type parser struct {
	src     *Source
	restore *strings.Replacer // undoes what Source.readable did to a value
	wf      *Workflow
	ds      Diagnostics
	tables  []section
	rules   func() map[string]Mapping
	shapes  func() map[string]map[string]Shape
	task    string // the task that is being read, for messages
	cut     bool   // a second document has what may belong to the first
	named   bool   // the file says how the workflow is called, right or wrong

	faults int          // what has been found wrong, be it reported or not
	trial  bool         // nothing is reported
	strays []stray      // what may have drawn edges
	deep   []*yaml.Node // ids and values of tasks that were found within others

	budget   int                  // how many more values may be read
	furthest Pos                  // the place of the last value that no alias has led to
	merging  map[*yaml.Node]bool  // anchors whose << is being followed
	seen     map[mistake]struct{} // what has been reported
}

// mistake identifies one: by what is wrong with which node.
type mistake struct {
	rule  string
	at    Pos
	about string // what tells it from another at the same place, if there may be one
}

// add reports an error, once.
func (p *parser) add(rule string, at Pos, message, hint string) {
	p.addOnce(mistake{rule: rule, at: at}, at, message, hint)
}

func (p *parser) addOnce(m mistake, at Pos, message, hint string) {
	if p.isNew(m) {
		p.ds = append(p.ds, p.src.Diagnostic(m.rule, Error, at, message, hint))
	}
}

// isNew tells whether a mistake has not been reported yet.
func (p *parser) isNew(m mistake) bool {
	p.faults++
	if p.trial {
		return false
	}
	if _, old := p.seen[m]; old {
		return false
	}
	if p.seen == nil {
		p.seen = map[mistake]struct{}{}
	}
	p.seen[m] = struct{}{}
	return true
}

// workflow reads the root of the document, which may be nil.
func (p *parser) workflow(doc *yaml.Node) {
	if doc == nil {
		p.ds = append(p.ds, p.src.Diagnostic("missing-key", Error, Pos{}, "the file declares no workflow", `it needs at least "tasks"`))
	} else {
		root := p.value(nil, doc)
		root.what = "the workflow"
		found, ok := read(root, workflowKeys, p.wf)
		if ok && !p.cut && !found.has("tasks") {
			p.add("missing-key", p.pos(root.node), `the workflow has no "tasks"`, "a workflow needs at least one task")
		}
		found.strays(-1)
		p.wf.gaps = found.gaps
		for j, name := range workflowKeys.names() {
			if p.cut && (found.key(name) == nil || name == "tasks") {
				p.wf.gaps |= 1 << j
			}
		}
		if p.wf.Unread("defaults") && found.key("defaults") == nil {
			p.wf.Defaults.gaps = ^gaps(0)
		}
	}
	if p.budget < 0 || p.cut {
		p.forget()
	}
	p.mendNames()
	p.loseEdges()
	if !p.wf.Name.Set() {
		p.defaultName()
	}
	p.applyDefaults()
}

// forget takes back what tasks say of each other, where the reading ended before
// all of them were there.
func (p *parser) forget() {
	p.wf.OnFailure, p.wf.OnSuccess, p.wf.OnFinish = nil, nil, nil
	for i := range p.wf.Tasks {
		t := &p.wf.Tasks[i]
		t.DependsOn, t.OnFailure, t.gaps = nil, nil, ^gaps(0)
	}
}

// defaultName takes the workflow's name from the file's. A name that is there,
// but cannot be used, has been reported.
func (p *parser) defaultName() {
	base := filepath.Base(p.src.File)
	for _, ext := range []string{".yaml", ".yml"} {
		if name, ok := strings.CutSuffix(base, ext); ok {
			base = name
			break
		}
	}
	p.wf.Name.V = base
	if !p.named && !isIdentifier(base) {
		p.add("bad-name", Pos{1, 1}, fmt.Sprintf("the file's name %s cannot be the workflow's name", quote(base)), `add "name:" with `+identifierRule)
	}
}

// text gives the value of a scalar node as it was written.
func (p *parser) text(n *yaml.Node) string {
	if p.restore != nil {
		return p.restore.Replace(n.Value)
	}
	return n.Value
}

// begins gives the place of a node, or of an anchor or tag before it.
func begins(n *yaml.Node) Pos { return Pos{int32(n.Line), int32(n.Column)} }

// pos gives the place of a node itself, behind its anchor or tag.
func (p *parser) pos(n *yaml.Node) Pos {
	at := begins(n)
	if (n.Anchor != "" || n.Style&yaml.TaggedStyle != 0) && !(n.Kind == yaml.ScalarNode && n.Style&^yaml.TaggedStyle == 0 && n.Value == "") {
		return p.src.Pos(p.src.skipProperties(p.src.Offset(at)))
	}
	return at
}

// spend takes n from the budget. It is false when that is used up, which only
// aliases can do, or defaults that would be copied to a great many tasks.
//
// What is read stands further down than all before, but for what an alias has
// led back to: there the alias is at fault.
func (p *parser) spend(n int, at *yaml.Node) bool {
	if place := begins(at); place.compare(p.furthest) > 0 {
		p.furthest = place
	}
	return p.spendAt(n, p.furthest)
}

func (p *parser) spendAt(n int, at Pos) bool {
	if p.budget < 0 {
		return false
	}
	if p.budget -= n; p.budget >= 0 {
		return true
	}
	p.add("too-large", at, "aliases and defaults make far more of this file than is written in it",
		"repeat less: every use counts like a copy")
	return false
}

// quote shows a value in a message.
func quote(text string) string { return strconv.Quote(clip(text, 60)) }
