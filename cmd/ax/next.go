package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/runtime/trigger"
)

// nextOptions are the flags of `ax next`.
type nextOptions struct {
	n        int
	after    string
	json     bool
	timezone string
}

// comingTick is one row of `ax next`.
type comingTick struct {
	At       time.Time `json:"at"`
	Schedule string    `json:"schedule"`
	Tasks    []string  `json:"tasks"`
}

func nextCommand(g *globals) *cobra.Command {
	var o nextOptions
	cmd := &cobra.Command{
		Use:   "next FILE|NAME",
		Short: "list the times at which a workflow's schedules will start it",
		Long: `List the coming times at which a workflow's schedules will start it, a row for each run;
what runs of a part of the workflow start with is listed as their tasks. Times of
"every" count from --after.`,
		Example:           "  ax next nightly -n 3\n  ax next nightly --after 2026-03-28T00:00:00Z --json",
		Args:              exactly("FILE|NAME"),
		ValidArgsFunction: g.completeWorkflow,
		RunE: func(cmd *cobra.Command, args []string) error {
			plan, err := g.loadPlan(args[0])
			if err != nil {
				return err
			}
			if err := g.next(plan, o); err != nil {
				return err
			}
			return g.sayPaused(cmd.Context(), plan.Workflow.Name.V)
		},
	}
	cmd.Flags().IntVarP(&o.n, "number", "n", 10, "how many")
	cmd.Flags().StringVar(&o.after, "after", "", "list what comes after this time, as 2026-03-28T00:00:00Z; default now")
	cmd.Flags().BoolVar(&o.json, "json", false, "print a JSON array")
	cmd.Flags().StringVar(&o.timezone, "timezone", "", "zone of workflows that name none; default the system's")
	return cmd
}

// sayPaused tells, beside the coming ticks, that they start nothing.
func (g *globals) sayPaused(ctx context.Context, name string) error {
	p, paused, err := g.pauseOf(ctx, name)
	if err != nil || !paused {
		return err
	}
	_, err = fmt.Fprintf(g.stderr, "ax: %s: its ticks are skipped until ax resume %s\n", pauseText(p), name)
	return err
}

func (g *globals) next(plan *dag.Plan, o nextOptions) error {
	if o.n < 1 {
		return fmt.Errorf("-n %d: it is at least 1", o.n)
	}
	after := time.Now()
	if o.after != "" {
		var err error
		if after, err = timeOf("after", o.after); err != nil {
			return err
		}
	}
	zone, err := zoneNamed(o.timezone)
	if err != nil {
		return err
	}
	dir := filepath.Dir(plan.Workflow.Source.File)
	rules, err := trigger.Rules(plan.Workflow, plan.Entries, trigger.Options{
		Zone: zone, Anchor: after,
		Dates: func(path string) ([]dsl.Date, error) { return trigger.ReadDates(filepath.Join(dir, path)) },
	})
	if err != nil {
		return err
	}
	ticks := coming(rules, after, o.n)
	if o.json {
		return g.printJSON(ticks)
	}
	if len(ticks) == 0 {
		fmt.Fprintf(g.stderr, "ax: %s has no schedule that fires%s\n", plan.Workflow.Name.V, afterText(plan.Workflow))
		return nil
	}
	t := tabwriter.NewWriter(g.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "AT\tSCHEDULE\tTASKS")
	for _, tick := range ticks {
		fmt.Fprintf(t, "%s\t%s\t%s\n", tick.At.Format("Mon 2006-01-02 15:04:05 -0700"), tick.Schedule, strings.Join(tick.Tasks, ", "))
	}
	return t.Flush()
}

// afterText tells what starts a workflow besides its schedules.
func afterText(wf *dsl.Workflow) string {
	if len(wf.After) == 0 {
		return ""
	}
	var runs []string
	for _, a := range wf.After {
		how := map[dsl.AfterOutcome]string{dsl.AfterSucceeded: "succeeded", dsl.AfterFailed: "failed", dsl.AfterFinished: "finished"}[a.On]
		runs = append(runs, fmt.Sprintf("%s has %s", a.Workflow.V, how))
	}
	return ": it starts once a run of " + strings.Join(runs, ", and one of ")
}

// coming merges the next n ticks of all rules, by time, then in file order.
func coming(rules []trigger.Rule, after time.Time, n int) []comingTick {
	at := make([]time.Time, len(rules))
	for i := range rules {
		at[i] = rules[i].Next(after)
	}
	ticks := []comingTick{}
	for len(ticks) < n {
		first := -1
		for i := range at {
			if !at[i].IsZero() && (first < 0 || at[i].Before(at[first])) {
				first = i
			}
		}
		if first < 0 {
			break
		}
		r := &rules[first]
		ticks = append(ticks, comingTick{at[first], r.Schedule, slices.Concat([]string{}, r.Tasks)})
		at[first] = r.Next(at[first])
	}
	return ticks
}
