package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/textproto"
	"os/exec"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// editor carries out the script command `editor FILE`: it starts ax lsp and has
// the conversation of the file with it. A line that begins with > is a message
// to send. One that begins with < is of what the server says next, about the
// same id or by the same method: all that the line has must be in it. Between
// them, what is sent goes unheard. A text "@FILE" stands for what the file says.
func editor(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: editor FILE")
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "ax", "lsp")
	cmd.Dir, cmd.Env = ts.MkAbs("."), []string{"TZ=UTC"}
	to, err := cmd.StdinPipe()
	ts.Check(err)
	from, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	in := bufio.NewReader(from)
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		said, message := readMessage(ts, line)
		switch said {
		case '>':
			message["jsonrpc"] = "2.0"
			body, err := json.Marshal(message)
			ts.Check(err)
			_, err = fmt.Fprintf(to, "Content-Length: %d\r\n\r\n%s", len(body), body)
			ts.Check(err)
		case '<':
			if heard := hear(ts, in, message); !contains(heard, message) {
				got, _ := json.MarshalIndent(heard, "", "  ")
				ts.Fatalf("%s: the server says\n%s\nnot\n%s", args[0], got, line)
			}
		}
	}
	if rest, err := io.ReadAll(in); err != nil || len(rest) > 0 {
		ts.Fatalf("after the conversation the server says %q %v", rest, err)
	}
	ts.Check(cmd.Wait())
}

var fileText = regexp.MustCompile(`"@([^"]+)"`)

// readMessage reads a line of a conversation: who says it, and what.
func readMessage(ts *testscript.TestScript, line string) (who byte, message map[string]any) {
	line = strings.TrimSpace(line)
	if line == "" || line[0] != '>' && line[0] != '<' {
		return 0, nil // a remark
	}
	text := strings.ReplaceAll(line[1:], "$WORK", ts.Getenv("WORK"))
	text = fileText.ReplaceAllStringFunc(text, func(name string) string {
		quoted, err := json.Marshal(ts.ReadFile(name[2 : len(name)-1]))
		ts.Check(err)
		return string(quoted)
	})
	if err := json.Unmarshal([]byte(text), &message); err != nil {
		ts.Fatalf("%s: %v", line, err)
	}
	return line[0], message
}

// hear gives the next message of the server with the id or method of another.
func hear(ts *testscript.TestScript, in *bufio.Reader, like map[string]any) map[string]any {
	for {
		header, err := textproto.NewReader(in).ReadMIMEHeader()
		ts.Check(err)
		size, err := strconv.Atoi(header.Get("Content-Length"))
		ts.Check(err)
		body := make([]byte, size)
		_, err = io.ReadFull(in, body)
		ts.Check(err)
		var message map[string]any
		ts.Check(json.Unmarshal(body, &message))
		if message["id"] == like["id"] && message["method"] == like["method"] {
			return message
		}
	}
}

// contains tells whether a value of JSON has all that another has: maps may
// have more members and lists more items, in order.
func contains(all, part any) bool {
	switch part := part.(type) {
	case map[string]any:
		m, ok := all.(map[string]any)
		for k, v := range part {
			if have, there := m[k]; !there || !contains(have, v) {
				return false
			}
		}
		return ok
	case []any:
		l, ok := all.([]any)
		if len(part) == 0 {
			return ok && len(l) == 0
		}
		for len(part) > 0 && len(l) > 0 {
			if contains(l[0], part[0]) {
				part = part[1:]
			}
			l = l[1:]
		}
		return ok && len(part) == 0
	}
	return reflect.DeepEqual(all, part)
}
