package main

import (
	"github.com/spf13/cobra"

	"github.com/ax-scheduler/ax/schema"
)

func schemaCommand(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "print the JSON Schema of a workflow file",
		Long: `Print the JSON Schema of a workflow file, for editors that check and complete YAML. They
find it by a line at the top of a workflow file that says where it is, as seen from there:

  # yaml-language-server: $schema=../.ax-schema.json`,
		Example: "  ax schema > .ax-schema.json",
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			_, err := g.stdout.Write(schema.Text())
			return err
		},
	}
}
