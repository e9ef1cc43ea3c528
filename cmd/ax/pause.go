package main

import (
	"context"
	"fmt"
	"os"
	"os/user"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/runtime/server"
	"github.com/ax-scheduler/ax/store"
)

func pauseCommand(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "pause NAME",
		Short: "keep the schedules of a workflow from starting it, until ax resume",
		Long: `Keep the schedules and the "after" of a workflow from starting it, until ax resume. Every tick
that is due meanwhile is skipped, and recorded as such. Runs that are there go on, and ax
trigger, ax run and ax backfill start new ones. It holds over restarts and edits of the file.`,
		Example: "  ax pause nightly",
		Args:    exactly("NAME"), ValidArgsFunction: g.completeWorkflow,
		RunE: func(cmd *cobra.Command, args []string) error { return g.pause(cmd.Context(), args[0]) },
	}
}

func resumeCommand(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "resume NAME",
		Short: "let the schedules of a paused workflow start it again",
		Long: `Let the schedules of a paused workflow start it again, from the next tick on. What was skipped
is not caught up: ax backfill does that.`,
		Example: "  ax resume nightly",
		Args:    exactly("NAME"), ValidArgsFunction: g.completeWorkflow,
		RunE: func(cmd *cobra.Command, args []string) error { return g.resume(cmd.Context(), args[0]) },
	}
}

// pauseAnswer is what the API tells of a workflow that is paused.
type pauseAnswer struct {
	Paused *struct {
		By    string
		Since time.Time
	}
}

func (g *globals) pause(ctx context.Context, name string) error {
	if c, ok := g.client(); ok {
		var a pauseAnswer
		if err := c.post(ctx, workflowPath(name, "pause"), struct{}{}, &a); err != nil {
			return exitOf(err)
		}
		if a.Paused == nil { // resumed by somebody in the same moment
			return g.tell("%s is not paused", name)
		}
		return g.tell("%s", pauseText(store.Pause{Workflow: name, By: a.Paused.By, Since: a.Paused.Since}))
	}
	return g.onStoreOf(ctx, name, func(st store.Store) error {
		p, err := runtime.PauseIn(ctx, st, name, server.CommandOf(osUser()))
		if err != nil {
			return err
		}
		return g.tell("%s", pauseText(p))
	})
}

func (g *globals) resume(ctx context.Context, name string) error {
	if c, ok := g.client(); ok {
		if err := c.post(ctx, workflowPath(name, "resume"), struct{}{}, nil); err != nil {
			return exitOf(err)
		}
		return g.tell("%s is not paused", name)
	}
	return g.onStoreOf(ctx, name, func(st store.Store) error {
		if _, err := runtime.UnpauseIn(ctx, st, name); err != nil {
			return err
		}
		return g.tell("%s is not paused", name)
	})
}

func (g *globals) tell(format string, args ...any) error {
	_, err := fmt.Fprintf(g.stdout, format+"\n", args...)
	return err
}

// pauseText tells of a pause in one line.
func pauseText(p store.Pause) string {
	return fmt.Sprintf("%s is paused since %s by %s", p.Workflow, clock(p.Since), p.By)
}

// onStoreOf does something to a workflow in a store that nobody serves. The
// workflow is one of the folder, or was paused before.
func (g *globals) onStoreOf(ctx context.Context, name string, do func(store.Store) error) error {
	names, err := g.workflowNames()
	if err != nil {
		return err
	}
	known := slices.Contains(names, name)
	if !known {
		if _, known, err = g.pauseOf(ctx, name); err != nil {
			return err
		}
	}
	if !known {
		return fmt.Errorf("there is no workflow %q in %q: %s", name, g.workflows, dsl.Meant(name, names))
	}
	st, err := g.openStore()
	if err != nil {
		return err
	}
	defer st.Close()
	return do(st)
}

// pauseOf reads whether a workflow is paused; where there is no database nothing
// is.
func (g *globals) pauseOf(ctx context.Context, name string) (p store.Pause, paused bool, err error) {
	st, err := g.openReader()
	if isAbsent(err) {
		return p, false, nil
	}
	if err != nil {
		return p, false, err
	}
	defer st.Close()
	return runtime.FindPause(ctx, st, name)
}

// osUser gives the user of the operating system who gives commands.
func osUser() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return strconv.Itoa(os.Getuid())
}
