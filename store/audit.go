package store

import (
	"context"
	"time"
)

// Change is the record of somebody having changed something, or having tried to.
// Fields that do not apply are empty.
type Change struct {
	N        int64     // its number, in the order of writing: given by the store, whatever the batch says
	At       time.Time // when it was asked for
	By       string    // who: "loopback", "operate token 2", "command line (alice)"
	From     string    // address that it came from; empty for the command line on this machine's store
	Action   string    // a verb, as "start", "cancel", "pause"
	Workflow string
	RunID    string
	Answer   string // "done", or why not
}

// ChangeFilter selects changes for a list, the last first.
type ChangeFilter struct {
	Workflow string // empty for all
	RunID    string // empty for all
	Before   int64  // only those with smaller numbers: the key-set cursor; 0 for all
	Limit    int    // 1 to MaxLimit
}

// Audit is the part of a store that tells who did what.
type Audit interface {
	// Changes lists changes, the last first.
	Changes(ctx context.Context, f ChangeFilter) ([]Change, error)
}
