package lsp

import (
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"gopkg.in/yaml.v3"

	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/dsl/lint"
)

// document is a file that the client has open.
type document struct {
	now   *snapshot // the text as it is
	good  *snapshot // the last one that could be read; nil if none could
	dirty bool      // it is to be checked
}

// place says where a document lies.
type place struct {
	uri    protocol.DocumentURI
	path   string // absolute
	name   string // as diagnostics of other files give it
	folder string // its workflow is loaded with those in here
	loaded bool   // it lies in the workflows folder
}

// snapshot is one version of a document, with what has been found out about it.
// It may be used by several goroutines.
type snapshot struct {
	place
	version int32
	text    []byte

	parsed sync.Once
	file   *lint.File

	judged sync.Once
	other  bool // it is no workflow

	walked sync.Once
	src    *dsl.Source
	root   *yaml.Node // nil where the text cannot be read
	tree   *tree
}

// lintFile gives what the linter looks at.
func (d *snapshot) lintFile() *lint.File {
	d.parsed.Do(func() { d.file = lint.Parse(d.name, d.text, filepath.Dir(d.path), d.folder) })
	return d.file
}

// places gives where in the text things stand; false where it cannot be read.
func (d *snapshot) places() (*tree, bool) {
	d.walked.Do(func() {
		d.src, d.root, _ = dsl.Tree(d.name, d.text)
		d.tree = walk(d.src, d.root)
	})
	return d.tree, d.root != nil
}

// pathOf gives the path of a file's address, false for what is no file.
func pathOf(uri string) (string, bool) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || !strings.HasPrefix(u.Path, "/") {
		return "", false
	}
	return filepath.Clean(filepath.FromSlash(u.Path)), true
}

// isYAML tells whether a path can be that of a workflow: *.yaml or *.yml, not
// hidden, and no unit tests of one.
func isYAML(path string) bool {
	stem, ok := strings.CutSuffix(filepath.Base(path), ".yaml")
	if !ok {
		stem, ok = strings.CutSuffix(stem, ".yml")
	}
	return ok && stem != "" && !strings.HasPrefix(stem, ".") && !strings.HasSuffix(stem, ".test")
}

// placeOf gives where a document lies, false for what can be no workflow.
func (s *server) placeOf(uri protocol.DocumentURI) (place, bool) {
	path, ok := pathOf(string(uri))
	if !ok || !isYAML(path) {
		return place{}, false
	}
	p := place{uri: uri, path: path, name: path, folder: filepath.Dir(path)}
	root := ""
	for _, r := range s.roots {
		if within(r, path) && len(r) > len(root) {
			root = r
		}
	}
	if root != "" {
		p.name, _ = filepath.Rel(root, path) // it is within
	}
	if workflows, ok := s.workflowsOf(root); ok && within(workflows, path) {
		p.folder, p.loaded = workflows, true
	}
	return p, true
}

// workflowsOf gives the workflows folder of a folder that the editor has open;
// without one that of the process.
func (s *server) workflowsOf(root string) (string, bool) {
	if s.o.Workflows == "" || filepath.IsAbs(s.o.Workflows) {
		return filepath.Clean(s.o.Workflows), s.o.Workflows != ""
	}
	if root == "" {
		var err error
		if root, err = os.Getwd(); err != nil {
			return "", false
		}
	}
	return filepath.Join(root, s.o.Workflows), true
}

func within(folder, path string) bool {
	return strings.HasPrefix(path, strings.TrimSuffix(folder, string(filepath.Separator))+string(filepath.Separator))
}

var (
	topKey   = lazily(`(?m)^(?:([A-Za-z_][\w-]*)|"([^"\n]*)"|'([^'\n]*)')\s*:(?:\s|$)`)
	modeline = lazily(`(?m)^#\s*yaml-language-server:\s*\$schema=\S*(?:workflow\.schema|\.ax-schema)\.json`)
)

// lazily makes a pattern when it is first used: every start of ax would pay for
// it otherwise.
func lazily(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

// foreign tells whether a document is something else in YAML, which editors
// send along: outside of the workflows folder what has no tasks, does not name
// the schema, and has keys that no workflow has; and ax.yaml, whose keys are
// those of workflows in part.
func (d *snapshot) foreign() bool {
	d.judged.Do(func() {
		if d.loaded || modeline().Match(d.text) {
			return
		}
		known, foreign := workflowShape().Keys, filepath.Base(d.path) == "ax.yaml"
		for _, m := range topKey().FindAllSubmatch(d.text, -1) {
			key := string(m[1]) + string(m[2]) + string(m[3])
			if key == "tasks" {
				return
			}
			foreign = foreign || !slices.Contains(known, key) && !strings.HasPrefix(key, "x-")
		}
		d.other = foreign
	})
	return d.other
}

// document gives an open document as it is and as it last could be read (nil if
// it never could), or the error that there is none.
func (s *server) document(uri protocol.DocumentURI) (now, good *snapshot, err error) {
	s.lock.Lock()
	d := s.docs[uri]
	if d != nil {
		now, good = d.now, d.good
	}
	s.lock.Unlock()
	if d == nil {
		return nil, nil, jsonrpc2.Errorf(jsonrpc2.InvalidParams, "%q is not open, or cannot be a workflow", uri)
	}
	if good != nil && len(now.text) > slow {
		return now, good, nil
	}
	if now.lintFile().Workflow != nil {
		s.lock.Lock()
		d.good = now
		s.lock.Unlock()
		good = now
	}
	return now, good, nil
}

// slow is the size in bytes from which on a text is not read again only for
// the names in it, while there is an older one.
const slow = 1 << 20

func (s *server) didOpen(p *protocol.DidOpenTextDocumentParams) (any, error) {
	at, ok := s.placeOf(p.TextDocument.URI)
	if !ok {
		return nil, nil
	}
	s.lock.Lock()
	s.docs[at.uri] = &document{now: &snapshot{place: at, version: p.TextDocument.Version, text: []byte(p.TextDocument.Text)}}
	s.lock.Unlock()
	s.checkAll()
	return nil, nil
}

// didChangeParams has changes of which the range may be left out.
type didChangeParams struct {
	TextDocument   protocol.VersionedTextDocumentIdentifier `json:"textDocument"`
	ContentChanges []change                                 `json:"contentChanges"`
}

func (s *server) didChange(p *didChangeParams) (any, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	d := s.docs[p.TextDocument.URI]
	if d == nil {
		return nil, nil
	}
	d.now = &snapshot{place: d.now.place, version: p.TextDocument.Version, text: changed(d.now.text, p.ContentChanges)}
	d.dirty = true
	s.signal()
	return nil, nil
}

// didSave checks all documents: rules look at files, which may be new.
func (s *server) didSave(*protocol.DidSaveTextDocumentParams) (any, error) {
	s.checkAll()
	return nil, nil
}

func (s *server) didClose(p *protocol.DidCloseTextDocumentParams) (any, error) {
	s.telling.Lock()
	defer s.telling.Unlock()
	s.lock.Lock()
	_, open := s.docs[p.TextDocument.URI]
	delete(s.docs, p.TextDocument.URI)
	s.lock.Unlock()
	if open {
		s.publish(p.TextDocument.URI, 0, nil)
		s.checkAll()
	}
	return nil, nil
}

func (s *server) didChangeFolders(p *protocol.DidChangeWorkspaceFoldersParams) (any, error) {
	for _, f := range p.Event.Removed {
		if path, ok := pathOf(f.URI); ok {
			s.roots = slices.DeleteFunc(s.roots, func(r string) bool { return r == path })
		}
	}
	for _, f := range p.Event.Added {
		s.addRoot(f.URI)
	}
	s.lock.Lock()
	for uri, d := range s.docs {
		at, _ := s.placeOf(uri) // it had one when it was opened
		d.now = &snapshot{place: at, version: d.now.version, text: d.now.text}
	}
	s.lock.Unlock()
	s.checkAll()
	return nil, nil
}
