package sim_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/runtime/executor"
	"github.com/ax-scheduler/ax/runtime/reload"
	"github.com/ax-scheduler/ax/runtime/sim"
)

// What a world adds to the history.
type (
	// boots is an engine that begins to take in what others left, and taken tells
	// that it has.
	boots struct {
		engine int
		policy runtime.Startup
	}
	taken struct{ engine int }
	up    struct{ engine int } // it keeps schedules
	down  struct{ engine int } // from now on it does nothing
	// handed is a run that somebody was told of.
	handed struct {
		id, workflow, key string
		notBefore         time.Time
	}
	cancelled struct{ id string } // somebody was told that it is
	paused    struct{ workflow string }
	resumes   struct{ workflow string } // somebody is about to be told that it goes on
	loaded    struct{ catalog *reload.Catalog }
	stepped   struct{ by time.Duration }
	filled    struct{ by time.Duration } // the disk is full for a while
	quit      struct {                   // an engine has ended that nobody told to, and no write of it has failed
		engine int
		err    error
	}
	restless struct{}              // engines end for no reason
	stuck    struct{ what string } // it was to be over
	calm     struct{}              // what is due by now is to be in the ledger
)

// world carries out one scenario.
type world struct {
	sc      *scenario
	data    string
	history *sim.History
	disk    *sim.Disk
	procs   *sim.Processes
	files   map[string][]*reload.Loaded // by workflow, the versions

	step    atomic.Int64 // how far the clock on the wall was set, in nanoseconds
	givenUp atomic.Bool  // engines are to stand still

	mu      sync.Mutex
	catalog *reload.Catalog
	last    map[string]*reload.Loaded // of each workflow, gone ones too
	broken  map[string]bool           // workflows whose files do not compile
	now     *engine                   // nil while none is there
	outage  time.Duration             // after this engine
	full    time.Time                 // until when the disk is full
	failed  map[int]bool              // engines of which a write has failed
	healthy bool
	calmly  int // engines since the disk is healthy
	acting  sync.WaitGroup
	loading chan struct{} // held by who loads: one at a time
}

// engine is one that runs.
type engine struct {
	*runtime.Engine
	plug  *sim.Plug
	ctx   context.Context
	stop  context.CancelFunc
	ready bool // what others left is taken in, and the workflows are loaded
	still atomic.Bool
	err   error // of Serve, once that is over
}

func newWorld(sc *scenario, data string) (*world, error) {
	w := &world{sc: sc, data: data, files: map[string][]*reload.Loaded{}, last: map[string]*reload.Loaded{},
		broken: map[string]bool{}, failed: map[int]bool{}}
	w.history = &sim.History{Clock: w.clock}
	w.disk = &sim.Disk{History: w.history, Fate: w.fate}
	w.procs = &sim.Processes{History: w.history, Does: w.does, Survives: w.survives}
	for _, f := range sc.flows {
		for _, v := range f.versions {
			file := reload.Compile("/flows/"+f.name+".yaml", []byte(f.text(v)))
			if file.Plan == nil {
				return nil, fmt.Errorf("the drawn workflow cannot be compiled: %v\n%s", file.Diagnostics, f.text(v))
			}
			w.files[f.name] = append(w.files[f.name], file.Keep())
		}
	}
	return w, nil
}

// clock is the one on the wall.
func (w *world) clock() time.Time { return time.Now().Add(time.Duration(w.step.Load())) }

// chance draws a number that depends on nothing but the seed and what it is for.
func (w *world) chance(of ...any) *rand.Rand {
	h := fnv.New64a()
	fmt.Fprint(h, of...)
	return rand.New(rand.NewPCG(w.sc.seed, h.Sum64()))
}

func (w *world) fate(engine, n int) (sim.Fault, time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	took := 2 * time.Duration(1+w.chance("write", engine, n).IntN(1500)) * time.Microsecond // in whole halves
	if w.sc.slow {
		took *= 200
	}
	if w.healthy {
		return sim.None, took
	}
	for _, f := range w.sc.harm {
		if f.engine == engine && f.n == n {
			w.failed[engine] = true
			return map[string]sim.Fault{"crash before": sim.CrashBefore, "crash after": sim.CrashAfter,
				"fails before": sim.FailsBefore, "fails after": sim.FailsAfter}[f.kind], took
		}
	}
	if time.Now().Before(w.full) {
		return sim.Full, took
	}
	return sim.None, took
}

// does tells what an attempt does, by the time that its run stands for: the id of
// a run is never the same.
func (w *world) does(a *executor.Attempt) sim.Doing {
	at := ""
	for _, v := range a.Env {
		if value, ok := strings.CutPrefix(v, "AX_SCHEDULED_FOR="); ok {
			at = value
		}
	}
	r := w.chance("does", a.Workflow, at, a.Task, a.Number)
	ms := func(from, to int) time.Duration {
		return time.Duration(from+r.IntN(to-from))*time.Millisecond + time.Duration(1+r.IntN(998))*time.Microsecond
	}
	d := sim.Doing{Deaf: ms(0, 15_000), Dying: ms(0, 900), Outputs: map[string]string{"v": fmt.Sprint(r.IntN(5))}}
	switch p := r.IntN(20); {
	case p < 12:
		d.Took = ms(0, 90_000)
	case p < 18:
		d.Took = ms(0, 400_000)
	default:
		d.Took = ms(0, 2_400_000)
	}
	switch p := r.IntN(100); {
	case p < 76:
	case p < 94:
		d.Code = 1 + r.IntN(3)
	default:
		d.Code, d.Signal = 137, "SIGKILL"
	}
	return d
}

// survives: of ten processes seven outlive a crash of their engine.
func (w *world) survives(p *sim.Process) bool {
	a := p.Attempt
	return w.chance("survives", a.Workflow, a.Task, a.Number, time.Now().UnixMicro()).IntN(10) < 7
}

// workflow finds the plan of a workflow by its name.
func (w *world) workflow(name string) (*dag.Plan, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if f := w.last[name]; f != nil {
		return f.Plan(), nil
	}
	return nil, fmt.Errorf("there is no workflow %q", name)
}

// carryOut lives through the scenario in a bubble, and gives what has happened.
func (w *world) carryOut() {
	time.Sleep(w.sc.start)
	begin := time.Now()
	w.loading = make(chan struct{}, 1) // one of the bubble
	w.catalog = &reload.Catalog{Workflows: map[string]*reload.Loaded{}}
	for _, f := range w.sc.flows {
		if f.gone {
			continue
		}
		w.catalog.Workflows[f.name], w.last[f.name] = w.files[f.name][0], w.files[f.name][0]
	}
	over, ended := make(chan struct{}), make(chan struct{})
	go func() { w.succession(over); close(ended) }()
	for _, a := range w.sc.acts {
		time.Sleep(time.Until(begin.Add(a.at)))
		w.acting.Go(func() { w.do(a) })
	}
	time.Sleep(time.Until(begin.Add(w.sc.span)))
	w.mu.Lock()
	w.healthy, w.outage = true, 0
	w.mu.Unlock()
	w.becomeCalm()
	close(over)
	w.await("the last engine", ended, 4*time.Hour)
	acted := make(chan struct{})
	go func() { w.acting.Wait(); close(acted) }()
	w.await("a request", acted, 2*time.Hour)
}

// await waits for what is to be over soon, and tells whether it is.
func (w *world) await(what string, over chan struct{}, soon time.Duration) bool {
	select {
	case <-over:
		return true
	case <-time.After(soon):
		w.history.Add(stuck{what})
		return false
	}
}

// succession has one engine after another, until it is over.
func (w *world) succession(over chan struct{}) {
	for i := 0; ; i++ {
		w.loading <- struct{}{}
		e := w.boot(i)
		served := make(chan struct{})
		go func() { e.err = e.Serve(e.ctx); close(served) }()
		policy := w.policy(i)
		w.history.Add(boots{i, policy})
		if err := e.Recover(e.ctx, policy); err == nil {
			time.Sleep(time.Microsecond) // one that could not write comes to its end first
			select {
			case <-e.plug.Off():
			case <-served:
			default:
				w.history.Add(taken{i})
			}
			w.loadNow(e)
			_ = e.LookAgain(e.ctx) // or it has ended
			w.set(func() { e.ready = true })
			w.history.Add(up{i})
		} else {
			e.stop()
		}
		<-w.loading
		select {
		case <-e.plug.Off():
		case <-e.ctx.Done():
		case <-served:
		case <-over:
		}
		w.noteEnd(i, e, served)
		e.stop()
		e.still.Store(!w.await(fmt.Sprint("engine ", i, ", which was told to end,"), served, 2*time.Hour))
		e.plug.Unplug()
		var outage time.Duration
		w.set(func() { w.now, outage, w.outage = nil, w.outage, 0 })
		w.history.Add(down{i})
		select {
		case <-over:
			return
		case <-time.After(max(outage, time.Second)):
		}
	}
}

// noteEnd notes whether an engine has ended for no reason.
func (w *world) noteEnd(i int, e *engine, served chan struct{}) {
	select {
	case <-served:
	default:
		return
	}
	var failed bool
	w.set(func() { failed = w.failed[i] })
	if !failed && e.ctx.Err() == nil && !e.plug.Dead() {
		w.history.Add(quit{i, e.err})
	}
}

// policy draws what an engine does with what others left.
func (w *world) policy(engine int) (p runtime.Startup) {
	p = runtime.StartupRecover
	w.set(func() {
		switch r := w.chance("policy", engine).IntN(20); {
		case w.healthy || engine == 0:
		case r == 0:
			p = runtime.StartupCancel
		case r < 3:
			p = runtime.StartupRunAll
		}
	})
	return p
}

func (w *world) set(do func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	do()
}

// boot makes the i-th engine.
func (w *world) boot(i int) *engine {
	e := &engine{plug: sim.NewPlug(i, w.disk, w.procs)}
	e.Engine = &runtime.Engine{
		Store: e.plug, Executor: e.plug, Data: w.data, Zone: time.UTC, Owner: fmt.Sprint("e", i),
		MaxParallel: w.sc.slots, Supervisor: []string{"sim"}, Workflows: w.workflow,
		Detach: w.chance("detach", i).IntN(3) > 0, Drain: 20 * time.Second,
	}
	e.Clock = func() time.Time {
		if e.still.Load() || w.givenUp.Load() {
			select {} // so that it does not keep the world from its end
		}
		return w.clock()
	}
	e.ctx, e.stop = context.WithCancel(context.Background())
	w.set(func() {
		if w.now = e; w.healthy {
			w.calmly++
		}
	})
	return e
}

// load has an engine keep the schedules of what the folder holds now.
func (w *world) load(e *engine) {
	if e == nil {
		return
	}
	select {
	case w.loading <- struct{}{}:
	case <-e.ctx.Done():
		return
	}
	w.loadNow(e)
	<-w.loading
}

func (w *world) loadNow(e *engine) {
	var c *reload.Catalog
	w.set(func() { c = w.catalog })
	w.history.Add(loaded{c})
	_ = e.Load(e.ctx, c) // ax serve logs it, and goes on
}

// becomeCalm waits until all that is due is dealt with, and everything has ended.
func (w *world) becomeCalm() {
	time.Sleep(7 * time.Minute) // the longest jitter, and some
	for !w.isUp() && !w.restless() {
		time.Sleep(time.Second)
	}
	time.Sleep(2 * time.Minute)
	w.history.Add(calm{})
	w.set(func() { w.catalog = &reload.Catalog{Workflows: map[string]*reload.Loaded{}} })
	var e *engine
	w.set(func() { e = w.now })
	w.load(e)
	for range 20 * 24 * 12 {
		time.Sleep(5 * time.Minute)
		if w.isCalm() || w.restless() {
			return
		}
	}
}

// restless tells whether engines end though nothing is wrong with the disk.
func (w *world) restless() (yes bool) {
	w.set(func() { yes = w.calmly > 10 })
	if yes {
		w.history.Add(restless{})
	}
	return yes
}

func (w *world) isUp() (ready bool) {
	w.set(func() { ready = w.now != nil && w.now.ready })
	return ready
}

func (w *world) isCalm() bool {
	ctx := context.Background()
	open, _ := w.disk.Unfinished(ctx, "", 1)
	later, _ := w.disk.Scheduled(ctx, 1)
	return len(open)+len(later) == 0
}
