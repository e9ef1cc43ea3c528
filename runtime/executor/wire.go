package executor

import (
	"bufio"
	"encoding/gob"
	"net"
	"sync"
)

// message is what an engine and a supervisor tell each other. It is only ever added to: a supervisor outlives the upgrade
// of its engine.
type message struct {
	Verb    verb
	Mark    string   // of the attempt
	Attempt *Attempt // of start, with its action in one of the next two
	Script  *Script
	Command *Command
	Outcome *Outcome // of ended
}

// verb says what a message means.
type verb string

// The verbs: the first four are an engine's, the others a supervisor's.
const (
	verbStart   verb = "start"   // carry this attempt out, and tell of its end
	verbAdopt   verb = "adopt"   // tell of the end of this attempt; answered by found or unknown
	verbStop    verb = "stop"    // stop it
	verbSettled verb = "settled" // its outcome is stored: forget it
	verbReady   verb = "ready"   // the first: other engines can find it from now on
	verbFound   verb = "found"
	verbUnknown verb = "unknown"
	verbEnded   verb = "ended"
)

// wire is one end of a connection between the two. Sending never blocks, for neither may wait for the other: what cannot
// be written yet waits in memory. (Arguments and variables may be no UTF-8, so the form is gob and not JSON.)
type wire struct {
	conn net.Conn
	in   *gob.Decoder

	mu      sync.Mutex
	queue   []message
	closing bool
	more    chan struct{} // has one where there may be something in the queue
}

func newWire(conn net.Conn) *wire {
	w := &wire{conn: conn, in: gob.NewDecoder(bufio.NewReader(conn)), more: make(chan struct{}, 1)}
	go w.write()
	return w
}

// receive waits for the next message. It fails once the other end is gone.
func (w *wire) receive() (m message, err error) {
	err = w.in.Decode(&m)
	return m, err
}

func (w *wire) send(m message) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.queue = append(w.queue, m)
	w.wakeLocked()
}

// close ends the connection once all is written that was sent before.
func (w *wire) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closing = true
	w.wakeLocked()
}

func (w *wire) wakeLocked() {
	select {
	case w.more <- struct{}{}:
	default:
	}
}

func (w *wire) write() {
	defer w.conn.Close()
	buffer := bufio.NewWriter(w.conn)
	out := gob.NewEncoder(buffer)
	for range w.more {
		w.mu.Lock()
		queue, closing := w.queue, w.closing
		w.queue = nil
		w.mu.Unlock()
		for _, m := range queue {
			if out.Encode(m) != nil {
				return
			}
		}
		if buffer.Flush() != nil || closing {
			return
		}
	}
}
