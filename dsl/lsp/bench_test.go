package lsp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"go.lsp.dev/protocol"

	"github.com/ax-scheduler/ax/schema"
)

// long is a workflow of n tasks, five lines each.
func long(n int) string {
	var b strings.Builder
	b.WriteString("name: long\ntasks:\n  t0: {run: x, timeout: 1m}\n")
	for i := 1; i < n; i++ {
		fmt.Fprintf(&b, "  t%d:\n    depends_on: [t%d]\n    when: tasks.t%[2]d.state == 'succeeded'\n    run: echo \"ü ${{ tasks.t%[2]d.exit_code }}\"\n    timeout: 1m\n", i, i-1)
	}
	return b.String()
}

// BenchmarkLongFile is what an editor waits for in a file of 2,000 lines: the
// completion behind a letter that was typed at its end, and the diagnostics.
func BenchmarkLongFile(b *testing.B) {
	const uri = protocol.DocumentURI("file:///repo/long.yaml")
	s := &server{o: Options{About: schema.About}, docs: map[protocol.DocumentURI]*document{}, wake: make(chan struct{}, 1), known: map[string]known{}}
	ask := func(method string, params any) {
		raw, err := json.Marshal(params)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := methods[method](s, raw); err != nil {
			b.Fatal(err)
		}
	}
	text := long(400)
	ask(protocol.MethodTextDocumentDidOpen, map[string]any{"textDocument": map[string]any{"uri": uri, "version": 1, "text": text + "  last:\n    depends_on: [t1\n"}})
	type at = map[string]any
	end := strings.Count(text, "\n") + 1
	b.Run("keystroke", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			column := len("    depends_on: [t1") + i
			place := at{"line": end, "character": column}
			ask(protocol.MethodTextDocumentDidChange, map[string]any{"textDocument": map[string]any{"uri": uri, "version": i + 2},
				"contentChanges": []any{map[string]any{"range": at{"start": place, "end": place}, "text": "0"}}})
			ask(protocol.MethodTextDocumentCompletion, map[string]any{"textDocument": map[string]any{"uri": uri}, "position": at{"line": end, "character": column + 1}})
		}
	})
	b.Run("check", func(b *testing.B) {
		d := s.docs[uri].now
		for b.Loop() {
			again := &snapshot{place: d.place, text: []byte(text)}
			if found := s.lint(again); len(found) > 1 {
				b.Fatalf("the file has mistakes: %v", found)
			}
		}
	})
}
