package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/runtime/reload"
)

// retention is the flags that say what is kept of workflows that say nothing
// themselves.
type retention struct {
	runs int
	age  string
}

func (r *retention) flags(f *pflag.FlagSet) {
	f.IntVar(&r.runs, "retention-runs", 0, "how many ended runs are kept of a workflow without `retention`; 0 for all")
	f.StringVar(&r.age, "retention-age", "", "how long ended runs are kept of a workflow without `retention`, as 90d; default for good")
}

func (r *retention) value() (runtime.Retention, error) {
	if r.runs < 0 {
		return runtime.Retention{}, fmt.Errorf("--retention-runs %d: it is at least 1, or 0 for all", r.runs)
	}
	v := runtime.Retention{Runs: r.runs}
	if r.age == "" {
		return v, nil
	}
	var err error
	if v.Age, err = dsl.ParseDuration(r.age); err != nil {
		return v, fmt.Errorf("--retention-age %q: %w", r.age, err)
	}
	return v, nil
}

func pruneCommand(g *globals) *cobra.Command {
	var keep retention
	var dryRun, asJSON bool
	var given string // a flag of the command line that is only for where no ax serves
	cmd := &cobra.Command{
		Use:   "prune [NAME...]",
		Short: "remove old runs with their logs and artifacts",
		Long: `Remove the ended runs that are beyond the retention of their workflow, with their logs,
artifacts and records, and print them. An ax that serves does so by itself every hour; where
one serves, its settings hold.`,
		Example: "  ax prune --dry-run --retention-age 90d\n  ax prune nightly",
		Args: func(cmd *cobra.Command, _ []string) error { // before variables and ax.yaml, which the serving ax has too
			for _, name := range []string{"retention-runs", "retention-age"} {
				if cmd.Flags().Changed(name) {
					given = name
				}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if c, ok := g.client(); ok && given != "" {
				return fmt.Errorf("--%s: process %d serves the data folder, and what it keeps by its own settings holds: leave the flag out, or give it to ax serve or ax.yaml", given, c.pid)
			}
			return g.prune(cmd.Context(), args, keep, dryRun, asJSON)
		},
		ValidArgsFunction: g.completeWorkflow,
	}
	keep.flags(cmd.Flags())
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "print what would go, and remove nothing")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array of runs")
	return cmd
}

func (g *globals) prune(ctx context.Context, names []string, keep retention, dryRun, asJSON bool) error {
	bounds, err := keep.value()
	if err != nil {
		return err
	}
	var gone []runtime.Report
	if c, ok := g.client(); ok {
		var list struct{ Items []runtime.Report }
		err = c.post(ctx, "/prune", map[string]any{"workflows": names, "dry_run": dryRun}, &list)
		gone, err = list.Items, exitOf(err)
	} else {
		gone, err = g.pruneHere(ctx, runtime.Prune{Default: bounds, Only: names, DryRun: dryRun})
	}
	if err != nil {
		return err
	}
	for _, name := range names {
		if !slices.ContainsFunc(gone, func(r runtime.Report) bool { return r.Workflow == name }) {
			g.tellUnknown(ctx, name)
		}
	}
	if asJSON {
		return g.printJSON(append([]runtime.Report{}, gone...))
	}
	for _, r := range gone {
		fmt.Fprintf(g.stdout, "%s  %s  %s  %s\n", r.ID, r.Workflow, r.State, clock(valueOf(r.FinishedAt)))
	}
	what := "removed"
	if dryRun {
		what = "would be removed"
	}
	fmt.Fprintf(g.stderr, "ax: %d runs %s\n", len(gone), what)
	return nil
}

// pruneHere removes runs where no ax serves.
func (g *globals) pruneHere(ctx context.Context, p runtime.Prune) ([]runtime.Report, error) {
	c, err := reload.Scan(g.workflows, nil, time.Now(), 0)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	p.Workflows = runtime.Retentions(c)
	st, err := g.openStore()
	if err != nil {
		return nil, err
	}
	defer st.Close()
	e := &runtime.Engine{Store: st, Data: g.data}
	runs, err := e.Prune(ctx, p)
	if err == nil {
		err = runtime.Record(ctx, st, "prune", "", "", runtime.Done)
	}
	var gone []runtime.Report
	for _, r := range runs {
		gone = append(gone, runtime.NewReport(r))
	}
	return gone, err
}
