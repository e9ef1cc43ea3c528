// Command bench measures every figure that the project promises and writes them
// into docs/benchmarks.md, with the facts of the machine they were measured on.
//
//	go run ./.ci/bench [-only REGEXP] [-rounds N] [-print]
//
// Whole processes are compared with others that do the same: each in turn, again
// and again, and the medians count. So figures are ratios where there is a peer,
// and what the machine can do stands beside those where there is none. DAGU_BIN
// names a binary of dagu, which is compared as well. With -only some parts are
// measured and printed; the page is left alone.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
)

const page = "docs/benchmarks.md"

// bench is one going: what it measures with.
type bench struct {
	ax     string // the binary
	dir    string // for what is written; removed at the end, since a removal slows down what is created next
	rounds int
}

// part is a group of figures that are measured together.
type part struct {
	name    string
	measure func(*bench) ([]figure, error)
}

// The comparison of processes comes last: what the others leave deleted makes
// files dear for some minutes.
var parts = []part{
	{"engine", (*bench).engine},
	{"lint", (*bench).lint},
	{"waiting", (*bench).waiting},
	{"triggers", (*bench).triggers},
	{"idle", (*bench).idle},
	{"reload", (*bench).reload},
	{"pages", (*bench).pages},
	{"start", (*bench).start},
	{"peers", (*bench).peers},
}

func main() {
	only := flag.String("only", "", "measure only the parts that match `REGEXP`, and print them")
	rounds := flag.Int("rounds", 5, "how often whole processes are compared")
	print := flag.Bool("print", false, "print the page instead of writing it")
	alone := flag.String("least", "", "do the least for N tasks, so many at a time (two arguments), in `FOLDER`: what ax is compared with")
	flag.Parse()
	do := func() error { return run(*only, *rounds, *print) }
	if *alone != "" {
		do = func() error { return leastBy(*alone, flag.Args()) }
	}
	if err := do(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(only string, rounds int, print bool) (err error) {
	wanted, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "ax-bench")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	b := &bench{ax: filepath.Join(dir, "ax"), dir: dir, rounds: rounds}
	build := exec.Command("go", "build", "-ldflags", "-s -w", "-o", b.ax, "./cmd/ax")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	facts, err := b.facts()
	if err != nil {
		return err
	}
	var all []figure
	for _, p := range parts {
		if !wanted.MatchString(p.name) {
			continue
		}
		fmt.Fprintln(os.Stderr, "measuring", p.name)
		figures, err := p.measure(b)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		all = append(all, figures...)
	}
	sizes, err := sizes()
	if err != nil {
		return err
	}
	text := facts + table(all) + sizes
	if only != "" || print {
		fmt.Print(text)
		return nil
	}
	return write(page, text)
}

// folder makes a new folder.
func (b *bench) folder() string {
	dir, err := os.MkdirTemp(b.dir, "")
	if err != nil {
		panic(err) // there was room for the last one
	}
	return dir
}
