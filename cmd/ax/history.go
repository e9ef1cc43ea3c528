package main

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/store"
)

func runsCommand(g *globals) *cobra.Command {
	var states []string
	var limit int
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "runs [NAME]",
		Short:   "list runs, newest first",
		Example: "  ax runs nightly --state failed --limit 5",
		Args:    between(0, 1, "at most one NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f := store.RunFilter{Limit: min(max(limit, 1), 1000)}
			for _, s := range states {
				state, err := machine.ParseRunState(s)
				if err != nil {
					return fmt.Errorf("--state: %w", err)
				}
				f.States = append(f.States, state)
			}
			if len(args) == 1 {
				f.Workflow = args[0]
			}
			return g.listRuns(cmd.Context(), f, asJSON)
		},
	}
	cmd.Flags().StringSliceVar(&states, "state", nil, "only runs in these states, separated by commas")
	cmd.Flags().IntVar(&limit, "limit", 20, "at most so many, 1 to 1000")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return cmd
}

func (g *globals) listRuns(ctx context.Context, f store.RunFilter, asJSON bool) error {
	runs, err := g.readRuns(ctx, f)
	if err != nil {
		return err
	}
	if len(runs) == 0 && f.Workflow != "" {
		g.tellUnknown(ctx, f.Workflow)
	}
	if asJSON {
		reports := make([]runtime.Report, 0, len(runs))
		for _, r := range runs {
			reports = append(reports, runtime.NewReport(r))
		}
		return g.printJSON(reports)
	}
	t := tabwriter.NewWriter(g.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "RUN\tWORKFLOW\tSTATE\tREASON\tTRIGGER\tSCHEDULED FOR\tTOOK")
	for _, r := range runs {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.ID, r.Workflow, r.State, r.Reason, r.Trigger,
			clock(r.ScheduledFor), tookOrStarts(&r))
	}
	return t.Flush()
}

// readRuns lists runs; a data folder without a database has none.
func (g *globals) readRuns(ctx context.Context, f store.RunFilter) ([]store.Run, error) {
	if _, err := os.Stat(g.data); isAbsent(err) {
		return nil, nil
	}
	st, err := g.openReader()
	if isAbsent(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer st.Close()
	return st.Runs(ctx, f)
}

func showCommand(g *globals) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show RUN",
		Short: "show a run and its tasks",
		Long:  "Show a run and its tasks. RUN is the id of a run, or the beginning of one.",
		Args:  exactly("RUN"), ValidArgsFunction: g.completeRun,
		RunE: func(cmd *cobra.Command, args []string) error {
			return g.withRun(cmd.Context(), args[0], func(st store.Store, id string) error {
				report, err := runtime.ReadReport(cmd.Context(), st, id)
				if err != nil {
					return err
				}
				if asJSON {
					return g.printJSON(report)
				}
				return g.showRun(cmd.Context(), st, report)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// withRun opens the store, finds the run that an id or its beginning means, and
// hands both on.
func (g *globals) withRun(ctx context.Context, prefix string, do func(st store.Store, id string) error) error {
	st, err := g.openReader()
	if isAbsent(err) {
		return exit{exitFailed, fmt.Errorf("there is no run %q: %s holds no database", prefix, g.data)}
	}
	if err != nil {
		return err
	}
	defer st.Close()
	ids, err := st.Resolve(ctx, prefix, 2)
	switch {
	case err != nil:
		return err
	case len(ids) == 0:
		return exit{exitFailed, fmt.Errorf("there is no run %q in %s: ax runs lists them", prefix, g.data)}
	case len(ids) > 1 && ids[0] != prefix:
		return exit{exitFailed, fmt.Errorf("several runs begin with %q: give more of the id", prefix)}
	}
	return do(st, ids[0])
}

func (g *globals) showRun(ctx context.Context, st store.Store, rep runtime.Report) error {
	run, err := st.Run(ctx, rep.ID)
	if err != nil {
		return err
	}
	attempts, err := attemptsByTask(ctx, st, run)
	if err != nil {
		return err
	}
	fmt.Fprintf(g.stdout, "run %s of %s: %s\n", run.ID, run.Workflow, outcome(run.State.String(), string(run.Reason)))
	fmt.Fprintf(g.stdout, "  %s, scheduled for %s, started %s, took %s, version %.12s\n",
		run.Trigger, clock(run.ScheduledFor), clock(run.StartedAt), took(run.WentAt(), run.FinishedAt), run.Version)
	if run.Error != "" {
		fmt.Fprintf(g.stdout, "  %s\n", run.Error)
	}
	if g.orphaned(run) {
		fmt.Fprintln(g.stdout, "  "+orphanText(run.ID))
	}
	if run.State == machine.RunScheduled {
		fmt.Fprintln(g.stdout, "  "+g.startsAt(run.NotBefore))
	}
	for _, name := range sortedKeys(run.Params) {
		fmt.Fprintf(g.stdout, "  param %s=%s\n", name, plain(run.Params[name]))
	}
	t := tabwriter.NewWriter(g.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "TASK\tSTATE\tREASON\tATTEMPTS\tTOOK\t")
	printTasks(t, rep.Tasks, attempts)
	if err := t.Flush(); err != nil {
		return err
	}
	return g.listArtifacts(rep.ID)
}

// fewInstances is up to how many instances of a task are shown one by one.
const fewInstances = 10

// printTasks prints the tasks of a run. Where a task has many instances, these
// are only the first of those that did not succeed.
func printTasks(t io.Writer, tasks []runtime.TaskReport, attempts map[string][]store.Attempt) {
	for i := 0; i < len(tasks); {
		last := i + 1
		for last < len(tasks) && strings.HasPrefix(tasks[last].ID, tasks[i].ID+"[") {
			last++
		}
		instances := tasks[i+1 : last]
		printTask(t, tasks[i], attempts[tasks[i].ID])
		shown := instances
		if len(instances) > fewInstances {
			shown = nil
			for _, task := range instances {
				if len(shown) < fewInstances && task.State != machine.Succeeded.String() {
					shown = append(shown, task)
				}
			}
		}
		for _, task := range shown {
			printTask(t, task, attempts[task.ID])
		}
		if n := len(instances) - len(shown); n > 0 {
			fmt.Fprintf(t, "  %d more instances\t\t\t\t\t\n", n)
		}
		i = last
	}
}

// printTask prints a task's line, and one for each attempt if there were
// several, for what was remarkable about them, and for each output.
func printTask(t io.Writer, task runtime.TaskReport, attempts []store.Attempt) {
	fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%s\t%s\n", task.ID, task.State, task.Reason, task.Attempts,
		took(valueOf(task.StartedAt), valueOf(task.FinishedAt)), withEarlier(task.Error, task.Attempts, valueOf(task.StartedAt)))
	for _, a := range attempts {
		if len(attempts) > 1 {
			fmt.Fprintf(t, "  attempt %d\t%s\t%s\t\t%s\t%s\n", a.Number, a.State, a.Reason, took(a.StartedAt, a.FinishedAt), a.Error)
		}
		for _, w := range a.Warnings {
			fmt.Fprintf(t, "  warning\t\t\t\t\t%s\n", w)
		}
	}
	for _, name := range sortedKeys(task.Outputs) {
		fmt.Fprintf(t, "  output\t\t\t\t\t%s=%s\n", name, plain(task.Outputs[name]))
	}
}

// shownOf is how much of a value is shown, in characters.
const shownOf = 200

// plain gives a value in one line that does nothing to a terminal or a table, cut where
// it is long. JSON has all of it.
func plain(value string) string { return harmless(cut(value, shownOf)) }

// harmless quotes a text with characters that might do something to a terminal.
func harmless(value string) string {
	if !utf8.ValidString(value) || strings.ContainsFunc(value, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(value)
	}
	return value
}

// attemptsByTask gives the attempts of a run by the name of their task or
// instance.
func attemptsByTask(ctx context.Context, st store.Store, run store.Run) (map[string][]store.Attempt, error) {
	version, err := st.Version(ctx, run.Version)
	if err != nil {
		return nil, err
	}
	attempts, err := st.Attempts(ctx, run.ID)
	if err != nil {
		return nil, err
	}
	by := map[string][]store.Attempt{}
	for _, a := range attempts {
		id := machine.InstanceOf(a.Instance).Name(version.Tasks[a.Index])
		by[id] = append(by[id], a)
	}
	return by, nil
}

func (g *globals) listArtifacts(id string) error {
	dir := filepath.Join(g.data, "artifacts", id)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			fmt.Fprintf(g.stdout, "artifact %s\n", harmless(path))
		}
		return err
	})
	if isAbsent(err) {
		return nil
	}
	return err
}

func logsCommand(g *globals) *cobra.Command {
	var follow bool
	var attempt int
	cmd := &cobra.Command{
		Use:   "logs RUN [TASK]",
		Short: "print what tasks wrote",
		Long: `Print what the tasks of a run wrote, in file order, each line behind the name of its task;
with TASK the bytes of that task's last attempt alone, or of the one that --attempt names.
Of a task with foreach, TASK prints all instances, and 'TASK[3]' the one of the fourth item.`,
		Args: between(1, 2, "RUN [TASK]"), ValidArgsFunction: g.completeRun,
		RunE: func(cmd *cobra.Command, args []string) error {
			task := ""
			if len(args) == 2 {
				task = args[1]
			}
			return g.withRun(cmd.Context(), args[0], func(st store.Store, id string) error {
				l := &logReader{g: g, st: st, run: id, task: task, attempt: attempt, follow: follow}
				return l.print(cmd.Context())
			})
		},
	}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on until the run has ended")
	cmd.Flags().IntVar(&attempt, "attempt", 0, "which attempt; default the last")
	return cmd
}

func valueOf(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// outcome gives a state with its reason, where that says more.
func outcome(state, reason string) string {
	if reason == "" || reason == state {
		return state
	}
	return state + " (" + reason + ")"
}

// orphaned tells whether a run is unfinished and its engine dead.
func (g *globals) orphaned(run store.Run) bool {
	return !run.State.Final() && run.Owner != "" && !runtime.Alive(g.data, run.Owner)
}

// orphanText tells what can be done with a run whose engine is dead.
func orphanText(id string) string {
	return fmt.Sprintf("the engine that ran it has ended: the next ax serve goes on with it; ax retry %[1]s does so here and now, ax cancel %[1]s stops it", id)
}

// clock gives a time as people read it, in UTC.
func clock(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format("2006-01-02 15:04:05Z")
}

// took gives the time between two moments; of what has not ended, until now.
func took(from, to time.Time) string {
	switch {
	case from.IsZero():
		return "-"
	case to.IsZero():
		return duration(time.Since(from)) + " so far"
	}
	return duration(to.Sub(from))
}

// tookOrStarts tells how long a run took, and of one that waits for its time how
// soon that is.
func tookOrStarts(r *store.Run) string {
	if left := time.Until(r.NotBefore); r.State == machine.RunScheduled && left > 0 {
		return "starts " + ahead(left)
	}
	return took(r.WentAt(), r.FinishedAt)
}

// spent tells how long a run that has ended took.
func spent(run store.Run) string {
	if run.WentAt().IsZero() {
		return "before it started"
	}
	return "in " + duration(run.FinishedAt.Sub(run.WentAt()))
}

// duration rounds to what a person cares for.
func duration(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}
