// Package executor carries out one attempt of a task: it starts the process or calls the function, keeps its output and
// its results, stops it when told to, and returns only when everything that the attempt started is gone or is named.
//
// It must not know what a workflow is: its input is plain data that the engine fills. It decides nothing about retries,
// timeouts or success; it reports what happened, and a cancelled context is its only way of being told to stop. It never
// waits for any child but its own, so that os/exec may be used beside it.
//
// Starting and watching is in process.go, the end of a process tree in tree.go; child_*.go, family_linux.go and
// orphans_linux.go are what differs between systems.
package executor

import (
	"context"
	"fmt"
	"io"
	"time"
)

// Attempt is everything that is needed to carry out one attempt.
type Attempt struct {
	Origin   string // of the run: tells the data folder from a copy of it; no spaces
	RunID    string
	Workflow string
	Task     string // id of the task, with "[i]" for an instance of a foreach; a part of file names in Scratch
	Number   int    // from 1; attempts of one task of one run never share a number
	Action   Action

	Dir     string   // absolute working folder
	Env     []string // complete environment, "KEY=value", the last of a key wins; see environment for what is added
	Log     string   // file that output is appended to; its folder exists; a call that writes nothing creates none
	Scratch string   // folder for the script file and the AX_OUTPUT file; made if missing, may be shared by attempts

	// KillAfter is the time between SIGTERM and SIGKILL when the attempt is stopped.
	KillAfter time.Duration

	// Secrets are masked in the log and in all texts of the Outcome. With any, output passes through whoever carries the
	// attempt out; without, the process writes to the log file itself.
	Secrets []string

	// Filter, if not nil, stands between the output and the log, and between error texts and the Outcome. Close writes what
	// was held back; it must not close the writer below. It is made from Secrets where it is nil.
	Filter func(io.Writer) io.WriteCloser
}

// Action is what an attempt does: a Script, a Command or a Call.
type Action interface {
	// carryOut fills everything of the outcome but what Execute itself fills.
	carryOut(ctx context.Context, x *Executor, a *Attempt, o *Outcome)
}

// Outcome is what became of an attempt. At most one of StartError, OutputError and CallError is set.
type Outcome struct {
	ExitCode    int               // 128 plus the signal's number for death by a signal; 1 for a failed call; -1 if nothing ended
	Signal      string            // "SIGKILL"; empty if it exited
	StartError  string            // why it could not be started, and the remedy
	OutputError string            // why what it wrote to AX_OUTPUT cannot be taken: the attempt fails
	CallError   string            // what a called function returned, or its panic
	Stopped     bool              // the context was cancelled while it was alive, or before it was started
	Interrupted bool              // it was cut off by no fault of its own, or nobody knows how it ended
	Detached    bool              // it goes on without this process: this is no outcome, see ErrDetach
	Outputs     map[string]string // nil if there are none
	Warnings    []string          // what was left out or changed in Outputs, what could not be logged
	LastLine    string            // last line of output that has any text, at most 200 characters, without control characters
	Leftovers   []string          // what could not be ended: "pid 123 (sleep)"; normally empty
	Started     time.Time         // zero if it was not started
	Finished    time.Time         // when the last of its processes was gone

	// Settled, if not nil, is to be called once the outcome is stored: until then the supervisor keeps it. It does not block.
	Settled func() `json:"-"`
}

// notRun is the exit code of what has none.
const notRun = -1

// Message says in one line what went wrong, with the last line of output; it is empty for exit code 0 without an error.
func (o Outcome) Message() string {
	for _, text := range []string{o.StartError, o.OutputError, o.CallError} {
		if text != "" {
			return text
		}
	}
	var text string
	switch {
	case o.Signal != "":
		text = "killed by " + o.Signal
	case o.ExitCode > 0:
		text = fmt.Sprintf("exit code %d", o.ExitCode)
	case o.ExitCode == notRun && o.Started.IsZero():
		return "not started"
	case o.ExitCode == notRun && len(o.Leftovers) > 0:
		return "could not be stopped"
	case o.ExitCode == notRun:
		return "exit status unknown"
	default:
		return ""
	}
	if o.LastLine != "" {
		text += ": " + o.LastLine
	}
	return text
}

// Executor carries out attempts. The zero value is ready; all its methods may be used side by side.
type Executor struct {
	Calls       *Registry    // functions that a Call may name; nil for none
	Supervision *Supervision // nil for none: processes do not outlive this one, and none are adopted
}

// Execute carries out one attempt and returns when it is over. Cancelling ctx stops the attempt: SIGTERM to its whole
// process tree, SIGKILL after KillAfter. Who cancels keeps the reason. Nothing that the attempt started is alive
// afterwards, save what Outcome.Leftovers names.
func (x *Executor) Execute(ctx context.Context, a Attempt) Outcome {
	o := Outcome{ExitCode: notRun}
	if m, _ := NewMask(a.Secrets); m != nil && a.Filter == nil {
		a.Filter = m.Writer
	}
	switch {
	case ctx.Err() != nil:
		o.Stopped = true
	case a.Action == nil:
		o.StartError = "the attempt has no action"
	case x.supervised(&a):
		return x.Supervision.execute(ctx, &a)
	default:
		a.Action.carryOut(ctx, x, &a, &o)
	}
	o.Finished = time.Now()
	o.StartError = a.masked(o.StartError)
	o.CallError = a.masked(o.CallError)
	for i, w := range o.Warnings {
		o.Warnings[i] = a.masked(w)
	}
	if len(a.Secrets) > 0 {
		for name, value := range o.Outputs {
			o.Outputs[name] = a.masked(value)
		}
	}
	return o
}
