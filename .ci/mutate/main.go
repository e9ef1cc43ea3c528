// Command mutate shows that the tests of runtime/machine bite: it plants one
// bug after another in a copy of the package and runs the tests against each.
//
//	go run ./.ci/mutate [-run REGEXP] [-only TEXT]
//
// It prints a line for each bug, with the first test that caught it, and exits
// with 1 if one survives, no longer fits the code or does not compile. The work
// tree is only read. With -run only some tests are used (-run Worlds: do the
// laws alone suffice?), with -only only the bugs whose name contains a text.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

const machine = "runtime/machine"

func main() {
	run := flag.String("run", "", "use only the tests that match `REGEXP`")
	only := flag.String("only", "", "plant only the bugs whose name contains `TEXT`")
	flag.Parse()
	survived, err := mutate(*run, *only)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(2)
	case survived > 0:
		os.Exit(1)
	}
}

// mutate plants all bugs and gives the number of those that were not caught.
func mutate(run, only string) (survived int, err error) {
	copied, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(copied)) }()
	for _, part := range []string{"go.mod", "go.sum", "dsl", "dag", machine} {
		if err := copyTree(copied, part); err != nil {
			return 0, err
		}
	}
	if verdict, err := test(copied, run); err != nil || verdict != "" {
		return 0, fmt.Errorf("the tests fail without a bug: %s %w", verdict, err)
	}
	planted := 0
	for _, b := range bugs {
		if !strings.Contains(b.name, only) {
			continue
		}
		began := time.Now()
		caught, err := plant(copied, b, run)
		switch {
		case err != nil:
			caught = "NOT PLANTED: " + err.Error()
			survived++
		case caught == "":
			caught = "SURVIVED"
			survived++
		}
		planted++
		fmt.Printf("%5.1fs  %-60s %s\n", time.Since(began).Seconds(), b.name, caught)
	}
	fmt.Printf("%d of %d bugs were caught\n", planted-survived, planted)
	return survived, nil
}

// copyTree copies a file, or the Go files and test data of a folder.
func copyTree(to, part string) error {
	return filepath.WalkDir(part, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if strings.HasSuffix(path, "_test.go") && !strings.HasPrefix(path, machine) {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, path)
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		return os.WriteFile(target, text, 0o644)
	})
}

// plant puts one bug into the copy, runs the tests and takes it out again. It
// gives the test that failed, or nothing.
func plant(copied string, b bug, run string) (caught string, err error) {
	path := filepath.Join(copied, machine, b.file)
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	if n := bytes.Count(text, []byte(b.old)); n != 1 {
		return "", fmt.Errorf("%s has its place %d times", b.file, n)
	}
	defer func() { err = errors.Join(err, os.WriteFile(path, text, 0o644)) }()
	if err := os.WriteFile(path, bytes.Replace(text, []byte(b.old), []byte(b.new), 1), 0o644); err != nil {
		return "", err
	}
	return test(copied, run)
}

var failed = regexp.MustCompile(`(?m)^--- FAIL: (\S+)|^panic: test timed out`)

// test runs the tests of the copy and gives the first that failed. That it does
// not compile is an error.
func test(copied, run string) (string, error) {
	cmd := exec.Command("go", "test", "-count=1", "-short", "-failfast", "-timeout=60s", "-run="+run, "./"+machine,
		"-rapid.nofailfile", "-rapid.shrinktime=0s")
	cmd.Dir = copied
	out, err := cmd.CombinedOutput()
	if err == nil {
		return "", nil
	}
	found := failed.FindSubmatch(out)
	switch {
	case found == nil:
		return "", fmt.Errorf("%w: %s", err, out)
	case len(found[1]) == 0:
		return "a test that does not end", nil
	}
	return string(found[1]), nil
}
