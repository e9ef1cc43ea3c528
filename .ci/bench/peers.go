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

// peers compares the time of whole runs of processes that do nothing.
func (b *bench) peers() (all []figure, err error) {
	for _, s := range shapes {
		f := figure{what: "tasks of `command: [\"true\"]` in " + s.name + ", against `make -j2`", atMost: 1.25, goalAt: 1000}
		for _, n := range []int{300, 1000, 3000} {
			ratios, err := b.compare(b.runs(s, n, `command: ["true"]`), makes(s, n, b.folder()))
			if err != nil {
				return nil, err
			}
			f.at = append(f.at, point{float64(n), median(ratios)})
		}
		all = append(all, f)
	}
	more, err := b.morePeers()
	return append(all, more...), err
}

// morePeers compares with what else there is, at one size.
func (b *bench) morePeers() (all []figure, err error) {
	const n = 1000
	fan := shapes[1]
	type peer struct {
		what string
		task string
		cmd  func() *exec.Cmd
	}
	peers := []peer{
		{"tasks of `run: \"true\"` (a shell each) in a fan-out, against `make -j2` with `sh -c true`", `run: "true"`, makesShell(fan, n, b.folder())},
		{"tasks of `command: [\"true\"]` in a fan-out, against `xargs -P2`", `command: ["true"]`, func() *exec.Cmd {
			cmd := exec.Command("xargs", "-P2", "-n1", "true")
			cmd.Stdin = strings.NewReader(strings.Repeat("x\n", n))
			return cmd
		}},
	}
	if dagu := os.Getenv("DAGU_BIN"); dagu != "" {
		peers = append(peers, peer{"tasks of `run: \"true\"` in a fan-out, against dagu", `run: "true"`, b.dagu(dagu, fan, n)})
	}
	for _, s := range shapes[:2] {
		floor, err := b.compare(b.leastOf(n, s.workers), makes(s, n, b.folder()))
		if err != nil {
			return nil, err
		}
		ratios, err := b.compare(b.runs(s, n, `command: ["true"]`), b.leastOf(n, s.workers))
		if err != nil {
			return nil, err
		}
		all = append(all,
			figure{what: "the least that a durable runner does (below), in " + s.name + ", against `make -j2`", at: []point{{n, median(floor)}}},
			figure{what: "tasks of `command: [\"true\"]` in " + s.name + ", against that least", at: []point{{n, median(ratios)}}})
	}
	for _, p := range peers {
		ratios, err := b.compare(b.runs(fan, n, p.task), p.cmd)
		if err != nil {
			return nil, err
		}
		all = append(all, figure{what: p.what, at: []point{{n, median(ratios)}}})
	}
	return all, nil
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
