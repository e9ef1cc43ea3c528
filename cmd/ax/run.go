package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/dsl/cron"
	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/runtime/executor"
	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/store"
)

// runOptions are the flags of `ax run`.
type runOptions struct {
	params       []string
	paramsFile   string
	json         bool
	dryRun       bool
	from         string
	only         []string
	scheduledFor string
	maxParallel  int
	timezone     string
}

func runCommand(g *globals) *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "run FILE|NAME",
		Short: "run a workflow once in this process",
		Long: `Run a workflow once in this process, show its progress, and exit with its outcome:
0 if it succeeded, 1 if it failed, 2 if it could not be started, 130 after Ctrl-C.

FILE is a path; NAME is looked up in the workflows folder. What ran is kept in the
data folder: see ax show, ax logs and ax runs.`,
		Example: `  ax run workflows/nightly.yaml
  ax run nightly -p region=cn --scheduled-for 2026-03-01T02:30:00Z
  ax run nightly --only extract,clean
  ax run nightly --dry-run`,
		Args:              exactly("FILE|NAME"),
		ValidArgsFunction: g.completeWorkflow,
		RunE:              func(cmd *cobra.Command, args []string) error { return g.run(cmd.Context(), args[0], o) },
	}
	f := cmd.Flags()
	f.StringArrayVarP(&o.params, "param", "p", nil, "a parameter, NAME=VALUE; may be repeated")
	f.StringVar(&o.paramsFile, "params-file", "", "a YAML or JSON file of parameters, NAME: value; -p wins")
	f.BoolVar(&o.json, "json", false, "print the run as JSON at its end")
	f.BoolVar(&o.dryRun, "dry-run", false, "print what would run, and run nothing")
	f.StringVar(&o.from, "from", "", "run this task and what is downstream of it")
	f.StringSliceVar(&o.only, "only", nil, "run these tasks alone, separated by commas")
	f.StringVar(&o.scheduledFor, "scheduled-for", "", "the time the run stands for, as 2026-03-01T02:30:00Z, or a date; default now")
	f.IntVar(&o.maxParallel, "max-parallel", runtime.DefaultMaxParallel, "attempts at a time")
	f.StringVar(&o.timezone, "timezone", "", "zone of workflows that name none; default the system's")
	notBoth(cmd, "from", "only")
	return cmd
}

func (g *globals) run(ctx context.Context, arg string, o runOptions) error {
	plan, err := g.loadPlan(arg)
	if err != nil {
		return err
	}
	q, err := g.request(plan, o, func(string) (*time.Location, error) {
		if plan.Workflow.Timezone.Set() {
			return cron.LoadZone(plan.Workflow.Timezone.V)
		}
		return zoneNamed(o.timezone)
	})
	if err != nil {
		return err
	}
	if err := runtime.CheckParams(plan.Workflow, q.Params); err != nil {
		return err
	}
	if o.dryRun {
		return g.dryRun(q)
	}
	if o.maxParallel < 1 {
		return fmt.Errorf("--max-parallel %d: it is at least 1", o.maxParallel)
	}
	zone, err := zoneNamed(o.timezone)
	if err != nil {
		return err
	}
	return g.withEngine(func(e *runtime.Engine, _ store.Store) error {
		e.MaxParallel, e.Zone = o.maxParallel, zone
		e.Workflows = g.childrenOf(plan.Workflow.Source.File)
		return g.runToEnd(ctx, e, plan, o.json, func(ctx context.Context) (store.Run, error) { return e.Start(ctx, q) })
	})
}

// withEngine makes an engine over the data folder, to be served by this process.
func (g *globals) withEngine(do func(*runtime.Engine, store.Store) error) error {
	st, err := g.openStore() // before there is a claim: an older database is brought up to date where there is none
	if err != nil {
		return err
	}
	claim, err := runtime.NewClaim(g.data)
	if err != nil {
		return errors.Join(err, st.Close())
	}
	defer claim.Release()
	defer st.Close()
	log := g.log
	if log == nil {
		log = slog.New(slog.NewTextHandler(g.stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	}
	if err := errors.Join(executor.BecomeSubreaper(), executor.LeaveTerminal()); err != nil {
		log.Warn("processes that tasks leave behind may not be found", "error", err)
	}
	for name, slots := range g.pools {
		if slots < 1 {
			return fmt.Errorf("--pools: pool %q has %d slots: it is at least 1", name, slots)
		}
	}
	mail, err := g.mail.value(g.env)
	if err != nil {
		return err
	}
	e := &runtime.Engine{Store: st, Data: g.data, Pools: g.pools, Env: taskEnvironment(g.env), Owner: claim.Owner, Log: log, Mail: mail}
	end, err := g.trace(e, st)
	if err != nil {
		return err
	}
	defer end()
	return do(e, st)
}

// taskEnvironment gives what tasks inherit of the engine's variables.
func taskEnvironment(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(notifyVariables, name)
	})
}

// request turns the flags into a request for a run. A date is one in the zone.
func (g *globals) request(plan *dag.Plan, o runOptions, zone func(example string) (*time.Location, error)) (runtime.Request, error) {
	q := runtime.Request{Plan: plan, Params: map[string]string{}}
	if o.paramsFile != "" {
		vars, err := runtime.ReadParamsFile(o.paramsFile)
		if err != nil {
			return q, err
		}
		q.Params = vars
	}
	for _, p := range o.params {
		name, value, ok := strings.Cut(p, "=")
		if !ok {
			return q, fmt.Errorf("parameter %q is not NAME=VALUE", p)
		}
		q.Params[name] = value
	}
	if o.scheduledFor != "" {
		at, err := dayOr("scheduled-for", o.scheduledFor, zone)
		if err != nil {
			return q, err
		}
		q.ScheduledFor = at.UTC()
	}
	var err error
	if o.from != "" {
		var ts []dag.Task
		ts, err = tasksNamed(plan, []string{o.from})
		q.Only = plan.Downstream(ts...)
	} else if len(o.only) > 0 {
		q.Only, err = tasksNamed(plan, o.only)
	}
	return q, err
}

func tasksNamed(plan *dag.Plan, names []string) ([]dag.Task, error) {
	var ts []dag.Task
	for _, name := range names {
		t, ok := plan.Task(name)
		if !ok {
			return nil, fmt.Errorf("workflow %q has no task %q: %s", plan.Workflow.Name.V, name, dsl.Meant(name, plan.IDs()))
		}
		ts = append(ts, t)
	}
	return ts, nil
}

// runToEnd serves an engine until the run that begin gives has ended, shows its
// progress, and prints what became of it. The exit says how it ended.
func (g *globals) runToEnd(ctx context.Context, e *runtime.Engine, plan *dag.Plan, asJSON bool, begin func(context.Context) (store.Run, error)) error {
	signals := make(chan os.Signal, 3)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	defer signal.Stop(signals)

	serving, stop := context.WithCancel(ctx)
	served := make(chan error, 1)
	go func() { served <- e.Serve(serving) }()
	defer func() { stop(); <-served }()

	updates, unsubscribe := e.Subscribe(4096)
	defer unsubscribe()
	run, err := begin(ctx)
	if err != nil {
		return exit{exitUsage, err}
	}
	shown := make(chan struct{})
	p := newProgress(g, plan, run)
	go func() { defer close(shown); p.follow(updates) }()

	ended, code, err := waitOrCancel(ctx, e, run.ID, signals, g.stderr)
	if err != nil {
		return err
	}
	unsubscribe() // progress shows what it has got and ends
	<-shown
	if err := tellTargets(ctx, e); err != nil {
		return exit{exitFailed, err}
	}
	if code == 0 && ended.State != machine.RunSucceeded {
		code = exitFailed
	}
	if err := g.printEnd(ctx, e.Store, ended, asJSON); err != nil {
		return err
	}
	if code != 0 {
		return exit{code: code}
	}
	return nil
}

// waitOrCancel waits for the end of a run. A first signal cancels the run and
// gives the exit code, a second one kills what is left of it, a third gives up
// on it.
func waitOrCancel(ctx context.Context, e *runtime.Engine, id string, signals <-chan os.Signal, stderr io.Writer) (store.Run, int, error) {
	type result struct {
		run store.Run
		err error
	}
	done := make(chan result, 1)
	go func() { run, err := e.Wait(ctx, id); done <- result{run, err} }()
	// Requests wait for the disk, which may be full: signals must not.
	failed := make(chan error, 2)
	request := func(do func(context.Context, string, string) error, by string) {
		if err := do(ctx, id, by); err != nil && !errors.Is(err, store.ErrNotFound) {
			failed <- err
		}
	}
	code, asked := 0, 0
	for {
		select {
		case r := <-done:
			if r.err != nil {
				return r.run, 0, exit{exitFailed, r.err}
			}
			return r.run, code, nil
		case err := <-failed:
			return store.Run{}, 0, exit{code, err}
		case s := <-signals:
			asked++
			switch asked {
			case 1:
				code = signalCode(s)
				fmt.Fprintln(stderr, "ax: stopping the run; once more to kill what is left of it")
				go request(e.Cancel, s.String())
			case 2:
				go request(e.Kill, s.String())
			default:
				return store.Run{}, 0, exit{code, fmt.Errorf("run %s was cut off: ax retry %[1]s goes on with it", id)}
			}
		}
	}
}

func signalCode(s os.Signal) int {
	if n, ok := s.(syscall.Signal); ok {
		return 128 + int(n)
	}
	return exitInterrupted
}

// printEnd prints what became of the run.
func (g *globals) printEnd(ctx context.Context, st store.Store, run store.Run, asJSON bool) error {
	if asJSON {
		report, err := runtime.ReadReport(ctx, st, run.ID)
		if err != nil {
			return exit{exitFailed, err}
		}
		return g.printJSON(report)
	}
	fmt.Fprintf(g.stdout, "run %s of %s %s %s\n", run.ID, run.Workflow, run.State, spent(run))
	if run.Error != "" {
		fmt.Fprintf(g.stdout, "  %s\n", run.Error)
	}
	data := ""
	if g.data != defaultData {
		data = "--data " + g.data + " "
	}
	fmt.Fprintf(g.stdout, "  ax %[2]sshow %[1]s    ax %[2]slogs %[1]s\n", run.ID, data)
	return nil
}

func (g *globals) printJSON(v any) error {
	out := json.NewEncoder(g.stdout)
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	return out.Encode(v)
}

// rehearse applies an event to a run that is not carried out: every condition
// holds, and of a foreach one instance stands for all.
func rehearse(r *machine.Run, e machine.Event) error {
	cmds, err := r.Apply(e)
	for _, c := range cmds {
		switch c := c.(type) {
		case machine.Evaluate:
			err = errors.Join(err, rehearse(r, machine.Evaluated{Task: c.Task, Holds: true}))
		case machine.Expand:
			err = errors.Join(err, rehearse(r, machine.Expanded{Task: c.Task, Items: []string{"null"}}))
		}
	}
	return err
}

// dryRun lets the machine run with every task succeeding, and prints the order.
func (g *globals) dryRun(q runtime.Request) error {
	r := machine.New("dry-run", q.Plan, q.Only)
	at := time.Unix(0, 0)
	if err := rehearse(r, machine.RunStarted{At: at}); err != nil {
		return err
	}
	fmt.Fprintf(g.stdout, "%s would run, if every task succeeds:\n", q.Plan.Workflow.Name.V)
	for wave := 1; ; wave++ {
		var started []machine.Unit
		for u, ok := r.Startable(nil); ok; u, ok = r.Startable(nil) {
			if err := rehearse(r, machine.AttemptStarted{Task: u.Task, Instance: u.Instance, Attempt: 1, At: at}); err != nil {
				return err
			}
			started = append(started, u)
		}
		if len(started) == 0 {
			break
		}
		for _, u := range started {
			n, each := &q.Plan.Tasks[u.Task], ""
			if u.Instance != 0 {
				each = ", once for each item"
			}
			fmt.Fprintf(g.stdout, "  %3d  %s (%s%s)\n", wave, n.ID, n.Spec.Kind, each)
			if err := rehearse(r, machine.AttemptEnded{Task: u.Task, Instance: u.Instance, Attempt: 1, At: at}); err != nil {
				return err
			}
		}
	}
	for i := range q.Plan.Tasks {
		if v := r.Task(dag.Task(i)); v.Member && v.State == machine.Skipped {
			fmt.Fprintf(g.stdout, "    -  %s: %s\n", q.Plan.Tasks[i].ID, v.Error)
		}
	}
	return nil
}

// zoneNamed gives the zone of --timezone.
func zoneNamed(name string) (*time.Location, error) {
	if name == "" {
		return time.Local, nil
	}
	zone, err := cron.LoadZone(name)
	if err != nil {
		return nil, fmt.Errorf("timezone: %w", err)
	}
	return zone, nil
}
