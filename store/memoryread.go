package store

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ax-scheduler/ax/runtime/machine"
)

// Tasks gives the records of a run's tasks by index and instance.
func (m *Memory) Tasks(ctx context.Context, runID string) ([]Task, error) {
	r, err := m.lockRun(ctx, runID)
	if err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	all := slices.SortedFunc(maps.Values(r.tasks), func(a, b Task) int {
		return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(a.Instance, b.Instance))
	})
	for i := range all {
		all[i] = copyTask(all[i])
	}
	return all, nil
}

// TasksIn gives those of a run's records of tasks that are in some states.
func (m *Memory) TasksIn(ctx context.Context, runID string, states []machine.TaskState, limit int) ([]Task, error) {
	all, err := m.Tasks(ctx, runID)
	all = slices.DeleteFunc(all, func(t Task) bool { return !slices.Contains(states, t.State) })
	return all[:min(len(all), bounded(limit))], err
}

// lockRun is lock, and gives the run, an empty one if it is not there.
func (m *Memory) lockRun(ctx context.Context, id string) (*memoryRun, error) {
	if err := m.lock(ctx); err != nil {
		return nil, err
	}
	if r, ok := m.runs[id]; ok {
		return r, nil
	}
	return &memoryRun{}, nil
}

// Attempts gives a run's attempts by index, instance and number.
func (m *Memory) Attempts(ctx context.Context, runID string) ([]Attempt, error) {
	r, err := m.lockRun(ctx, runID)
	if err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	all := slices.SortedFunc(maps.Values(r.attempts), func(a, b Attempt) int {
		return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(a.Instance, b.Instance), cmp.Compare(a.Number, b.Number))
	})
	for i := range all {
		all[i] = copyAttempt(all[i])
	}
	return all, nil
}

// Events gives all events of a run in order.
func (m *Memory) Events(ctx context.Context, runID string) ([]Event, error) {
	r, err := m.lockRun(ctx, runID)
	if err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	var all []Event
	for i, d := range r.events {
		all = append(all, Event{Seq: i + 1, Data: copySlice(d)})
	}
	return all, nil
}

// Version gives a version by its hash, or ErrNotFound.
func (m *Memory) Version(ctx context.Context, hash string) (Version, error) {
	if err := m.lock(ctx); err != nil {
		return Version{}, err
	}
	defer m.mu.Unlock()
	v, ok := m.versions[hash]
	if !ok {
		return Version{}, fmt.Errorf("version %q: %w", hash, ErrNotFound)
	}
	return copyVersion(v), nil
}

func bounded(limit int) int { return min(max(limit, 1), MaxLimit) }

// Ticks gives a workflow's ticks with from <= At <= to, by time and schedule;
// limit 0 for all.
func (m *Memory) Ticks(ctx context.Context, workflow string, from, to time.Time, limit int) ([]Tick, error) {
	if err := m.lock(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	var found []Tick
	for k, t := range m.ticks {
		if k.workflow == workflow && from.UnixMicro() <= k.at && k.at <= to.UnixMicro() {
			found = append(found, t)
		}
	}
	slices.SortFunc(found, byTime)
	if limit > 0 && len(found) > limit {
		found = found[:limit]
	}
	return found, nil
}

func byTime(a, b Tick) int {
	return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Schedule, b.Schedule))
}

// LastTicks gives a workflow's ticks that come before one, the last first.
func (m *Memory) LastTicks(ctx context.Context, workflow string, before Tick, limit int) ([]Tick, error) {
	if err := m.lock(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	var found []Tick
	for k, t := range m.ticks {
		if k.workflow == workflow && (before == Tick{} || byTime(t, before) < 0) {
			found = append(found, t)
		}
	}
	slices.SortFunc(found, func(a, b Tick) int { return byTime(b, a) })
	return found[:min(len(found), bounded(limit))], nil
}

// Schedules gives the span of each schedule that a workflow has ticks of, by
// schedule.
func (m *Memory) Schedules(ctx context.Context, workflow string) ([]Span, error) {
	if err := m.lock(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	return slices.SortedFunc(maps.Values(m.spans(workflow)), func(a, b Span) int { return cmp.Compare(a.Schedule, b.Schedule) }), nil
}

func (m *Memory) spans(workflow string) map[string]Span {
	spans := map[string]Span{}
	for k, t := range m.ticks {
		if k.workflow != workflow {
			continue
		}
		s, ok := spans[t.Schedule]
		if !ok {
			s = Span{t.Schedule, t.At, t.At}
		}
		if t.At.Before(s.First) {
			s.First = t.At
		}
		if t.At.After(s.Last) {
			s.Last = t.At
		}
		spans[t.Schedule] = s
	}
	return spans
}
