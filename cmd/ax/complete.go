package main

import (
	"context"
	"os"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/dsl/cron"
	"github.com/ax-scheduler/ax/dsl/lint"
	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/runtime/reload"
	"github.com/ax-scheduler/ax/store"
)

// What a shell offers for what is being typed. Whatever cannot be read, such as
// a database that is not there, offers nothing: a shell has no place for errors.

// choices are flags with a fixed set of words. A command takes those of them
// that the help of its flag names.
var choices = map[string][]string{
	"format":      {"text", "json", "github", "sarif", "dot", "mermaid", "svg"},
	"startup":     {"recover", "run_all", "cancel"},
	"on-stop":     {"detach", "drain"},
	"synchronous": {"full", "normal"},
}

// complete gives all commands what completes their flags and arguments, unless
// they have that already.
func (g *globals) complete(root *cobra.Command) {
	values := map[string]cobra.CompletionFunc{
		"timezone": listed(cron.Zones),
		"state":    several(listed(runStates)),
		"explain":  listed(ruleNames),
		"param":    g.completeParam,
		"task":     several(g.completeTaskOfRun),
		"from":     g.completeTask,
		"only":     several(g.completeTask),

		"data":      folders,
		"workflows": folders,

		"params-file": cobra.FixedCompletions([]string{"yaml", "yml", "json"}, cobra.ShellCompDirectiveFilterFileExt),
		"token-file":  anyFile,
		"stdin-name":  anyFile,
	}
	for _, cmd := range slices.Concat(root.Commands(), []*cobra.Command{root}) {
		if cmd.ValidArgsFunction == nil && cmd != root {
			cmd.ValidArgsFunction = g.argumentsOf(cmd)
		}
		register := func(f *pflag.Flag) {
			do, ok := values[f.Name]
			switch words := choices[f.Name]; {
			case words != nil:
				do = cobra.FixedCompletions(named(words, f.Usage), cobra.ShellCompDirectiveNoFileComp)
			case !ok, f.Name == "from" && !strings.Contains(f.Usage, "task"):
				do = cobra.NoFileCompletions // a number or a time
			}
			_ = cmd.RegisterFlagCompletionFunc(f.Name, begun(do)) // what the command has said itself stays
		}
		cmd.LocalNonPersistentFlags().VisitAll(register)
		cmd.PersistentFlags().VisitAll(register)
	}
}

// argumentsOf gives what completes the arguments that a command says it takes.
func (g *globals) argumentsOf(cmd *cobra.Command) cobra.CompletionFunc {
	_, arguments, _ := strings.Cut(cmd.Use, " ")
	for _, a := range []struct {
		word string
		do   cobra.CompletionFunc
	}{
		{"FILE|NAME", g.completeWorkflow}, {"RUN", g.completeRun}, {"NAME", g.completeName},
		{"PATH", workflowFilesOnly}, {"DIR", folders}, {"FILE", anyFile}, {"OLD", anyFile},
	} {
		if strings.HasPrefix(strings.TrimPrefix(arguments, "["), a.word) {
			return a.do
		}
	}
	return cobra.NoFileCompletions
}

// begun leaves out what does not begin with what has been typed. Where a shell
// is to look for files, the words are not for people.
func begun(do cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		words, directive := do(cmd, args, typed)
		if directive&cobra.ShellCompDirectiveFilterFileExt == 0 {
			words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return !strings.HasPrefix(w, typed) })
		}
		return words, directive
	}
}

var (
	folders           = cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)
	anyFile           = cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault)
	workflowFilesOnly = cobra.FixedCompletions([]string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt)
)

// named gives those of some words that a text names.
func named(all []string, text string) []string {
	in := strings.FieldsFunc(text, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) })
	return slices.DeleteFunc(slices.Clone(all), func(w string) bool { return !slices.Contains(in, w) })
}

// listed offers a list that is made only when it is asked for.
func listed(words func() []string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return words(), cobra.ShellCompDirectiveNoFileComp
	}
}

// several offers the next of several words that commas separate.
func several(one cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		words, directive := one(cmd, args, typed)
		done := typed[:strings.LastIndexByte(typed, ',')+1]
		var all []string
		for _, w := range words {
			if name, _, _ := strings.Cut(w, "\t"); !slices.Contains(strings.Split(done, ","), name) {
				all = append(all, done+w)
			}
		}
		return all, directive
	}
}

func runStates() (names []string) {
	for s := machine.RunScheduled; s <= machine.RunSkipped; s++ {
		names = append(names, s.String())
	}
	return names
}

func ruleNames() (names []string) {
	for _, r := range lint.Rules() {
		names = append(names, described(r.Name, r.Title))
	}
	return names
}

// described is a word with what it stands for, as far as that is plain text.
func described(word, about string) string {
	about, _, _ = strings.Cut(about, "\n")
	about = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, about)
	if about == "" {
		return word
	}
	return cobra.CompletionWithDesc(word, about)
}

// settle gives the flags that were not set the values of variables and ax.yaml.
// Nobody else does for a command line that is not carried out.
func (g *globals) settle(cmd *cobra.Command) {
	_ = fromEnvironment(cmd.Flags(), g.env)
	_ = fromConfig(cmd.Flags(), g.workflows)
}

// completeWorkflow offers the names of the folder's workflows, and files.
func (g *globals) completeWorkflow(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	names, _ := g.completeName(cmd, args, typed)
	return names, cobra.ShellCompDirectiveDefault
}

// completeName offers the names of the folder's workflows.
func (g *globals) completeName(cmd *cobra.Command, args []string, _ string) (names []string, _ cobra.ShellCompDirective) {
	if len(args) == 0 {
		g.settle(cmd)
		names, _ = reload.Names(g.workflows)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// completeRun offers the newest runs, each with its workflow and state, and
// behind a run its tasks; all as far as the command takes them.
func (g *globals) completeRun(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		if len(args) == 1 && strings.Contains(cmd.Use, "TASK") {
			return g.completeTaskOfRun(cmd, args, typed)
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	g.settle(cmd)
	runs, _ := g.readRuns(cmd.Context(), store.RunFilter{Limit: 20})
	var words []string
	for _, r := range runs {
		words = append(words, described(r.ID, r.Workflow+" "+r.State.String()))
	}
	if strings.Contains(cmd.Use, "NAME") {
		names, _ := g.completeName(cmd, args, typed)
		words = append(words, names...)
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}

// completeTaskOfRun offers the tasks of the run that is the first argument.
func (g *globals) completeTaskOfRun(cmd *cobra.Command, args []string, _ string) (ids []string, _ cobra.ShellCompDirective) {
	if len(args) > 0 {
		g.settle(cmd)
		ids = g.tasksOfRun(cmd.Context(), args[0])
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}

func (g *globals) tasksOfRun(ctx context.Context, prefix string) (ids []string) {
	_ = g.withRun(ctx, prefix, func(st store.Store, id string) error {
		run, err := st.Run(ctx, id)
		if err != nil {
			return err
		}
		version, err := st.Version(ctx, run.Version)
		ids = version.Tasks
		return err
	})
	return ids
}

// workflowOf reads the workflow that is the first argument, right or wrong; nil
// if there is none.
func (g *globals) workflowOf(cmd *cobra.Command, args []string) *dsl.Workflow {
	if len(args) == 0 {
		return nil
	}
	g.settle(cmd)
	path, err := g.findWorkflow(args[0])
	if err != nil {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	wf, _ := dsl.Parse(path, text)
	return wf
}

// completeTask offers the tasks of the workflow that is the first argument.
func (g *globals) completeTask(cmd *cobra.Command, args []string, _ string) (ids []string, _ cobra.ShellCompDirective) {
	if wf := g.workflowOf(cmd, args); wf != nil {
		for i := range wf.Tasks {
			ids = append(ids, described(wf.Tasks[i].ID.V, wf.Tasks[i].Description.V))
		}
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}

// completeParam offers the parameters of the workflow that is the first
// argument, and behind the equals sign the values of one that has only some.
func (g *globals) completeParam(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	wf := g.workflowOf(cmd, args)
	if wf == nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	name, _, valued := strings.Cut(typed, "=")
	var words []string
	for i := range wf.Params {
		p := &wf.Params[i]
		if !valued {
			words = append(words, described(p.Name.V+"=", p.Description.V))
			continue
		}
		if p.Name.V == name {
			for _, v := range valuesOf(p) {
				words = append(words, name+"="+v)
			}
		}
	}
	if valued {
		return words, cobra.ShellCompDirectiveNoFileComp
	}
	return words, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// valuesOf gives the values that a parameter may have, where they are few.
func valuesOf(p *dsl.Param) (values []string) {
	for _, c := range p.Choices {
		values = append(values, c.V)
	}
	if len(values) == 0 && p.Type.V == dsl.ParamBool {
		return []string{"true", "false"}
	}
	return values
}
