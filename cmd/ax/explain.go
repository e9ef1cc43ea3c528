package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/store"
)

func explainCommand(g *globals) *cobra.Command {
	var at string
	cmd := &cobra.Command{
		Use:   "explain RUN [TASK] | NAME --at TIME",
		Short: "tell why a run or a task ended as it did, or what became of a tick",
		Long: `Tell why a run, or one task of it, ended as it did or has not started, as a chain of
causes down to the task at the root of it. With --at tell what became of the ticks of a
workflow around a time.`,
		Example: "  ax explain 06h2 report\n  ax explain nightly --at 2026-03-29T02:30:00+02:00",
		Args:    between(1, 2, "RUN [TASK], or NAME with --at"), ValidArgsFunction: g.completeRun,
		RunE: func(cmd *cobra.Command, args []string) error {
			if at != "" {
				t, err := timeOf("at", at)
				if err != nil {
					return err
				}
				if len(args) > 1 {
					return fmt.Errorf("--at %q asks for a tick of a workflow: leave %q out", at, args[1])
				}
				return g.explainTicks(cmd.Context(), args[0], t)
			}
			return g.withRun(cmd.Context(), args[0], func(st store.Store, id string) error {
				return g.explain(cmd.Context(), st, id, args[1:])
			})
		},
	}
	cmd.Flags().StringVar(&at, "at", "", "a time: tell what became of the tick of the workflow that is nearest to it")
	return cmd
}

// aroundTick is how far from a time its nearest tick is looked for.
const aroundTick = 32 * 24 * time.Hour

// explainTicks tells, for each schedule of a workflow, what became of the tick
// that is nearest to a time.
func (g *globals) explainTicks(ctx context.Context, name string, at time.Time) error {
	st, err := g.openReader()
	if isAbsent(err) {
		return exit{exitFailed, fmt.Errorf("%s holds no database", g.data)}
	}
	if err != nil {
		return err
	}
	defer st.Close()
	ticks, err := st.Ticks(ctx, name, at.Add(-aroundTick), at.Add(aroundTick), 0)
	if err != nil {
		return err
	}
	fills, err := filledAround(ctx, st, name, at)
	if err != nil {
		return err
	}
	nearest := map[string]toldTick{}
	look := func(t toldTick) {
		old, known := nearest[t.Schedule]
		if !known || t.At.Sub(at).Abs() < old.At.Sub(at).Abs() {
			nearest[t.Schedule] = t
		}
	}
	for _, t := range ticks {
		if t.Outcome != store.TickLoaded {
			look(toldTick{Tick: t})
		}
	}
	for _, run := range fills {
		look(toldTick{Tick: store.Tick{Schedule: runtime.FilledSchedule(run), At: run.ScheduledFor}})
	}
	if len(nearest) == 0 {
		fmt.Fprintf(g.stdout, "no tick of %s is recorded around %s\n", name, clock(at))
		return nil
	}
	for _, run := range fills { // the newest first
		if t := nearest[runtime.FilledSchedule(run)]; t.fill == nil && t.At.Equal(run.ScheduledFor) {
			t.fill = &run
			nearest[t.Schedule] = t
		}
	}
	for _, schedule := range slices.Sorted(maps.Keys(nearest)) {
		fmt.Fprintln(g.stdout, nearest[schedule].line(name))
	}
	return nil
}

// toldTick is a tick with what became of it.
type toldTick struct {
	store.Tick            // without an outcome where the ledger does not have it
	fill       *store.Run // the last of a backfill that ran it
}

func (t toldTick) line(workflow string) string {
	line := fmt.Sprintf("%s, tick of %s", workflow, t.At.UTC().Format(time.RFC3339Nano))
	if t.Schedule != "" { // which runs of old versions do not tell
		line += " (" + t.Schedule + ")"
	}
	line += ": " + cmp.Or(string(t.Outcome), "not in the ledger")
	if t.Reason != "" {
		line += ": " + t.Reason
	}
	if t.RunID != "" {
		line += ", run " + t.RunID
	}
	if t.fill != nil {
		line += fmt.Sprintf("; a backfill ran it, run %s: %s", t.fill.ID, outcome(t.fill.State.String(), string(t.fill.Reason)))
	}
	return line
}

// filledAround gives the runs of backfills of a workflow whose ticks lie around a
// time, the newest first.
func filledAround(ctx context.Context, st store.Store, name string, at time.Time) (fills []store.Run, err error) {
	f := store.RunFilter{Workflow: name, From: at.Add(-aroundTick), To: at.Add(aroundTick), Limit: store.MaxLimit}
	for {
		runs, err := st.Runs(ctx, f)
		if err != nil {
			return nil, err
		}
		for _, run := range runs {
			if f.Before = run.ID; run.Trigger == store.TriggerBackfill {
				fills = append(fills, run)
			}
		}
		if len(runs) < store.MaxLimit {
			return fills, nil
		}
	}
}

func (g *globals) explain(ctx context.Context, st store.Store, id string, task []string) error {
	rec, err := st.Run(ctx, id)
	if err != nil {
		return err
	}
	r, err := runtime.Replay(ctx, st, rec)
	if err != nil {
		return exit{exitFailed, err}
	}
	x := &explanation{g, rec, r}
	if len(task) == 0 {
		fmt.Fprintf(g.stdout, "run %s of %s: %s\n", rec.ID, rec.Workflow, outcome(rec.State.String(), string(rec.Reason)))
		if rec.Error != "" {
			fmt.Fprintln(g.stdout, "  "+rec.Error)
		}
		if err := g.explainHolders(ctx, st, rec, r); err != nil {
			return exit{exitFailed, err}
		}
		for i := range r.Plan().Tasks {
			if v := r.Task(dag.Task(i)); v.Member && v.State != machine.Succeeded {
				x.task(dag.Task(i))
			}
		}
		return nil
	}
	if err := x.named(task[0]); err != nil {
		return exit{exitFailed, err}
	}
	if err := g.explainHolders(ctx, st, rec, r); err != nil {
		return exit{exitFailed, err}
	}
	return nil
}

// explainHolders prints what keeps a run, or a task of it, waiting, and which runs
// have it.
func (g *globals) explainHolders(ctx context.Context, st store.Store, rec store.Run, r *machine.Run) error {
	switch {
	case g.orphaned(rec):
		fmt.Fprintln(g.stdout, "  "+orphanText(rec.ID))
	case rec.State == machine.RunScheduled:
		fmt.Fprintln(g.stdout, "  "+g.startsAt(rec.NotBefore))
	case rec.State == machine.RunQueued:
		fmt.Fprintln(g.stdout, "  it waits until fewer than max_active runs of its workflow are going")
	}
	waits := map[string]bool{}
	for i := range r.Plan().Tasks {
		t := r.Plan().Tasks[i].Spec
		if t.Pool != nil && len(r.WaitingFor(t.Pool.Name.V)) > 0 {
			waits[t.Pool.Name.V] = true
		}
	}
	if rec.State != machine.RunQueued && len(waits) == 0 {
		return nil
	}
	all, err := runtime.Holdings(ctx, st)
	if err != nil {
		return err
	}
	for _, h := range all {
		if rec.State == machine.RunQueued && h.Run.Workflow == rec.Workflow {
			fmt.Fprintf(g.stdout, "  run %s is going, of %s\n", h.Run.ID, g.process(h.Run))
		}
		for _, s := range h.Slots {
			if waits[s.Pool] {
				fmt.Fprintf(g.stdout, "  pool %q: task %s of run %s (%s) has a slot, of %s\n", s.Pool, s.Task, h.Run.ID, h.Run.Workflow, g.process(h.Run))
			}
		}
	}
	return nil
}

// process names the process that has a run.
func (g *globals) process(run store.Run) string {
	if !runtime.Alive(g.data, run.Owner) {
		return "a process that has ended"
	}
	if pid, err := runtime.Holder(g.data, run.Owner); err == nil {
		return fmt.Sprintf("process %d", pid)
	}
	return "a living process"
}
