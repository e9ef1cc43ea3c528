package lsp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.lsp.dev/protocol"
	"pgregory.net/rapid"

	"github.com/ax-scheduler/ax/dsl"
)

// wire is a client that writes bytes and reads messages.
type wire struct {
	t     *testing.T
	conn  net.Conn
	ended chan error
	got   chan map[string]any
}

func dial(t *testing.T) *wire {
	near, far := net.Pipe()
	w := &wire{t: t, conn: near, ended: make(chan error, 1), got: make(chan map[string]any, 1000)}
	go func() { w.ended <- Serve(t.Context(), far, Options{}) }()
	go func() {
		defer close(w.got)
		in := newStream(near)
		for {
			n, err := in.header()
			if err != nil {
				return
			}
			body := make([]byte, n)
			if _, err := io.ReadFull(in.in, body); err != nil {
				return
			}
			var m map[string]any
			if err := json.Unmarshal(body, &m); err != nil {
				t.Errorf("the server sends %q", body)
			}
			w.got <- m
		}
	}()
	return w
}

// send writes a message and gives the answer to it.
func (w *wire) send(body string) map[string]any {
	w.raw(fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body))
	return <-w.got
}

func (w *wire) raw(text string) {
	w.t.Helper()
	if _, err := io.WriteString(w.conn, text); err != nil {
		w.t.Fatal(err)
	}
}

func codeOf(m map[string]any) any {
	if e, ok := m["error"].(map[string]any); ok {
		return e["code"]
	}
	return nil
}

func TestMalformedMessagesAreRefusedAndTheNextIsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := dial(t)
		for _, row := range []struct {
			body string
			want float64
		}{
			{`{`, -32700},
			{"\xff", -32700},
			{`[]`, -32600},
			{`"x"`, -32600},
			{`{"jsonrpc":"1.0","id":1,"method":"shutdown"}`, -32600},
			{`{"jsonrpc":"2.0","id":{},"method":"shutdown"}`, -32600},
			{`{"jsonrpc":"2.0"}`, -32600},
			{`{"jsonrpc":"2.0","id":1,"method":"shutdown"}`, -32002},
			{`{"jsonrpc":"2.0","id":1,"method":"initialize","params":[]}`, -32602},
			{`{"jsonrpc":"2.0","id":1,"method":"initialize"}`, -32602},
		} {
			if got := codeOf(w.send(row.body)); got != row.want {
				t.Errorf("%s: the code is %v, not %v", row.body, got, row.want)
			}
		}
		if got := w.send(`{"jsonrpc":"2.0","id":"a","method":"initialize","params":{"capabilities":{"textDocument":{"new":1}},"rootUri":null,"workspaceFolders":null}}`); got["id"] != "a" || got["result"] == nil {
			t.Errorf("initialize is answered by %v", got)
		}
		w.raw("noise\r\nX-Other: 1\r\nContent-Length: x\r\n\r\n" + strings.Repeat("long", 4000) + "\r\nContent-Type: y\r\n")
		for _, row := range []struct {
			method, params string
			want           any
		}{
			{"initialize", `{}`, -32600.0},
			{"nothing", `{}`, -32601.0},
			{"$/nothing", `{}`, -32601.0},
			{"textDocument/hover", `{"textDocument":{"uri":"file:///a.yaml"},"position":{"line":-1}}`, -32602.0},
			{"textDocument/hover", `{"textDocument":{"uri":"file:///not-open.yaml"},"position":{}}`, -32602.0},
			{"textDocument/rename", `null`, -32602.0},
			{"shutdown", `null`, nil},
			{"textDocument/hover", `{}`, -32600.0},
		} {
			if got := w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":%q,"params":%s}`, row.method, row.params)); codeOf(got) != row.want || got["id"] != 7.0 {
				t.Errorf("%s is answered by %v", row.method, got)
			}
		}
		w.raw("Content-Length: 33\r\n\r\n" + `{"jsonrpc":"2.0","method":"exit"}`)
		if err := <-w.ended; err != nil {
			t.Error(err)
		}
	})
}

func TestNotificationsThatMeanNothingAreIgnored(t *testing.T) {
	session(t, nil, func(c *client) {
		c.notify("$/cancelRequest", map[string]any{"id": 1})
		c.notify("nothing", nil)
		c.notify(protocol.MethodTextDocumentDidChange, map[string]any{"textDocument": map[string]any{"uri": "file:///a.yaml"}})
		c.notify(protocol.MethodTextDocumentDidChange, 1)
		c.notify(protocol.MethodTextDocumentDidClose, map[string]any{"textDocument": map[string]any{"uri": "%%%"}})
		f := c.open("workflows/a.yaml", "tasks: {a: {run: x, timeout: 1m}}\n")
		f.says()
	})
}

func TestAnEndWithoutShutdownIsAnError(t *testing.T) {
	for sent, want := range map[string]error{
		"":                          ErrNoMessage,
		"lint\nlint nightly.yaml\n": ErrNoMessage,
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}` + "\n":           ErrNoMessage,
		"Content-Length: 2\r\n\r\n{}":                                                 ErrNoMessage,
		"Content-Length: 100\r\n\r\n{":                                                ErrNoMessage,
		"Content-Length: 33\r\n\r\n" + `{"jsonrpc":"2.0","method":"exit"}`:            ErrNoShutdown,
		"Content-Length: 37\r\n\r\n" + `{"jsonrpc":"2.0","method":"anything"}` + "Co": ErrNoShutdown,
	} {
		synctest.Test(t, func(t *testing.T) {
			w := dial(t)
			w.raw(sent)
			_ = w.conn.Close()
			if err := <-w.ended; !errors.Is(err, want) {
				t.Errorf("%q and an end: %v, not %v", sent, err, want)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		ctx, cancel := context.WithCancelCause(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- Serve(ctx, far, Options{}) }()
		why := errors.New("enough")
		cancel(why)
		if err := <-ended; !errors.Is(err, why) {
			t.Errorf("the context ended: %v", err)
		}
		_ = near.Close()
	})
}

func TestAMessageThatIsTooLongIsPassedOver(t *testing.T) {
	in := bytes.NewBuffer(nil)
	fmt.Fprintf(in, "Content-Length: %d\r\n\r\n", maxMessage+1)
	in.Write(make([]byte, maxMessage+1))
	in.WriteString("Content-Length: 33\r\n\r\n" + `{"jsonrpc":"2.0","method":"exit"}`)
	out := bytes.NewBuffer(nil)
	s := newStream(struct {
		io.Reader
		io.Writer
		io.Closer
	}{in, out, nil})
	m, _, err := s.Read(t.Context())
	if err != nil || m == nil || !strings.Contains(out.String(), "at most 134217728 are read") {
		t.Errorf("%v %v %s", m, err, out)
	}
}

// Whatever the text is, and wherever the cursor: there is an answer, and every
// place in it is in the text.
func TestAnyTextIsAnswered(t *testing.T) {
	pieces := []string{"tasks:\n", "  a:\n", "    run: x\n", "    depends_on: [a, ", "}", "]", "{", "- ", "\n", "\r\n", "\r", " ", "  ", "é", "😀", "${{ ", "tasks.a", ".", "}}", `"`, "'", "|\n", ">-\n",
		"&x ", "*x", "<<: ", ": ", ",", "#", "\t", "\ufeff", "\u2028", "\x00", "retry: {max: 3, ", "cron: '0 0 * * *'\n", "when: ", "params: {p: 1}\n", "[", "a-b"}
	session(t, nil, func(c *client) {
		f := c.open("workflows/a.yaml", "")
		rapid.Check(t, func(rt *rapid.T) {
			f.write(strings.ToValidUTF8(strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 25).Draw(rt, "pieces"), ""), ""))
			at := protocol.TextDocumentPositionParams{
				TextDocument: protocol.TextDocumentIdentifier{URI: f.uri},
				Position:     protocol.Position{Line: rapid.Uint32Range(0, 8).Draw(rt, "line"), Character: rapid.Uint32Range(0, 20).Draw(rt, "character")},
			}
			for _, method := range []string{"completion", "hover", "definition", "prepareRename", "documentSymbol"} {
				c.call("textDocument/"+method, at, nil)
			}
			c.call("textDocument/references", protocol.ReferenceParams{TextDocumentPositionParams: at}, nil)
			if text, err := f.renameAt(at, "new"); err == nil {
				was, _ := dsl.Parse("a.yaml", []byte(f.text))
				now, _ := dsl.Parse("a.yaml", []byte(text))
				if len(was.Tasks) != len(now.Tasks) {
					rt.Errorf("renaming made %q of %q", text, f.text)
				}
			}
			for _, d := range f.diagnostics() {
				f.marked(d.Range)
			}
		})
	})
}

func TestPlacesOfTheProtocolAreUTF16(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"a", "é", "😀", "\n", "\r\n", "\r", "\u2028", "中"})).Draw(t, "text"), "")
		src := dsl.NewSource("a.yaml", []byte(text))
		for i := range text {
			if i > 0 && text[i-1] == '\r' && text[i] == '\n' {
				continue // within a line end
			}
			p := positionOf(src, i)
			if p != place16(text, i) || offsetAt(src.Text, p) != i {
				t.Fatalf("offset %d of %q is %v, and back %d", i, text, p, offsetAt(src.Text, p))
			}
		}
		if at := offsetAt(src.Text, protocol.Position{Line: 1 << 30, Character: 1 << 30}); at != len(text) {
			t.Fatalf("behind the end of %q is %d", text, at)
		}
	})
}

func TestAHugeFileIsAnswered(t *testing.T) {
	var b strings.Builder
	b.WriteString("tasks:\n  t0: {run: x, timeout: 1m}\n")
	for i := 1; i < 2_000; i++ {
		fmt.Fprintf(&b, "  t%d: {run: x, timeout: 1m, depends_on: t%d, when: tasks.t%d.state != ''}\n", i, i-1, i-1)
	}
	session(t, nil, func(c *client) {
		f := c.open("workflows/a.yaml", b.String())
		time.Sleep(pause)
		var got []protocol.Location
		at := protocol.TextDocumentPositionParams{
			TextDocument: protocol.TextDocumentIdentifier{URI: f.uri}, Position: protocol.Position{Line: 2_000, Character: 5},
		}
		c.call(protocol.MethodTextDocumentReferences, at, &got)
		if len(got) != 0 {
			t.Errorf("the last task is named at %v", got)
		}
	})
}

// deaf is a connection whose other end reads no more.
type deaf struct {
	io.Reader
	closed chan struct{}
}

func (d *deaf) Read(b []byte) (int, error) {
	if n, err := d.Reader.Read(b); err == nil {
		return n, nil
	}
	<-d.closed
	return 0, io.EOF
}

func (d *deaf) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func (d *deaf) Close() error {
	select {
	case <-d.closed:
	default:
		close(d.closed)
	}
	return nil
}

func TestAnEditorThatReadsNoMoreEndsTheConversation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`
		rw := &deaf{strings.NewReader(fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(hello), hello)), make(chan struct{})}
		if err := Serve(t.Context(), rw, Options{}); !errors.Is(err, ErrNoShutdown) {
			t.Errorf("want the end of the conversation, got %v", err)
		}
	})
}
