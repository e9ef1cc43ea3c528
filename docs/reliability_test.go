package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	testName   = regexp.MustCompile("`(Test[A-Za-z0-9]+)`")
	scriptName = regexp.MustCompile("`([a-z-]+\\.txtar)`")
	promise    = regexp.MustCompile(`(?m)^## \d+\. `)
)

// Every promise names tests, and all that are named are there.
func TestThePromisesAreHeldByTestsThatAreThere(t *testing.T) {
	text, err := os.ReadFile("reliability.md")
	if err != nil {
		t.Fatal(err)
	}
	var code strings.Builder
	err = filepath.WalkDir("..", func(path string, d os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := os.ReadFile(path)
		code.Write(file)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	sections := promise.Split(string(text), -1)[1:]
	if len(sections) != 11 {
		t.Errorf("the page has %d promises, DESIGN.md 11", len(sections))
	}
	for i, section := range sections {
		tests := testName.FindAllStringSubmatch(section, -1)
		if len(tests) == 0 {
			t.Errorf("promise %d names no test", i+1)
		}
		for _, m := range tests {
			if !strings.Contains(code.String(), "func "+m[1]+"(") {
				t.Errorf("promise %d names %s, which is not there", i+1, m[1])
			}
		}
		for _, m := range scriptName.FindAllStringSubmatch(section, -1) {
			if _, err := os.Stat(filepath.Join("..", "cmd", "ax", "testdata", "script", m[1])); err != nil {
				t.Error(err)
			}
		}
	}
}
