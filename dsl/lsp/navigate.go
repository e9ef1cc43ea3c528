package lsp

import (
	"cmp"
	"slices"
	"strings"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"

	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/dsl/lint"
)

// idAt gives the task id that a place touches; nil if it touches none.
func (s *server) idAt(at protocol.TextDocumentPositionParams) (*snapshot, *tree, *taskID, error) {
	d, _, err := s.document(at.TextDocument.URI)
	if err != nil {
		return nil, nil, nil, err
	}
	t, _ := d.places()
	return d, t, t.idAt(offsetAt(d.text, at.Position)), nil
}

func (t *tree) idAt(offset int) *taskID {
	for i := range t.ids {
		if t.ids[i].holds(offset) {
			return &t.ids[i]
		}
	}
	return nil
}

// named gives all places where a task is named, and first where it is defined.
func (t *tree) named(id string) (definitions, references []taskID) {
	for _, i := range t.ids {
		switch {
		case i.id != id:
		case i.definition:
			definitions = append(definitions, i)
		default:
			references = append(references, i)
		}
	}
	return definitions, references
}

func (t *tree) locations(uri protocol.DocumentURI, ids []taskID) []protocol.Location {
	list := []protocol.Location{}
	for _, i := range ids {
		list = append(list, protocol.Location{URI: uri, Range: rangeOf(t.src, i.from, i.to)})
	}
	return list
}

func (s *server) definition(p *protocol.DefinitionParams) (any, error) {
	d, t, id, err := s.idAt(p.TextDocumentPositionParams)
	if err != nil || id == nil {
		return nil, err
	}
	definitions, _ := t.named(id.id)
	return t.locations(d.uri, definitions), nil
}

func (s *server) references(p *protocol.ReferenceParams) (any, error) {
	d, t, id, err := s.idAt(p.TextDocumentPositionParams)
	if err != nil || id == nil {
		return nil, err
	}
	definitions, list := t.named(id.id)
	if p.Context.IncludeDeclaration {
		list = append(definitions, list...)
	}
	return t.locations(d.uri, list), nil
}

func (s *server) prepareRename(p *protocol.PrepareRenameParams) (any, error) {
	_, t, id, err := s.idAt(p.TextDocumentPositionParams)
	if err != nil || id == nil || !t.isTask[id.id] {
		return nil, err
	}
	return rangeOf(t.src, id.from, id.to), nil
}

// taskName is what can name a task (DSL.md, "Task keys").
var taskName = lazily(`^[A-Za-z_][A-Za-z0-9_-]{0,63}$`)

// odd are the characters that the parser takes for others, so that places in
// values are not those in the file.
const odd = "\u0085\u2028\u2029"

// rename gives the edits that give a task another name, wherever the file names
// it. They are tried before they are given out: the file must mean the same
// afterwards.
func (s *server) rename(p *protocol.RenameParams) (any, error) {
	d, t, id, err := s.idAt(p.TextDocumentPositionParams)
	if err != nil {
		return nil, err
	}
	refuse := func(format string, args ...any) (any, error) {
		return nil, jsonrpc2.Errorf(jsonrpc2.InvalidRequest, format, args...)
	}
	switch _, readable := d.places(); {
	case !readable:
		return refuse("the file cannot be read as it is: correct its first error, then rename")
	case strings.ContainsAny(string(d.text), odd):
		return refuse("the file has line ends that only old YAML knows: replace them, then rename")
	case id == nil || !t.isTask[id.id]:
		return refuse("there is no task here: put the cursor on the id of one")
	case p.NewName == id.id:
		return protocol.WorkspaceEdit{}, nil
	case !taskName().MatchString(p.NewName):
		return refuse(`%q cannot be a task id: allowed are a letter or "_" first, then letters A-Z and a-z, digits, "_" and "-", 64 characters at most`, p.NewName)
	case t.isTask[p.NewName]:
		return refuse("there is a task %q already", p.NewName)
	}
	definitions, list := t.named(id.id)
	list = append(definitions, list...)
	slices.SortFunc(list, func(a, b taskID) int { return a.from - b.from })
	if !t.same(d, renamed(d.text, list, p.NewName), id.id, p.NewName) {
		return refuse("with the name %q the file would mean something else", p.NewName)
	}
	edits := []protocol.TextEdit{}
	for _, i := range list {
		edits = append(edits, protocol.TextEdit{Range: rangeOf(t.src, i.from, i.to), NewText: p.NewName})
	}
	return protocol.WorkspaceEdit{Changes: map[protocol.DocumentURI][]protocol.TextEdit{d.uri: edits}}, nil
}

// renamed gives the text with a name put in place of each id; these are sorted.
func renamed(text []byte, ids []taskID, name string) []byte {
	var out []byte
	at := 0
	for _, i := range ids {
		out = append(append(out, text[at:i.from]...), name...)
		at = i.to
	}
	return append(out, text[at:]...)
}

// same tells whether a text names the same tasks at the same places, but for one
// that has another name, and has as many errors.
func (t *tree) same(d *snapshot, text []byte, from, to string) bool {
	next := &snapshot{place: d.place, text: text}
	now, readable := next.places()
	if !readable || len(now.ids) != len(t.ids) {
		return false
	}
	for i, was := range t.ids {
		want := was.id
		if want == from {
			want = to
		}
		if now.ids[i].id != want || now.ids[i].definition != was.definition {
			return false
		}
	}
	return errorsIn(next) == errorsIn(d)
}

// errorsIn counts the errors that keep a workflow from being loaded, as far as
// the file alone shows them.
func errorsIn(d *snapshot) int {
	n := 0
	for _, p := range lint.Check([]*lint.File{d.lintFile()}, lint.Options{}) {
		if p.Severity == dsl.Error {
			n++
		}
	}
	return n
}

func (s *server) documentSymbol(p *protocol.DocumentSymbolParams) (any, error) {
	d, good, err := s.document(p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	t, _ := d.places()
	details := map[string]string{}
	if good != nil {
		for i := range good.lintFile().Workflow.Tasks {
			task := &good.lintFile().Workflow.Tasks[i]
			details[task.ID.V] = task.Kind.String()
		}
	}
	list := []protocol.DocumentSymbol{}
	for _, i := range t.ids {
		if !i.definition {
			continue
		}
		list = append(list, protocol.DocumentSymbol{
			Name: cmp.Or(i.id, `""`), Detail: details[i.id], Kind: protocol.SymbolKindFunction,
			Range: rangeOf(t.src, i.from, i.end), SelectionRange: rangeOf(t.src, i.from, i.to),
		})
	}
	return list, nil
}
