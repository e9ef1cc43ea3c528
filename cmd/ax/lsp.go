package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/ax-scheduler/ax/dsl/lsp"
	"github.com/ax-scheduler/ax/runtime/reload"
	"github.com/ax-scheduler/ax/schema"
)

func lspCommand(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "lsp",
		Short: "speak with an editor (language server over standard input and output)",
		Long: `Speak the Language Server Protocol over standard input and output: diagnostics as you
type, completion, hover, definitions, references, renaming and layout. Editors start it;
see docs/editors.md for how.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f, ok := g.stdin.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
				fmt.Fprintln(g.stderr, "ax: waiting for an editor to speak; end with Ctrl-D")
			}
			err := lsp.Serve(cmd.Context(), &standardStreams{g.stdin, g.stdout}, lsp.Options{
				Version: versionText(), About: schema.About, Workflows: g.workflows, Files: workflowFiles, Zone: time.Local,
			})
			if errors.Is(err, lsp.ErrNoMessage) {
				err = fmt.Errorf("%w\nan editor starts ax lsp and speaks with it: docs/editors.md says how", err)
			}
			if err != nil {
				return exit{exitFailed, err}
			}
			return nil
		},
	}
}

// workflowFiles lists the workflow files of a folder, with deep those of its
// subfolders too. What cannot be listed has none.
func workflowFiles(folder string, deep bool) []string {
	if deep {
		files, _ := reload.Files(folder)
		return files
	}
	var files []string
	entries, _ := os.ReadDir(folder)
	for _, e := range entries {
		if !e.IsDir() && reload.IsWorkflowFile(e.Name()) {
			files = append(files, filepath.Join(folder, e.Name()))
		}
	}
	return files
}

// standardStreams is standard input and output as one connection.
type standardStreams struct {
	io.Reader
	io.Writer
}

// Close closes both, where they can be.
func (s *standardStreams) Close() error {
	var errs []error
	for _, end := range []any{s.Reader, s.Writer} {
		if c, ok := end.(io.Closer); ok {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}
