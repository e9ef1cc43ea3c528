package executor

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// adoptWait is how long a supervisor may take to say what it has. One that is stopped never does; then it is killed, and its
// tasks are ended.
const adoptWait = 10 * time.Second

// Adopted is what became of an attempt whose engine is gone.
type Adopted struct {
	// Ended is its outcome, if it is over: by the record that its supervisor left, or Interrupted if nothing of it is left
	// and nobody knows how it ended. Else it is nil.
	Ended *Outcome
	// Await returns when it is over, if it is not yet: where it has a supervisor it goes on, as in Execute; what is left of
	// one that has none is ended.
	Await func(ctx context.Context) Outcome
}

// Adopt looks for attempts whose engine is gone: for each, in its order, what has become of it. Of the attempts it needs
// Origin, RunID, Task, Number, Log, Scratch and KillAfter.
func (x *Executor) Adopt(attempts []Attempt) []Adopted {
	found := make([]Adopted, len(attempts))
	if x.Supervision != nil {
		for _, l := range x.Supervision.others() {
			l.claim(attempts, found, cmp.Or(x.Supervision.patience, adoptWait))
		}
	}
	var rest []int
	for i := range attempts {
		if found[i].Await == nil {
			found[i].Ended = attempts[i].record()
		}
		if found[i].Await == nil && found[i].Ended == nil {
			rest = append(rest, i)
		}
	}
	alive := anyLeft(attempts, rest)
	for n, i := range rest {
		if a := attempts[i]; alive[n] {
			found[i].Await = func(context.Context) Outcome { return sweep(&a) }
		} else {
			found[i].Ended = &Outcome{ExitCode: notRun, Interrupted: true, Finished: time.Now()}
		}
	}
	return found
}

// claim asks a supervisor for the attempts that nobody has answered for yet.
func (l *link) claim(attempts []Attempt, found []Adopted, patience time.Duration) {
	watches := map[int]*watch{}
	for i := range attempts {
		if found[i].Await == nil {
			watches[i] = l.watch(attempts[i].mark())
			l.wire.send(message{Verb: verbAdopt, Mark: attempts[i].mark()})
		}
	}
	late := time.NewTimer(patience)
	defer late.Stop()
	for i, w := range watches {
		has := false
		select {
		case has = <-w.found:
		case <-l.gone:
		case <-late.C:
			killPeer(l.wire.conn) // or it might begin what we begin again
			late.Reset(0)         // for the others too
		}
		if a := attempts[i]; has {
			found[i].Await = func(ctx context.Context) Outcome { return l.await(ctx, &a, w) }
		} else {
			l.forget(a.mark())
		}
	}
	if len(watches) == 0 {
		l.wire.close()
	}
}

// inFolder gives a way to a socket that is short enough for the system, which takes about 100 bytes.
func inFolder(path string, do func(near string) error) error {
	const most = 100
	if len(path) <= most {
		return do(path)
	}
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer folder.Close()
	return do(fmt.Sprintf("/proc/self/fd/%d/%s", folder.Fd(), filepath.Base(path)))
}

// escapeGlob has a path stand for itself in a pattern.
func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}
