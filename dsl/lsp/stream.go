package lsp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"go.lsp.dev/jsonrpc2"
)

// maxMessage is how many bytes of one message are read: a file of the largest
// size with every character escaped.
const maxMessage = 128 << 20

// stream frames messages as the base protocol does, by Content-Length headers.
// Unlike that of the library, it goes on after a message that it cannot read:
// the client is told, and the next one is read.
type stream struct {
	in    *bufio.Reader
	heard bool // a message has been read; of the connection's goroutine
	rw    io.ReadWriteCloser
	lock  sync.Mutex // for writing: messages come from two goroutines
}

func newStream(rw io.ReadWriteCloser) *stream { return &stream{in: bufio.NewReader(rw), rw: rw} }

// Read gives the next message that can be read. The error is of the connection.
func (s *stream) Read(ctx context.Context) (jsonrpc2.Message, int64, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		size, err := s.header()
		if err != nil {
			return nil, 0, err
		}
		if size > maxMessage {
			if _, err := io.CopyN(io.Discard, s.in, size); err != nil {
				return nil, 0, err
			}
			s.refuse(jsonrpc2.InvalidRequest, fmt.Sprintf("a message of %d bytes: at most %d are read", size, maxMessage))
			continue
		}
		body := make([]byte, size)
		if _, err := io.ReadFull(s.in, body); err != nil {
			return nil, 0, err
		}
		if !json.Valid(body) {
			s.refuse(jsonrpc2.ParseError, "the message is not JSON")
			continue
		}
		m, err := jsonrpc2.DecodeMessage(body)
		if err != nil {
			s.refuse(jsonrpc2.InvalidRequest, err.Error())
			continue
		}
		s.heard = true
		return m, size, nil
	}
}

const lengthHeader = "content-length:"

// header reads up to the blank line before a body and gives the length of that.
// Lines that are no header are passed over until one gives a length.
func (s *stream) header() (int64, error) {
	size := int64(0)
	for {
		line, err := s.in.ReadSlice('\n')
		if err == bufio.ErrBufferFull {
			continue // no header is as long
		}
		if err != nil {
			return 0, err
		}
		text := strings.ToLower(string(bytes.TrimSpace(line)))
		if text == "" && size > 0 {
			return size, nil
		}
		// What is before it on the line is left of a body whose length was wrong.
		if i := strings.LastIndex(text, lengthHeader); i >= 0 {
			n, err := strconv.ParseInt(strings.TrimSpace(text[i+len(lengthHeader):]), 10, 64)
			if size = n; err != nil || n < 0 {
				size = 0
			}
		}
	}
}

// refuse answers a message whose sender is not known from it.
func (s *stream) refuse(code jsonrpc2.Code, message string) {
	body, _ := json.Marshal(map[string]any{ // numbers and texts always have JSON
		"jsonrpc": jsonrpc2.Version, "id": nil, "error": map[string]any{"code": code, "message": message},
	})
	_, _ = s.send(body) // a client that is gone shows at the next read
}

// Write sends a message.
func (s *stream) Write(ctx context.Context, m jsonrpc2.Message) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	body, err := json.Marshal(m)
	if err != nil {
		return 0, err
	}
	return s.send(body)
}

func (s *stream) send(body []byte) (int64, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	n, err := s.rw.Write(append(fmt.Appendf(nil, "Content-Length: %d\r\n\r\n", len(body)), body...))
	if err != nil { // nobody hears what is asked for: the next read finds it closed
		err = errors.Join(err, s.rw.Close())
	}
	return int64(n), err
}

// Close ends both directions.
func (s *stream) Close() error { return s.rw.Close() }
