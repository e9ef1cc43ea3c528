package machine

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dsl"
)

// world is one run with all that may befall it, and what must hold of it.
type world struct {
	*rapid.T
	wf    *dsl.Workflow
	plan  *dag.Plan
	only  []dag.Task
	now   time.Time
	model *model

	run    *Run
	shadow *Run    // has been given every stored event but the late ones, and asked for nothing
	stored []Event // what a journal would hold
	ends   int     // EndRun since the last retry
	seen   []TaskView

	calm    bool // nothing but ends of attempts
	crashes bool // the engine does not live long
	retried bool // by the event that is looked at
}

// TestWorlds plays runs of any workflow with any outcomes in any order, with
// late and repeated events, cancels, timeouts and retries. After every event
// the laws are checked: see (*world).laws.
func TestWorlds(t *testing.T) {
	many(t, 30, func(t *rapid.T) {
		w := newWorld(t)
		w.play()
		for range rapid.IntRange(0, 2).Draw(t, "retries of the run") {
			w.retry()
			w.play()
		}
		w.late()
		w.replay()
	})
}

func newWorld(t *rapid.T) *world {
	w := &world{T: t, now: epoch}
	w.wf, w.plan = drawFlow(t)
	w.only = drawOnly(t, w.plan)
	w.calm, w.crashes = chance(t, 2, "calm"), chance(t, 6, "crashes")
	w.model = newModel("r1", w.wf, w.only)
	w.run, w.shadow = New("r1", w.plan, w.only), New("r1", w.plan, w.only)
	w.laws(nil, nil)
	w.happens(RunStarted{w.tick()})
	return w
}

// tick passes a little time, so that no two events have the same.
func (w *world) tick() time.Time {
	w.now = w.now.Add(time.Millisecond)
	return w.now
}

// play lets things happen until the run has ended.
func (w *world) play() {
	for steps := 0; !w.model.ended; steps++ {
		if steps > 1000 {
			w.Fatalf("the run does not end: %s", w.run.describe())
		}
		if !w.calm && chance(w.T, 8, "trouble") {
			w.trouble()
			continue
		}
		moves := w.moves()
		if len(moves) == 0 {
			w.Fatalf("nothing can happen: %s", w.run.describe())
		}
		moves[rapid.IntRange(0, len(moves)-1).Draw(w.T, "move")]()
	}
}

// moves gives what an engine may do next.
func (w *world) moves() (moves []func()) {
	full := map[string]bool{"p": chance(w.T, 4, "p is full"), "q": chance(w.T, 4, "q is full")}
	if t, ok := w.startable(full); ok {
		start := func() { w.happens(AttemptStarted{t, w.model.tasks[t].attempt + 1, w.tick()}) }
		moves = append(moves, start, start)
	}
	for i, s := range w.model.tasks {
		t := dag.Task(i)
		switch {
		case s.asked:
			moves = append(moves, func() {
				e := Evaluated{Task: t, Holds: !chance(w.T, 4, "when is false"), At: w.tick()}
				if chance(w.T, 8, "when is broken") {
					e.Holds, e.Error = false, "no such name"
				}
				w.happens(e)
			})
		case s.state == Retrying:
			moves = append(moves, func() {
				w.now = s.retryAt
				w.happens(RetryDue{t, s.attempt, w.tick()})
			})
		case s.state == Running:
			moves = append(moves, func() {
				r := drawResult(w.T, s.stop != ReasonNone)
				if w.crashes && chance(w.T, 2, "crash") {
					r = Result{Interrupted: true}
				}
				w.happens(AttemptEnded{t, s.attempt, r, w.tick()})
			})
		case s.state == Ready && w.wf.Tasks[i].Pool != nil && w.wf.Tasks[i].Pool.Busy.V == dsl.BusySkip && full[poolOf(&w.wf.Tasks[i])]:
			moves = append(moves, func() { w.happens(PoolBusy{t, w.tick()}) })
		}
	}
	if len(moves) == 0 && w.model.open(func(i int) bool { return w.model.tasks[i].state == Ready }) {
		moves = append(moves, func() {}) // all that is ready waits for a pool
	}
	return moves
}

// startable asks the machine what should start, and whether that is right.
func (w *world) startable(full map[string]bool) (dag.Task, bool) {
	t, ok := w.run.Startable(func(pool string) bool { return full[pool] })
	running, best := 0, -1
	for i, s := range w.model.tasks {
		if s.state == Running {
			running++
		}
		if s.state == Ready && !full[poolOf(&w.wf.Tasks[i])] && (best < 0 || w.before(i, best)) {
			best = i
		}
	}
	slots := w.wf.MaxParallel.V == 0 || running < w.wf.MaxParallel.V
	switch {
	case ok != (slots && best >= 0):
		w.Fatalf("startable: %d, %v; best is %d, slots %v", t, ok, best, slots)
	case ok && w.before(best, int(t)):
		w.Fatalf("task %d should start before %d", best, t)
	case ok && (!w.run.CanStart(t) || full[poolOf(&w.wf.Tasks[t])]):
		w.Fatalf("task %d cannot start", t)
	}
	return t, ok
}

// before tells whether one ready task surely comes before another.
func (w *world) before(i, j int) bool {
	a, b := w.wf.Tasks[i].Priority.Or(w.wf.Priority.Or(5)), w.wf.Tasks[j].Priority.Or(w.wf.Priority.Or(5))
	return a > b || a == b && w.model.tasks[i].readyIn < w.model.tasks[j].readyIn
}

// trouble is what may come at any time.
func (w *world) trouble() {
	t := dag.Task(rapid.IntRange(0, len(w.plan.Tasks)-1).Draw(w.T, "task in trouble"))
	s := w.model.tasks[t]
	switch rapid.IntRange(0, 9).Draw(w.T, "trouble kind") {
	case 0:
		w.happens(CancelRequested{"somebody", w.tick()})
	case 1:
		w.now = w.now.Add(pick(w.T, "time passes", time.Minute, time.Hour))
		w.happens(RunTimedOut{w.tick()})
	case 2, 3, 4:
		if s.member {
			w.happens(AttemptTimedOut{t, s.attempt, w.tick()})
		}
	case 5:
		if s.member { // of an attempt that never was
			w.happens(AttemptEnded{Task: t, Attempt: s.attempt + 1, At: w.tick()})
		}
	default:
		w.late()
	}
}

// late sends events again that have been before, or that never were.
func (w *world) late() {
	for _, e := range w.stored {
		if !chance(w.T, 4, "again") {
			continue
		}
		switch old := e.(type) {
		case CancelRequested, RunTimedOut, RunRetried, PoolBusy:
			continue // these have no number by which they could be known
		case Evaluated:
			if w.model.tasks[old.Task].asked {
				continue
			}
		case AttemptEnded:
			if w.model.current(old.Task, old.Attempt, Running) {
				continue
			}
		case RetryDue:
			if w.model.current(old.Task, old.Attempt, Retrying) {
				continue
			}
		case AttemptTimedOut:
			if w.model.current(old.Task, old.Attempt, Running) {
				continue
			}
		}
		before := w.run.Pending()
		cmds, err := w.run.Apply(e)
		if err != nil || len(cmds) > 0 {
			w.Fatalf("the late %T%+v gives %v, %v", e, e, cmds, err)
		}
		w.same(w.run, w.shadow)
		w.laws(before, nil)
		if chance(w.T, 2, "stored again") {
			w.stored = append(w.stored, e)
		}
	}
}

func (w *world) same(a, b *Run) {
	if err := sameRun(a, b); err != nil {
		w.Fatalf("%v\n%s", err, w.history())
	}
}

// happens takes an event through the machine, the model and the journal.
func (w *world) happens(e Event) {
	before := w.run.Pending()
	if e, ok := e.(AttemptStarted); ok && !w.model.mayStart(int(e.Task)) {
		w.Fatalf("task %d must not start\n%s", e.Task, w.history())
	}
	cmds, err := w.run.Apply(e)
	if err != nil {
		w.Fatalf("%v\n%s", err, w.history())
	}
	w.stored = append(w.stored, e)
	w.model.apply(e)
	if _, err := w.shadow.Apply(reread(w.T, e)); err != nil {
		w.Fatalf("the stored %T: %v", e, err)
	}
	w.laws(before, cmds)
	if chance(w.T, 8, "compare") {
		w.same(w.run, w.shadow)
	}
}

// reread stores an event and reads it again.
func reread(t *rapid.T, e Event) Event {
	data, err := Encode(e)
	if err != nil {
		t.Fatal(err)
	}
	e, err = Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func (w *world) retry() {
	e := RunRetried{At: w.tick()}
	if chance(w.T, 2, "of some tasks") {
		var members []dag.Task
		for i, t := range w.model.tasks {
			if t.member {
				members = append(members, dag.Task(i))
			}
		}
		e.Tasks = rapid.SliceOfNDistinct(rapid.SampledFrom(members), 1, min(2, len(members)), rapid.ID).Draw(w.T, "retried")
	}
	if _, err := w.run.Apply(RunRetried{Tasks: []dag.Task{99}, At: w.now}); err == nil {
		w.Fatal("an unknown task was retried")
	}
	w.ends, w.retried = 0, true
	w.happens(e)
	w.retried = false
}

// replay reads the run back from what was stored, up to any point, and then
// goes on to the end.
func (w *world) replay() {
	r := New("r1", w.plan, w.only)
	for _, e := range w.stored {
		if _, err := r.Apply(reread(w.T, e)); err != nil {
			w.Fatal(err)
		}
	}
	w.same(w.run, r)
	if !reflect.DeepEqual(w.run.Pending(), r.Pending()) {
		w.Fatalf("pending %v and %v", w.run.Pending(), r.Pending())
	}
}

func (w *world) history() string {
	var b strings.Builder
	for _, t := range w.wf.Tasks {
		fmt.Fprintf(&b, "%s: join %d, on_failure %v, depends_on", t.ID.V, t.Join.V, t.OnFailure)
		for _, d := range t.DependsOn {
			fmt.Fprintf(&b, " %s:%s", d.Task.V, d.On)
		}
		fmt.Fprintln(&b)
	}
	for _, e := range w.stored {
		fmt.Fprintf(&b, "%T %+v\n", e, e)
	}
	return b.String()
}
