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
	seen   map[Unit]TaskView

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
	w := &world{T: t, now: epoch, seen: map[Unit]TaskView{}}
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
	if u, ok := w.startable(full); ok {
		start := func() { w.happens(AttemptStarted{u.Task, u.Instance, w.model.at(u).attempt + 1, w.tick()}) }
		moves = append(moves, start, start)
	}
	for i, s := range w.model.tasks {
		if t := dag.Task(i); s.asked {
			moves = append(moves, func() { w.answer(t) })
		} else if s.opening {
			moves = append(moves, func() { w.expand(t) })
		}
	}
	for _, u := range w.model.units() {
		s, pool := w.model.at(u), w.wf.Tasks[u.Task].Pool
		switch {
		case s.state == Retrying:
			moves = append(moves, func() {
				w.now = s.retryAt
				w.happens(RetryDue{u.Task, u.Instance, s.attempt, w.tick()})
			})
		case s.state == Running:
			moves = append(moves, func() {
				r := drawResult(w.T, s.stop != ReasonNone)
				if w.crashes && chance(w.T, 2, "crash") {
					r = Result{Interrupted: true}
				}
				w.happens(AttemptEnded{u.Task, u.Instance, s.attempt, r, w.tick()})
			})
		case w.model.admitted(u) && pool != nil && pool.Busy.V == dsl.BusySkip && full[pool.Name.V]:
			moves = append(moves, func() { w.happens(PoolBusy{u.Task, u.Instance, w.tick()}) })
		}
	}
	if len(moves) == 0 && w.model.open(func(i int) bool { return w.model.tasks[i].state == Ready || w.model.tasks[i].known }) {
		moves = append(moves, func() {}) // all that is ready waits for a pool
	}
	return moves
}

func (w *world) answer(t dag.Task) {
	e := Evaluated{Task: t, Holds: !chance(w.T, 4, "when is false"), At: w.tick()}
	if chance(w.T, 8, "when is broken") {
		e.Holds, e.Error = false, "no such name"
	}
	w.happens(e)
}

func (w *world) expand(t dag.Task) {
	e := Expanded{Task: t, At: w.tick()}
	if chance(w.T, 8, "foreach is broken") {
		e.Error = "no list"
	} else {
		e.Items = drawItems(w.T)
	}
	w.happens(e)
}

// startable asks the machine what should start, and whether that is right.
func (w *world) startable(full map[string]bool) (Unit, bool) {
	u, ok := w.run.Startable(func(pool string) bool { return full[pool] })
	var best Unit
	found, slots := false, w.model.hasSlot()
	waiting := map[string]int{}
	for _, o := range w.model.units() {
		pool := poolOf(&w.wf.Tasks[o.Task])
		takes := slots || w.wf.Tasks[o.Task].Kind.Waits()
		if w.model.admitted(o) {
			waiting[pool]++
		}
		if w.model.admitted(o) && takes && !full[pool] && (!found || w.before(o, best)) {
			best, found = o, true
		}
	}
	for _, pool := range []string{"", "p", "q"} {
		got := w.run.WaitingFor(pool)
		if len(got) != waiting[pool] {
			w.Fatalf("%v wait for pool %q, want %d", got, pool, waiting[pool])
		}
		of := func(u Unit) bool { return w.wf.Tasks[u.Task].Kind.Waits() }
		for i := range max(0, len(got)-1) {
			if of(got[i]) == of(got[i+1]) && w.before(got[i+1], got[i]) {
				w.Fatalf("%v wait for pool %q: not in the order of turns", got, pool)
			}
		}
	}
	switch {
	case ok != found:
		w.Fatalf("startable: %s, %v; best is %s, slots %v\n%s", u, ok, best, slots, w.history())
	case ok && w.before(best, u):
		w.Fatalf("task %s should start before %s", best, u)
	case ok && (!w.run.CanStart(u) || full[poolOf(&w.wf.Tasks[u.Task])]):
		w.Fatalf("task %s cannot start", u)
	}
	return u, ok
}

// before tells whether one ready unit surely comes before another. Of tasks that
// one event made ready the order is not told.
func (w *world) before(a, b Unit) bool {
	x, y := w.model.at(a), w.model.at(b)
	p, q := w.wf.Tasks[a.Task].Priority.Or(w.wf.Priority.Or(5)), w.wf.Tasks[b.Task].Priority.Or(w.wf.Priority.Or(5))
	if a.Task == b.Task {
		return x.turn < y.turn
	}
	// A step of priority is worth a minute of waiting.
	since, other := x.readyAt.Add(time.Duration(9-p)*time.Minute), y.readyAt.Add(time.Duration(9-q)*time.Minute)
	return since.Before(other) || since.Equal(other) && x.readyIn < y.readyIn
}

// trouble is what may come at any time.
func (w *world) trouble() {
	units := w.model.units()
	if len(units) == 0 {
		return
	}
	u := units[rapid.IntRange(0, len(units)-1).Draw(w.T, "unit in trouble")]
	member, attempt := w.model.tasks[u.Task].member, w.model.at(u).attempt
	switch rapid.IntRange(0, 9).Draw(w.T, "trouble kind") {
	case 0:
		w.happens(CancelRequested{"somebody", w.tick()})
	case 1:
		w.now = w.now.Add(pick(w.T, "time passes", time.Minute, time.Hour))
		w.happens(RunTimedOut{w.tick()})
	case 2, 3, 4:
		if member {
			w.happens(AttemptTimedOut{u.Task, u.Instance, attempt, w.tick()})
		}
	case 5:
		if member { // of an attempt that never was
			w.happens(AttemptEnded{Task: u.Task, Instance: u.Instance, Attempt: attempt + 1, At: w.tick()})
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
		case RunStarted:
			if w.model.waits {
				continue
			}
		case Evaluated:
			if w.model.tasks[old.Task].asked {
				continue
			}
		case Expanded:
			if w.model.tasks[old.Task].opening {
				continue
			}
		case AttemptEnded:
			if w.model.current(Unit{old.Task, old.Instance}, old.Attempt, Running) {
				continue
			}
		case RetryDue:
			if w.model.current(Unit{old.Task, old.Instance}, old.Attempt, Retrying) {
				continue
			}
		case AttemptTimedOut:
			if w.model.current(Unit{old.Task, old.Instance}, old.Attempt, Running) {
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
	if e, ok := e.(AttemptStarted); ok && !w.model.mayStart(Unit{e.Task, e.Instance}) {
		w.Fatalf("task %s must not start\n%s", Unit{e.Task, e.Instance}, w.history())
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
		for _, t := range members {
			if us := w.model.instances(t); len(us) > 0 && chance(w.T, 2, "of some instances") {
				e.Instances = append(e.Instances, us[rapid.IntRange(0, len(us)-1).Draw(w.T, "retried instance")])
			}
		}
		if len(e.Instances) > 0 && chance(w.T, 2, "of instances alone") {
			e.Tasks = nil
		}
	}
	if _, err := w.run.Apply(RunRetried{Tasks: []dag.Task{99}, At: w.now}); err == nil {
		w.Fatal("an unknown task was retried")
	}
	w.ends, w.retried = 0, true
	e.Waits = chance(w.T, 2, "waits for its turn")
	w.happens(e)
	if e.Waits {
		w.turnComes(e.Tasks)
	}
	w.retried = false
}

// turnComes has a retried run wait until it goes on, or is cancelled.
func (w *world) turnComes(named []dag.Task) {
	if chance(w.T, 4, "retried again") {
		w.happens(RunRetried{Tasks: named, Waits: true, At: w.tick()})
	}
	w.late()
	if w.happens(RunTimedOut{w.tick()}); chance(w.T, 4, "cancelled while it waits") {
		w.happens(CancelRequested{"somebody", w.tick()})
		if !w.model.ended {
			w.Fatalf("a run that was cancelled while it waited has not ended\n%s", w.history())
		}
		return
	}
	w.happens(RunStarted{w.tick()})
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
