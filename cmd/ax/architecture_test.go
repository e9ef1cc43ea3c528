package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/ax-scheduler/ax/"

// mayImport is the layout of DESIGN.md: what each package may import of the
// project, itself and what lies below it in its own folder aside.
var mayImport = map[string][]string{
	"cmd/ax":               {"*"},
	"runtime":              {"runtime/machine", "runtime/trigger", "runtime/executor", "runtime/reload", "store", "dag", "dsl", "dsl/cron", "dsl/expression", "dsl/statement"},
	"runtime/sim":          {"runtime", "runtime/executor", "runtime/machine", "store", "dag", "dsl"},
	".ci/bench":            {"runtime", "runtime/machine", "store", "store/sqlite"},
	"runtime/server":       {"runtime", "runtime/machine", "runtime/reload", "store", "dag", "dag/layout", "dsl"},
	"runtime/server/trace": {"runtime", "runtime/machine", "store"},
	"runtime/reload":       {"dag", "dsl", "dsl/lint"},
	"runtime/trigger":      {"dag", "dsl", "dsl/cron"},
	"runtime/executor":     {"dag", "dsl", "dsl/statement"},
	"store":                {"runtime/machine", "dag"},
	"store/sqlite":         {"store", "runtime/machine", "dag"},
	"store/storetest":      {"store", "runtime/machine", "dag"},
	"runtime/machine":      {"dag", "dsl"},
	"dag":                  {"dsl"},
	"dag/layout":           {},
	"dsl":                  {},
	"dsl/lint":             {"dag", "dsl", "dsl/cron", "dsl/expression", "dsl/statement"},
	"dsl/format":           {"dsl"},
	"dsl/lsp":              {"dag", "dsl", "dsl/cron", "dsl/expression", "dsl/format", "dsl/lint"},
	"schema":               {"dsl"},
	"docs":                 {},
	".ci/mutate":           {},
	"dsl/cron":             {"dsl"},
	"dsl/expression":       {"dsl", "dsl/statement"},
	"dsl/statement":        {"dsl"},
	"workflows":            {},
}

// mustNotImport keeps the world out of the pure packages.
var mustNotImport = map[string][]string{
	"runtime/machine": {"os", "os/exec", "net", "net/http", "database/sql", "log/slog", "context", "sync", "math/rand", "math/rand/v2", "io"},
	"dag":             {"os", "os/exec", "net", "net/http", "database/sql", "log/slog", "context", "sync", "math/rand", "math/rand/v2"},
	"dsl":             {"os", "os/exec", "net", "net/http", "database/sql", "log/slog", "context", "math/rand", "math/rand/v2"},
}

// goFile is a Go file of the project.
type goFile struct {
	pkg, path string // its folder, and its own
	parsed    *ast.File
}

// goFiles are all of them, parsed once for all tests.
var goFiles = sync.OnceValues(func() (all []goFile, err error) {
	root := filepath.Join("..", "..")
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"): // tests may look at anything
			return nil
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
		all = append(all, goFile{filepath.ToSlash(filepath.Dir(rel)), filepath.ToSlash(rel), f})
		return err
	})
	return all, err
})

// inFiles hands on every Go file that is no test, with the package that it belongs
// to, by its folder.
func inFiles(t *testing.T, do func(pkg, path string, f *ast.File)) {
	t.Helper()
	all, err := goFiles()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		do(f.pkg, f.path, f.parsed)
	}
}

// upward tells why a package must not import a path, or nothing.
func upward(pkg, path string) string {
	if slices.Contains(mustNotImport[pkg], path) {
		return "pure packages know nothing of the world"
	}
	inner, ours := strings.CutPrefix(path, module)
	allowed, listed := mayImport[pkg]
	switch {
	case !listed:
		return "the package is not in the layout"
	case !ours, slices.Contains(allowed, "*"), slices.Contains(allowed, inner), inner == pkg:
		return ""
	}
	return "imports point down the list of DESIGN.md, never up"
}

func TestImportsPointDown(t *testing.T) {
	inFiles(t, func(pkg, path string, f *ast.File) {
		for _, imp := range f.Imports {
			name, err := strconv.Unquote(imp.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if why := upward(pkg, name); why != "" {
				t.Errorf("%s imports %s: %s", path, name, why)
			}
		}
	})
}

func TestAnUpwardImportIsNoticed(t *testing.T) {
	for _, bad := range [][2]string{
		{"dsl", module + "dag"},
		{"runtime/machine", module + "store"},
		{"store", module + "runtime"},
		{"runtime/machine", "os"},
		{"some/new/package", "fmt"},
	} {
		if upward(bad[0], bad[1]) == "" {
			t.Errorf("%s may import %s", bad[0], bad[1])
		}
	}
	if why := upward("runtime", module+"store"); why != "" {
		t.Errorf("runtime may not import store: %s", why)
	}
}

// The pure packages read no clock and start no goroutine.
func TestPurePackagesArePure(t *testing.T) {
	inFiles(t, func(pkg, path string, f *ast.File) {
		if mustNotImport[pkg] == nil {
			return
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				t.Errorf("%s starts a goroutine", path)
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && x.Name == "time" && slices.Contains([]string{"Now", "Since", "Until", "Sleep", "After", "NewTimer", "NewTicker"}, n.Sel.Name) {
					t.Errorf("%s calls time.%s", path, n.Sel.Name)
				}
			}
			return true
		})
	})
}

func TestEveryPackageSaysWhatItIs(t *testing.T) {
	documented := map[string]bool{}
	inFiles(t, func(pkg, path string, f *ast.File) {
		documented[pkg] = documented[pkg] || f.Doc != nil
	})
	for pkg, ok := range documented {
		if !ok {
			t.Errorf("package %s has no package comment", pkg)
		}
	}
}
