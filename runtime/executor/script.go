package executor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// Script is the text of a task's "run".
type Script struct {
	// Shell is ["sh"] (the default where it is empty), ["bash"], or the argv of any program that takes a script file as
	// its next argument.
	Shell []string
	Text  string
}

// Command is a program and its arguments, given to it byte for byte.
type Command struct {
	Argv []string
}

// inlineLimit is the size in bytes up to which a script for sh or bash goes into an argument instead of a file: it saves
// the file, and most shells then replace themselves by the last command. Linux takes 128 KiB in one argument.
const inlineLimit = 100 << 10

func (s Script) carryOut(ctx context.Context, _ *Executor, a *Attempt, o *Outcome) {
	shell, dashC := s.shell()
	if dashC && len(s.Text) <= inlineLimit {
		// "--" because a script may begin with a dash; the task's name is what the shell puts before its complaints.
		a.run(ctx, o, append(shell, "-c", "--", s.Text, a.Task))
		return
	}
	file, err := a.writeScript(shell[0], s.Text)
	if err != nil {
		o.StartError = fmt.Sprintf("the script file could not be written: %v", err)
		return
	}
	defer os.Remove(file)
	a.run(ctx, o, append(shell, file))
}

// shell returns the argv before the script, and whether it may come as an argument of -c. It is the caller's own.
func (s Script) shell() (argv []string, dashC bool) {
	switch {
	case len(s.Shell) == 0 || slices.Equal(s.Shell, []string{"sh"}):
		return []string{"/bin/sh", "-eu"}, true
	case slices.Equal(s.Shell, []string{"bash"}):
		return []string{"bash", "-euo", "pipefail"}, true
	default:
		return slices.Clone(s.Shell), false
	}
}

// writeScript makes the script file. It may be executed, for a "shell" such as [nice] starts the file itself.
func (a *Attempt) writeScript(shell, text string) (string, error) {
	path := a.scratchFile("script")
	if filepath.Base(shell) == "pwsh" {
		path += ".ps1" // it takes no other
	}
	if err := os.MkdirAll(a.Scratch, 0o700); err != nil {
		return "", err
	}
	// What is left of an interrupted attempt may be read-only, or a link to elsewhere.
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	// A child forked while the file is open for writing would make its execution fail with ETXTBSY.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return path, os.WriteFile(path, []byte(text), 0o700)
}

func (c Command) carryOut(ctx context.Context, _ *Executor, a *Attempt, o *Outcome) {
	if len(c.Argv) == 0 || c.Argv[0] == "" {
		o.StartError = `the command names no program: write it as the first entry of "command"`
		return
	}
	a.run(ctx, o, c.Argv)
}
