package store

import (
	"context"
	"time"
)

// MessageState says how far a message has got.
type MessageState string

// The states of a message.
const (
	MessageWaiting MessageState = "waiting"  // for its next try
	MessageSent    MessageState = "sent"     // its receiver has taken it
	MessageGivenUp MessageState = "given_up" // too many tries have failed
)

// Message is something that a target of `notify` is to be told. It is put into
// the outbox in the transaction of what it tells of. Where it goes to stands in
// the version, since addresses may hold secrets.
type Message struct {
	ID           string // says what it tells and to which target, so that it is made once
	Workflow     string
	Version      string // hash of the version whose target it is for
	File         string // path of the workflow file when the message was made
	Target       int    // place in the version's `notify`
	Event        string // as in `on`
	RunID        string // empty where it is about no run
	ScheduledFor time.Time
	Body         []byte
	State        MessageState
	Tries        int
	Error        string // of the last try, one line
	CreatedAt    time.Time
	NextAt       time.Time // of a waiting one: not tried before; else when it got its state
}

// Try is a step of one message. Have is how many tries its writer knows of: if
// the store has another number nothing is written and Commit gives ErrConflict.
// A sender raises the number before it sends, so that of several one does.
type Try struct {
	ID     string
	Have   int
	Tries  int
	State  MessageState
	Error  string
	NextAt time.Time
}

// Outbox is the part of a store that its senders read.
type Outbox interface {
	// Messages lists those in a state by NextAt and ID; limit as for runs.
	Messages(ctx context.Context, state MessageState, limit int) ([]Message, error)
	// Waiting counts the messages that wait.
	Waiting(ctx context.Context) (int, error)
}
