package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The program in docs/embedding.md is the example that the tests run.
func TestTheEmbeddingExampleIsTheOneThatRuns(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "embedding.md"))
	if err != nil {
		t.Fatal(err)
	}
	example, err := os.ReadFile(filepath.Join("..", "..", "runtime", "example_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(doc), "```go\n")
	block, _, _ = strings.Cut(block, "```")
	if block != string(example) {
		t.Error("docs/embedding.md does not show runtime/example_test.go as it is: copy it again")
	}
}
