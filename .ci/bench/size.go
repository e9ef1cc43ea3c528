package main

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// start measures how quickly the binary answers.
func (b *bench) start() ([]figure, error) {
	var took []float64
	for range 50 {
		d, err := timed(exec.Command(b.ax, "version"))
		if err != nil {
			return nil, err
		}
		took = append(took, ms(d))
	}
	file := filepath.Join(b.folder(), "flow.yaml")
	mustWrite(file, workflowOf(shapes[2], 20, `run: "true"`))
	var lint []float64
	for range 20 {
		begin := time.Now()
		_ = exec.Command(b.ax, "lint", file).Run() // warns
		lint = append(lint, ms(time.Since(begin)))
	}
	return []figure{
		{what: "`ax version`, from start to exit", unit: "ms", at: []point{{1, median(took)}}, atMost: 20},
		{what: "`ax lint` of a file of 20 tasks, from start to exit", unit: "ms", at: []point{{20, median(lint)}}, atMost: 30},
	}, nil
}

// sizes tells how large the binary is, and which modules its code comes from.
func sizes() (string, error) {
	dir, err := os.MkdirTemp("", "ax-size")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	build := func(name, flags string) (string, int64, error) {
		file := filepath.Join(dir, name)
		cmd := exec.Command("go", "build", "-ldflags", flags, "-o", file, "./cmd/ax")
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", 0, fmt.Errorf("%w: %s", err, out)
		}
		info, err := os.Stat(file)
		if err != nil {
			return "", 0, err
		}
		return file, info.Size(), nil
	}
	_, stripped, err := build("stripped", "-s -w")
	if err != nil {
		return "", err
	}
	file, _, err := build("whole", "")
	if err != nil {
		return "", err
	}
	by, err := symbols(file)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\nThe binary has %s MB without its symbols. Code and data by the module that they come from:\n\n| module | MB |\n| --- | --- |\n",
		number(float64(stripped)/1e6))
	modules := slices.SortedFunc(maps.Keys(by), func(x, y string) int { return cmp.Compare(by[y], by[x]) })
	for _, m := range modules[:min(14, len(modules))] {
		fmt.Fprintf(&b, "| %s | %s |\n", m, number(float64(by[m])/1e6))
	}
	return b.String(), nil
}

// symbols gives the sizes of a binary's symbols, summed by module.
func symbols(file string) (map[string]int64, error) {
	out, err := exec.Command("go", "tool", "nm", "-size", file).Output()
	if err != nil {
		return nil, err
	}
	list, err := exec.Command("go", "list", "-m", "all").Output()
	if err != nil {
		return nil, err
	}
	var modules []string
	for line := range strings.Lines(string(list)) {
		modules = append(modules, strings.Fields(line)[0])
	}
	by := map[string]int64{}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		// Zeros take no room in the file, though one large field of them is told as data.
		if len(words) < 4 || strings.ContainsAny(words[2], "Bb") || words[3] == "crypto/internal/fips140/drbg.memory" {
			continue
		}
		n, err := strconv.ParseInt(words[1], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", line, err)
		}
		by[moduleOf(strings.TrimPrefix(words[3], "type:"), modules)] += n
	}
	return by, nil
}

func moduleOf(symbol string, modules []string) string {
	best := ""
	symbol = strings.ReplaceAll(symbol, "%2e", ".")
	for _, m := range modules {
		if len(m) > len(best) && strings.HasPrefix(strings.TrimLeft(symbol, "*[]"), m) {
			best = m
		}
	}
	return cmp.Or(best, "Go's own library and run time, tables of the linker")
}
