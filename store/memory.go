package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ax-scheduler/ax/runtime/machine"
)

// Memory is a Store that forgets everything with the process: for tests and
// simulation. The zero value is empty and ready to use.
type Memory struct {
	mu       sync.Mutex
	closed   bool
	versions map[string]Version
	runs     map[string]*memoryRun
	open     map[string]*memoryRun // those of runs that have not ended
	ids      []string              // of runs, ascending
	keys     map[runKey]string     // run ids
	ticks    map[tickKey]Tick
	messages map[string]Message
	pauses   []Pause
	changes  []Change
	changed  int64 // the number of the last of them, those that are gone included
}

type memoryRun struct {
	run      Run
	events   [][]byte
	tasks    map[taskKey]Task
	attempts map[attemptKey]Attempt
}

type (
	runKey     struct{ workflow, key string }
	taskKey    struct{ index, instance int }
	attemptKey struct{ index, instance, number int }
	tickKey    struct {
		workflow, schedule string
		at                 int64 // microseconds: a time.Time as a key tells zones apart
	}
)

var errMemoryClosed = errors.New("the store is closed")

// lock waits for the store, which the caller then unlocks; on error it is not locked.
func (m *Memory) lock(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return errMemoryClosed
	}
	if m.runs == nil {
		m.versions = map[string]Version{}
		m.runs, m.open = map[string]*memoryRun{}, map[string]*memoryRun{}
		m.keys = map[runKey]string{}
		m.ticks = map[tickKey]Tick{}
		m.messages = map[string]Message{}
	}
	return nil
}

// Close makes every other method fail.
func (m *Memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	return nil
}

// Commit writes a batch; see Store.
func (m *Memory) Commit(ctx context.Context, b *Batch) error {
	if err := m.lock(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	w := memoryWrite{m: m}
	if err := w.batch(b); err != nil {
		for _, undo := range slices.Backward(w.undo) {
			undo()
		}
		return err
	}
	return nil
}

// memoryWrite is one batch being written, with the way back.
type memoryWrite struct {
	m    *Memory
	undo []func()
}

func (w *memoryWrite) batch(b *Batch) error {
	for _, v := range b.Versions {
		if _, ok := w.m.versions[v.Hash]; !ok {
			put(w, w.m.versions, v.Hash, copyVersion(v))
		}
	}
	if err := each(b.Create, w.create); err != nil {
		return err
	}
	if err := each(b.Update, w.update); err != nil {
		return err
	}
	if err := each(b.Append, w.append); err != nil {
		return err
	}
	for _, id := range b.Restate {
		if err := w.restate(id); err != nil {
			return err
		}
	}
	if err := each(b.Tasks, w.task); err != nil {
		return err
	}
	if err := each(b.Attempts, w.attempt); err != nil {
		return err
	}
	if err := each(b.Ticks, w.tick); err != nil {
		return err
	}
	if err := each(b.Messages, w.message); err != nil {
		return err
	}
	if err := each(b.Tries, w.try); err != nil {
		return err
	}
	if err := each(b.Pause, w.pause); err != nil {
		return err
	}
	if err := each(b.Changes, w.change); err != nil {
		return err
	}
	for _, id := range b.Remove {
		w.remove(id)
	}
	for _, f := range b.Forget {
		w.forget(f)
	}
	w.purge(b.Purge)
	w.purgeChanges(b.PurgeChanges)
	return nil
}

func each[T any](all []T, do func(*T) error) error {
	for i := range all {
		if err := do(&all[i]); err != nil {
			return err
		}
	}
	return nil
}

// put sets a value in a map of the store.
func put[K comparable, V any](w *memoryWrite, to map[K]V, k K, v V) {
	old, was := to[k]
	to[k] = v
	w.undo = append(w.undo, func() {
		if was {
			to[k] = old
		} else {
			delete(to, k)
		}
	})
}

func (w *memoryWrite) create(r *Run) error {
	key := runKey{r.Workflow, r.Key}
	if _, taken := w.m.runs[r.ID]; taken {
		return fmt.Errorf("run %q: %w: the id is taken", r.ID, ErrConflict)
	}
	if _, taken := w.m.keys[key]; taken && r.Key != "" {
		return fmt.Errorf("run %q: %w: the key %q of the workflow %q is taken", r.ID, ErrConflict, r.Key, r.Workflow)
	}
	if r.Key != "" {
		put(w, w.m.keys, key, r.ID)
	}
	made := &memoryRun{run: copyRun(*r), tasks: map[taskKey]Task{}, attempts: map[attemptKey]Attempt{}}
	put(w, w.m.runs, r.ID, made)
	w.listOpen(made)
	at, _ := slices.BinarySearch(w.m.ids, r.ID)
	w.m.ids = slices.Insert(w.m.ids, at, r.ID)
	w.undo = append(w.undo, func() { w.m.ids = slices.Delete(w.m.ids, at, at+1) })
	return nil
}

func (w *memoryWrite) of(id string) (*memoryRun, error) {
	if r, ok := w.m.runs[id]; ok {
		return r, nil
	}
	return nil, fmt.Errorf("run %q: %w", id, ErrNotFound)
}

func (w *memoryWrite) update(r *Run) error {
	to, err := w.of(r.ID)
	if err != nil {
		return err
	}
	old, v := to.run, copyRun(*r)
	v.Workflow, v.Key, v.CreatedAt = old.Workflow, old.Key, old.CreatedAt
	to.run = v
	w.undo = append(w.undo, func() { to.run = old })
	w.listOpen(to)
	return nil
}

// listOpen sees to it that a run stands in open if it has not ended.
func (w *memoryWrite) listOpen(r *memoryRun) {
	if _, in := w.m.open[r.run.ID]; r.run.State.Final() && in {
		drop(w, w.m.open, r.run.ID)
	} else if !r.run.State.Final() && !in {
		put(w, w.m.open, r.run.ID, r)
	}
}

func (w *memoryWrite) append(a *Appended) error {
	to, err := w.of(a.RunID)
	if err != nil {
		return err
	}
	had := len(to.events)
	if had != a.Have {
		return fmt.Errorf("run %q: %w: it has %d events, not %d", a.RunID, ErrConflict, had, a.Have)
	}
	for _, d := range a.Data {
		to.events = append(to.events, copySlice(d))
	}
	w.undo = append(w.undo, func() { to.events = to.events[:had] })
	return nil
}

func (w *memoryWrite) task(t *Task) error {
	to, err := w.of(t.RunID)
	if err == nil {
		put(w, to.tasks, taskKey{t.Index, t.Instance}, copyTask(*t))
	}
	return err
}

func (w *memoryWrite) attempt(a *Attempt) error {
	to, err := w.of(a.RunID)
	if err == nil {
		put(w, to.attempts, attemptKey{a.Index, a.Instance, a.Number}, copyAttempt(*a))
	}
	return err
}

func (w *memoryWrite) tick(t *Tick) error {
	k := tickKey{t.Workflow, t.Schedule, t.At.UnixMicro()}
	if _, taken := w.m.ticks[k]; taken {
		return fmt.Errorf("tick of %q at %s: %w: it is there already", t.Workflow, t.At.UTC().Format(time.RFC3339Nano), ErrConflict)
	}
	put(w, w.m.ticks, k, copyTick(*t))
	return nil
}

func (w *memoryWrite) restate(id string) error {
	r, err := w.of(id)
	if err != nil {
		return err
	}
	tasks, attempts := r.tasks, r.attempts
	r.tasks, r.attempts = map[taskKey]Task{}, map[attemptKey]Attempt{}
	w.undo = append(w.undo, func() { r.tasks, r.attempts = tasks, attempts })
	return nil
}

func (w *memoryWrite) remove(id string) {
	r, ok := w.m.runs[id]
	if !ok {
		return
	}
	drop(w, w.m.runs, id)
	if _, in := w.m.open[id]; in {
		drop(w, w.m.open, id)
	}
	if r.run.Key != "" {
		drop(w, w.m.keys, runKey{r.run.Workflow, r.run.Key})
	}
	at, _ := slices.BinarySearch(w.m.ids, id)
	w.m.ids = slices.Delete(w.m.ids, at, at+1)
	w.undo = append(w.undo, func() { w.m.ids = slices.Insert(w.m.ids, at, id) })
}

func (w *memoryWrite) forget(f Forgotten) {
	spans := w.m.spans(f.Workflow)
	for k, t := range w.m.ticks {
		s := spans[k.schedule]
		if k.workflow == f.Workflow && k.at < f.Before.UnixMicro() && !t.At.Equal(s.First) && !t.At.Equal(s.Last) {
			drop(w, w.m.ticks, k)
		}
	}
}

// drop takes a value out of a map of the store.
func drop[K comparable, V any](w *memoryWrite, from map[K]V, k K) {
	old := from[k]
	delete(from, k)
	w.undo = append(w.undo, func() { from[k] = old })
}

// Run gives one run by its id, or ErrNotFound.
func (m *Memory) Run(ctx context.Context, id string) (Run, error) {
	if err := m.lock(ctx); err != nil {
		return Run{}, err
	}
	defer m.mu.Unlock()
	r, ok := m.runs[id]
	if !ok {
		return Run{}, fmt.Errorf("run %q: %w", id, ErrNotFound)
	}
	return r.out(), nil
}

func (r *memoryRun) out() Run {
	v := copyRun(r.run)
	v.Events = len(r.events)
	return v
}

// RunByKey gives the run of a workflow with a key, or ErrNotFound.
func (m *Memory) RunByKey(ctx context.Context, workflow, key string) (Run, error) {
	if err := m.lock(ctx); err != nil {
		return Run{}, err
	}
	defer m.mu.Unlock()
	id, ok := m.keys[runKey{workflow, key}]
	if !ok {
		return Run{}, fmt.Errorf("run of %q with key %q: %w", workflow, key, ErrNotFound)
	}
	return m.runs[id].out(), nil
}

// Resolve gives the ids, at most limit, that begin with a prefix, in order.
func (m *Memory) Resolve(ctx context.Context, prefix string, limit int) ([]string, error) {
	if err := m.lock(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	var found []string
	from, _ := slices.BinarySearch(m.ids, prefix)
	for _, id := range m.ids[from:] {
		if len(found) >= limit || !strings.HasPrefix(id, prefix) {
			break
		}
		found = append(found, id)
	}
	return found, nil
}

// Runs lists runs, newest first.
func (m *Memory) Runs(ctx context.Context, f RunFilter) ([]Run, error) {
	if err := m.lock(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	ids := m.ids
	if f.Before != "" {
		end, _ := slices.BinarySearch(ids, f.Before)
		ids = ids[:end]
	}
	limit := bounded(f.Limit)
	var found []Run
	for _, id := range slices.Backward(ids) {
		r := m.runs[id]
		switch {
		case f.Workflow != "" && r.run.Workflow != f.Workflow:
		case !f.spans(r.run.ScheduledFor):
		case len(f.States) > 0 && !slices.Contains(f.States, r.run.State):
		default:
			found = append(found, r.out())
		}
		if len(found) == limit {
			break
		}
	}
	return found, nil
}

// spans tells whether a time lies between From and To, to the microsecond.
func (f *RunFilter) spans(at time.Time) bool {
	if f.From.IsZero() && f.To.IsZero() {
		return true
	}
	return !at.IsZero() && (f.From.IsZero() || !at.Before(copyTime(f.From))) && (f.To.IsZero() || !at.After(copyTime(f.To)))
}

// Unfinished lists queued and running runs with ids greater than after, oldest
// first.
func (m *Memory) Unfinished(ctx context.Context, after string, limit int) ([]Run, error) {
	return m.inOrder(ctx, limit, func(a, b *Run) int { return 0 }, func(r *Run) bool {
		return r.ID > after && (r.State == machine.RunQueued || r.State == machine.RunRunning)
	})
}

// Scheduled lists runs in state scheduled by NotBefore and id.
func (m *Memory) Scheduled(ctx context.Context, limit int) ([]Run, error) {
	return m.inOrder(ctx, limit, func(a, b *Run) int { return a.NotBefore.Compare(b.NotBefore) }, func(r *Run) bool {
		return r.State == machine.RunScheduled
	})
}

// Queued lists the queued runs of a workflow by Turn and id.
func (m *Memory) Queued(ctx context.Context, workflow string, limit int) ([]Run, error) {
	return m.inOrder(ctx, limit, func(a, b *Run) int { return a.Turn.Compare(b.Turn) }, func(r *Run) bool {
		return r.State == machine.RunQueued && r.Workflow == workflow
	})
}

// inOrder gives the first of the runs that are wanted, those alike by id.
func (m *Memory) inOrder(ctx context.Context, limit int, order func(a, b *Run) int, wanted func(*Run) bool) ([]Run, error) {
	if err := m.lock(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	var found []*memoryRun
	for _, r := range m.open {
		if wanted(&r.run) {
			found = append(found, r)
		}
	}
	slices.SortFunc(found, func(a, b *memoryRun) int { return cmp.Or(order(&a.run, &b.run), cmp.Compare(a.run.ID, b.run.ID)) })
	var out []Run
	for _, r := range found[:min(len(found), bounded(limit))] {
		out = append(out, r.out())
	}
	return out, nil
}
