package executor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// tidyGrace is how long what a finished main process left in the background has between SIGTERM and SIGKILL; KillAfter
// if that is less. Nobody asked for these processes to be stopped gently, so it is short.
const tidyGrace = 500 * time.Millisecond

// devNull is standard input of every process, opened once.
var devNull = sync.OnceValues(func() (*os.File, error) { return os.Open(os.DevNull) })

// run starts argv as the attempt's main process, waits for its end or stops it, and ends what it left.
func (a *Attempt) run(ctx context.Context, o *Outcome, argv []string) {
	if err := a.prepareOutput(); err != nil {
		o.StartError = err.Error()
		return
	}
	env := a.environment()
	out, err := openSink(a)
	if err != nil {
		o.StartError = fmt.Sprintf("the log could not be opened: %v", err)
		return
	}
	c, err := a.start(o, argv, env, out)
	if err != nil {
		_ = out.finish()
		o.StartError = a.explain(err, argv, env)
		return
	}
	grace := max(a.KillAfter, 0)
	if o.Stopped = !c.await(ctx); !o.Stopped {
		grace = min(grace, tidyGrace)
	}
	o.Leftovers = end(c, grace)
	if status, ok := c.reap(); ok {
		o.setStatus(status)
	} else if len(o.Leftovers) == 0 {
		o.Warnings = append(o.Warnings, "the exit status is unknown: another part of this program took it")
	}
	if err := out.finish(); err != nil {
		o.Warnings = append(o.Warnings, fmt.Sprintf("the log is not complete: %v", err))
	}
	o.LastLine = out.lastLine()
	a.readOutputs(o)
}

// start begins the main process as the leader of a process group. A session of its own would also keep it from the
// terminal (see LeaveTerminal), but Linux shares the processor out by session: short tasks then wait for all the others.
func (a *Attempt) start(o *Outcome, argv, env []string, out *sink) (*child, error) {
	path, err := lookProgram(argv[0], a.Dir, lookupEnv(env, "PATH"))
	if err != nil {
		return nil, err
	}
	null, err := devNull()
	if err != nil {
		return nil, err
	}
	sealDescriptors()
	attr := &syscall.ProcAttr{
		Dir:   a.Dir,
		Env:   env,
		Files: []uintptr{null.Fd(), out.child.Fd(), out.child.Fd()},
		Sys:   &syscall.SysProcAttr{Setpgid: true},
	}
	started := time.Now()
	c, err := start(path, argv, attr, a.mark(), out.info)
	if err != nil {
		return nil, err
	}
	o.Started = started
	out.childStarted()
	return c, nil
}

func (o *Outcome) setStatus(status syscall.WaitStatus) {
	if !status.Signaled() {
		o.ExitCode = status.ExitStatus()
		return
	}
	o.ExitCode = 128 + int(status.Signal())
	if o.Signal = unix.SignalName(status.Signal()); o.Signal == "" {
		o.Signal = fmt.Sprintf("signal %d", int(status.Signal())) // real-time signals have no name
	}
}

// prepareOutput sees to it that the task can create its AX_OUTPUT file and that nothing stands there yet.
func (a *Attempt) prepareOutput() error {
	if err := os.MkdirAll(a.Scratch, 0o700); err != nil {
		return fmt.Errorf("the scratch folder could not be made: %w", err)
	}
	if err := unix.Unlink(a.outputPath()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the AX_OUTPUT file of an earlier attempt could not be removed: %q: %w", a.outputPath(), err)
	}
	return nil
}
