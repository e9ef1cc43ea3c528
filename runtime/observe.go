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
}

// unobserved is the observer of an engine that has none.
type unobserved struct{}

func (unobserved) RunEnded(string, machine.RunState)             {}
func (unobserved) RunLate(string)                                {}
func (unobserved) AttemptEnded(machine.TaskState, time.Duration) {}
func (unobserved) TickSettled(string, store.TickOutcome)         {}
func (unobserved) Committed(time.Duration)                       {}
func (unobserved) MessageTried(store.MessageState)               {}
