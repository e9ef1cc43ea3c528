package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ax-scheduler/ax/schema"
)

// The files that `ax init` writes.
var firstFiles = []struct{ path, text string }{
	{"workflows/hello.yaml", `# yaml-language-server: $schema=../.ax-schema.json
# A first workflow: ax run workflows/hello.yaml
name: hello
description: Fetch, transform and report, with a handler for when something fails.

# When ` + "`ax serve`" + ` starts it: at 02:30 every night.
cron: "30 2 * * *"
timezone: UTC

defaults:
  timeout: 5m # of one attempt

on_failure: alert

tasks:
  fetch:
    run: |
      # $AX_ARTIFACTS is a folder that the tasks of a run share.
      printf 'apples 3\npears 5\n' > "$AX_ARTIFACTS/stock.txt"
      # What is written to $AX_OUTPUT as key=value is shown by ax show.
      echo "lines=$(wc -l < "$AX_ARTIFACTS/stock.txt")" >> "$AX_OUTPUT"
    retry: {max: 3, delay: 10s}

  total:
    depends_on: fetch
    run: awk '{ n += $2 } END { print n }' "$AX_ARTIFACTS/stock.txt" > "$AX_ARTIFACTS/total.txt"

  report:
    depends_on: total
    run: |
      echo "stock of $AX_DATE: $(cat "$AX_ARTIFACTS/total.txt") pieces"

  alert:
    run: |
      echo "$AX_WORKFLOW failed: $AX_FAILED_TASK ($AX_FAILED_REASON) $AX_FAILED_ERROR"
`},
	{"ax.yaml", `# Settings of ax for this folder. Each is also a flag and an AX_… variable.
# timezone: UTC       # of workflows that name none
# max_parallel: 64    # attempts at a time
# synchronous: full   # what is told is on disk; normal is faster and may lose the last moments in a power cut
`},
	// What editors check and complete workflow files with; see docs/editors.md.
	{".ax-schema.json", string(schema.Text())},
}

func initCommand(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "init [DIR]",
		Short: "write a first workflow and an ax.yaml",
		Args:  between(0, 1, "at most one DIR"),
		RunE: func(_ *cobra.Command, args []string) error {
			dir := "."
			if len(args) == 1 {
				dir = args[0]
			}
			return g.init(dir)
		},
	}
}

// init writes the first files; none that is there already is touched.
func (g *globals) init(dir string) error {
	for _, f := range firstFiles {
		if path := filepath.Join(dir, f.path); exists(path) {
			return exit{exitUsage, fmt.Errorf("%s is there already: nothing was written", path)}
		}
	}
	for _, f := range firstFiles {
		path := filepath.Join(dir, f.path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return exit{exitUsage, err}
		}
		if err := os.WriteFile(path, []byte(f.text), 0o644); err != nil {
			return exit{exitUsage, err}
		}
		fmt.Fprintln(g.stdout, "wrote", path)
	}
	fmt.Fprintf(g.stdout, "now try: ax run %s\n", filepath.Join(dir, firstFiles[0].path))
	return nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}
