// Command ax runs workflows declared in YAML.
//
// This package turns arguments, variables and signals into calls of the
// packages below, and their answers into text and exit codes. One file is one
// command. It decides nothing about workflows or runs.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"syscall"
)

// The exit codes (DESIGN.md, "Command line").
const (
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
	exitReaderGone  = 128 + int(syscall.SIGPIPE) // as a shell has it
)

func main() {
	// A reader that goes away must not end an engine with its tasks under way:
	// writes then fail, and are not missed. Ignoring the signal would make the
	// tasks ignore it too.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	os.Exit(run(context.Background(), world{
		args: os.Args[1:], env: os.Environ(),
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
	}))
}

// world is what the process got from outside.
type world struct {
	args           []string
	env            []string
	stdin          io.Reader
	stdout, stderr io.Writer
}

// run carries out one command line and gives its exit code.
func run(ctx context.Context, w world) int {
	root := newRoot(&w)
	root.SetArgs(w.args)
	root.SetIn(w.stdin)
	root.SetOut(w.stdout)
	root.SetErr(w.stderr)
	err := root.ExecuteContext(ctx)
	var end exit
	switch {
	case err == nil:
		return 0
	case readerGone(err):
		return exitReaderGone
	case errors.As(err, &end):
		if end.err != nil {
			fmt.Fprintln(w.stderr, "ax:", end.err)
		}
		return end.code
	}
	fmt.Fprintln(w.stderr, "ax:", err)
	return exitUsage
}

// readerGone tells whether a command ended since nobody reads any more what it
// prints, as behind a pipe into head: there is nobody to tell it to.
func readerGone(err error) bool {
	var path *fs.PathError
	return errors.As(err, &path) && path.Path == os.Stdout.Name() && errors.Is(path, syscall.EPIPE)
}

// exit is an error with the code that the process ends with; err may be nil
// where all has been said.
type exit struct {
	code int
	err  error
}

func (e exit) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e exit) Unwrap() error { return e.err }
