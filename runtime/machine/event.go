package machine

import (
	"time"

	"github.com/ax-scheduler/ax/dag"
)

// Event is a fact about a run, in the past tense, with the time it happened.
// The stored events of a run are the truth about it.
type Event interface{ when() time.Time }

// RunStarted is the first event of a run, and the one that a retry which waits for
// its turn goes on with.
type RunStarted struct{ At time.Time }

// Evaluated answers the command Evaluate. Error is set where the expression
// could not be evaluated.
type Evaluated struct {
	Task  dag.Task
	Holds bool
	Error string
	At    time.Time
}

// Expanded answers the command Expand with the items of a foreach, each as JSON,
// so that they are never evaluated again. Error is set where there are none to
// be had.
type Expanded struct {
	Task  dag.Task
	Items []string
	Error string
	At    time.Time
}

// AttemptStarted says that a ready task, or instance, was given a slot. Attempts
// of each are numbered from 1.
type AttemptStarted struct {
	Task     dag.Task
	Instance Instance
	Attempt  int
	At       time.Time
}

// AttemptEnded says how an attempt ended.
type AttemptEnded struct {
	Task     dag.Task
	Instance Instance
	Attempt  int
	Result   Result
	At       time.Time
}

// RetryDue says that the pause before the next attempt is over.
type RetryDue struct {
	Task     dag.Task
	Instance Instance
	Attempt  int // the one that failed
	At       time.Time
}

// AttemptTimedOut says that an attempt's time is over.
type AttemptTimedOut struct {
	Task     dag.Task
	Instance Instance
	Attempt  int
	At       time.Time
}

// PoolBusy says that a ready task, or instance, with `busy: skip` found no free
// slot.
type PoolBusy struct {
	Task     dag.Task
	Instance Instance
	At       time.Time
}

// RunTimedOut says that the run's time is over.
type RunTimedOut struct{ At time.Time }

// CancelRequested asks the run to stop. A second request stops the handlers
// too that the first one lets run.
type CancelRequested struct {
	By string
	At time.Time
}

// TakenOver says that another engine owns the run from now on. It changes
// nothing in it; that it is stored makes sure that of several engines one wins.
type TakenOver struct {
	By string // the owner
	At time.Time
}

// RunRetried starts an ended run again from what failed, was skipped or was
// cancelled; with Tasks or Instances, from these and what is downstream of them.
// What succeeded is kept, and so are the items of a foreach and its instances
// that succeeded, unless something upstream of it is named, or it is named and
// all of them did. Handlers can be called anew. With Waits the run is queued until
// RunStarted, and what it is retried from may be named once more.
type RunRetried struct {
	Tasks     []dag.Task
	Instances []Unit // each of an instance
	Waits     bool
	At        time.Time
}

// VersionChanged says that an ended run is to go on in another version of its
// workflow. It is not applied: see Run.Rebase.
type VersionChanged struct {
	From, To string // hashes of the versions
	At       time.Time
}

func (e RunStarted) when() time.Time      { return e.At }
func (e VersionChanged) when() time.Time  { return e.At }
func (e Evaluated) when() time.Time       { return e.At }
func (e Expanded) when() time.Time        { return e.At }
func (e AttemptStarted) when() time.Time  { return e.At }
func (e AttemptEnded) when() time.Time    { return e.At }
func (e RetryDue) when() time.Time        { return e.At }
func (e AttemptTimedOut) when() time.Time { return e.At }
func (e PoolBusy) when() time.Time        { return e.At }
func (e RunTimedOut) when() time.Time     { return e.At }
func (e CancelRequested) when() time.Time { return e.At }
func (e RunRetried) when() time.Time      { return e.At }
func (e TakenOver) when() time.Time       { return e.At }

// Result is what is known of an ended attempt. What it means, the machine
// decides.
type Result struct {
	ExitCode    int               // 128 plus its number for a signal
	Signal      string            // "SIGKILL"; empty where the process exited by itself
	StartError  string            // why it could not be started
	Failure     string            // a failure beside the exit code, such as too much output
	Stopped     bool              // we ended it
	Interrupted bool              // it was cut off by a crash or a stop of the engine
	NoRetry     bool              // retry.if says that another attempt is not worth it
	LastLine    string            // of its output
	Left        []string          // processes that could not be ended
	Outputs     map[string]string // nil for none
}

// Command is a wish of the machine, to be carried out once the events that led
// to it are stored. All open commands can be had again from Run.Pending.
type Command interface{ command() }

// StartAttempt wants an attempt carried out.
type StartAttempt struct {
	Task     dag.Task
	Instance Instance
	Attempt  int
}

// StopAttempt wants a running attempt ended, with the whole process tree.
type StopAttempt struct {
	Task     dag.Task
	Instance Instance
	Attempt  int
	Reason   Reason
}

// Evaluate wants the `when` of a task evaluated and answered by Evaluated.
type Evaluate struct{ Task dag.Task }

// Expand wants the items of a task's foreach evaluated and answered by Expanded.
type Expand struct{ Task dag.Task }

// Timer says what a WakeAt is for.
type Timer uint8

// The timers, named by the event that answers each.
const (
	TimerRetry   Timer = iota // RetryDue
	TimerAttempt              // AttemptTimedOut
	TimerRun                  // RunTimedOut
)

// WakeAt wants an event at a time: the one its Timer names. One that comes
// when it is no longer wanted does no harm.
type WakeAt struct {
	Timer    Timer
	Task     dag.Task // None for TimerRun
	Instance Instance
	Attempt  int
	At       time.Time
}

// EndRun says that the run has ended: nothing more comes of it.
type EndRun struct{}

func (StartAttempt) command() {}
func (StopAttempt) command()  {}
func (Evaluate) command()     {}
func (Expand) command()       {}
func (WakeAt) command()       {}
func (EndRun) command()       {}
