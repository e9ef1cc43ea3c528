package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/runtime/reload"
)

// lintOptions are the flags of `ax lint`.
type lintOptions struct {
	format string
	strict bool
	info   bool
}

func lintCommand(g *globals) *cobra.Command {
	var o lintOptions
	cmd := &cobra.Command{
		Use:   "lint [PATH…]",
		Short: "report what is wrong with workflow files",
		Long: `Report what is wrong with workflow files. PATH is a file, or a folder whose workflow files
are all checked; without one it is the workflows folder. The exit code is 1 if there are
errors (with --strict also for warnings), and 2 if a file could not be read.`,
		Example: "  ax lint\n  ax lint workflows/nightly.yaml --format json",
		RunE: func(_ *cobra.Command, args []string) error {
			if o.format != "text" && o.format != "json" {
				return fmt.Errorf("--format %q: it is text or json", o.format)
			}
			if len(args) == 0 {
				args = []string{g.workflows}
			}
			return g.lint(args, o)
		},
	}
	cmd.Flags().StringVar(&o.format, "format", "text", "text or json")
	cmd.Flags().BoolVar(&o.strict, "strict", false, "warnings make it fail too")
	cmd.Flags().BoolVar(&o.info, "info", false, "show remarks too, not only errors and warnings")
	return cmd
}

func (g *globals) lint(paths []string, o lintOptions) error {
	files, unread := lintFiles(paths)
	var ds dsl.Diagnostics
	sources := map[string]*dsl.Source{}
	for _, file := range files {
		f, err := reload.Load(file)
		if err != nil {
			unread = append(unread, err)
			continue
		}
		sources[file] = f.Source
		ds = append(ds, f.Diagnostics...)
	}
	ds.Sort()
	if err := g.printDiagnostics(ds, sources, o); err != nil {
		return err
	}
	if len(unread) > 0 {
		return exit{exitUsage, errors.Join(unread...)}
	}
	for _, d := range ds {
		if d.Severity == dsl.Error || o.strict && d.Severity == dsl.Warning {
			return exit{code: exitFailed}
		}
	}
	return nil
}

// lintFiles lists the files that paths mean, each once, and what could not be
// read.
func lintFiles(paths []string) (files []string, unread []error) {
	seen := map[string]bool{}
	for _, p := range paths {
		found := []string{p}
		info, err := os.Stat(p)
		if err == nil && info.IsDir() {
			found, err = reload.Files(p)
		}
		switch {
		case errors.Is(err, fs.ErrNotExist):
			unread = append(unread, fmt.Errorf("%s: there is no such file or folder", p))
			continue
		case err != nil:
			unread = append(unread, err)
			continue
		}
		for _, f := range found {
			if !seen[f] {
				seen[f] = true
				files = append(files, f)
			}
		}
	}
	return files, unread
}

func (g *globals) printDiagnostics(ds dsl.Diagnostics, sources map[string]*dsl.Source, o lintOptions) error {
	if o.format == "json" {
		if ds == nil {
			ds = dsl.Diagnostics{}
		}
		return g.printJSON(ds)
	}
	shown := make(dsl.Diagnostics, 0, len(ds))
	for _, d := range ds {
		if d.Severity != dsl.Info || o.info {
			shown = append(shown, d)
		}
	}
	return dsl.Render(g.stdout, shown, func(file string) *dsl.Source { return sources[file] }, g.colour(g.stdout))
}
