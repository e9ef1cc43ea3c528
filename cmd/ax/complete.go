package main

import (
	"github.com/spf13/cobra"

	"github.com/ax-scheduler/ax/runtime/reload"
	"github.com/ax-scheduler/ax/store"
)

// completeWorkflow offers the names of the folder's workflows, and files.
func (g *globals) completeWorkflow(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	names, _ := reload.Names(g.workflows) // without a folder there are only files
	return names, cobra.ShellCompDirectiveDefault
}

// completeRun offers the newest runs, each with its workflow and state.
func (g *globals) completeRun(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	runs, _ := g.readRuns(cmd.Context(), store.RunFilter{Limit: 20}) // nothing to offer is no error
	var words []string
	for _, r := range runs {
		words = append(words, cobra.CompletionWithDesc(r.ID, r.Workflow+" "+r.State.String()))
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}
