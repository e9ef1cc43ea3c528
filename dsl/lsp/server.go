// Package lsp is a language server for workflow files: what `ax lint` says, as
// it is typed, and completion, hover, definitions, references, renaming and
// layout.
//
// It reads what its client opens and, for rules that look at other files, the
// folder around that. It must not write files or start anything, and it knows
// no more of the language than the packages of dsl tell it: keys come from
// dsl.Mappings, functions from package expression, diagnostics from dsl/lint,
// the layout from dsl/format.
//
// Two goroutines share the open documents: that of the connection answers one
// message after another, the other one checks texts once they have been left
// alone for a moment. A text is never changed, only replaced; what has been
// found out about it stays with it.
package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync"
	"time"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
)

// Options are what the server is told by those who start it. The zero value is
// of use.
type Options struct {
	// Version is that of the program, for the client's log.
	Version string
	// About gives the sentences about a key of a mapping of dsl.Keys; nil for none.
	About func(mapping, key string) string
	// Workflows is the workflows folder, relative to the folder that the editor
	// has open. Empty means that there is none.
	Workflows string
	// Files lists the workflow files of a folder, by absolute path, with deep
	// those of its subfolders as well. Nil means that no other files are looked
	// at than those that are open.
	Files func(folder string, deep bool) []string
	// Zone is that of workflows that name none; nil means UTC.
	Zone *time.Location
}

// ErrNoShutdown says that the client ended the connection without having asked
// for a shutdown.
var ErrNoShutdown = errors.New("the editor left without asking for a shutdown")

// ErrNoMessage says that the connection ended before a message of the protocol
// had come: it was no editor that spoke, but perhaps a shell.
var ErrNoMessage = errors.New("no message of the Language Server Protocol came in")

// Serve speaks with one client until that says exit, the connection ends or the
// context does. No goroutine is left. The error is nil after an orderly end,
// ErrNoMessage, ErrNoShutdown, or that of the context.
func Serve(ctx context.Context, rw io.ReadWriteCloser, o Options) error {
	s := &server{o: o, docs: map[protocol.DocumentURI]*document{}, wake: make(chan struct{}, 1), known: map[string]known{}}
	in := newStream(rw)
	s.conn = jsonrpc2.NewConn(in)
	working, rest := context.WithCancel(ctx)
	var worker sync.WaitGroup
	worker.Go(func() { s.keepChecking(working) })
	release := context.AfterFunc(ctx, func() { _ = s.conn.Close() })

	s.conn.Go(ctx, s.handle)
	<-s.conn.Done()
	release()
	rest()
	_ = s.conn.Close() // it may be closed already
	worker.Wait()
	switch {
	case s.phase == leaving:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case !in.heard:
		return ErrNoMessage
	}
	return ErrNoShutdown
}

// phase is how far the conversation is.
type phase uint8

const (
	fresh   phase = iota // initialize has not come yet
	serving              // everything is answered
	leaving              // shutdown has come
)

// server is one conversation.
type server struct {
	o    Options
	conn jsonrpc2.Conn
	wake chan struct{} // holds one signal: there may be documents to check

	// Of the connection's goroutine.
	phase    phase
	roots    []string // the folders that the editor has open, absolute
	markdown bool     // hovers may be Markdown

	lock sync.Mutex // for what follows
	docs map[protocol.DocumentURI]*document

	// telling is held while it is decided what to publish and until that is
	// sent, so that a closed document is not spoken of again. It is taken before
	// lock.
	telling sync.Mutex

	known map[string]known // of the checking goroutine: files that are not open
}

// handle answers one message. It gives no error: that would end the connection.
func (s *server) handle(ctx context.Context, reply jsonrpc2.Replier, req jsonrpc2.Request) error {
	if req.Method() == protocol.MethodExit {
		_ = s.conn.Close() // the next read finds it closed
		return nil
	}
	result, err := s.answer(req)
	_ = reply(ctx, result, err) // that the client is gone shows at the next read
	return nil
}

func (s *server) answer(req jsonrpc2.Request) (any, error) {
	do, ok := methods[req.Method()]
	switch {
	case s.phase == fresh && req.Method() != protocol.MethodInitialize:
		return nil, jsonrpc2.NewError(jsonrpc2.ServerNotInitialized, "the first request must be initialize")
	case s.phase != fresh && req.Method() == protocol.MethodInitialize:
		return nil, jsonrpc2.NewError(jsonrpc2.InvalidRequest, "initialize has come before")
	case s.phase == leaving:
		return nil, jsonrpc2.NewError(jsonrpc2.InvalidRequest, "after shutdown only exit may follow")
	case !ok:
		return nil, jsonrpc2.Errorf(jsonrpc2.MethodNotFound, "there is no method %q", req.Method())
	}
	return do(s, req.Params())
}

// methods is all that the server understands. What else a client tells is
// passed over, what else it asks is refused.
var methods = map[string]func(*server, json.RawMessage) (any, error){
	protocol.MethodInitialize:                 with((*server).initialize),
	protocol.MethodInitialized:                func(*server, json.RawMessage) (any, error) { return nil, nil },
	protocol.MethodShutdown:                   (*server).shutdown,
	protocol.MethodTextDocumentDidOpen:        with((*server).didOpen),
	protocol.MethodTextDocumentDidChange:      with((*server).didChange),
	protocol.MethodTextDocumentDidSave:        with((*server).didSave),
	protocol.MethodTextDocumentDidClose:       with((*server).didClose),
	protocol.MethodTextDocumentCompletion:     with((*server).completion),
	protocol.MethodTextDocumentHover:          with((*server).hover),
	protocol.MethodTextDocumentDefinition:     with((*server).definition),
	protocol.MethodTextDocumentReferences:     with((*server).references),
	protocol.MethodTextDocumentPrepareRename:  with((*server).prepareRename),
	protocol.MethodTextDocumentRename:         with((*server).rename),
	protocol.MethodTextDocumentDocumentSymbol: with((*server).documentSymbol),
	protocol.MethodTextDocumentFormatting:     with((*server).formatting),

	protocol.MethodWorkspaceDidChangeWorkspaceFolders: with((*server).didChangeFolders),
}

// with reads the parameters of a method.
func with[P any](do func(*server, *P) (any, error)) func(*server, json.RawMessage) (any, error) {
	return func(s *server, raw json.RawMessage) (any, error) {
		p := new(P)
		if err := json.Unmarshal(raw, p); err != nil {
			return nil, jsonrpc2.NewError(jsonrpc2.InvalidParams, strings.TrimPrefix(err.Error(), "json: "))
		}
		return do(s, p)
	}
}

// initializeParams is what matters of those of the protocol. All of it would
// be refused for any one member that a newer client writes differently.
type initializeParams struct {
	RootURI          string                     `json:"rootUri"`
	RootPath         string                     `json:"rootPath"`
	WorkspaceFolders []protocol.WorkspaceFolder `json:"workspaceFolders"`
	Capabilities     struct {
		TextDocument struct {
			Hover struct {
				ContentFormat []protocol.MarkupKind `json:"contentFormat"`
			} `json:"hover"`
		} `json:"textDocument"`
	} `json:"capabilities"`
}

func (s *server) initialize(p *initializeParams) (any, error) {
	s.phase = serving
	for _, f := range p.WorkspaceFolders {
		s.addRoot(f.URI)
	}
	if path, ok := pathOf(p.RootURI); ok && len(s.roots) == 0 {
		s.roots = []string{path}
	}
	if len(s.roots) == 0 && p.RootPath != "" {
		s.roots = []string{p.RootPath}
	}
	for _, f := range p.Capabilities.TextDocument.Hover.ContentFormat {
		s.markdown = s.markdown || f == protocol.Markdown
	}
	return protocol.InitializeResult{
		ServerInfo: &protocol.ServerInfo{Name: "ax", Version: s.o.Version},
		Capabilities: protocol.ServerCapabilities{
			TextDocumentSync: protocol.TextDocumentSyncOptions{
				OpenClose: true, Change: protocol.TextDocumentSyncKindIncremental, Save: &protocol.SaveOptions{},
			},
			CompletionProvider:         &protocol.CompletionOptions{TriggerCharacters: []string{".", " ", "[", "{", ",", "@"}},
			HoverProvider:              true,
			DefinitionProvider:         true,
			ReferencesProvider:         true,
			DocumentSymbolProvider:     true,
			DocumentFormattingProvider: true,
			RenameProvider:             protocol.RenameOptions{PrepareProvider: true},
			Workspace: &protocol.ServerCapabilitiesWorkspace{WorkspaceFolders: &protocol.ServerCapabilitiesWorkspaceFolders{
				Supported: true, ChangeNotifications: true,
			}},
		},
	}, nil
}

func (s *server) shutdown(json.RawMessage) (any, error) {
	s.phase = leaving
	return nil, nil
}

func (s *server) addRoot(uri string) {
	if path, ok := pathOf(uri); ok {
		s.roots = append(s.roots, path)
	}
}
