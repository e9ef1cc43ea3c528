package executor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"
	"unicode/utf8"
)

// Func is an attempt that the engine itself carries out, such as the run of another workflow. Do returns when the context
// is cancelled, as soon as nothing of it goes on any more; its error is the attempt's failure, unless CannotStart made it.
// What it writes goes to the log.
type Func struct {
	Do func(ctx context.Context, log io.Writer) (outputs map[string]string, err error)
}

func (f Func) carryOut(ctx context.Context, _ *Executor, a *Attempt, o *Outcome) {
	a.inProcess(ctx, o, func(log io.Writer) (err error) {
		o.Outputs, err = f.Do(ctx, log)
		return err
	})
}

// notStarted is an error by which an attempt has not begun.
type notStarted struct{ error }

func (e notStarted) Unwrap() error { return e.error }

// CannotStart marks an error of a Func: the attempt has not begun because of it.
func CannotStart(err error) error { return notStarted{err} }

func cannotStart(format string, args ...any) error { return notStarted{fmt.Errorf(format, args...)} }

// inProcess carries out what needs no process. do returns soon after ctx is done.
func (a *Attempt) inProcess(ctx context.Context, o *Outcome, do func(log io.Writer) error) {
	log := &callLog{attempt: a}
	started := time.Now()
	err := do(log)
	var refused notStarted
	switch {
	case err == nil:
		o.Started, o.ExitCode = started, 0
	case errors.As(err, &refused):
		o.StartError = a.reason(err)
	default:
		o.Started, o.ExitCode = started, 1
		if o.Stopped = ctx.Err() != nil; !o.Stopped {
			o.CallError = a.reason(err)
		}
	}
	if err := log.close(); err != nil {
		o.Warnings = append(o.Warnings, fmt.Sprintf("the log is not complete: %v", err))
	}
}

// reason is an error as a record can hold it, masked before it is cut.
func (a *Attempt) reason(err error) string { return oneLine(errors.New(a.masked(err.Error()))) }

// say writes a line to the log. That it could not is told by close.
func say(log io.Writer, format string, args ...any) {
	fmt.Fprintf(log, format+"\n", args...)
}

// setOutputs takes what an attempt gives, within the limit of all outputs: what is beyond it is left out, the longest
// first, with a warning.
func (o *Outcome) setOutputs(outputs map[string]string) {
	size := 0
	for key, value := range outputs {
		size += outputSize(key, value)
	}
	names := slices.SortedFunc(maps.Keys(outputs), func(a, b string) int { return len(outputs[b]) - len(outputs[a]) })
	for _, key := range names {
		if size <= outputLimit {
			break
		}
		size -= outputSize(key, outputs[key])
		delete(outputs, key)
		o.Warnings = append(o.Warnings, fmt.Sprintf("output %s is left out: outputs have at most 1 MiB; save large results to a file", quoted(key)))
	}
	var w warnings
	o.Outputs = make(map[string]string, len(outputs))
	for _, key := range slices.Sorted(maps.Keys(outputs)) {
		putOutput(o.Outputs, key, outputs[key], "outputs", &w)
	}
	o.Warnings = append(o.Warnings, w.list()...)
}

// outputSize is what an output would have in a file.
func outputSize(key, value string) int { return len(key) + len(value) + 2 }

// head returns at most n bytes of a text, whole characters.
func head(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}
