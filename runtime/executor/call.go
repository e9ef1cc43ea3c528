package executor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"
)

// Call is a registered Go function and its arguments by name.
type Call struct {
	Name string
	With map[string]string
}

type logKey struct{}

// Log returns the log of the attempt on whose behalf a registered function runs, from the context it was given. Writes
// fail once the attempt is over. With any other context they go nowhere.
func Log(ctx context.Context) io.Writer {
	if w, ok := ctx.Value(logKey{}).(*callLog); ok {
		return w
	}
	return io.Discard
}

// result is what a function returned.
type result struct {
	outputs map[string]string
	err     error
	stack   []byte // of a panic
}

func (c Call) carryOut(ctx context.Context, x *Executor, a *Attempt, o *Outcome) {
	f := x.Calls.find(c.Name)
	if f == nil {
		o.StartError = x.Calls.Check(c.Name, nil)[0].Error()
		return
	}
	args, problems := f.arguments(c.With)
	if len(problems) > 0 {
		o.StartError = fmt.Sprintf("function %q: %v", c.Name, problems[0])
		return
	}
	log := &callLog{attempt: a}
	done := make(chan result, 1)
	o.Started = time.Now()
	go f.call(context.WithValue(ctx, logKey{}, log), args, done)

	r, ended := wait(ctx, a, done, o)
	if ended {
		o.take(c.Name, r, log)
	} else {
		o.Leftovers = []string{fmt.Sprintf("function %q", c.Name)}
	}
	if err := log.close(); err != nil {
		o.Warnings = append(o.Warnings, fmt.Sprintf("the log is not complete: %v", err))
	}
	if log.opened {
		o.LastLine = lastLine(a.Log, log.from)
	}
}

// wait waits for the function; once it is told to stop, for no longer than KillAfter, since nothing can kill it.
func wait(ctx context.Context, a *Attempt, done <-chan result, o *Outcome) (result, bool) {
	select {
	case r := <-done:
		return r, true
	case <-ctx.Done():
	}
	select {
	case r := <-done: // it was first
		return r, true
	default:
		o.Stopped = true
	}
	grace := time.NewTimer(a.KillAfter)
	defer grace.Stop()
	select {
	case r := <-done:
		return r, true
	case <-grace.C:
		return result{}, false
	}
}

// errGone is what remains of a function that calls runtime.Goexit.
var errGone = errors.New("the function ended its goroutine instead of returning")

// call sends exactly one result, however the function ends.
func (f *function) call(ctx context.Context, args reflect.Value, done chan<- result) {
	r := result{err: errGone}
	defer func() { done <- r }()
	defer func() {
		if p := recover(); p != nil {
			r = result{err: fmt.Errorf("panic: %v", p), stack: debug.Stack()}
		}
	}()
	out := f.value.Call([]reflect.Value{reflect.ValueOf(ctx), args})
	err, _ := out[len(out)-1].Interface().(error)
	var outputs map[string]string
	if f.gives {
		outputs, _ = out[0].Interface().(map[string]string)
	}
	r = result{outputs: outputs, err: err}
}

// take turns the result into the outcome.
func (o *Outcome) take(name string, r result, log *callLog) {
	o.ExitCode = 0
	if r.err != nil {
		o.ExitCode = 1
		o.CallError = oneLine(r.err)
		fmt.Fprintf(log, "%sfunction %q failed: %s\n", r.stack, name, o.CallError)
	}
	size := 0
	for key, value := range r.outputs {
		size += len(key) + len(value) + 2 // as it would be in a file
	}
	if size > outputLimit {
		if r.err == nil {
			o.OutputError = outputTooLarge
		}
		return
	}
	if len(r.outputs) == 0 {
		return
	}
	var w warnings
	o.Outputs = make(map[string]string, len(r.outputs))
	for _, key := range slices.Sorted(maps.Keys(r.outputs)) {
		putOutput(o.Outputs, key, r.outputs[key], "outputs", &w)
	}
	o.Warnings = append(o.Warnings, w.list()...)
}

// oneLine is an error's text as a record can hold it. It goes through fmt, which survives a typed nil.
func oneLine(err error) string {
	words := strings.FieldsFunc(fmt.Sprint(err), func(r rune) bool { return r == '\n' || r == '\r' })
	return cut(plain(strings.Join(words, " ")), 1000)
}

// callLog is the log of a called function. It opens the file with the first write, since most calls write nothing and
// must cost next to nothing.
type callLog struct {
	attempt *Attempt

	mu     sync.Mutex
	opened bool
	closed bool
	from   int64
	file   *os.File
	out    io.Writer
	err    error // of opening
}

// Write appends to the log. It fails once the attempt is over.
func (l *callLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return 0, fmt.Errorf("the attempt is over: %w", os.ErrClosed)
	}
	if !l.opened {
		l.opened = true
		l.err = l.openLocked()
	}
	if l.err != nil {
		return 0, l.err
	}
	return l.out.Write(p)
}

func (l *callLog) openLocked() error {
	file, err := openLog(l.attempt.Log)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return err
	}
	l.file, l.out, l.from = file, file, info.Size()
	if l.attempt.Filter != nil {
		l.out = l.attempt.Filter(file)
	}
	return nil
}

// close returns the first error that kept something out of the log.
func (l *callLog) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if l.file == nil {
		return l.err
	}
	var errFilter error
	if c, ok := l.out.(io.Closer); ok && l.attempt.Filter != nil {
		errFilter = c.Close()
	}
	return errors.Join(errFilter, l.file.Close())
}
