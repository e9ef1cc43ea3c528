package sqlite

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/store"
)

var errSlow = errors.New("a read took too long")

// read gives all rows of a query. While another process keeps everybody out it
// tries again.
func read[T any](ctx context.Context, s *Store, query string, scan func(*T) []any, args ...any) ([]T, error) {
	bounded, cancel := context.WithTimeout(ctx, s.limit)
	defer cancel()
	var all []T
	err := patient(bounded, func() (err error) {
		all, err = readOnce(bounded, s, query, scan, args)
		return err
	})
	switch {
	case err == nil:
		return all, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case bounded.Err() != nil:
		return nil, explain(s.path, fmt.Errorf("%w: more than %v", errSlow, s.limit))
	}
	return nil, explain(s.path, err)
}

func readOnce[T any](ctx context.Context, s *Store, query string, scan func(*T) []any, args []any) (all []T, err error) {
	stmt, err := s.prepared(ctx, query)
	if err != nil {
		return nil, err
	}
	rows, err := stmt.QueryContext(ctx, args...)
	if err != nil {
		return nil, err
	}
	defer func() {
		if closed := rows.Close(); err == nil {
			err = closed
		}
	}()
	for rows.Next() {
		var v T
		if err := rows.Scan(scan(&v)...); err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, rows.Err()
}

// readOne is read for what there is one of, or store.ErrNotFound.
func readOne[T any](ctx context.Context, s *Store, what, query string, scan func(*T) []any, args ...any) (v T, err error) {
	all, err := read(ctx, s, query, scan, args...)
	switch {
	case err != nil:
		return v, err
	case len(all) == 0:
		return v, fmt.Errorf("%s: %w", what, store.ErrNotFound)
	}
	return all[0], nil
}

// prepared gives a statement on the readers' connections. There are few texts.
func (s *Store) prepared(ctx context.Context, query string) (*sql.Stmt, error) {
	if stmt, ok := s.queries.Load(query); ok {
		return stmt.(*sql.Stmt), nil
	}
	stmt, err := s.reads.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	if first, ok := s.queries.LoadOrStore(query, stmt); ok {
		return first.(*sql.Stmt), stmt.Close()
	}
	return stmt, nil
}

const runColumns = `id, workflow, file, version, state, reason, error, "trigger", key, params, only, priority, grp, group_max, owner,
	scheduled_for, interval_from, interval_to, not_before, turn, created_at, started_at, finished_at,
	coalesce((SELECT max(last) FROM events WHERE run = n), 0)`

func scanRun(r *store.Run) []any {
	return []any{
		&r.ID, &r.Workflow, &r.File, &r.Version, state[machine.RunState]{&r.State, machine.ParseRunState}, &r.Reason, &r.Error, &r.Trigger,
		&r.Key, fromJSON{&r.Params}, fromJSON{&r.Only}, &r.Priority, &r.Group, &r.GroupMax, &r.Owner,
		at{&r.ScheduledFor}, at{&r.IntervalFrom}, at{&r.IntervalTo}, at{&r.NotBefore}, at{&r.Turn}, at{&r.CreatedAt}, at{&r.StartedAt}, at{&r.FinishedAt},
		&r.Events,
	}
}

// Run gives one run by its id, or store.ErrNotFound.
func (s *Store) Run(ctx context.Context, id string) (store.Run, error) {
	return readOne(ctx, s, fmt.Sprintf("run %q", id), `SELECT `+runColumns+` FROM runs WHERE id = ?`, scanRun, id)
}

// RunByKey gives the run of a workflow with a key, or store.ErrNotFound.
func (s *Store) RunByKey(ctx context.Context, workflow, key string) (store.Run, error) {
	what := fmt.Sprintf("run of %q with key %q", workflow, key)
	return readOne(ctx, s, what, `SELECT `+runColumns+` FROM runs WHERE workflow = ? AND key = ? AND key <> ''`, scanRun, workflow, key)
}

// Resolve gives the ids, at most limit, that begin with a prefix, in order.
func (s *Store) Resolve(ctx context.Context, prefix string, limit int) ([]string, error) {
	ids, err := read(ctx, s, `SELECT id FROM runs WHERE id >= ? ORDER BY id LIMIT ?`, func(id *string) []any { return []any{id} }, prefix, max(limit, 0))
	if err != nil {
		return nil, err
	}
	end := slices.IndexFunc(ids, func(id string) bool { return !strings.HasPrefix(id, prefix) })
	if end >= 0 {
		ids = ids[:end]
	}
	return ids, nil
}

// Runs lists runs, newest first.
func (s *Store) Runs(ctx context.Context, f store.RunFilter) ([]store.Run, error) {
	query, args := runsQuery(f)
	return read(ctx, s, query, scanRun, args...)
}

// runsQuery gives the query of a list. Each state is a range of an index that is
// in the order of ids, and SQLite merges ranges without sorting. The states stand
// in the text: SQLite would compile the query again for each value of a parameter
// that the condition of a partial index may be about.
func runsQuery(f store.RunFilter) (query string, args []any) {
	states := slices.Compact(slices.Sorted(slices.Values(f.States)))
	if len(states) == 0 && f.Workflow != "" {
		states = allStates()
	}
	var where []string
	var shared []any
	if f.Workflow != "" {
		where, shared = append(where, "workflow = ?"), append(shared, f.Workflow)
	}
	if f.Before != "" {
		where, shared = append(where, "id < ?"), append(shared, f.Before)
	}
	if !f.From.IsZero() {
		where, shared = append(where, "scheduled_for >= ?"), append(shared, f.From.UnixMicro())
	}
	if !f.To.IsZero() {
		where, shared = append(where, "scheduled_for <= ?"), append(shared, f.To.UnixMicro())
	}
	part := `SELECT ` + runColumns + ` FROM runs`
	parts := []string{part + conditions(where)}
	args = shared
	if len(states) > 0 {
		parts, args = nil, nil
		for _, st := range states {
			parts = append(parts, part+conditions(append(where[:len(where):len(where)], "state = '"+st.String()+"'")))
			args = append(args, shared...)
		}
	}
	args = append(args, bounded(f.Limit))
	return strings.Join(parts, " UNION ALL ") + " ORDER BY id DESC LIMIT ?", args
}

func conditions(all []string) string {
	if len(all) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(all, " AND ")
}

func allStates() []machine.RunState {
	var all []machine.RunState
	for st := machine.RunScheduled; st <= machine.RunSkipped; st++ {
		all = append(all, st)
	}
	return all
}

// Unfinished lists queued and running runs with ids greater than after, oldest
// first.
func (s *Store) Unfinished(ctx context.Context, after string, limit int) ([]store.Run, error) {
	const part = `SELECT ` + runColumns + ` FROM runs WHERE state = '`
	return read(ctx, s, part+`queued' AND id > ?1 UNION ALL `+part+`running' AND id > ?1 ORDER BY id LIMIT ?2`, scanRun, after, bounded(limit))
}

// The indexes of what waits are named: SQLite takes few runs to be in one state,
// and would rather sort a million of them.
const (
	scheduledRuns = `SELECT ` + runColumns + ` FROM runs INDEXED BY runs_scheduled WHERE state = 'scheduled' ORDER BY not_before, id LIMIT ?`
	queuedRuns    = `SELECT ` + runColumns + ` FROM runs INDEXED BY runs_queued WHERE state = 'queued' AND workflow = ? ORDER BY turn, id LIMIT ?`
)

// Scheduled lists runs in state scheduled by NotBefore and id.
func (s *Store) Scheduled(ctx context.Context, limit int) ([]store.Run, error) {
	return read(ctx, s, scheduledRuns, scanRun, bounded(limit))
}

// Queued lists the queued runs of a workflow by Turn and id.
func (s *Store) Queued(ctx context.Context, workflow string, limit int) ([]store.Run, error) {
	return read(ctx, s, queuedRuns, scanRun, workflow, bounded(limit))
}

// in gives the condition that a column is one of so many parameters.
func in(n int) string { return ` IN (?` + strings.Repeat(", ?", n-1) + `)` }

func bounded(limit int) int { return min(max(limit, 1), store.MaxLimit) }

const ofRun = ` WHERE run = (SELECT n FROM runs WHERE id = ?) ORDER BY `

const taskColumns = `idx, instance, id, state, reason, attempts, exit_code, error, started_at, finished_at, outputs`

func scanTask(runID string) func(*store.Task) []any {
	return func(t *store.Task) []any {
		t.RunID = runID
		return []any{
			&t.Index, &t.Instance, &t.ID, state[machine.TaskState]{&t.State, machine.ParseTaskState}, &t.Reason, &t.Attempts,
			&t.ExitCode, &t.Error, at{&t.StartedAt}, at{&t.FinishedAt}, fromJSON{&t.Outputs},
		}
	}
}

// Tasks gives the records of a run's tasks by index and instance.
func (s *Store) Tasks(ctx context.Context, runID string) ([]store.Task, error) {
	return read(ctx, s, `SELECT `+taskColumns+` FROM tasks`+ofRun+`idx, instance`, scanTask(runID), runID)
}

// TasksIn gives those of a run's records of tasks that are in some states.
func (s *Store) TasksIn(ctx context.Context, runID string, states []machine.TaskState, limit int) ([]store.Task, error) {
	if len(states) == 0 {
		return nil, nil
	}
	args := []any{runID}
	for _, st := range states {
		args = append(args, st.String())
	}
	const query = `SELECT ` + taskColumns + ` FROM tasks WHERE run = (SELECT n FROM runs WHERE id = ?) AND state`
	return read(ctx, s, query+in(len(states))+` ORDER BY idx, instance LIMIT ?`, scanTask(runID), append(args, bounded(limit))...)
}

// Events gives all events of a run in order.
func (s *Store) Events(ctx context.Context, runID string) ([]store.Event, error) {
	type row struct {
		last int
		data []byte
	}
	rows, err := read(ctx, s, `SELECT last, data FROM events`+ofRun+`last`, func(r *row) []any { return []any{&r.last, &r.data} }, runID)
	if err != nil {
		return nil, err
	}
	var all []store.Event
	for _, r := range rows {
		for rest := r.data; len(rest) > 0; {
			size, n := binary.Uvarint(rest)
			if n <= 0 || size > uint64(len(rest)-n) {
				return nil, explain(s.path, fmt.Errorf("%w: the events of run %q up to %d cannot be read", store.ErrDamaged, runID, r.last))
			}
			e := store.Event{Seq: len(all) + 1}
			if size > 0 {
				e.Data = rest[n : n+int(size) : n+int(size)]
			}
			all, rest = append(all, e), rest[n+int(size):]
		}
		if len(all) != r.last {
			return nil, explain(s.path, fmt.Errorf("%w: run %q has %d events up to the one numbered %d", store.ErrDamaged, runID, len(all), r.last))
		}
	}
	return all, nil
}

// Version gives a version by its hash, or store.ErrNotFound.
func (s *Store) Version(ctx context.Context, hash string) (store.Version, error) {
	const query = `SELECT hash, workflow, text, tasks, created_at FROM versions WHERE hash = ?`
	return readOne(ctx, s, fmt.Sprintf("version %q", hash), query, func(v *store.Version) []any {
		return []any{&v.Hash, &v.Workflow, &v.Text, fromJSON{&v.Tasks}, at{&v.CreatedAt}}
	}, hash)
}

// Ticks gives a workflow's ticks with from <= At <= to, by time and schedule;
// limit 0 for all.
func (s *Store) Ticks(ctx context.Context, workflow string, from, to time.Time, limit int) ([]store.Tick, error) {
	if limit <= 0 {
		limit = -1
	}
	const query = `SELECT ` + tickColumns + ` FROM ticks
		WHERE workflow = ? AND at BETWEEN ? AND ? ORDER BY at, schedule LIMIT ?`
	return read(ctx, s, query, scanTick, workflow, from.UnixMicro(), to.UnixMicro(), limit)
}

const tickColumns = `workflow, schedule, at, outcome, reason, run_id`

func scanTick(t *store.Tick) []any {
	return []any{&t.Workflow, &t.Schedule, at{&t.At}, &t.Outcome, &t.Reason, &t.RunID}
}

// LastTicks gives a workflow's ticks that come before one, the last first.
func (s *Store) LastTicks(ctx context.Context, workflow string, before store.Tick, limit int) ([]store.Tick, error) {
	const query = `SELECT ` + tickColumns + ` FROM ticks
		WHERE workflow = ? AND (at, schedule) < (?, ?) ORDER BY at DESC, schedule DESC LIMIT ?`
	end := int64(math.MaxInt64)
	if before != (store.Tick{}) {
		end = before.At.UnixMicro()
	}
	return read(ctx, s, query, scanTick, workflow, end, before.Schedule, bounded(limit))
}

// Schedules gives the span of each schedule that a workflow has ticks of, by
// schedule.
func (s *Store) Schedules(ctx context.Context, workflow string) ([]store.Span, error) {
	const query = `SELECT schedule, MIN(at), MAX(at) FROM ticks WHERE workflow = ? GROUP BY schedule ORDER BY schedule`
	return read(ctx, s, query, func(sp *store.Span) []any {
		return []any{&sp.Schedule, at{&sp.First}, at{&sp.Last}}
	}, workflow)
}
