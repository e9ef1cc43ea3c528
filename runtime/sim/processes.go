package sim

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/ax-scheduler/ax/runtime/executor"
)

// Doing is what a process does.
type Doing struct {
	Took    time.Duration
	Deaf    time.Duration // how long it goes on after SIGTERM
	Dying   time.Duration // and after SIGKILL
	Code    int
	Signal  string
	Outputs map[string]string
}

// Process is one attempt being carried out.
type Process struct {
	Attempt    executor.Attempt
	Supervised bool // it can outlive its engine

	doing   Doing
	stop    chan struct{} // closed: SIGTERM was sent
	stopped sync.Once
	lost    chan struct{} // closed: it died with its engine, and left no record
	done    chan struct{} // closed: it is over

	// Of Processes.mu.
	holder  *Plug
	settled bool             // its record is not needed any more
	Outcome executor.Outcome // once it is over
	Lost    bool             // there is no record of how it ended
}

// Began, Asked and Gone are Entries: a process was started, was told to stop, is
// over.
type (
	Began struct{ *Process }
	Asked struct{ *Process }
	Gone  struct{ *Process }
)

// Processes are all that engines have started. Its fields are set before use.
type Processes struct {
	History *History
	// Does says what the process of an attempt does.
	Does func(a *executor.Attempt) Doing
	// Survives says whether a process goes on when its engine crashes.
	Survives func(p *Process) bool

	mu  sync.Mutex
	all map[string]*Process // the last of each attempt
	own executor.Executor   // for what needs no process
}

// Alive counts the processes that are not over.
func (ps *Processes) Alive() (n int) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	for _, p := range ps.all {
		select {
		case <-p.done:
		default:
			n++
		}
	}
	return n
}

func mark(a *executor.Attempt) string { return a.RunID + "/" + a.Task + "/" + string(rune(a.Number)) }

// Execute carries out an attempt; see runtime.Executor.
func (p *Plug) Execute(ctx context.Context, a executor.Attempt) executor.Outcome {
	switch a.Action.(type) {
	case executor.Func, executor.Wait:
		return p.procs.own.Execute(ctx, a)
	}
	if ctx.Err() != nil {
		return executor.Outcome{ExitCode: -1, Stopped: true}
	}
	proc := p.procs.begin(p, a)
	if proc == nil {
		return off
	}
	return p.await(ctx, proc)
}

// begin starts a process, unless the engine is dead.
func (ps *Processes) begin(by *Plug, a executor.Attempt) *Process {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if by.Dead() {
		return nil
	}
	p := &Process{Attempt: a, doing: ps.Does(&a), holder: by, stop: make(chan struct{}), lost: make(chan struct{}), done: make(chan struct{})}
	switch a.Action.(type) {
	case executor.Script, executor.Command:
		p.Supervised = true
	}
	if ps.all == nil {
		ps.all = map[string]*Process{}
	}
	ps.all[mark(&a)] = p
	ps.History.Add(Began{p})
	go ps.carryOut(p, ps.History.Clock())
	return p
}

// carryOut lives the life of a process.
func (ps *Processes) carryOut(p *Process, started time.Time) {
	o := executor.Outcome{ExitCode: p.doing.Code, Signal: p.doing.Signal, Started: started}
	end := time.NewTimer(p.doing.Took)
	defer end.Stop()
	lost := false
	select {
	case <-end.C:
		if o.Signal == "" {
			o.Outputs = p.doing.Outputs
		}
	case <-p.lost:
		lost = true
	case <-p.stop:
		o.Stopped, o.ExitCode, o.Signal = true, 143, "SIGTERM"
		after := p.doing.Deaf
		if after >= p.Attempt.KillAfter {
			after, o.ExitCode, o.Signal = p.Attempt.KillAfter+p.doing.Dying, 137, "SIGKILL"
		}
		end.Reset(after)
		select {
		case <-end.C:
		case <-p.lost:
			lost = true
		}
	}
	ps.mu.Lock()
	defer ps.mu.Unlock()
	o.Finished = ps.History.Clock()
	p.Outcome, p.Lost = o, lost
	ps.History.Add(Gone{p})
	close(p.done)
}

// off is what a dead engine is told, so that it comes to its end.
var off = executor.Outcome{ExitCode: -1, Interrupted: true}

// await waits for the end of a process; see executor.Executor.
func (p *Plug) await(ctx context.Context, proc *Process) executor.Outcome {
	select {
	case <-proc.done:
	case <-p.off:
		return off
	case <-ctx.Done():
		if p.Dead() {
			return off
		}
		if proc.Supervised && errors.Is(context.Cause(ctx), executor.ErrDetach) {
			return executor.Outcome{Detached: true}
		}
		proc.stopped.Do(func() {
			p.procs.History.Add(Asked{proc})
			close(proc.stop)
		})
		select {
		case <-proc.done:
		case <-p.off:
			return off
		}
	}
	return p.procs.outcomeOf(proc)
}

func (ps *Processes) outcomeOf(p *Process) executor.Outcome {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if p.Lost || p.settled {
		return executor.Outcome{ExitCode: -1, Interrupted: true, Finished: ps.History.Clock()}
	}
	o := p.Outcome
	o.Settled = func() {
		ps.mu.Lock()
		defer ps.mu.Unlock()
		p.settled = true
	}
	return o
}

// Adopt says what has become of the attempts of an engine that is dead; see
// executor.Executor.
func (p *Plug) Adopt(attempts []executor.Attempt) []executor.Adopted {
	found := make([]executor.Adopted, len(attempts))
	for i := range attempts {
		p.procs.mu.Lock()
		proc := p.procs.all[mark(&attempts[i])]
		if proc != nil {
			proc.holder = p
		}
		p.procs.mu.Unlock()
		if proc == nil {
			found[i].Ended = &executor.Outcome{ExitCode: -1, Interrupted: true, Finished: p.procs.History.Clock()}
			continue
		}
		select {
		case <-proc.done:
			o := p.procs.outcomeOf(proc)
			found[i].Ended = &o
		default:
			found[i].Await = func(ctx context.Context) executor.Outcome { return p.await(ctx, proc) }
		}
	}
	return found
}

// crash has those of an engine's processes die with it that do not outlive it.
func (ps *Processes) crash(of *Plug) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	for _, p := range ps.all {
		select {
		case <-p.done:
			continue
		default:
		}
		if p.holder == of && (!p.Supervised || !ps.Survives(p)) {
			close(p.lost)
			p.holder = nil
		}
	}
}
