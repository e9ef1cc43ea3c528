package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/store"
)

// backfillOptions are the flags of `ax backfill`.
type backfillOptions struct {
	runOptions
	from, to      string
	failed, force bool
}

func backfillCommand(g *globals) *cobra.Command {
	var o backfillOptions
	cmd := &cobra.Command{
		Use:   "backfill NAME --from TIME --to TIME",
		Short: "run a workflow for the ticks of a span of time",
		Long: `Make one run for every tick of a workflow's schedules between two times, both included,
oldest first. A date stands for the whole day in the workflow's zone. Ticks that have had
their run are left alone, so that the same command again does the rest; those that are still
to come are left to the schedules. The runs wait behind all else of their workflow, and
max_active holds for them too.

They are left to the ax that serves the data folder; where none does, they run here.`,
		Example: `  ax backfill nightly --from 2026-01-01 --to 2026-01-31 --dry-run
  ax backfill nightly --from 2026-01-01 --to 2026-01-31 --max-parallel 2
  ax backfill nightly --from 2026-01-01 --to 2026-01-31 --failed`,
		Args:              exactly("NAME"),
		ValidArgsFunction: g.completeWorkflow,
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.maxParallel < 1 {
				return fmt.Errorf("--max-parallel %d: it is at least 1", o.maxParallel)
			}
			return g.backfill(cmd.Context(), args[0], o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.from, "from", "", "the first tick: a date or a time")
	f.StringVar(&o.to, "to", "", "the last tick: a date or a time")
	f.IntVar(&o.maxParallel, "max-parallel", 1, "its runs at a time, within max_active")
	f.BoolVar(&o.failed, "failed", false, "do the dates again whose run did not succeed")
	f.BoolVar(&o.force, "force", false, "do all dates again")
	f.BoolVar(&o.dryRun, "dry-run", false, "print what would be done, and do nothing")
	f.BoolVar(&o.json, "json", false, "print JSON")
	f.StringArrayVarP(&o.params, "param", "p", nil, "a parameter, NAME=VALUE; may be repeated")
	f.StringVar(&o.paramsFile, "params-file", "", "a YAML or JSON file of parameters, NAME: value; -p wins")
	f.StringVar(&o.timezone, "timezone", "", "zone of workflows that name none, where no ax serves; default the system's")
	notBoth(cmd, "failed", "force")
	for _, name := range []string{"from", "to"} {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic(err) // there is such a flag
		}
	}
	return cmd
}

func (o *backfillOptions) redo() runtime.Redo {
	switch {
	case o.failed:
		return runtime.RedoFailed
	case o.force:
		return runtime.RedoAll
	}
	return runtime.RedoNone
}

func (g *globals) backfill(ctx context.Context, name string, o backfillOptions) error {
	q, err := g.request(nil, o.runOptions, nil)
	if err != nil {
		return err
	}
	c, served := g.client()
	if !served {
		return g.backfillHere(ctx, name, o, q.Params)
	}
	body := map[string]any{"from": o.from, "to": o.to, "max_parallel": o.maxParallel, "params": q.Params, "dry_run": o.dryRun}
	if redo := o.redo(); redo != runtime.RedoNone {
		body["redo"] = redo
	}
	var list runtime.FilledList
	if err := c.post(ctx, workflowPath(name, "backfill"), body, &list); err != nil {
		return exitOf(err)
	}
	if err := g.printFilled(list, o); err != nil || o.dryRun {
		return err
	}
	fmt.Fprintf(g.stderr, "ax: process %d carries them out: ax runs %s shows how far it is\n", c.pid, name)
	return nil
}

// backfillHere carries the runs out in this process, to their end.
func (g *globals) backfillHere(ctx context.Context, name string, o backfillOptions, params map[string]string) error {
	plan, err := g.loadPlan(name)
	if err != nil {
		return err
	}
	zone, err := zoneNamed(o.timezone)
	if err != nil {
		return err
	}
	b := runtime.Backfill{Plan: plan, Params: params, From: o.from, To: o.to, MaxParallel: o.maxParallel, Redo: o.redo()}
	return g.withEngine(func(e *runtime.Engine, _ store.Store) error {
		e.Zone = zone
		if o.dryRun {
			filled, err := e.PlanBackfill(ctx, b)
			if err != nil {
				return err
			}
			return g.printFilled(runtime.NewFilledList(filled), o)
		}
		serving, stop := context.WithCancel(ctx)
		served := make(chan error, 1)
		go func() { served <- e.Serve(serving) }()
		defer func() { stop(); <-served }()
		filled, err := e.Backfill(ctx, b)
		if err != nil {
			return err
		}
		ended := g.awaitFilled(ctx, e, filled, o)
		return cmp.Or(ended, tellTargets(ctx, e))
	})
}

// awaitFilled waits for the ends of the runs of a backfill. A signal cancels
// what has not ended.
func (g *globals) awaitFilled(ctx context.Context, e *runtime.Engine, filled runtime.Filling, o backfillOptions) error {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	stopped := make(chan int, 1)
	waiting, done := context.WithCancel(ctx)
	defer done()
	go func() {
		select {
		case s := <-signals:
			stopped <- signalCode(s)
			for _, f := range filled.Ticks {
				_ = e.Cancel(ctx, f.Run.ID, s.String()) // one that has ended is no longer there
			}
		case <-waiting.Done():
		}
	}()
	code := 0
	for i := range filled.Ticks {
		f := &filled.Ticks[i]
		if f.Left {
			continue
		}
		run, err := e.Wait(ctx, f.Run.ID)
		if err != nil {
			return exit{exitFailed, err}
		}
		if f.Run = run; run.State != machine.RunSucceeded {
			code = exitFailed
		}
	}
	select {
	case code = <-stopped:
	default:
	}
	if err := g.printFilled(runtime.NewFilledList(filled), o); err != nil || code == 0 {
		return err
	}
	return exit{code: code}
}

// printFilled prints what a backfill does, or would do. Of several schedules it
// names that of each tick, with the parameters that it gives.
func (g *globals) printFilled(list runtime.FilledList, o backfillOptions) error {
	ahead := ""
	if list.LeftOut > 0 {
		ahead = fmt.Sprintf("%d left out: %s\n", list.LeftOut, list.Reason)
	}
	if o.json {
		if ahead != "" {
			fmt.Fprint(g.stderr, "ax: of the ticks "+ahead)
		}
		return g.printJSON(list.Items)
	}
	t := tabwriter.NewWriter(g.stdout, 0, 0, 2, ' ', 0)
	left, several := 0, list.OfSeveral()
	for _, f := range list.Items {
		run, what := "-", f.State
		if f.Run != nil {
			run = *f.Run
		}
		if f.Left {
			what = "is there: " + f.State
			left++
		}
		row := []string{clock(f.At), run, what}
		if several {
			schedule, params := f.Names()
			row = append(row, schedule, params)
		}
		fmt.Fprintln(t, strings.TrimRight(strings.Join(row, "\t"), "\t"))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(g.stdout, "%d ticks: %d to run, %d left alone\n%s", len(list.Items), len(list.Items)-left, left, ahead)
	return err
}
