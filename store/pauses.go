package store

import (
	"context"
	"time"
)

// Pause is a time in which the schedules of a workflow start nothing. A workflow
// may have had many, of which one may be under way. Workflow and Since identify it.
type Pause struct {
	Workflow string
	By       string // who asked for it
	Since    time.Time
	Until    time.Time // zero while it lasts; ticks of that very moment start again
}

// Pausing is the part of a store that schedules ask.
type Pausing interface {
	// Pauses gives all that there have been, by workflow and Since.
	Pauses(ctx context.Context) ([]Pause, error)
}
