package main

import (
	"fmt"
	"maps"
	"os/exec"
	"strconv"
	"strings"
)

// results are what Go benchmarks report: for each name, without its package and
// the number of processors, the medians of its metrics by unit.
type results map[string]map[string]float64

// gobench runs benchmarks count times, each of so many rounds.
func gobench(pattern, pkg string, count, rounds int) (results, error) {
	cmd := exec.Command("go", "test", "-run", "^$", "-bench", pattern, "-benchtime", fmt.Sprint(rounds, "x"), "-benchmem", "-count", strconv.Itoa(count), "-timeout", "30m", pkg)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %s", cmd, err, out)
	}
	all := map[string]map[string][]float64{}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		if len(words) < 4 || !strings.HasPrefix(words[0], "Benchmark") {
			continue
		}
		name := strings.TrimPrefix(words[0], "Benchmark")
		if i := strings.LastIndexByte(name, '-'); i > 0 {
			name = name[:i]
		}
		if all[name] == nil {
			all[name] = map[string][]float64{}
		}
		for i := 2; i+1 < len(words); i += 2 {
			v, err := strconv.ParseFloat(words[i], 64)
			if err != nil {
				return nil, fmt.Errorf("%q: %w", line, err)
			}
			all[name][words[i+1]] = append(all[name][words[i+1]], v)
		}
	}
	medians := results{}
	for name, units := range all {
		medians[name] = map[string]float64{}
		for unit, values := range units {
			medians[name][unit] = median(values)
		}
	}
	return medians, nil
}

// points gives a metric of benchmarks whose names end with a size.
func (r results) points(name, unit string, sizes ...int) (ps []point, err error) {
	for _, n := range sizes {
		v, ok := r[fmt.Sprint(name, n)][unit]
		if !ok {
			return nil, fmt.Errorf("no benchmark %s%d tells %s", name, n, unit)
		}
		ps = append(ps, point{float64(n), v})
	}
	return ps, nil
}

// engine measures the engine's own cost: runs of tasks that start no process,
// recorded on a disk that confirms every transaction.
func (b *bench) engine() ([]figure, error) {
	r, err := gobench("RunOfCalls/.*-1000$", "./runtime", 5, 20)
	if err != nil {
		return nil, err
	}
	larger, err := gobench("RunOfCalls/.*-(10000|100000)$", "./runtime", 3, 1)
	if err != nil {
		return nil, err
	}
	maps.Copy(r, larger)
	var all []figure
	for _, s := range []struct{ name, what string }{
		{"layers", "tasks that call a Go function, 256 at a time, three edges each, durable"},
		{"to-one", "the same with all edges into one task"},
	} {
		ps, err := r.points("RunOfCalls/"+s.name+"-", "tasks/s", 1000, 10_000, 100_000)
		if err != nil {
			return nil, err
		}
		each := make([]point, len(ps)) // relative to a run of 1,000
		for i, p := range ps {
			each[i] = point{p.size, ps[0].value / p.value}
		}
		all = append(all,
			figure{what: s.what, unit: "tasks/s", at: ps, least: 20_000, goalAt: 1000},
			figure{what: "time a task of that, against a run of 1,000", at: each, atMost: 1.3})
	}
	return all, nil
}

func (b *bench) lint() ([]figure, error) {
	r, err := gobench("FilesOfTwentyTasks|TasksInAFile", "./dsl/lint", 3, 1)
	if err != nil {
		return nil, err
	}
	files, err := r.points("FilesOfTwentyTasks/", "ns/op", 100, 1000, 10_000)
	if err != nil {
		return nil, err
	}
	tasks, err := r.points("TasksInAFile/", "ns/op", 1000, 10_000, 90_000) // more would be beyond the largest file that is read
	return []figure{
		{what: "lint of files of 20 tasks", unit: "s", at: scaled(files, 1e-9), atMost: 1, goalAt: 1000},
		{what: "lint of one file, by its tasks", unit: "s", at: scaled(tasks, 1e-9), atMost: 3},
	}, err
}

// pages measures the server's answers over long histories, each the median of many
// after the first, which stands in a row of its own.
func (b *bench) pages() ([]figure, error) {
	r, err := gobench("PagesOverALongHistory", "./runtime/server", 1, 1)
	if err != nil {
		return nil, err
	}
	sizes := []int{1000, 10_000, 100_000}
	again, first := make([]point, len(sizes)), make([]point, len(sizes))
	slowest, largest := "", 0.0
	for i, n := range sizes {
		again[i].size, first[i].size = float64(n), float64(n)
		for name, units := range r {
			page, ok := strings.CutPrefix(name, fmt.Sprintf("PagesOverALongHistory/%d/", n))
			if !ok {
				continue
			}
			if again[i].value < units["ms"] {
				again[i].value, slowest = units["ms"], page
			}
			first[i].value = max(first[i].value, units["ms-first"])
			if !strings.Contains(page, "limit=") {
				largest = max(largest, units["bytes"])
			}
		}
	}
	return []figure{
		{what: "the slowest page or list (`" + slowest + "`), median of 15 requests, by runs in history, with ten task rows each", unit: "ms", at: again, atMost: 20},
		{what: "the slowest of them when it is asked for the first time", unit: "ms", at: first},
		{what: "the largest of them", unit: "kB", at: []point{{100_000, largest / 1000}}, atMost: 300},
	}, nil
}

func scaled(ps []point, by float64) []point {
	for i := range ps {
		ps[i].value *= by
	}
	return ps
}
