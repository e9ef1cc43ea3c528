package main

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/runtime/server"
	"github.com/ax-scheduler/ax/store"
	"github.com/ax-scheduler/ax/store/sqlite"
)

// globals are the flags that every command has.
type globals struct {
	*world
	data        string
	workflows   string
	synchronous string
	pools       map[string]int
	mail        mailOptions
	log         *slog.Logger // of an engine; nil for warnings as text
}

const defaultData = ".ax"

func newRoot(w *world) *cobra.Command {
	g := &globals{world: w}
	root := &cobra.Command{
		Use:           "ax",
		Short:         "run workflows declared in YAML",
		Version:       versionText(),
		SilenceUsage:  true,
		SilenceErrors: true,
		PersistentPreRunE: func(cmd *cobra.Command, args []string) error {
			cmd.SetContext(runtime.WithActor(cmd.Context(), runtime.Actor{By: server.CommandOf(osUser())}))
			if err := noEmptyValue(cmd, args); err != nil {
				return err
			}
			if err := fromEnvironment(cmd.Flags(), w.env); err != nil {
				return err
			}
			return fromConfig(cmd.Flags(), g.workflows)
		},
	}
	root.PersistentFlags().StringVar(&g.data, "data", defaultData, "folder of the database, logs and artifacts")
	root.PersistentFlags().StringVar(&g.workflows, "workflows", "workflows", "folder of the workflow files")
	root.PersistentFlags().StringVar(&g.synchronous, "synchronous", "full",
		"full: what is told is on disk; normal: faster, a power cut may lose the last moments")
	root.PersistentFlags().StringToIntVar(&g.pools, "pools", nil, "slots of pools, as db=4,api=2; where a workflow says fewer, that holds")
	g.mail.flags(root.PersistentFlags())
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fmt.Errorf("%w\nsee %s --help", err, cmd.CommandPath())
	})
	for _, command := range []func(*globals) *cobra.Command{
		runCommand, serveCommand, triggerCommand, backfillCommand, pruneCommand, backupCommand, doctorCommand, lintCommand, runsCommand, showCommand, logsCommand, explainCommand, retryCommand, cancelCommand, pauseCommand, resumeCommand,
		graphCommand, nextCommand, fmtCommand, schemaCommand,
		lspCommand,
		initCommand, versionCommand,
	} {
		root.AddCommand(command(g))
	}
	root.AddCommand(superviseCommand())
	g.complete(root)
	root.InitDefaultCompletionCmd()
	return root
}

// noArguments wants none.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%s takes no %q: see %[1]s --help", cmd.CommandPath(), args[0])
	}
	return nil
}

// between wants so many arguments; what says which they are.
func between(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return fmt.Errorf("%s wants %s: see %[1]s --help", cmd.CommandPath(), what)
		case len(args) > most:
			return fmt.Errorf("%s wants %s, not %d arguments", cmd.CommandPath(), what, len(args))
		}
		return nil
	}
}

// notBoth refuses two flags together that contradict each other; completion
// offers the second no more once the first is there.
func notBoth(cmd *cobra.Command, one, other string) {
	cmd.MarkFlagsMutuallyExclusive(one, other)
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		if cmd.Flags().Changed(one) && cmd.Flags().Changed(other) {
			return fmt.Errorf("--%s and --%s exclude each other: give one of them", one, other)
		}
		return nil
	}
}

// noEmptyValue refuses an argument, and a flag of a command, that is given with
// an empty text. It comes of a variable that is not set, as in ax cancel "$RUN",
// which every run begins with, or --only "$TASKS", which would do what the command
// does without the flag.
func noEmptyValue(cmd *cobra.Command, args []string) error {
	var errs []error
	if slices.Contains(args, "") && !cmd.DisableFlagParsing { // shells ask for completion of what is not typed yet
		errs = append(errs, fmt.Errorf("%s is given an empty argument", cmd.CommandPath()))
	}
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if v := f.Value.String(); f.Changed && (v == "" || v == "[]") {
			errs = append(errs, fmt.Errorf("--%s is given without a value: give one, or leave it out", f.Name))
		}
	})
	return errors.Join(errs...)
}

// exactly wants one argument and says which where there is none.
func exactly(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return fmt.Errorf("%s wants %s: see %[1]s --help", cmd.CommandPath(), what)
		case len(args) > 1:
			return fmt.Errorf("%s wants one %s, not %d arguments", cmd.CommandPath(), what, len(args))
		}
		return nil
	}
}

// taskVariables are flags whose variable would be one that ax gives to every
// task: an ax that a task calls must not take it for a setting.
var taskVariables = []string{"attempt", "task"}

// fromEnvironment gives each flag that was not set the value of its variable:
// --max-parallel has AX_MAX_PARALLEL.
func fromEnvironment(flags *pflag.FlagSet, env []string) error {
	vars := map[string]string{}
	for _, v := range env {
		if name, value, ok := strings.Cut(v, "="); ok && value != "" {
			vars[name] = value
		}
	}
	var errs []error
	flags.VisitAll(func(f *pflag.Flag) {
		name := "AX_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		value, ok := vars[name]
		if f.Changed || !ok || f.Name == "help" || slices.Contains(taskVariables, f.Name) {
			return
		}
		if err := flags.Set(f.Name, value); err != nil {
			errs = append(errs, fmt.Errorf("variable %s: %w", name, err))
		}
	})
	return errors.Join(errs...)
}

// fromConfig gives each flag that neither the command line nor a variable has
// set the value of ax.yaml.
func fromConfig(flags *pflag.FlagSet, workflows string) error {
	values, err := readConfig(workflows)
	if err != nil {
		return err
	}
	for name, value := range values {
		if f := flags.Lookup(name); f != nil && !f.Changed {
			if err := flags.Set(name, value); err != nil {
				return fmt.Errorf("ax.yaml: %s: %w", strings.ReplaceAll(name, "-", "_"), err)
			}
		}
	}
	return nil
}

func (g *globals) databasePath() string { return filepath.Join(g.data, "ax.db") }

// openStore opens the database to write to; it is made if it is not there.
func (g *globals) openStore() (*sqlite.Store, error) {
	if err := runtime.MakeData(g.data); err != nil {
		return nil, err
	}
	o := sqlite.Options{Synchronous: sqlite.Full, MayMigrate: g.noEngine}
	switch g.synchronous {
	case "full":
	case "normal":
		o.Synchronous = sqlite.Normal
	default:
		return nil, fmt.Errorf("synchronous %q: it is full or normal", g.synchronous)
	}
	st, err := sqlite.Open(g.databasePath(), o)
	if errors.Is(err, store.ErrReadOnly) {
		err = fmt.Errorf("%w, or name another folder with --data", err)
	}
	return st, err
}

// noEngine gives an error where engines work on the data folder. It is asked before
// this process has a claim of its own, which would look like that of another.
func (g *globals) noEngine() error {
	owners, err := runtime.Engines(g.data)
	if err != nil || len(owners) == 0 {
		return err
	}
	process := "another process"
	if pid, err := runtime.Holder(g.data, owners[0]); err == nil {
		process = fmt.Sprintf("process %d", pid)
	}
	return fmt.Errorf("it is of an older version of ax, and %s of that version works on it: stop or restart that one first", process)
}

// openReader opens the database to read from.
func (g *globals) openReader() (*sqlite.Store, error) {
	return sqlite.OpenReader(g.databasePath())
}
