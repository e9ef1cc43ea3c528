package sim_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/runtime/sim"
	"github.com/ax-scheduler/ax/store"
)

// observer goes through a history and holds it against the promises of
// DESIGN.md. It knows what was written, in order, what processes did, what
// operators were told, and the texts of the workflows; nothing of an engine.
type observer struct {
	w     *world
	plans map[string]*dag.Plan // by version
	runs  map[string]*seenRun
	order []string // ids of runs as they were created
	keys  map[string]string
	ticks map[tickID]store.Tick
	fired map[string]tickID // by run

	alive   map[*sim.Process]bool
	ended   map[*sim.Process]bool
	asked   map[*sim.Process]bool
	upSince time.Time // of the engine that is there, by the clock on the wall
	steps   int
	policy  boots
	inherit int                 // how many runs there were when the engine booted
	paused  map[string]bool     // workflows whose schedules start nothing, as somebody was told
	ends    map[string][]runEnd // by workflow, as they were written
	spans   [][2]time.Time      // in which engines were there, by the clock on the wall
	open    map[string]*seenRun // runs that have not ended
	calmAt  time.Time           // by the clock on the wall
	calmSet *loaded             // what was loaded then
	loaded  *loaded
	at      sim.Entry
	wrong   []string

	loadedAt  time.Time            // by the clock on the wall
	fullUntil time.Time            // when the disk has room again, by a clock that nobody sets
	held      map[string]time.Time // since when runs of a workflow are in line, and none goes, by the clock on the wall
}

type tickID struct {
	workflow, schedule string
	at                 int64
}

// seenRun is what is known of a run.
type seenRun struct {
	rec      store.Run
	plan     *dag.Plan
	machine  *machine.Run // as its events make it
	units    map[machine.Unit]*seenUnit
	tasks    map[string]store.Task
	created  time.Time
	begun    time.Time // the start of this course of it
	timedOut bool      // its time was over, at overAt
	retried  int
	cancels  int
	late     bool // somebody was told that it is late
	left     bool // who made it was no engine that serves
	over     bool // to another version, in which a task may have instances that had none, or none any more
	hurried  bool // an engine was to start it without its pauses
	again    bool // it was retried, and has not begun again
	overAt   time.Time
	cancelAt time.Time // of the first request
}

// seenUnit is what is known of a task or an instance.
type seenUnit struct {
	number    int  // of the last attempt
	open      bool // it is under way, by the record
	won       bool // it has succeeded
	timedOut  bool
	cutOff    int // interruptions in a row
	charged   int
	late      bool // the run's time was over when the last attempt ended: another was not to follow
	last      *sim.Process
	started   time.Time // of the last attempt, by the record
	notBefore time.Time // of the next attempt
	begun     time.Time // when the last process was there, by the clock on the wall
}

func newObserver(w *world) *observer {
	o := &observer{w: w, plans: map[string]*dag.Plan{}, runs: map[string]*seenRun{}, keys: map[string]string{},
		ticks: map[tickID]store.Tick{}, fired: map[string]tickID{}, alive: map[*sim.Process]bool{}, ended: map[*sim.Process]bool{},
		asked: map[*sim.Process]bool{}, open: map[string]*seenRun{}, paused: map[string]bool{}, ends: map[string][]runEnd{},
		held: map[string]time.Time{}}
	for _, files := range w.files {
		for _, f := range files {
			o.plans[f.Version] = f.Plan()
		}
	}
	return o
}

// broken notes that a promise is broken.
func (o *observer) broken(format string, args ...any) {
	if len(o.wrong) < 20 {
		o.wrong = append(o.wrong, o.at.At.UTC().Format("Jan _2 15:04:05.000000 ")+fmt.Sprintf(format, args...))
	}
}

// look gives the promises that are broken, in order of time.
func (o *observer) look() []string {
	for _, e := range o.w.history.Entries() {
		o.at = e
		switch x := e.What.(type) {
		case sim.Written:
			o.written(x.Engine, x.Batch)
		case sim.Began:
			o.began(x.Process)
		case sim.Asked:
			o.inTime(x.Process)
			o.asked[x.Process] = true
		case sim.Gone:
			if !o.asked[x.Process] && !x.Lost {
				o.inTime(x.Process)
			}
			delete(o.alive, x.Process)
			o.ended[x.Process] = true
		case boots:
			o.boots(x)
		case taken:
			o.inherited()
		case up:
			o.upSince = e.Wall
		case down:
			o.heldUp(3 * time.Minute) // it may have been told to end a while ago
			o.spans = append(o.spans, [2]time.Time{o.upSince, e.Wall})
			o.upSince, o.policy.policy = time.Time{}, runtime.StartupRecover
		case paused:
			o.paused[x.workflow] = true
		case resumes:
			delete(o.paused, x.workflow)
		case stepped:
			o.steps++
			if !o.upSince.IsZero() {
				o.upSince = e.Wall
			}
		case handed:
			o.handed(x)
		case cancelled:
			if r := o.runs[x.id]; r == nil || r.cancels == 0 && r.rec.State != machine.RunCancelled {
				o.broken("run %s: somebody was told that it is cancelled, and nothing of it is on the disk", x.id)
			}
		case loaded:
			o.loaded, o.loadedAt = &x, e.Wall
		case stuck:
			o.broken("%s goes on for ever", x.what)
		case quit:
			o.broken("engine %d has ended, and nobody told it to: %v", x.engine, x.err)
		case filled:
			o.fullUntil = e.At.Add(x.by)
		case restless:
			o.broken("engines end again and again, and nothing is wrong with the disk")
		case calm:
			o.calmAt, o.calmSet = e.Wall, o.loaded
		}
	}
	o.atTheEnd()
	o.ledger()
	return o.wrong
}

// handed: promise 1, and keys.
func (o *observer) handed(x handed) {
	r := o.runs[x.id]
	if r == nil {
		o.broken("run %s of %s was handed out, and is not on the disk", x.id, x.workflow)
		return
	}
	if x.key != "" && o.keys[x.workflow+"/"+x.key] != x.id {
		o.broken("run %s was handed out for the key %q of %s, which run %s has", x.id, x.key, x.workflow, o.keys[x.workflow+"/"+x.key])
	}
}

func (o *observer) written(by int, b *store.Batch) {
	var starting, ended []*seenRun
	for i := range b.Create {
		o.created(&b.Create[i])
		o.runs[b.Create[i].ID].left = by < 0
		if b.Create[i].State.Final() {
			ended = append(ended, o.runs[b.Create[i].ID])
		}
	}
	for i := range b.Update {
		r := o.runs[b.Update[i].ID]
		if r.rec.State != machine.RunRunning && b.Update[i].State == machine.RunRunning {
			starting = append(starting, r)
		}
		if r.rec.State == machine.RunScheduled && b.Update[i].State == machine.RunQueued {
			o.dueInTime(r)
		}
		if r.rec.State.Final() && !b.Update[i].State.Final() {
			r.again = true
		}
		if b.Update[i].State.Final() && !r.rec.State.Final() {
			if r.cancels == 0 {
				o.childInTime(r)
			}
			ended = append(ended, r)
		}
		if b.Update[i].Version != r.rec.Version && !slices.Contains(b.Restate, r.rec.ID) {
			o.broken("run %s of %s has gone over to another version", r.rec.ID, r.rec.Workflow)
		}
		r.rec = b.Update[i]
		o.open[r.rec.ID] = r
		if r.rec.State.Final() {
			delete(o.open, r.rec.ID)
		}
	}
	for _, a := range b.Append {
		r := o.runs[a.RunID]
		for _, data := range a.Data {
			e, err := machine.Decode(data)
			if err != nil {
				o.broken("run %s: %v", a.RunID, err)
				continue
			}
			o.event(r, e)
		}
	}
	for _, id := range b.Restate {
		o.runs[id].tasks = map[string]store.Task{}
	}
	for _, t := range b.Tasks {
		o.runs[t.RunID].tasks[t.ID] = t
	}
	for _, a := range b.Append {
		o.together(o.runs[a.RunID])
	}
	for _, t := range b.Ticks {
		o.tick(t)
		o.tickInTime(&t)
	}
	o.limits(starting)
	o.told(b, ended)
}

func (o *observer) created(run *store.Run) {
	r := &seenRun{rec: *run, plan: o.plans[run.Version], units: map[machine.Unit]*seenUnit{}, tasks: map[string]store.Task{}, created: o.at.Wall}
	var only []dag.Task
	for _, id := range run.Only {
		t, _ := r.plan.Task(id)
		only = append(only, t)
	}
	r.machine = machine.New(run.ID, r.plan, only)
	o.runs[run.ID] = r
	if !run.State.Final() {
		o.open[run.ID] = r
	}
	o.order = append(o.order, run.ID)
	if parent, t, i := o.parent(run); parent != nil {
		if u := parent.unit(t, i); !u.open || !strings.HasSuffix(run.Key, fmt.Sprint("/", u.number)) {
			o.broken("run %s of %s is started by attempt %s, which is not under way", run.ID, run.Workflow, run.Key)
		}
	}
	if key := run.Workflow + "/" + run.Key; run.Key != "" {
		if first := o.keys[key]; first != "" {
			o.broken("runs %s and %s of %s have one key, %q", first, run.ID, run.Workflow, run.Key)
		}
		o.keys[key] = run.ID
	}
}

// parent gives the run, and the task of it, that has started a run.
func (o *observer) parent(run *store.Run) (*seenRun, dag.Task, machine.Instance) {
	by := strings.Split(run.Key, "/")
	if run.Trigger != store.TriggerWorkflow || len(by) != 3 || o.runs[by[0]] == nil {
		return nil, 0, 0
	}
	r := o.runs[by[0]]
	id, instance, _ := machine.ParseName(by[1])
	t, _ := r.plan.Task(id)
	return r, t, instance
}

func (r *seenRun) unit(t dag.Task, i machine.Instance) *seenUnit {
	u := machine.Unit{Task: t, Instance: i}
	if r.units[u] == nil {
		r.units[u] = &seenUnit{}
	}
	return r.units[u]
}

func (r *seenRun) name(t dag.Task, i machine.Instance) string {
	return r.rec.Workflow + " " + r.rec.ID + " " + i.Name(r.plan.Tasks[t].ID)
}

// event takes in what is stored of a run.
func (o *observer) event(r *seenRun, e machine.Event) {
	if changed, is := e.(machine.VersionChanged); is {
		r.goesOver(o.plans[changed.To])
		return
	}
	if _, err := r.machine.Apply(e); err != nil {
		o.broken("run %s: its events cannot be replayed: %v", r.rec.ID, err)
	}
	switch e := e.(type) {
	case machine.RunStarted:
		if !r.begun.IsZero() && !r.again { // a retry waits for its turn
			o.broken("run %s starts twice", r.rec.ID)
		}
		if o.steps == 0 && !r.again && !r.hurried && e.At.Before(r.rec.NotBefore) { // a retry is a wish for now
			o.broken("run %s starts at %s, before %s", r.rec.ID, e.At, r.rec.NotBefore)
		}
		r.begun, r.again = e.At, false
	case machine.AttemptStarted:
		o.attemptStarts(r, e)
	case machine.AttemptEnded:
		o.attemptEnds(r, e)
	case machine.AttemptTimedOut:
		if u := r.unit(e.Task, e.Instance); u.number == e.Attempt {
			u.timedOut = true
		}
	case machine.RunTimedOut:
		if limit := r.plan.Workflow.Timeout.V; !e.At.Before(r.begun.Add(limit)) {
			r.timedOut, r.overAt = true, e.At
		}
	case machine.CancelRequested:
		if r.cancels++; r.cancels == 1 {
			r.cancelAt = e.At
			o.childInTime(r)
		}
	case machine.RunRetried:
		r.begun, r.timedOut, r.cancels = e.At, false, 0
		r.retried++
		r.beginAnew(e)
	}
}

// attemptStarts: promises 2, 3 and 6, by the record.
func (o *observer) attemptStarts(r *seenRun, e machine.AttemptStarted) {
	u, name, spec := r.unit(e.Task, e.Instance), r.name(e.Task, e.Instance), r.plan.Tasks[e.Task].Spec
	if e.Attempt != u.number+1 && (!r.over || e.Attempt <= u.number) {
		o.broken("%s: attempt %d after attempt %d", name, e.Attempt, u.number)
	}
	if u.open {
		o.broken("%s: attempt %d starts before attempt %d has ended", name, e.Attempt, u.number)
	}
	if u.won {
		o.broken("%s has succeeded, and attempt %d of it starts", name, e.Attempt)
	}
	if early := u.notBefore.Sub(e.At); o.steps == 0 && early > 0 {
		o.broken("%s: attempt %d starts %s before the pause is over", name, e.Attempt, early)
	}
	if u.cutOff >= 3 || u.cutOff > 0 && spec.Recovery.V == dsl.RecoveryFail {
		o.broken("%s: attempt %d starts after %d interruptions in a row", name, e.Attempt, u.cutOff)
	}
	if most := retries(spec); u.charged > most {
		o.broken("%s: attempt %d starts after %d that have failed; it is to be tried again %d times", name, e.Attempt, u.charged, most)
	}
	n, limit := r.plan.Tasks[e.Task], r.plan.Workflow.Timeout
	if !n.Late && n.Callers == 0 && limit.Set() && e.At.After(r.begun.Add(limit.V+o.slack())) {
		o.broken("%s: attempt %d starts %s after the run, whose time is %s", name, e.Attempt, e.At.Sub(r.begun), limit.V)
	}
	u.number, u.open, u.timedOut, u.started = e.Attempt, true, false, e.At
}

func retries(spec *dsl.Task) int {
	if spec.Retry == nil {
		return 0
	}
	return spec.Retry.Max.V
}

// attemptEnds: what is recorded is what the process did.
func (o *observer) attemptEnds(r *seenRun, e machine.AttemptEnded) {
	u, name := r.unit(e.Task, e.Instance), r.name(e.Task, e.Instance)
	if u.number != e.Attempt || !u.open {
		o.broken("%s: attempt %d ends, and was not under way", name, e.Attempt)
		return
	}
	u.open, u.late = false, r.timedOut
	spec, res := r.plan.Tasks[e.Task].Spec, e.Result
	if res.Interrupted && !u.timedOut {
		u.cutOff++
	} else {
		u.cutOff = 0
		u.charged++
		if o.policy.policy != runtime.StartupRunAll { // it is just taking the run over
			u.notBefore = e.At.Add(pauseOf(spec, u.charged))
		}
	}
	if machine.Succeeds(spec, res) && !res.Stopped {
		u.won = true
	}
	if spec.Kind.Waits() {
		o.waitInTime(r, e.Task, u)
		o.childEnded(r, e)
		return
	}
	p := u.last
	if p == nil || p.Attempt.Number != e.Attempt {
		if !res.Interrupted && res.StartError == "" && !res.Stopped {
			o.broken("%s: attempt %d has the outcome %+v, and never began", name, e.Attempt, res)
		}
		return
	}
	switch {
	case !o.ended[p]:
		o.broken("%s: attempt %d has an end, and goes on", name, e.Attempt)
	case p.Lost && !res.Interrupted, !p.Lost && res.Interrupted && !p.Outcome.Stopped && p.Supervised:
		o.broken("%s: attempt %d is recorded as %+v; it ended with %+v, lost: %v", name, e.Attempt, res, p.Outcome, p.Lost)
	case !p.Lost && !res.Interrupted && (res.ExitCode != p.Outcome.ExitCode || res.Signal != p.Outcome.Signal || res.Stopped != p.Outcome.Stopped):
		o.broken("%s: attempt %d is recorded as %+v; it ended with %+v", name, e.Attempt, res, p.Outcome)
	}
}

// childEnded: the task that runs another workflow ends as that does, and leaves
// nothing of it behind.
func (o *observer) childEnded(r *seenRun, e machine.AttemptEnded) {
	spec := r.plan.Tasks[e.Task].Spec
	if w := spec.WaitFor; w != nil && o.steps == 0 && machine.Succeeds(spec, e.Result) && !e.Result.Stopped {
		if at, err := time.Parse(time.RFC3339, w.Until.V); err != nil || e.At.Before(at) {
			o.broken("%s: attempt %d waited for %s, and has ended at %s", r.name(e.Task, e.Instance), e.Attempt, w.Until.V, e.At)
		}
	}
	if spec.Workflow == nil || e.Result.Interrupted {
		return
	}
	key := fmt.Sprintf("%s/%s/%d", r.rec.ID, e.Instance.Name(spec.ID.V), e.Attempt)
	child := o.runs[o.keys[spec.Workflow.Name.V+"/"+key]]
	succeeded := machine.Succeeds(spec, e.Result) && !e.Result.Stopped
	switch {
	case child == nil && succeeded:
		o.broken("%s: attempt %d has succeeded, and never had a run", r.name(e.Task, e.Instance), e.Attempt)
	case child == nil:
	case !child.rec.State.Final():
		o.broken("%s: attempt %d has ended, and its run %s is %s", r.name(e.Task, e.Instance), e.Attempt, child.rec.ID, child.rec.State)
	case succeeded != (child.rec.State == machine.RunSucceeded):
		o.broken("%s: attempt %d ended with %+v, and its run %s %s", r.name(e.Task, e.Instance), e.Attempt, e.Result, child.rec.ID, child.rec.State)
	}
}

// began: promises 2, 3, 6 and 7, by what is carried out.
func (o *observer) began(p *sim.Process) {
	a := p.Attempt
	name := a.Workflow + " " + a.RunID + " " + a.Task
	r := o.runs[a.RunID]
	if r == nil {
		o.broken("%s: attempt %d begins, and its run is not on the disk", name, a.Number)
		return
	}
	id, instance, _ := machine.ParseName(a.Task)
	t, _ := r.plan.Task(id)
	u := r.unit(t, instance)
	if u.number != a.Number || !u.open {
		o.broken("%s: attempt %d begins, and on the disk is attempt %d, under way: %v", name, a.Number, u.number, u.open)
	}
	if u.won {
		o.broken("%s has succeeded, and attempt %d begins", name, a.Number)
	}
	if u.last != nil && o.alive[u.last] {
		o.broken("%s: attempt %d begins beside attempt %d", name, a.Number, u.last.Attempt.Number)
	}
	if u.last != nil && u.last.Attempt.Number >= a.Number {
		o.broken("%s: attempt %d begins after attempt %d", name, a.Number, u.last.Attempt.Number)
	}
	u.last, u.begun = p, o.at.Wall
	o.alive[p] = true
	if want := fmt.Sprint("v", o.number(r.rec.Version)); markOf(&a) != want {
		o.broken("%s: attempt %d is %s, and the run began with %s", name, a.Number, markOf(&a), want)
	}
	o.crowd(r, t)
}

// tick: promise 5, as rows come in.
func (o *observer) tick(t store.Tick) {
	id := tickID{t.Workflow, t.Schedule, t.At.UnixMicro()}
	if _, twice := o.ticks[id]; twice {
		o.broken("the tick of %s (%s) at %s has two rows", t.Workflow, t.Schedule, t.At)
	}
	o.ticks[id] = t
	if t.Outcome != store.TickFired && t.Outcome != store.TickSkipped || t.RunID == "" && o.pauses(t.Workflow) {
		return
	}
	if t.Outcome == store.TickFired && o.paused[t.Workflow] {
		o.broken("the tick of %s (%s) at %s starts a run, and the workflow is paused", t.Workflow, t.Schedule, t.At)
	}
	r := o.runs[t.RunID]
	switch {
	case r == nil:
		o.broken("the tick of %s (%s) at %s was %s, and its run %s is not on the disk", t.Workflow, t.Schedule, t.At, t.Outcome, t.RunID)
		return
	case !r.rec.ScheduledFor.Equal(t.At):
		o.broken("the tick of %s (%s) at %s has the run of %s", t.Workflow, t.Schedule, t.At, r.rec.ScheduledFor)
	}
	if _, twice := o.fired[t.RunID]; twice {
		o.broken("run %s belongs to two ticks", t.RunID)
	}
	o.fired[t.RunID] = id
}
