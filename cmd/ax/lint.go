package main

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/dsl/lint"
)

// lintOptions are the flags of `ax lint`.
type lintOptions struct {
	format    string
	stdinName string
	explain   string
	strict    bool
	info      bool
}

func lintCommand(g *globals) *cobra.Command {
	var o lintOptions
	formats := []string{"text", "json", "github", "sarif"}
	cmd := &cobra.Command{
		Use:   "lint [PATH…]",
		Short: "report what is wrong with workflow files",
		Long: `Report what is wrong with workflow files. PATH is a file, a folder whose workflow files
are all checked, or - for standard input; without one it is the workflows folder. The exit
code is 1 if there are errors (with --strict also for warnings), and 2 if a file could not
be read.`,
		Example: "  ax lint\n  ax lint workflows/nightly.yaml --format json\n  ax lint --explain dst-gap",
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case cmd.Flags().Changed("explain"):
				if o.explain == explainList && len(args) == 1 { // --explain RULE, without "="
					o.explain, args = args[0], nil
				}
				if len(args) > 0 {
					return fmt.Errorf("--explain is about one rule: %q is one too many", args[len(args)-1])
				}
				return g.explainRule(o.explain)
			case !slices.Contains(formats, o.format):
				return fmt.Errorf("--format %q: it is %s", o.format, strings.Join(formats, ", "))
			case o.stdinName != "" && !slices.Contains(args, "-"):
				return errors.New("--stdin-name is for standard input: give - as a path")
			case len(args) == 0:
				args = []string{g.workflows}
			}
			return g.lint(args, o)
		},
	}
	cmd.Flags().StringVar(&o.format, "format", "text", strings.Join(formats, ", "))
	cmd.Flags().StringVar(&o.stdinName, "stdin-name", "", "path that standard input stands for")
	cmd.Flags().StringVar(&o.explain, "explain", "", "say what a rule is about, with a bad and a good example; without `RULE`, list them")
	cmd.Flags().Lookup("explain").NoOptDefVal = explainList
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if cmd.Flags().Changed("explain") {
			return begun(listed(ruleNames))(cmd, args, typed)
		}
		return workflowFilesOnly(cmd, args, typed)
	}
	cmd.Flags().BoolVar(&o.strict, "strict", false, "warnings make it fail too")
	cmd.Flags().BoolVar(&o.info, "info", false, "show remarks too, not only errors and warnings")
	return cmd
}

func (g *globals) lint(paths []string, o lintOptions) error {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400) // a short life with much to read: what it saves in time it costs in memory
	}
	in := g.lintInput(paths, o.stdinName)
	for _, folder := range in.empty {
		fmt.Fprintf(g.stderr, "ax: %s: there are no workflow files (*.yaml, *.yml) in this folder\n", folder)
	}
	files := in.read(g.stdin)
	ds := lint.Check(files, lint.Options{Now: time.Now(), Root: os.DirFS("/"), Others: in.others, NoFunctions: true})
	if err := g.printDiagnostics(ds, files, o); err != nil {
		return err
	}
	if len(in.unread) > 0 {
		return exit{exitUsage, errors.Join(in.unread...)}
	}
	for _, d := range ds {
		if d.Severity == dsl.Error || o.strict && d.Severity == dsl.Warning {
			return exit{code: exitFailed}
		}
	}
	return nil
}

// printDiagnostics prints in one of the formats. Those that people read leave
// remarks out, unless they are asked for.
func (g *globals) printDiagnostics(ds dsl.Diagnostics, files []*lint.File, o lintOptions) error {
	shown := make(dsl.Diagnostics, 0, len(ds))
	for _, d := range ds {
		if d.Severity != dsl.Info || o.info || o.format == "json" || o.format == "sarif" {
			shown = append(shown, d)
		}
	}
	switch o.format {
	case "json":
		return g.printJSON(shown)
	case "github":
		return lint.WriteGitHub(g.stdout, shown)
	case "sarif":
		return lint.WriteSARIF(g.stdout, shown, versionText())
	}
	sources := make(map[string]*dsl.Source, len(files))
	for _, f := range files {
		sources[f.Source.File] = f.Source
	}
	if err := dsl.Render(g.stdout, shown, func(file string) *dsl.Source { return sources[file] }, g.colour(g.stdout)); err != nil {
		return err
	}
	if len(shown) > 0 {
		fmt.Fprintf(g.stderr, "%s in %s\n", tally(shown), counted(len(files), "file"))
	}
	return nil
}

// tally counts diagnostics by how bad they are.
func tally(ds dsl.Diagnostics) string {
	count := map[dsl.Severity]int{}
	for _, d := range ds {
		count[d.Severity]++
	}
	var parts []string
	for _, s := range []struct {
		severity dsl.Severity
		word     string
	}{{dsl.Error, "error"}, {dsl.Warning, "warning"}, {dsl.Info, "remark"}} {
		if n := count[s.severity]; n > 0 {
			parts = append(parts, counted(n, s.word))
		}
	}
	return strings.Join(parts, ", ")
}

func counted(n int, word string) string {
	if n != 1 {
		word += "s"
	}
	return fmt.Sprintf("%d %s", n, word)
}

// explainList stands for no rule: all are listed.
const explainList = "list"

// explainRule prints what there is to say about a rule, or the list of them.
func (g *globals) explainRule(name string) error {
	if name == explainList {
		w := tabwriter.NewWriter(g.stdout, 0, 0, 2, ' ', 0)
		for _, r := range lint.Rules() {
			fmt.Fprintf(w, "%s\t%s\t%s\n", r.Name, r.Severity, r.Title)
		}
		return w.Flush()
	}
	for _, r := range lint.Rules() {
		if r.Name == name {
			_, err := fmt.Fprint(g.stdout, r.Explain())
			return err
		}
	}
	hint := "the rules are " + strings.Join(lint.Names(), ", ")
	if near := dsl.Nearest(name, lint.Names()); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	return fmt.Errorf("there is no rule %q: %s", name, hint)
}
