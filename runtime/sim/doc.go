// Package sim is a world in which an engine can be tried: a disk that may be
// full, fail or be cut off in the middle of a write, and processes that may
// outlive the engine that started them. It is for tests, in the virtual time of
// testing/synctest; its own drive random workflows through random trouble, and
// hold what has come of it against the promises of DESIGN.md.
//
// It must know nothing of how the engine works inside: it stands where the
// store and the executor stand, and writes down what passes by.
package sim

import (
	"sync"
	"time"
)

// History is what has happened in a world, in order. Its methods may be called
// from several goroutines.
type History struct {
	// Clock is the clock on the wall, as engines see it. Set before use.
	Clock func() time.Time

	mu      sync.Mutex
	entries []Entry
}

// Entry is one thing that has happened.
type Entry struct {
	At   time.Time // by a clock that nobody sets
	Wall time.Time // by the clock on the wall
	What any       // Written, Began, Asked, Gone, or what a test adds
}

// Add writes down what happens now.
func (h *History) Add(what any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.entries = append(h.entries, Entry{time.Now(), h.Clock(), what})
}

// Entries gives all that has happened.
func (h *History) Entries() []Entry {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.entries[:len(h.entries):len(h.entries)]
}
