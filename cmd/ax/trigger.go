package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/dsl/cron"
	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/runtime/reload"
	"github.com/ax-scheduler/ax/runtime/trigger"
	"github.com/ax-scheduler/ax/store"
)

// triggerOptions are the flags of `ax trigger`.
type triggerOptions struct {
	runOptions
	in, at, key string
	priority    int
}

func triggerCommand(g *globals) *cobra.Command {
	var o triggerOptions
	cmd := &cobra.Command{
		Use:   "trigger NAME",
		Short: "ask the serving ax for a run, now or later",
		Long: `Ask the ax that serves the data folder for a run of a workflow and print its id. Where none
serves, the run is left in the data folder for the next one that does. What waits for its
time can be kept from starting by ax cancel.`,
		Example: `  ax trigger nightly -p region=us
  ax trigger nightly --in 2h
  ax trigger nightly --at 2026-03-01T02:30:00Z --key march`,
		Args:              exactly("NAME"),
		ValidArgsFunction: g.completeWorkflow,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !cmd.Flags().Changed("priority") {
				o.priority = -1
			} else if o.priority < 0 || o.priority > 9 {
				return fmt.Errorf("--priority %d: it is 0 to 9", o.priority)
			}
			return g.trigger(cmd.Context(), args[0], o)
		},
	}
	f := cmd.Flags()
	f.StringArrayVarP(&o.params, "param", "p", nil, "a parameter, NAME=VALUE; may be repeated")
	f.StringVar(&o.paramsFile, "params-file", "", "a YAML or JSON file of parameters, NAME: value; -p wins")
	f.StringVar(&o.scheduledFor, "scheduled-for", "", "the time the run stands for, as 2026-03-01T02:30:00Z, or a date; default now")
	f.StringVar(&o.in, "in", "", "start it after this time, as 10m or 2h")
	f.StringVar(&o.at, "at", "", "start it at this time, as 2026-03-01T02:30:00Z, or at the midnight of a date")
	f.StringVar(&o.key, "key", "", "a repeated request with one key gives the first run")
	f.IntVar(&o.priority, "priority", 5, "0 to 9; default the workflow's")
	f.BoolVar(&o.json, "json", false, "print the run as JSON")
	notBoth(cmd, "in", "at")
	return cmd
}

func (g *globals) trigger(ctx context.Context, name string, o triggerOptions) error {
	zone := func(example string) (*time.Location, error) { return g.zoneOfNamed(name, example) }
	q, err := g.request(nil, o.runOptions, zone)
	if err != nil {
		return err
	}
	if o.priority >= 0 {
		q.Priority = &o.priority
	}
	q.Key, q.Trigger = o.key, store.TriggerManual
	switch {
	case o.in != "":
		d, err := dsl.ParseDuration(o.in)
		if err != nil {
			return fmt.Errorf("--in %q: %w", o.in, err)
		}
		q.NotBefore = time.Now().Add(d)
	case o.at != "":
		if q.NotBefore, err = dayOr("at", o.at, zone); err != nil {
			return err
		}
	}
	var rep runtime.Report
	if c, ok := g.client(); ok {
		if rep, err = c.trigger(ctx, name, q); err != nil {
			return exitOf(err)
		}
	} else if rep, err = g.leave(ctx, name, q); err != nil {
		return err
	}
	if o.json {
		return g.printJSON(rep)
	}
	fmt.Fprintln(g.stdout, rep.ID)
	return nil
}

// trigger asks a serving ax for a run.
func (c *client) trigger(ctx context.Context, name string, q runtime.Request) (rep runtime.Report, err error) {
	body := map[string]any{"params": q.Params}
	if !q.NotBefore.IsZero() {
		body["at"] = q.NotBefore
	}
	if !q.ScheduledFor.IsZero() {
		body["scheduled_for"] = q.ScheduledFor
	}
	if q.Key != "" {
		body["key"] = q.Key
	}
	if q.Priority != nil {
		body["priority"] = *q.Priority
	}
	err = c.post(ctx, workflowPath(name, "runs"), body, &rep)
	return rep, err
}

// leave writes a run into the store for the next ax that serves.
func (g *globals) leave(ctx context.Context, name string, q runtime.Request) (rep runtime.Report, err error) {
	if q.Plan, err = g.loadPlan(name); err != nil {
		return rep, err
	}
	st, err := g.openStore()
	if err != nil {
		return rep, err
	}
	defer st.Close()
	e := &runtime.Engine{Store: st, Data: g.data, Env: g.env}
	run, err := e.Leave(ctx, q)
	if err != nil {
		return rep, err
	}
	when := "with the next ax serve"
	if run.State == machine.RunScheduled {
		when = "at " + clock(run.NotBefore) + " if an ax serves then, else with the next that does"
	}
	fmt.Fprintf(g.stderr, "ax: no ax serves %s: the run starts %s\n", g.data, when)
	return runtime.ReadReport(ctx, st, run.ID)
}

// timeOf reads the time of a flag.
func timeOf(flag, text string) (time.Time, error) {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return at, fmt.Errorf("--%s %q is not a time like 2026-03-01T02:30:00Z, with a zone or Z", flag, text)
	}
	return at, nil
}

// dayOr reads the time of a flag, or a date for its first moment in a zone. zone is
// told the date as a time, for what it may have to say.
func dayOr(flag, text string, zone func(example string) (*time.Location, error)) (time.Time, error) {
	date, err := dsl.ParseDate(text)
	if err != nil {
		at, err := timeOf(flag, text)
		if err != nil {
			err = fmt.Errorf("%w, or a date like 2026-03-01 for its midnight", err)
		}
		return at, err
	}
	z, err := zone(trigger.StartOf(date, time.Local).Format(time.RFC3339))
	if err != nil {
		return time.Time{}, fmt.Errorf("--%s %q: %w", flag, text, err)
	}
	return trigger.StartOf(date, z), nil
}

// zoneOfNamed gives the zone that a workflow of the folder names. Which one holds
// for those that name none the serving ax knows.
func (g *globals) zoneOfNamed(name, example string) (*time.Location, error) {
	path, err := g.findWorkflow(name)
	if err != nil {
		return nil, err
	}
	file, err := reload.Load(path)
	if err != nil {
		return nil, err
	}
	if file.Workflow == nil || !file.Workflow.Timezone.Set() {
		return nil, fmt.Errorf("whose midnight is meant is not known, for %s names no timezone: write it out, as %s", path, example)
	}
	return cron.LoadZone(file.Workflow.Timezone.V)
}
