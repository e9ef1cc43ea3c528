package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.uber.org/goleak"

	"github.com/ax-scheduler/ax/schema"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// client is an editor: it speaks with a server over a pipe.
type client struct {
	t     *testing.T
	root  string
	raw   net.Conn
	conn  jsonrpc2.Conn
	ended chan error

	lock  sync.Mutex
	found map[protocol.DocumentURI]protocol.PublishDiagnosticsParams
	count int // of publishDiagnostics
}

// session starts a server in a bubble of its own time, initializes it, and ends
// it behind the test.
func session(t *testing.T, files map[string]string, do func(c *client)) {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, root)
		var result protocol.InitializeResult
		c.call(protocol.MethodInitialize, map[string]any{
			"processId": nil, "rootUri": uriOf(root), "capabilities": map[string]any{
				"textDocument": map[string]any{"hover": map[string]any{"contentFormat": []string{"markdown", "plaintext"}}},
			},
		}, &result)
		if result.ServerInfo == nil || result.ServerInfo.Name != "ax" {
			t.Errorf("the server says that it is %v", result.ServerInfo)
		}
		c.notify(protocol.MethodInitialized, map[string]any{})
		do(c)
		c.call(protocol.MethodShutdown, nil, nil)
		c.notify(protocol.MethodExit, nil)
		if err := <-c.ended; err != nil {
			t.Errorf("after shutdown and exit: %v", err)
		}
	})
}

// connect starts a server and an editor that has said nothing yet.
func connect(t *testing.T, root string) *client {
	near, far := net.Pipe()
	c := &client{t: t, root: root, raw: near, ended: make(chan error, 1), found: map[protocol.DocumentURI]protocol.PublishDiagnosticsParams{}}
	go func() {
		c.ended <- Serve(t.Context(), far, Options{Version: "1", About: schema.About, Workflows: "workflows", Files: listFiles})
	}()
	c.conn = jsonrpc2.NewConn(jsonrpc2.NewStream(near))
	c.conn.Go(context.Background(), func(ctx context.Context, reply jsonrpc2.Replier, req jsonrpc2.Request) error {
		var p protocol.PublishDiagnosticsParams
		if err := json.Unmarshal(req.Params(), &p); err != nil {
			t.Errorf("%s: %v", req.Method(), err)
		}
		c.lock.Lock()
		c.found[p.URI] = p
		c.count++
		c.lock.Unlock()
		return reply(ctx, nil, nil)
	})
	return c
}

// listFiles lists the *.yaml of a folder.
func listFiles(folder string, deep bool) (files []string) {
	pattern := filepath.Join(folder, "*.yaml")
	files, _ = filepath.Glob(pattern)
	if deep {
		more, _ := filepath.Glob(filepath.Join(folder, "*", "*.yaml"))
		files = append(files, more...)
	}
	return files
}

func uriOf(path string) string { return "file://" + filepath.ToSlash(path) }

func (c *client) call(method string, params, result any) {
	c.t.Helper()
	if err := c.try(method, params, result); err != nil {
		c.t.Fatalf("%s: %v", method, err)
	}
}

func (c *client) try(method string, params, result any) error {
	_, err := c.conn.Call(context.Background(), method, params, result)
	return err
}

func (c *client) notify(method string, params any) {
	c.t.Helper()
	if err := c.conn.Notify(context.Background(), method, params); err != nil {
		c.t.Fatalf("%s: %v", method, err)
	}
}

// file is a document that the editor has open.
type file struct {
	c       *client
	uri     protocol.DocumentURI
	text    string
	version int32
}

func (c *client) open(name, text string) *file {
	c.t.Helper()
	f := &file{c: c, uri: protocol.DocumentURI(uriOf(filepath.Join(c.root, name))), text: text, version: 1}
	c.notify(protocol.MethodTextDocumentDidOpen, protocol.DidOpenTextDocumentParams{
		TextDocument: protocol.TextDocumentItem{URI: f.uri, LanguageID: "yaml", Version: 1, Text: text},
	})
	return f
}

// write replaces all of the text.
func (f *file) write(text string) {
	f.c.t.Helper()
	f.text = text
	f.change(map[string]any{"text": text})
}

// replace replaces the first occurrence of a part of the text, and tells the
// server only of that.
func (f *file) replace(old, with string) {
	f.c.t.Helper()
	i := strings.Index(f.text, old)
	if i < 0 {
		f.c.t.Fatalf("there is no %q in the text", old)
	}
	at := protocol.Range{Start: place16(f.text, i), End: place16(f.text, i+len(old))}
	f.text = f.text[:i] + with + f.text[i+len(old):]
	f.change(map[string]any{"range": at, "text": with})
}

func (f *file) change(changes ...any) {
	f.c.t.Helper()
	f.version++
	f.c.notify(protocol.MethodTextDocumentDidChange, map[string]any{
		"textDocument": map[string]any{"uri": f.uri, "version": f.version}, "contentChanges": changes,
	})
}

// place16 is a slow and plain way from a byte offset to a place of the protocol.
func place16(text string, offset int) protocol.Position {
	before := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text[:offset])
	lines := strings.Split(before, "\n")
	units := 0
	for _, r := range lines[len(lines)-1] {
		if units++; r > 0xffff {
			units++
		}
	}
	return protocol.Position{Line: uint32(len(lines) - 1), Character: uint32(units)}
}

// diagnostics waits until the server has been quiet, and gives what it said.
func (f *file) diagnostics() []protocol.Diagnostic {
	f.c.t.Helper()
	time.Sleep(time.Second)
	synctest.Wait()
	f.c.lock.Lock()
	defer f.c.lock.Unlock()
	p, ok := f.c.found[f.uri]
	if !ok {
		f.c.t.Fatalf("nothing was said about %s", f.uri)
	}
	if p.Version != uint32(f.version) {
		f.c.t.Errorf("the diagnostics are of version %d, not %d", p.Version, f.version)
	}
	return p.Diagnostics
}

// says checks the diagnostics: for each the marked part of the text and the rule.
func (f *file) says(want ...string) {
	f.c.t.Helper()
	var got []string
	for _, d := range f.diagnostics() {
		got = append(got, fmt.Sprintf("%s %v", f.marked(d.Range), d.Code))
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		f.c.t.Errorf("the server says\n%s\nnot\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// marked gives the part of the text that a range is.
func (f *file) marked(r protocol.Range) string { return f.text[f.offset(r.Start):f.offset(r.End)] }

// offset finds a place by trying every offset.
func (f *file) offset(p protocol.Position) int {
	for i := range len(f.text) + 1 {
		if (i == len(f.text) || f.text[i]&0xc0 != 0x80) && place16(f.text, i) == p {
			return i
		}
	}
	f.c.t.Fatalf("%v is no place in the text", p)
	return 0
}

// at gives the position of a mark (a vertical bar in the pattern) in the text.
func (f *file) at(pattern string) protocol.TextDocumentPositionParams {
	f.c.t.Helper()
	before, after, ok := strings.Cut(pattern, "|")
	i := strings.Index(f.text, before+after)
	if !ok || i < 0 {
		f.c.t.Fatalf("there is no %q in the text", pattern)
	}
	return protocol.TextDocumentPositionParams{
		TextDocument: protocol.TextDocumentIdentifier{URI: f.uri}, Position: place16(f.text, i+len(before)),
	}
}

// completion gives what is offered at a mark.
func (f *file) completion(pattern string) []protocol.CompletionItem {
	f.c.t.Helper()
	var list protocol.CompletionList
	f.c.call(protocol.MethodTextDocumentCompletion, f.at(pattern), &list)
	return list.Items
}

func (f *file) hover(pattern string) *protocol.Hover {
	f.c.t.Helper()
	var h *protocol.Hover
	f.c.call(protocol.MethodTextDocumentHover, f.at(pattern), &h)
	return h
}
