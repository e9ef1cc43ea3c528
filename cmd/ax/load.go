package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/runtime/reload"
)

// loadPlan compiles the workflow that FILE|NAME means. It has said what is
// wrong with the file when it gives an exit without an error.
func (g *globals) loadPlan(arg string) (*dag.Plan, error) {
	path, err := g.findWorkflow(arg)
	if err != nil {
		return nil, err
	}
	file, err := reload.Load(path)
	if err != nil {
		return nil, err
	}
	if file.Plan == nil {
		g.renderDiagnostics(file.Diagnostics, file.Source)
		return nil, exit{code: exitUsage}
	}
	return file.Plan, nil
}

// findWorkflow gives the path that FILE|NAME means: what looks like a path or
// is there is a file, anything else the name of a workflow in the folder.
func (g *globals) findWorkflow(arg string) (string, error) {
	isPath := strings.ContainsRune(arg, os.PathSeparator) || strings.HasSuffix(arg, ".yaml") || strings.HasSuffix(arg, ".yml")
	if info, err := os.Stat(arg); err == nil && !info.IsDir() || isPath {
		return arg, nil
	}
	found, err := reload.Find(g.workflows, arg)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("there is neither a file %q nor a workflows folder %q to look for that name in", arg, g.workflows)
	}
	if err != nil {
		return "", err
	}
	if len(found) == 0 {
		names, err := reload.Names(g.workflows)
		if err != nil {
			return "", err
		}
		return "", fmt.Errorf("there is neither a file %q nor a workflow of that name in %q: %s", arg, g.workflows, dsl.Meant(arg, names))
	}
	return found[0], nil // of two files with one name the first is the one that is loaded
}

// renderDiagnostics prints diagnostics of one file to standard error.
func (g *globals) renderDiagnostics(ds dsl.Diagnostics, src *dsl.Source) {
	dsl.Render(g.stderr, ds, func(string) *dsl.Source { return src }, g.colour(g.stderr))
}

// colour tells whether a stream is a terminal that may be given colour.
func (g *globals) colour(stream any) bool {
	f, ok := stream.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return false
	}
	for _, v := range g.env {
		if strings.HasPrefix(v, "NO_COLOR=") && v != "NO_COLOR=" || v == "TERM=dumb" {
			return false
		}
	}
	return true
}
