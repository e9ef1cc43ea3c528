// Command mutate shows that tests bite: it plants one bug after another in a
// copy of the code and runs the tests against each.
//
//	go run ./.ci/mutate [-in machine|engine] [-run REGEXP] [-only TEXT]
//
// In the machine (runtime/machine) they are for the tests beside it, in the
// engine (runtime) for the simulation of runtime/sim. It prints a line for each
// bug, with the first test or seed that caught it, and exits with 1 if one
// survives, no longer fits the code or does not compile. The work tree is only
// read. With -run only some tests of the machine are used (-run Worlds: do the
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
	"strconv"
	"strings"
	"time"
)

// suite is where bugs are planted, and what is to find them.
type suite struct {
	folder string // that the files of the bugs are in
	parts  []string
	tests  string // folder whose tests are copied
	bugs   []bug
	find   func(copied, run string, planted bool) (string, error)
}

var suites = map[string]suite{
	"machine": {"runtime/machine", []string{"go.mod", "go.sum", "dsl", "dag", "runtime/machine"}, "runtime/machine", bugs, test},
	"engine":  {"runtime", []string{"go.mod", "go.sum", "dsl", "dag", "runtime", "store"}, "runtime/sim", engineBugs, simulate},
}

func main() {
	in := flag.String("in", "machine", "plant bugs in the `PART`: machine or engine")
	run := flag.String("run", "", "use only the tests that match `REGEXP`")
	only := flag.String("only", "", "plant only the bugs whose name contains `TEXT`")
	flag.Parse()
	of, ok := suites[*in]
	if !ok {
		fmt.Fprintf(os.Stderr, "mutate: -in %q: it is machine or engine\n", *in)
		os.Exit(2)
	}
	survived, err := of.mutate(*run, *only)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(2)
	case survived > 0:
		os.Exit(1)
	}
}

// mutate plants all bugs and gives the number of those that were not caught.
func (s suite) mutate(run, only string) (survived int, err error) {
	copied, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(copied)) }()
	for _, part := range s.parts {
		if err := copyTree(copied, part, s.tests); err != nil {
			return 0, err
		}
	}
	if verdict, err := s.find(copied, run, false); err != nil || verdict != "" {
		return 0, errors.Join(fmt.Errorf("the tests fail without a bug: %s", verdict), err)
	}
	planted := 0
	for _, b := range s.bugs {
		if !strings.Contains(b.name, only) {
			continue
		}
		began := time.Now()
		caught, err := s.plant(copied, b, run)
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

// copyTree copies a file, or the Go files and data of a folder, with the tests
// of one.
func copyTree(to, part, tests string) error {
	return filepath.WalkDir(part, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if strings.HasSuffix(path, "_test.go") && !strings.HasPrefix(path, tests) {
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
func (s suite) plant(copied string, b bug, run string) (caught string, err error) {
	path := filepath.Join(copied, s.folder, b.file)
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
	return s.find(copied, run, true)
}

var failed = regexp.MustCompile(`(?m)^--- FAIL: (\S+)|^panic: test timed out`)

// test runs the tests of the copy and gives the first that failed. That it does
// not compile is an error.
func test(copied, run string, _ bool) (string, error) {
	cmd := exec.Command("go", "test", "-count=1", "-short", "-failfast", "-timeout=60s", "-run="+run, "./runtime/machine",
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

var repeat = regexp.MustCompile(`AX_SEED=(\d+)`)

// mostSeeds are tried with each bug, and soundSeeds without any.
const mostSeeds, soundSeeds = 2000, 200

// simulate runs some seeds of the simulation of the copy, more and more of them,
// and gives the first that found something.
func simulate(copied, _ string, planted bool) (string, error) {
	program := filepath.Join(copied, "sim.test")
	build := exec.Command("go", "test", "-c", "-o", program, "./runtime/sim")
	build.Dir = copied
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	most := soundSeeds
	if planted {
		most = mostSeeds
	}
	for from, many := 1, 16; from <= most; from, many = from+many, 3*many {
		caught, err := simulateSome(program, from, min(many, most-from+1))
		if err != nil || caught != "" {
			return caught, err
		}
	}
	return "", nil
}

func simulateSome(program string, from, many int) (string, error) {
	cmd := exec.Command(program, fmt.Sprint("-test.timeout=", 90+many/2, "s"), "-test.run=Promises")
	cmd.Env = append(os.Environ(), "GOGC=400", fmt.Sprint("AX_SEED=", from), fmt.Sprint("AX_SEEDS=", many))
	out, err := cmd.CombinedOutput()
	if err == nil {
		return "", nil
	}
	first := 0
	for _, m := range repeat.FindAllSubmatch(out, -1) {
		if n, _ := strconv.Atoi(string(m[1])); first == 0 || n < first {
			first = n
		}
	}
	switch {
	case first > 0:
		return fmt.Sprintf("seed %d", first), nil
	case bytes.Contains(out, []byte("panic: ")):
		return fmt.Sprintf("a panic, or no end, in the seeds from %d to %d", from, from+many-1), nil
	}
	return "", fmt.Errorf("%w: %s", err, out)
}
