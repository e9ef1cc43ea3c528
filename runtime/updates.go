package runtime

import "github.com/ax-scheduler/ax/store"

// Update tells what has changed in the store.
type Update struct {
	Run      store.Run
	Tasks    []store.Task    // those that changed
	Attempts []store.Attempt // that began or ended
	Began    bool            // the run began to go, the first time or after a retry: it was not taken over
}

// Subscribe gives the updates from now on. They are shared: nobody changes them.
// Who does not keep up is dropped: the channel is closed. The returned function
// ends the subscription.
func (e *Engine) Subscribe(buffer int) (<-chan *Update, func()) {
	e.init()
	ch := make(chan *Update, buffer) // of pointers: the room for thousands is hardly ever used
	e.subMu.Lock()
	e.subs[ch] = struct{}{}
	e.subMu.Unlock()
	return ch, func() { e.unsubscribe(ch) }
}

func (e *Engine) unsubscribe(ch chan *Update) {
	e.subMu.Lock()
	defer e.subMu.Unlock()
	if _, ok := e.subs[ch]; ok {
		delete(e.subs, ch)
		close(ch)
	}
}

func (e *Engine) publish(u Update) {
	e.subMu.Lock()
	defer e.subMu.Unlock()
	if u.Run.State.Final() {
		e.Observer.RunEnded(u.Run.Workflow, u.Run.State)
	}
	e.Observer.Changed(u)
	if len(e.subs) == 0 {
		return
	}
	shared := u
	for ch := range e.subs {
		select {
		case ch <- &shared:
		default:
			delete(e.subs, ch)
			close(ch)
		}
	}
}
