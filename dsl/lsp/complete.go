package lsp

import (
	"fmt"
	"slices"
	"strings"

	"go.lsp.dev/protocol"

	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/dsl/expression"
)

func (s *server) completion(p *protocol.CompletionParams) (any, error) {
	d, good, err := s.document(p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	list := &protocol.CompletionList{Items: []protocol.CompletionItem{}}
	if d.foreign() {
		return list, nil
	}
	offset := offsetAt(d.text, p.Position)
	o := offers{about: s.o.About, src: dsl.NewSource(d.name, d.text), cursor: cursorAt(d.text, offset), list: list}
	if good != nil {
		o.wf = good.lintFile().Workflow
	} else {
		o.wf = outline(d.text)
	}
	if code, ok := o.codeBefore(d.text, offset); ok {
		o.expression(code, offset)
	} else if !o.block {
		o.keys()
		o.values()
	}
	return list, nil
}

// offers gathers what can be written at a cursor.
type offers struct {
	cursor
	about func(mapping, key string) string
	wf    *dsl.Workflow // as far as it is known; never nil
	src   *dsl.Source
	list  *protocol.CompletionList
}

// offer is one of them.
type offer struct {
	label, insert string // what is written; the label where insert is empty
	kind          protocol.CompletionItemKind
	detail, about string
}

// add offers something, behind all that has been offered already.
func (o *offers) add(x offer) {
	insert := x.insert
	if insert == "" {
		insert = x.label
	}
	item := protocol.CompletionItem{
		Label: x.label, Kind: x.kind, Detail: x.detail,
		SortText: fmt.Sprintf("%05d", len(o.list.Items)), FilterText: x.label,
		TextEdit: &protocol.TextEdit{Range: rangeOf(o.src, o.from, o.to), NewText: insert},
	}
	if x.about != "" {
		item.Documentation = protocol.MarkupContent{Kind: protocol.PlainText, Value: x.about}
	}
	o.list.Items = append(o.list.Items, item)
}

// keys offers the keys that the map does not have yet, first those that it
// cannot do without. Of those that exclude each other none is offered where one
// is there.
func (o *offers) keys() {
	if !o.key {
		return
	}
	colon := ": "
	if o.colon {
		colon = ""
	}
	if o.shape.Names == dsl.ScalarTaskID {
		o.tasks(colon)
	}
	m := mappings()[o.shape.Mapping]
	chosen := slices.ContainsFunc(m.OneOf, func(k string) bool { return slices.Contains(o.have, k) })
	needed := slices.Concat(m.OneOf, m.Required)
	for _, key := range slices.Concat(needed, without(m.Keys, needed)) {
		if slices.Contains(o.have, key) && !o.colon || chosen && !o.colon && slices.Contains(m.OneOf, key) {
			continue
		}
		x := offer{label: key, insert: key + colon, kind: protocol.CompletionItemKindProperty}
		if o.about != nil {
			x.about = o.about(m.Name, key)
		}
		o.add(x)
	}
}

// without gives the words of a list that another does not have.
func without(all, not []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(w string) bool { return slices.Contains(not, w) })
}

// values offers the words that a key may have, task ids, and what else is short.
func (o *offers) values() {
	if !o.value || o.colon {
		return
	}
	words := o.shape.Words
	switch o.shape.Scalar {
	case dsl.ScalarTaskID:
		o.tasks("")
	case dsl.ScalarBoolean:
		words = []string{"true", "false"}
	case dsl.ScalarProgram:
		words = []string{"sh", "bash", "python3"}
	case dsl.ScalarCronTime:
		o.crons()
	}
	for _, w := range words {
		o.add(offer{label: w, kind: protocol.CompletionItemKindEnumMember})
	}
}

// tasks offers all tasks but the one that the cursor is in.
func (o *offers) tasks(colon string) {
	for i := range o.wf.Tasks {
		t := &o.wf.Tasks[i]
		if t.ID.V == o.task || slices.Contains(o.have, t.ID.V) {
			continue
		}
		o.add(offer{label: t.ID.V, insert: t.ID.V + colon, kind: protocol.CompletionItemKindReference, detail: t.Kind.String(), about: t.Description.V})
	}
}

func (o *offers) crons() {
	for _, w := range []string{"@hourly", "@daily", "@weekly", "@monthly", "@yearly"} {
		x := offer{label: w, kind: protocol.CompletionItemKindEnumMember}
		if !o.open {
			x.insert = `"` + w + `"` // YAML gives @ no meaning, but keeps it for itself
		}
		o.add(x)
	}
}

// codeBefore gives the expression before the cursor, if it is in one.
func (o *offers) codeBefore(text []byte, offset int) (string, bool) {
	before := string(text[lineStart(text, offset):offset])
	if i := strings.LastIndex(before, "${{"); i >= 0 && !strings.Contains(before[i:], "}}") {
		return before[i+3:], true
	}
	if o.shape.Scalar != dsl.ScalarExpression || !o.value {
		return "", false
	}
	if o.block {
		return before, true
	}
	return string(text[min(o.from, offset):offset]), o.shape.Items == nil || o.from < offset
}

var chain = lazily(`[A-Za-z_][\w-]*(?:\??\.[\w-]*)*$`)

// expression offers the names that can follow the beginning of an expression.
func (o *offers) expression(code string, offset int) {
	if openLiteral(code) {
		return
	}
	name := chain().FindString(code)
	dot := strings.LastIndexByte(name, '.')
	o.from = offset - (len(name) - dot - 1)
	if o.to = max(offset, o.to); dot < 0 {
		if !strings.HasSuffix(strings.TrimSuffix(code, name), ".") { // a part of something in brackets
			o.roots()
		}
		return
	}
	path := strings.Split(strings.ReplaceAll(name[:dot], "?", ""), ".")
	switch {
	case len(path) == 1:
		o.members(path[0])
	case path[0] == "tasks" && len(path) == 2:
		for _, f := range taskFields {
			o.add(offer{label: f.name, kind: protocol.CompletionItemKindField, about: f.about})
		}
	}
}

// roots offers what an expression can begin with.
func (o *offers) roots() {
	for _, r := range roots {
		if (r.name == "item" || r.name == "index") && !o.foreach() || r.name == "tasks" && o.task == "" {
			continue
		}
		o.add(offer{label: r.name, kind: protocol.CompletionItemKindVariable, about: r.about})
	}
	for _, f := range expression.Functions() {
		o.add(offer{label: f.Name, insert: f.Name + "(", kind: protocol.CompletionItemKindFunction, detail: f.Signature, about: f.Doc})
	}
	for _, w := range []string{"true", "false", "nil"} {
		o.add(offer{label: w, kind: protocol.CompletionItemKindKeyword})
	}
}

// foreach tells whether the task that the cursor is in has instances.
func (o *offers) foreach() bool {
	return slices.ContainsFunc(o.wf.Tasks, func(t dsl.Task) bool { return t.ID.V == o.task && t.Foreach != nil })
}

// members offers what a root has.
func (o *offers) members(root string) {
	switch root {
	case "params":
		for i := range o.wf.Params {
			p := &o.wf.Params[i]
			o.add(offer{label: p.Name.V, kind: protocol.CompletionItemKindVariable, detail: string(p.Type.V), about: p.Description.V})
		}
	case "secrets":
		for _, s := range o.wf.Secrets {
			o.add(offer{label: s.Name.V, kind: protocol.CompletionItemKindVariable})
		}
	case "env":
		o.variables()
	case "run":
		for _, f := range runFields {
			o.add(offer{label: f.name, kind: protocol.CompletionItemKindField, about: f.about})
		}
	case "tasks":
		o.tasks("")
	}
}

// variables offers those that the file declares.
func (o *offers) variables() {
	names := map[string]bool{}
	add := func(list []dsl.EnvVar) {
		for _, v := range list {
			if !names[v.Name.V] {
				names[v.Name.V] = true
				o.add(offer{label: v.Name.V, kind: protocol.CompletionItemKindVariable, detail: v.Value.V})
			}
		}
	}
	for i := range o.wf.Tasks {
		if o.wf.Tasks[i].ID.V == o.task {
			add(o.wf.Tasks[i].Env)
		}
	}
	add(o.wf.Env)
}
