package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/dsl/format"
)

func fmtCommand(g *globals) *cobra.Command {
	check := false
	cmd := &cobra.Command{
		Use:   "fmt [PATH…]",
		Short: "lay out workflow files",
		Long: `Lay out workflow files: keys in the order of the reference, two blanks of indentation, at
most one blank line, no blanks at the end of a line. What a file means stays the same, and
so do its comments, quotes and scripts. PATH is a file, a folder whose workflow files are
all laid out, or - for standard input, which is printed; without one it is the workflows
folder. The names of changed files are printed. A file with a syntax error is left as it
is; then, and with --check if a file would change, the exit code is 1.`,
		Example: "  ax fmt\n  ax fmt --check workflows\n  ax fmt - < nightly.yaml",
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{g.workflows}
			}
			return g.format(args, check)
		},
	}
	cmd.Flags().BoolVar(&check, "check", false, "change nothing, only print the names of files that would change")
	return cmd
}

func (g *globals) format(paths []string, check bool) error {
	in := g.lintInput(paths, "")
	failed, bad := in.unread, false
	for _, f := range in.files {
		changed, ok, err := g.formatOne(f, check)
		if err != nil {
			failed = append(failed, err)
		}
		bad = bad || !ok || check && changed
	}
	switch {
	case len(failed) > 0:
		return exit{exitUsage, errors.Join(failed...)}
	case bad:
		return exit{code: exitFailed}
	}
	return nil
}

// formatOne lays out one file, and tells whether that changed it. It is not ok
// where the file is no YAML, which has been said then.
func (g *globals) formatOne(f lintFile, check bool) (changed, ok bool, err error) {
	read := func() ([]byte, error) {
		if info, err := os.Stat(f.name); err == nil && !info.Mode().IsRegular() {
			return nil, fmt.Errorf("%s is no ordinary file: give - to lay out standard input", f.name)
		}
		return readFile(f.name)
	}
	if f.stdin {
		read = func() ([]byte, error) { return readLimited(g.stdin) }
	}
	text, err := read()
	if err != nil {
		return false, true, err
	}
	out, ds := format.Format(f.name, text)
	if len(ds) > 0 {
		g.renderDiagnostics(ds, dsl.NewSource(f.name, text))
		return false, false, nil
	}
	changed = !bytes.Equal(out, text)
	switch {
	case f.stdin && !check:
		_, err = g.stdout.Write(out)
	case changed && !check:
		if err = replaceFile(f.name, out); err == nil {
			fmt.Fprintln(g.stdout, f.name)
		}
	case changed:
		fmt.Fprintln(g.stdout, f.name)
	}
	return changed, true, err
}

// replaceFile gives a file another text. Whoever reads it sees the one or the
// other, and its permissions stay; a link stays one, to a file with that text.
func replaceFile(name string, text []byte) (err error) {
	target, err := filepath.EvalSymlinks(name)
	if err != nil {
		return err
	}
	old, err := os.OpenFile(target, os.O_WRONLY, 0) // refused where it must not be written to
	if err != nil {
		return err
	}
	info, err := old.Stat()
	if err = errors.Join(err, old.Close()); err != nil {
		return err
	}
	// A hidden name, which is no workflow to a server that watches the folder.
	tmp, err := os.CreateTemp(filepath.Dir(target), ".ax-fmt-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(tmp.Name()))
		}
	}()
	_, err = tmp.Write(text)
	if err = errors.Join(err, tmp.Chmod(info.Mode().Perm()), tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), target)
}
