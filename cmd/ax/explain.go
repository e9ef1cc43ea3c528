package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/store"
)

func explainCommand(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "explain RUN [TASK]",
		Short: "tell why a run or a task ended as it did",
		Long: `Tell why a run, or one task of it, ended as it did or has not started, as a chain of
causes down to the task at the root of it.`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return g.withRun(cmd.Context(), args[0], func(st store.Store, id string) error {
				return g.explain(cmd.Context(), st, id, args[1:])
			})
		},
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
	if len(task) == 0 {
		fmt.Fprintf(g.stdout, "run %s of %s: %s%s\n", rec.ID, rec.Workflow, rec.State, inBrackets(string(rec.Reason)))
		if rec.Error != "" {
			fmt.Fprintln(g.stdout, "  "+rec.Error)
		}
		for i := range r.Plan().Tasks {
			if v := r.Task(dag.Task(i)); v.Member && v.State != machine.Succeeded {
				g.explainTask(r, dag.Task(i))
			}
		}
		return nil
	}
	ts, err := tasksNamed(r.Plan(), task)
	if err != nil {
		return exit{exitFailed, err}
	}
	g.explainTask(r, ts[0])
	return nil
}

// explainTask prints what became of a task, and then of the one that it goes
// back to, until there is none.
func (g *globals) explainTask(r *machine.Run, t dag.Task) {
	for indent := ""; ; indent += "  " {
		v := r.Task(t)
		id := r.Plan().Tasks[t].ID
		if !v.Member {
			fmt.Fprintf(g.stdout, "%stask %s does not belong to this run\n", indent, id)
			return
		}
		line := fmt.Sprintf("%stask %s: %s%s", indent, id, v.State, inBrackets(string(v.Reason)))
		if v.Attempts > 0 {
			line += fmt.Sprintf(" after attempt %d", v.Attempts)
		}
		if v.Error != "" {
			line += ": " + v.Error
		}
		fmt.Fprintln(g.stdout, line)
		if v.State == machine.Pending {
			g.explainWait(r, t, indent+"  ")
			return
		}
		if root, ok := r.Root(t); ok {
			t = root
		} else if by, ok := r.FailedInto(t); ok && v.State != machine.Skipped {
			fmt.Fprintf(g.stdout, "%s  called by:\n", indent)
			t = by
		} else {
			return
		}
	}
}

// explainWait prints what a pending task waits for.
func (g *globals) explainWait(r *machine.Run, t dag.Task, indent string) {
	for i := range r.Plan().Tasks {
		for _, e := range r.Plan().Tasks[i].Downstream {
			if v := r.Task(dag.Task(i)); e.To == t && v.Member && !v.State.Final() {
				fmt.Fprintf(g.stdout, "%swaits for task %s, which is %s\n", indent, r.Plan().Tasks[i].ID, v.State)
			}
		}
	}
}
