package main

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/runtime/reload"
	"github.com/ax-scheduler/ax/store"
)

func retryCommand(g *globals) *cobra.Command {
	var tasks []string
	var asJSON, latest bool
	var maxParallel int
	cmd := &cobra.Command{
		Use:   "retry RUN",
		Short: "run again what failed or was skipped in a run, keeping what succeeded",
		Long: `Run again what failed, was skipped or was cancelled in a run, and keep what succeeded: the
same run, the same parameters, the same version of the file, attempts counted on. The ax that
serves the data folder does it, where there is one, else this process. A run whose engine has
died goes on where it was cut off. The exit code is that of the run.`,
		Example: "  ax retry 06h2\n  ax retry 06h2 --task load",
		Args:    exactly("RUN"), ValidArgsFunction: g.completeRun,
		RunE: func(cmd *cobra.Command, args []string) error {
			var plan *dag.Plan
			again := func(ctx context.Context, e *runtime.Engine, run store.Run) error {
				var err error
				switch {
				case !run.State.Final():
					err = e.Resume(ctx, run.ID)
				case latest:
					err = e.RetryLatest(ctx, run.ID, tasks, plan)
				default:
					err = e.Retry(ctx, run.ID, tasks)
				}
				return recorded(ctx, e.Store, "retry", run, err)
			}
			if c, ok := g.client(); ok {
				return g.retryServed(cmd.Context(), c, args[0], map[string]any{"tasks": tasks, "latest": latest}, asJSON)
			}
			if latest {
				run, err := g.runRecord(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				if plan, err = g.latest(run); err != nil {
					return err
				}
			}
			return g.goOn(cmd.Context(), args[0], plan, maxParallel, asJSON, again)
		},
	}
	cmd.Flags().StringSliceVar(&tasks, "task", nil, "only these tasks, or instances such as load[3], and what is downstream of them, separated by commas")
	cmd.Flags().BoolVar(&latest, "latest", false, "in the latest version of the workflow, not in the one that the run began with")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the run as JSON at its end")
	cmd.Flags().IntVar(&maxParallel, "max-parallel", runtime.DefaultMaxParallel, "attempts at a time")
	return cmd
}

// latest gives the plan of a run's workflow as it is now: in the file that it
// was run from, or wherever its workflow is now.
func (g *globals) latest(run store.Run) (*dag.Plan, error) {
	if file, err := reload.Load(run.File); err == nil && file.Plan != nil && file.Workflow.Name.V == run.Workflow {
		return file.Plan, nil
	}
	return g.loadPlan(run.Workflow)
}

// retryServed has the serving ax run a run again, and waits for its end.
func (g *globals) retryServed(ctx context.Context, c *client, prefix string, how map[string]any, asJSON bool) error {
	run, err := g.runRecord(ctx, prefix)
	if err != nil {
		return err
	}
	if err := c.post(ctx, "/runs/"+run.ID+"/retry", how, nil); err != nil {
		return exitOf(err)
	}
	fmt.Fprintf(g.stderr, "ax: process %d carries it out\n", c.pid)
	st, err := g.openReader()
	if err != nil {
		return err
	}
	defer st.Close()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for run, err = st.Run(ctx, run.ID); err == nil && !run.State.Final(); run, err = st.Run(ctx, run.ID) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if err != nil {
		return exit{exitFailed, err}
	}
	if err := g.printEnd(ctx, st, run, asJSON); err != nil {
		return err
	}
	if run.State != machine.RunSucceeded {
		return exit{code: exitFailed}
	}
	return nil
}

func cancelCommand(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "cancel RUN",
		Short: "stop a run",
		Long: `Stop a run: what runs of it is ended, what waits is cancelled, its on_finish handlers run.
A run of an ax that is alive is stopped there, as by Ctrl-C; one whose engine has died is
cancelled here.`,
		Args: exactly("RUN"), ValidArgsFunction: g.completeRun,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			run, err := g.runRecord(ctx, args[0])
			if err != nil {
				return err
			}
			if run.State.Final() {
				return exit{exitFailed, fmt.Errorf("run %s has ended: it is %s", run.ID, run.State)}
			}
			if run.Owner != "" && runtime.Alive(g.data, run.Owner) {
				return g.interrupt(ctx, run)
			}
			if c, ok := g.client(); ok && run.Owner == "" {
				return exitOf(c.post(ctx, "/runs/"+run.ID+"/cancel", struct{}{}, nil))
			}
			err = g.goOn(ctx, run.ID, nil, 0, false, func(ctx context.Context, e *runtime.Engine, run store.Run) error {
				return recorded(ctx, e.Store, "cancel", run, e.ResumeToCancel(ctx, run.ID, "ax cancel"))
			})
			if end := (exit{}); errors.As(err, &end) && end.err == nil {
				return nil // that the run did not succeed is what was asked for
			}
			return err
		},
	}
}

// interrupt asks the process that owns a run to stop it: one that serves by its
// API, one that only carries out this run as Ctrl-C does.
func (g *globals) interrupt(ctx context.Context, run store.Run) error {
	pid, err := runtime.Holder(g.data, run.Owner)
	if err != nil {
		return exit{exitFailed, err}
	}
	if c, ok := g.client(); ok && c.pid == pid {
		err = c.post(ctx, "/runs/"+run.ID+"/cancel", struct{}{}, nil)
	} else {
		err = g.interruptProcess(ctx, pid, run)
	}
	if err != nil {
		return exit{exitFailed, fmt.Errorf("stop run %s of process %d: %w", run.ID, pid, err)}
	}
	fmt.Fprintf(g.stdout, "run %s is being stopped by process %d\n", run.ID, pid)
	return nil
}

// interruptProcess does as Ctrl-C does, and records who did so.
func (g *globals) interruptProcess(ctx context.Context, pid int, run store.Run) error {
	st, err := g.openStore()
	if err != nil {
		return err
	}
	defer st.Close()
	return recorded(ctx, st, "cancel", run, syscall.Kill(pid, syscall.SIGINT))
}

// recorded writes into a store what a command has done to a run, and gives the
// error that came of it.
func recorded(ctx context.Context, st store.Store, action string, run store.Run, err error) error {
	answer := runtime.Done
	if err != nil {
		answer = "failed"
	}
	return errors.Join(err, runtime.Record(ctx, st, action, run.Workflow, run.ID, answer))
}

// runRecord reads the record of a run by its id or the beginning of it.
func (g *globals) runRecord(ctx context.Context, prefix string) (run store.Run, err error) {
	err = g.withRun(ctx, prefix, func(st store.Store, id string) error {
		run, err = st.Run(ctx, id)
		return err
	})
	return run, err
}

// goOn runs an engine in this process for a run that is in the store, until it
// has ended. It goes on in a plan, or in that of its version where that is nil.
func (g *globals) goOn(ctx context.Context, prefix string, plan *dag.Plan, maxParallel int, asJSON bool, begin func(context.Context, *runtime.Engine, store.Run) error) error {
	if maxParallel < 0 {
		return fmt.Errorf("--max-parallel %d: it is at least 1", maxParallel)
	}
	run, err := g.runRecord(ctx, prefix)
	if err != nil {
		return err
	}
	return g.withEngine(func(e *runtime.Engine, st store.Store) error {
		e.MaxParallel = maxParallel
		e.Workflows = g.childrenOf(run.File)
		if plan == nil {
			replayed, err := runtime.Replay(ctx, st, run)
			if err != nil {
				return exit{exitFailed, err}
			}
			plan = replayed.Plan()
		}
		return g.runToEnd(ctx, e, plan, asJSON, func(ctx context.Context) (store.Run, error) {
			return run, begin(ctx, e, run)
		})
	})
}
