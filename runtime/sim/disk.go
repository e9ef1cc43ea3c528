package sim

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ax-scheduler/ax/store"
)

// Fault is what befalls a write.
type Fault uint8

// The faults.
const (
	None        Fault = iota
	Full              // store.ErrFull: nothing is written
	FailsBefore       // an error, and nothing is written
	FailsAfter        // an error, though it is written
	CrashBefore       // the engine ends, and nothing is written
	CrashAfter        // the engine ends, and it is written
)

// ErrIO is the error of a write that fails.
var ErrIO = errors.New("input/output error")

var errOff = errors.New("the machine is off")

// Disk keeps what was written, whatever becomes of those who wrote it. Its
// fields are set before use.
type Disk struct {
	store.Memory
	History *History

	// Fate says what befalls the n-th write of an engine, n from 1, and how long
	// it takes. It may be called from several goroutines.
	Fate func(engine, n int) (Fault, time.Duration)

	mu sync.Mutex // so that the history has the writes in their order
}

// Written is an Entry: a batch that is on the disk.
type Written struct {
	Engine int
	Batch  *store.Batch
}

// Plug connects one engine with the world: it is its store.Store and its
// runtime.Executor. Once it is pulled, nothing that the engine does has any
// effect. An engine that has ended by itself is to be unplugged as well.
type Plug struct {
	store.Store
	Engine int

	disk  *Disk
	procs *Processes
	off   chan struct{}
	once  sync.Once

	mu     sync.Mutex
	writes int
}

// NewPlug connects another engine. Engines are told apart by their numbers.
func NewPlug(engine int, d *Disk, ps *Processes) *Plug {
	return &Plug{Store: &d.Memory, Engine: engine, disk: d, procs: ps, off: make(chan struct{})}
}

// Pull ends the engine as a power cut or SIGKILL does. What becomes of its
// processes Processes.Survives says.
func (p *Plug) Pull() {
	p.once.Do(func() {
		p.disk.mu.Lock() // no write is half done
		close(p.off)
		p.disk.mu.Unlock()
		p.procs.crash(p)
	})
}

// Unplug is for an engine that has ended by itself: its processes go on.
func (p *Plug) Unplug() { p.once.Do(func() { close(p.off) }) }

// Off is closed once the plug is pulled.
func (p *Plug) Off() <-chan struct{} { return p.off }

// Dead tells whether the plug is pulled.
func (p *Plug) Dead() bool {
	select {
	case <-p.off:
		return true
	default:
		return false
	}
}

// Commit writes a batch, or not; see Fault.
func (p *Plug) Commit(ctx context.Context, b *store.Batch) error {
	p.mu.Lock()
	p.writes++
	fault, took := p.disk.Fate(p.Engine, p.writes)
	p.mu.Unlock()
	p.wait(took / 2)
	switch fault {
	case Full:
		return fmt.Errorf("write: %w", store.ErrFull)
	case FailsBefore:
		return ErrIO
	case CrashBefore:
		p.Pull()
	}
	if err := p.write(ctx, b); err != nil {
		return err
	}
	p.wait(took - took/2)
	switch {
	case fault == CrashAfter:
		p.Pull()
	case fault == FailsAfter:
		return ErrIO
	}
	if p.Dead() {
		return errOff
	}
	return nil
}

func (p *Plug) write(ctx context.Context, b *store.Batch) error {
	p.disk.mu.Lock()
	defer p.disk.mu.Unlock()
	if p.Dead() {
		return errOff
	}
	err := p.Store.Commit(ctx, b)
	if err == nil {
		kept := *b
		p.disk.History.Add(Written{p.Engine, &kept})
	}
	return err
}

// wait passes some time, unless the engine ends.
func (p *Plug) wait(d time.Duration) {
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-p.off:
	}
}
