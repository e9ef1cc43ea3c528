package runtime_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"strings"
	"testing"

	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/store"
)

// mailServer takes one mail and gives it with its envelope, as "FROM TO…\nTEXT".
func mailServer(t *testing.T) (addr string, got <-chan string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	mails := make(chan string, 1)
	go func() {
		conn, err := ln.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		in := bufio.NewReader(conn)
		envelope := ""
		fmt.Fprint(conn, "220 here\r\n")
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				return
			}
			verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
			switch verb {
			case "MAIL", "RCPT":
				envelope += rest[strings.Index(rest, "<"):strings.Index(rest, ">")+1] + " "
			case "DATA":
				fmt.Fprint(conn, "354 go on\r\n")
				text := ""
				for line != ".\r\n" {
					if line, err = in.ReadString('\n'); err != nil {
						return
					}
					text += line
				}
				mails <- strings.TrimSpace(envelope) + "\n" + text
			}
			fmt.Fprint(conn, "250 fine\r\n")
		}
	}()
	return ln.Addr().String(), mails
}

// toldAtTheEnd runs a workflow and sends what it has to tell.
func toldAtTheEnd(t *testing.T, e *runtime.Engine, text string) {
	t.Helper()
	serve(t, e, func(ctx context.Context, e *runtime.Engine) {
		toEnd(ctx, t, e, text)
		if err := e.DeliverOwn(ctx); err != nil {
			t.Error(err)
		}
	})
}

func TestAMailIsSentToEachAddress(t *testing.T) {
	addr, got := mailServer(t)
	e := &runtime.Engine{
		Store: &store.Memory{}, Executor: &script{fail: map[string]int{"a": -1}, last: "naïve"}, Data: t.TempDir(),
		Mail: runtime.Mail{Addr: addr, From: "ax <ax@example.com>"},
	}
	toldAtTheEnd(t, e, `{name: flow, notify: [{email: "one@example.com, Two <two@example.com>"}], tasks: {a: {run: x}}}`)
	envelope, text, _ := strings.Cut(<-got, "\n")
	if envelope != "<ax@example.com> <one@example.com> <two@example.com>" {
		t.Errorf("the envelope is %s", envelope)
	}
	m, err := mail.ReadMessage(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	subject, err := new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject"))
	if err != nil || subject != `[ax] flow failed: task "a" failed: exit code 3: naïve` {
		t.Errorf("the subject is %q (%v)", subject, err)
	}
	body, err := io.ReadAll(quotedprintable.NewReader(m.Body))
	if err != nil || !strings.Contains(string(body), "task a: exit code 3: naïve (exit, attempt 1)") {
		t.Errorf("the text is %q (%v)", body, err)
	}
	if id := m.Header.Get("X-Ax-Delivery"); id == "" || m.Header.Get("Message-ID") != "<"+id+"@example.com>" {
		t.Errorf("the headers are %v", m.Header)
	}
}

func TestWithoutAMailServerTheMessageSaysWhatIsMissing(t *testing.T) {
	e := &runtime.Engine{Store: &store.Memory{}, Executor: &script{}, Data: t.TempDir()}
	toldAtTheEnd(t, e, `{name: flow, notify: [{email: a@example.com, on: succeeded}], tasks: {a: {run: x}}}`)
	waiting, err := e.Store.Messages(t.Context(), store.MessageWaiting, 9)
	if err != nil || len(waiting) != 1 || waiting[0].Error != "no mail can be sent: start ax with --smtp-addr and --smtp-from" {
		t.Errorf("what waits is %+v (%v)", waiting, err)
	}
}

func TestChatsGetMessagesInTheirOwnForm(t *testing.T) {
	for format, want := range map[string][]string{
		"slack": {`{"text":"*flow failed: task \"a\" failed: exit code 3: \u0026lt;no\u0026gt; luck*`, `\ntask a: exit code 3: \u0026lt;no\u0026gt; luck (exit, attempt 1)"}`},
		"teams": {`"contentType":"application/vnd.microsoft.card.adaptive"`, `"type":"FactSet"`, `{"title":"task a","value":"exit code 3: \u003cno\u003e luck (exit, attempt 1)"}`},
	} {
		r := newReceiver(t)
		e := &runtime.Engine{Store: &store.Memory{}, Executor: &script{fail: map[string]int{"a": -1}, last: "<no> luck"}, Data: t.TempDir()}
		toldAtTheEnd(t, e, `{name: flow, notify: [{url: "`+r.URL+`", format: `+format+`}], tasks: {a: {run: x}}}`)
		body := (<-r.got).body
		for _, w := range want {
			if !strings.Contains(body, w) {
				t.Errorf("%s got %s, which lacks %s", format, body, w)
			}
		}
	}
}

// The value is that of "openssl dgst -sha256 -hmac kept".
func TestASignatureIsTheHMACOfTheTimeAndTheBody(t *testing.T) {
	const want = "a94310173c79287196407d122ba5b14d375ea14543b7e524ad002672df000549"
	if got := runtime.Signature("kept", "1700000000", []byte(`{"a":1}`)); got != want {
		t.Errorf("the signature is %s, want %s", got, want)
	}
}
