package machine

import (
	"fmt"
	"strings"
)

// TaskState is where a task of a run stands. In one event it goes
//
//	from pending to ready, succeeded, failed, skipped, cancelled
//	from ready to running, succeeded, failed, skipped, cancelled
//	from running to ready, retrying, succeeded, failed, skipped, cancelled
//	from retrying to ready, cancelled
//
// A pending task fails where its condition cannot be evaluated; a running one
// is ready again after an interruption, or a failure with no pause. Only one with
// foreach succeeds before it is running, for it has no items or its instances
// have ended in an earlier course of the run, and then it may fail as well.
type TaskState uint8

// The states of a task. Those from Succeeded on are final.
const (
	Pending  TaskState = iota // waits for upstream edges
	Ready                     // waits for a slot
	Running                   // an attempt is under way
	Retrying                  // waits for the time of its next attempt
	Succeeded
	Failed
	Skipped
	Cancelled
)

var taskStates = [...]string{"pending", "ready", "running", "retrying", "succeeded", "failed", "skipped", "cancelled"}

// String gives the state's name as it is stored and shown.
func (s TaskState) String() string { return taskStates[s] }

// Final tells whether the state is one that a task does not leave.
func (s TaskState) Final() bool { return s >= Succeeded }

// ParseTaskState is the inverse of String.
func ParseTaskState(name string) (TaskState, error) {
	for i, n := range taskStates {
		if n == name {
			return TaskState(i), nil
		}
	}
	return 0, fmt.Errorf("unknown task state %q", name)
}

// RunState is where a run stands.
type RunState uint8

// The states of a run. Those from RunSucceeded on are final.
const (
	RunScheduled RunState = iota // not before a time
	RunQueued                    // waits for its turn
	RunRunning
	RunSucceeded
	RunFailed
	RunCancelled
	RunSkipped // dropped by an overlap rule
)

var runStates = [...]string{"scheduled", "queued", "running", "succeeded", "failed", "cancelled", "skipped"}

// String gives the state's name as it is stored and shown.
func (s RunState) String() string { return runStates[s] }

// Final tells whether the state is one that a run does not leave by itself.
func (s RunState) Final() bool { return s >= RunSucceeded }

// ParseRunState is the inverse of String.
func ParseRunState(name string) (RunState, error) {
	for i, n := range runStates {
		if n == name {
			return RunState(i), nil
		}
	}
	return 0, fmt.Errorf("unknown run state %q: it is one of %s", name, strings.Join(runStates[:], ", "))
}

// Reason says why a task or a run ended as it did; empty on success.
type Reason string

// The reasons.
const (
	ReasonNone        Reason = ""
	ReasonExit        Reason = "exit"        // an exit code that is no success
	ReasonSignal      Reason = "signal"      // death by a signal
	ReasonTimeout     Reason = "timeout"     // the attempt's time was over
	ReasonStartError  Reason = "start_error" // the attempt could not be started
	ReasonUpstream    Reason = "upstream"    // an edge did not hold
	ReasonCondition   Reason = "condition"   // when was false, or a handler was not needed
	ReasonDisabled    Reason = "disabled"    // disabled: true
	ReasonBusy        Reason = "busy"        // no free slot in a pool with busy: skip
	ReasonInterrupted Reason = "interrupted" // cut off by a crash or a stop of the engine
	ReasonCancelled   Reason = "cancelled"   // on request
	ReasonRunTimeout  Reason = "run_timeout" // the run's time was over
	ReasonOverlap     Reason = "overlap"     // a tick dropped by the overlap rule
)
