package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// shape is a graph: the upstreams of each of n tasks, by number.
type shape struct {
	name    string
	workers int // how many tasks can go at a time, of two
	deps    func(i, n int) []int
}

var shapes = []shape{
	{"a chain", 1, func(i, _ int) []int {
		if i == 0 {
			return nil
		}
		return []int{i - 1}
	}},
	{"a fan-out", 2, func(i, n int) (all []int) {
		switch {
		case i == 0:
			return nil
		case i < n-1:
			return []int{0}
		}
		for j := 1; j < n-1; j++ {
			all = append(all, j)
		}
		return all
	}},
	{"layers of 50", 2, func(i, _ int) []int {
		if i < 50 {
			return nil
		}
		first := (i/50 - 1) * 50
		return []int{first + i*7%50, first + (i*7+13)%50, first + (i*7+29)%50}
	}},
}

// rivals are two ways to start n processes that do nothing.
type rivals struct {
	what         string
	ours, theirs func(n int) func() *exec.Cmd
	sizes        []int
	atMost       float64 // of the ratio of their times; 0 for no goal
}

// peers compares the time of whole runs of processes that do nothing.
func (b *bench) peers() (all []figure, err error) {
	for _, r := range b.rivals() {
		f := figure{what: r.what, atMost: r.atMost, goalAt: 1000}
		for _, n := range r.sizes {
			ratios, err := b.compare(r.ours(n), r.theirs(n))
			if err != nil {
				return nil, err
			}
			f.at = append(f.at, point{float64(n), median(ratios)})
		}
		all = append(all, f)
	}
	return all, nil
}

func (b *bench) rivals() (all []rivals) {
	three := []int{300, 1000, 3000}
	program, shell := `command: ["true"]`, `run: "true"`
	ax := func(s shape, task string) func(int) func() *exec.Cmd {
		return func(n int) func() *exec.Cmd { return b.runs(s, n, task) }
	}
	for _, s := range shapes {
		makes := func(n int) func() *exec.Cmd { return makes(s, n, b.folder()) }
		all = append(all, rivals{"tasks of `" + program + "` in " + s.name + ", against `make -j2`", ax(s, program), makes, three, 1.25})
	}
	for _, s := range shapes[:2] {
		makes := func(n int) func() *exec.Cmd { return makes(s, n, b.folder()) }
		least := func(n int) func() *exec.Cmd { return b.leastOf(n, s.workers) }
		all = append(all,
			rivals{"the least that a durable runner does (below), in " + s.name + ", against `make -j2`", least, makes, []int{1000}, 0},
			rivals{"tasks of `" + program + "` in " + s.name + ", against that least", ax(s, program), least, []int{1000}, 0})
	}
	fan := shapes[1]
	all = append(all,
		rivals{"tasks of `" + shell + "` (a shell each) in a fan-out, against `make -j2` with `sh -c true`", ax(fan, shell),
			func(n int) func() *exec.Cmd { return makesShell(fan, n, b.folder()) }, three, 0},
		rivals{"tasks of `" + program + "` in a fan-out, against `xargs -P2`", ax(fan, program), xargs, three, 0})
	if dagu := os.Getenv("DAGU_BIN"); dagu != "" {
		all = append(all, rivals{"tasks of `" + shell + "` in a fan-out, against dagu", ax(fan, shell),
			func(n int) func() *exec.Cmd { return b.dagu(dagu, fan, n) }, []int{1000}, 0})
	}
	return all
}

func xargs(n int) func() *exec.Cmd {
	return func() *exec.Cmd {
		cmd := exec.Command("xargs", "-P2", "-n1", "true")
		cmd.Stdin = strings.NewReader(strings.Repeat("x\n", n))
		return cmd
	}
}

// compare runs two commands in turn and gives the ratios of their times.
func (b *bench) compare(ours, theirs func() *exec.Cmd) (ratios []float64, err error) {
	for range b.rounds {
		mine, err := timed(ours())
		if err != nil {
			return nil, err
		}
		other, err := timed(theirs())
		if err != nil {
			return nil, err
		}
		ratios = append(ratios, mine.Seconds()/other.Seconds())
	}
	return ratios, nil
}

func timed(cmd *exec.Cmd) (time.Duration, error) {
	said, err := os.CreateTemp("", "bench")
	if err != nil {
		return 0, err
	}
	defer os.Remove(said.Name())
	defer said.Close()
	cmd.Stderr = said
	begin := time.Now()
	err = cmd.Run()
	took := time.Since(begin)
	if err != nil {
		text, _ := os.ReadFile(said.Name())
		err = fmt.Errorf("%s: %w: %s", cmd, err, text)
	}
	return took, err
}

// runs gives the command that runs a workflow, each time in a new data folder.
func (b *bench) runs(s shape, n int, task string) func() *exec.Cmd {
	dir := b.folder()
	file := filepath.Join(dir, "flow.yaml")
	mustWrite(file, workflowOf(s, n, task))
	runs := 0
	return func() *exec.Cmd {
		runs++
		cmd := exec.Command(b.ax, "--data", filepath.Join(dir, fmt.Sprint("data", runs)), "run", file)
		cmd.Dir = dir
		return cmd
	}
}

func workflowOf(s shape, n int, task string) string {
	var w strings.Builder
	w.WriteString("name: bench\nmax_parallel: 2\ntasks:\n")
	for i := range n {
		fmt.Fprintf(&w, "  t%d:\n    %s\n", i, task)
		if deps := s.deps(i, n); len(deps) > 0 {
			fmt.Fprintf(&w, "    depends_on: [%s]\n", names(deps, ", "))
		}
	}
	return w.String()
}

func names(of []int, between string) string {
	all := make([]string, len(of))
	for i, n := range of {
		all[i] = fmt.Sprint("t", n)
	}
	return strings.Join(all, between)
}

func makes(s shape, n int, dir string) func() *exec.Cmd { return makesOf(s, n, dir, "true") }

// makesShell has make use a shell, as it does once a line has something for it.
func makesShell(s shape, n int, dir string) func() *exec.Cmd { return makesOf(s, n, dir, "true;") }

func makesOf(s shape, n int, dir, line string) func() *exec.Cmd {
	var w strings.Builder
	w.WriteString("all:")
	for i := range n {
		fmt.Fprintf(&w, " t%d", i)
	}
	w.WriteString("\n.PHONY: all\n")
	for i := range n {
		fmt.Fprintf(&w, ".PHONY: t%d\nt%d: %s\n\t@%s\n", i, i, names(s.deps(i, n), " "), line)
	}
	mustWrite(filepath.Join(dir, "Makefile"), w.String())
	return func() *exec.Cmd { return exec.Command("make", "-s", "-j2", "-C", dir, "all") }
}

func (b *bench) dagu(binary string, s shape, n int) func() *exec.Cmd {
	var w strings.Builder
	w.WriteString("maxActiveSteps: 2\nsteps:\n")
	for i := range n {
		fmt.Fprintf(&w, "  - name: t%d\n    command: \"true\"\n", i)
		if deps := s.deps(i, n); len(deps) > 0 {
			fmt.Fprintf(&w, "    depends: [%s]\n", names(deps, ", "))
		}
	}
	home := b.folder()
	file := filepath.Join(home, "bench.yaml")
	mustWrite(file, w.String())
	return func() *exec.Cmd {
		cmd := exec.Command(binary, "start", file)
		cmd.Env = append(os.Environ(), "DAGU_HOME="+home)
		return cmd
	}
}

func mustWrite(name, text string) {
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		panic(err) // in a folder of our own
	}
}
