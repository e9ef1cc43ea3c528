package lsp

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.lsp.dev/protocol"

	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/dsl/lint"
)

// pause is how long nobody must have typed before a text is checked.
const pause = 150 * time.Millisecond

// signal tells the checking goroutine that there is something to do.
func (s *server) signal() {
	select {
	case s.wake <- struct{}{}:
	default: // it has been told already
	}
}

// checkAll has every document checked: what one says may concern another.
func (s *server) checkAll() {
	s.lock.Lock()
	defer s.lock.Unlock()
	for _, d := range s.docs {
		d.dirty = true
	}
	s.signal()
}

// keepChecking checks documents until the context ends.
func (s *server) keepChecking(ctx context.Context) {
	quiet := time.NewTimer(pause)
	quiet.Stop()
	defer quiet.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.wake:
			quiet.Reset(pause)
		case <-quiet.C:
			for d := s.next(); d != nil && ctx.Err() == nil; d = s.next() {
				s.check(d)
			}
		}
	}
}

// next takes a document that is to be checked, the shortest first, so that none
// waits long for a huge one; nil if there is none.
func (s *server) next() *snapshot {
	s.lock.Lock()
	defer s.lock.Unlock()
	var first *document
	for _, d := range s.docs {
		if d.dirty && (first == nil || len(d.now.text) < len(first.now.text)) {
			first = d
		}
	}
	if first == nil {
		return nil
	}
	first.dirty = false
	return first.now
}

// check publishes what is wrong with a document, unless it has changed
// meanwhile: then it is checked again.
func (s *server) check(d *snapshot) {
	found := []protocol.Diagnostic{}
	if !d.foreign() {
		src := d.lintFile().Source
		for _, problem := range s.lint(d) {
			found = append(found, diagnosticOf(src, problem))
		}
	}
	s.telling.Lock()
	defer s.telling.Unlock()
	s.lock.Lock()
	now := s.docs[d.uri]
	current := now != nil && now.now == d
	if current && d.file != nil && d.file.Workflow != nil {
		now.good = d
	}
	s.lock.Unlock()
	if current {
		s.publish(d.uri, d.version, found)
	}
}

func (s *server) publish(uri protocol.DocumentURI, version int32, found []protocol.Diagnostic) {
	// That the client is gone shows at the next read.
	_ = s.conn.Notify(context.Background(), protocol.MethodTextDocumentPublishDiagnostics, protocol.PublishDiagnosticsParams{
		URI: uri, Version: uint32(max(version, 0)), Diagnostics: append([]protocol.Diagnostic{}, found...),
	})
}

var severities = map[dsl.Severity]protocol.DiagnosticSeverity{
	dsl.Error: protocol.DiagnosticSeverityError, dsl.Warning: protocol.DiagnosticSeverityWarning, dsl.Info: protocol.DiagnosticSeverityInformation,
}

// diagnosticOf words a diagnostic for an editor. One about the file as a whole
// stands at its beginning.
func diagnosticOf(src *dsl.Source, d dsl.Diagnostic) protocol.Diagnostic {
	p := protocol.Diagnostic{Severity: severities[d.Severity], Code: d.Rule, Source: "ax", Message: d.Message}
	if d.Pos.Written() {
		p.Range = rangeOf(src, src.Offset(d.Pos), src.Offset(d.End))
	}
	if d.Hint != "" {
		p.Message += "\n" + d.Hint
	}
	return p
}

// lint gives what `ax lint` says about a document, with the other files of its
// folder as they are on disk or open.
func (s *server) lint(d *snapshot) dsl.Diagnostics {
	file, others := d.lintFile(), s.others(d)
	checked := []*lint.File{file}
	for _, f := range others {
		if file.Workflow != nil && f.Workflow != nil && f.Workflow.Name.V == file.Workflow.Name.V {
			checked = append(checked, nameOnly(f))
		}
	}
	found := lint.Check(checked, lint.Options{
		Now: time.Now(), Root: os.DirFS("/"), Others: func(string) []*lint.File { return others },
	})
	return slices.DeleteFunc(found, func(p dsl.Diagnostic) bool { return p.File != file.Source.File })
}

// nameOnly is a file of which only the name matters: two with the same are
// reported, and nothing else is looked for in it.
func nameOnly(f *lint.File) *lint.File {
	wf := *f.Workflow
	wf.Tasks, wf.After = nil, nil
	return &lint.File{Source: f.Source, Workflow: &wf, Folder: f.Folder}
}

// known is a file that is not open, as it was last read.
type known struct {
	size    int64
	changed time.Time
	file    *lint.File
}

// others gives the other files that an engine would load with a document.
func (s *server) others(d *snapshot) []*lint.File {
	open := map[string]*snapshot{}
	s.lock.Lock()
	for _, o := range s.docs {
		if o.now.folder == d.folder && o.now.path != d.path {
			open[o.now.path] = o.now
		}
	}
	s.lock.Unlock()
	var files []*lint.File
	if s.o.Files != nil {
		for _, path := range s.o.Files(d.folder, d.loaded) {
			if open[path] == nil && path != d.path {
				if f := s.read(path, d); f != nil {
					files = append(files, f)
				}
			}
		}
	}
	for _, o := range open {
		if !o.foreign() {
			files = append(files, o.lintFile())
		}
	}
	slices.SortFunc(files, func(a, b *lint.File) int { return strings.Compare(a.Source.File, b.Source.File) })
	return files
}

// read gives a file beside a document; nil if it cannot be read.
func (s *server) read(path string, beside *snapshot) *lint.File {
	info, err := os.Stat(path)
	if err != nil || info.Size() > dsl.MaxSize {
		return nil
	}
	if k, ok := s.known[path]; ok && k.size == info.Size() && k.changed.Equal(info.ModTime()) && k.file.Folder == beside.folder {
		return k.file
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	name := path
	if rel, err := filepath.Rel(filepath.Dir(beside.path), path); err == nil && beside.name != beside.path {
		name = filepath.Join(filepath.Dir(beside.name), rel)
	}
	f := lint.Parse(name, text, filepath.Dir(path), beside.folder)
	s.known[path] = known{info.Size(), info.ModTime(), f}
	return f
}
