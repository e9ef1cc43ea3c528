package runtime

import (
	"time"

	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/store"
)

// Observer is told what an engine does, so that it can be counted. Its methods
// return at once and may be called from several goroutines.
type Observer interface {
	RunEnded(workflow string, state machine.RunState)
	RunLate(workflow string)
	AttemptEnded(state machine.TaskState, took time.Duration)
	TickSettled(workflow string, outcome store.TickOutcome)
	Committed(took time.Duration)
	// MessageTried tells what came of a try: a message that goes on waiting
	// could not be sent.
	MessageTried(state store.MessageState)
	// Changed tells what was made durable. What it gives must not be changed.
	Changed(u Update)
}

// Unobserved is an Observer that does nothing. Those who want to be told of a
// few things embed it.
type Unobserved struct{}

var _ Observer = Unobserved{}

// RunEnded does nothing.
func (Unobserved) RunEnded(string, machine.RunState) {}

// RunLate does nothing.
func (Unobserved) RunLate(string) {}

// AttemptEnded does nothing.
func (Unobserved) AttemptEnded(machine.TaskState, time.Duration) {}

// TickSettled does nothing.
func (Unobserved) TickSettled(string, store.TickOutcome) {}

// Committed does nothing.
func (Unobserved) Committed(time.Duration) {}

// MessageTried does nothing.
func (Unobserved) MessageTried(store.MessageState) {}

// Changed does nothing.
func (Unobserved) Changed(Update) {}
