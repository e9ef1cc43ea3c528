package sqlite

import (
	"database/sql/driver"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/ax-scheduler/ax/store"
)

// statement is a place in texts.
type statement int

const (
	begin statement = iota
	commit
	rollback
	savepoint
	release
	rollbackTo
	putVersion
	createRun
	updateRun
	runNumber
	appendEvents
	countEvents
	putTask
	moveFirst
	putAttempt
	putTick
	putMessage
	putTry
	countTries
	putPause
	putChange
	removeRun
	removeEvents
	removeTasks
	removeAttempts
	forgetTicks
	purgeMessages
	purgeChanges
	statements // how many there are
)

// texts are the statements that write. Parameters have no numbers where they
// need none: for those that have, the driver looks for their names each time.
// What belongs to a run is told the run's number, which the writer knows from
// runNumber.
var texts = [statements]string{
	begin:      "BEGIN IMMEDIATE",
	commit:     "COMMIT",
	rollback:   "ROLLBACK",
	savepoint:  "SAVEPOINT batch",
	release:    "RELEASE batch",
	rollbackTo: "ROLLBACK TO batch",

	putVersion: `INSERT INTO versions (hash, workflow, text, tasks, created_at) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,

	createRun: `INSERT INTO runs (file, version, state, reason, error, "trigger", params, only, priority, grp, group_max, owner, scheduled_for,
		interval_from, interval_to, not_before, turn, started_at, finished_at, id, workflow, key, created_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,

	updateRun: `UPDATE runs SET file = ?, version = ?, state = ?, reason = ?, error = ?, "trigger" = ?, params = ?, only = ?,
		priority = ?, grp = ?, group_max = ?, owner = ?, scheduled_for = ?, interval_from = ?, interval_to = ?, not_before = ?, turn = ?,
		started_at = ?, finished_at = ? WHERE id = ?`,

	runNumber: `SELECT n FROM runs WHERE id = ?`,

	// The number of the last event is a NULL, where none may be, if there is
	// another number of events than ?2. An INSERT … SELECT with a WHERE that says
	// so would go through a temporary table.
	appendEvents: `INSERT INTO events (run, last, data) VALUES (?1,
		(SELECT ?2 + ?3 WHERE ?2 = coalesce((SELECT max(last) FROM events WHERE run = ?1), 0)), ?4)`,

	countEvents: `SELECT coalesce(max(last), 0) FROM events WHERE run = ?`,

	// With OR FAIL what fails is not taken back row by row, for which SQLite would
	// keep copies of pages: the whole batch is. A first attempt that is NULL stays
	// as it was.
	putTask: `INSERT OR FAIL INTO tasks (run, idx, instance, id, state, reason, attempts, exit_code, error, started_at, finished_at, outputs, first_attempt)
		VALUES ` + taskValues + `
		ON CONFLICT DO UPDATE SET id = excluded.id, state = excluded.state, reason = excluded.reason, attempts = excluded.attempts,
		exit_code = excluded.exit_code, error = excluded.error, started_at = excluded.started_at, finished_at = excluded.finished_at,
		outputs = excluded.outputs, first_attempt = coalesce(excluded.first_attempt, first_attempt)`,

	moveFirst: `UPDATE tasks SET first_attempt = '' WHERE run = ? AND idx = ? AND instance = ? AND first_attempt <> ''`,

	putAttempt: `INSERT OR FAIL INTO attempts (run, idx, instance, number, state, reason, exit_code, error, warnings, log, started_at, finished_at)
		VALUES ` + attemptValues + `
		ON CONFLICT DO UPDATE SET state = excluded.state, reason = excluded.reason, exit_code = excluded.exit_code,
		error = excluded.error, warnings = excluded.warnings, log = excluded.log, started_at = excluded.started_at,
		finished_at = excluded.finished_at`,

	putTick: `INSERT INTO ticks (workflow, at, schedule, outcome, reason, run_id) VALUES (?, ?, ?, ?, ?, ?)`,

	putMessage: `INSERT INTO messages (id, workflow, version, file, target, event, run_id, scheduled_for, body, state, tries, error, created_at, next_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,

	putTry: `UPDATE messages SET tries = ?, state = ?, error = ?, next_at = ? WHERE id = ? AND tries = ?`,

	countTries: `SELECT tries FROM messages WHERE id = ?`,

	putPause: `INSERT INTO pauses (workflow, by, since, until) VALUES (?, ?, ?, ?)
		ON CONFLICT (workflow, since) DO UPDATE SET by = excluded.by, until = excluded.until`,

	putChange: `INSERT INTO changes (at, by, "from", action, workflow, run_id, answer) VALUES (?, ?, ?, ?, ?, ?, ?)`,

	removeRun:      `DELETE FROM runs WHERE id = ?`,
	removeEvents:   `DELETE FROM events WHERE run = ?`,
	removeTasks:    `DELETE FROM tasks WHERE run = ?`,
	removeAttempts: `DELETE FROM attempts WHERE run = ?`,

	forgetTicks: `DELETE FROM ticks WHERE workflow = ?1 AND at < ?2 AND at NOT IN (
		SELECT min(at) FROM ticks AS o WHERE o.workflow = ?1 AND o.schedule = ticks.schedule UNION ALL
		SELECT max(at) FROM ticks AS o WHERE o.workflow = ?1 AND o.schedule = ticks.schedule)`,

	purgeMessages: `DELETE FROM messages WHERE state <> 'waiting' AND created_at < ?`,
	purgeChanges:  `DELETE FROM changes WHERE at < ?`,
}

// The values of a row of tasks, and of one of attempts.
const (
	attemptValues = `(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	taskValues    = `(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
)

// together is how many such rows one statement writes: more make it no cheaper.
const together = 8

// text gives a statement that writes some rows.
func (s statement) text(rows int) string {
	row := attemptValues
	if s == putTask {
		row = taskValues
	}
	return strings.Replace(texts[s], row, row+strings.Repeat(", "+row, rows-1), 1)
}

// numbered tells whether the first argument of a row is the number of a run, which
// the writer has to find.
func (s statement) numbered() bool {
	switch s {
	case appendEvents, countEvents, putTask, moveFirst, putAttempt, removeEvents, removeTasks, removeAttempts:
		return true
	}
	return false
}

// op is a statement with the arguments of its rows, one after the other.
type op struct {
	do   statement
	of   string // what it is about, for errors
	rows int
	args []driver.Value
}

// encode turns a batch into statements. It runs in the caller's goroutine: the
// writer is the one that all wait for.
func encode(b *store.Batch) []op {
	e := &encoder{ops: make([]op, 0, len(b.Versions)+len(b.Create)+len(b.Update)+len(b.Append)+len(b.Tasks)+len(b.Attempts)+len(b.Ticks))}
	for _, v := range b.Versions {
		e.add(putVersion, v.Hash, v.Hash, v.Workflow, bytes(v.Text), list(v.Tasks), micros(v.CreatedAt))
	}
	for _, r := range b.Create {
		e.add(createRun, r.ID, append(runArgs(&r), r.Workflow, r.Key, micros(r.CreatedAt))...)
	}
	for _, r := range b.Update {
		e.add(updateRun, r.ID, runArgs(&r)...)
	}
	for _, a := range b.Append {
		e.appended(a)
	}
	for _, id := range b.Restate {
		e.add(runNumber, id, id)
		e.add(removeTasks, id, id)
		e.add(removeAttempts, id, id)
	}
	firsts := firstAttempts(b.Attempts)
	e.tasks(b.Tasks, firsts)
	e.attempts(b.Attempts, firsts)
	for _, t := range b.Ticks {
		e.add(putTick, t.Workflow, t.Workflow, t.At.UnixMicro(), t.Schedule, string(t.Outcome), t.Reason, t.RunID)
	}
	for _, m := range b.Messages {
		e.add(putMessage, m.ID, m.ID, m.Workflow, m.Version, m.File, int64(m.Target), m.Event, m.RunID, micros(m.ScheduledFor), bytes(m.Body),
			string(m.State), int64(m.Tries), m.Error, micros(m.CreatedAt), micros(m.NextAt))
	}
	for _, t := range b.Tries {
		e.add(putTry, t.ID, int64(t.Tries), string(t.State), t.Error, micros(t.NextAt), t.ID, int64(t.Have))
	}
	for _, p := range b.Pause {
		e.add(putPause, p.Workflow, p.Workflow, p.By, p.Since.UnixMicro(), micros(p.Until))
	}
	for _, c := range b.Changes {
		e.add(putChange, c.Action, c.At.UnixMicro(), c.By, c.From, c.Action, c.Workflow, c.RunID, c.Answer)
	}
	for _, id := range b.Remove {
		for _, do := range []statement{removeEvents, removeTasks, removeAttempts, removeRun} {
			e.add(do, id, id)
		}
	}
	for _, f := range b.Forget {
		e.add(forgetTicks, f.Workflow, f.Workflow, f.Before.UnixMicro())
	}
	if !b.Purge.IsZero() {
		e.add(purgeMessages, "", b.Purge.UnixMicro())
	}
	if !b.PurgeChanges.IsZero() {
		e.add(purgeChanges, "", b.PurgeChanges.UnixMicro())
	}
	return e.ops
}

// runArgs are the columns that Create and Update have in common.
func runArgs(r *store.Run) []driver.Value {
	return []driver.Value{
		r.File, r.Version, r.State.String(), string(r.Reason), r.Error, string(r.Trigger), pairs(r.Params), list(r.Only),
		int64(r.Priority), r.Group, int64(r.GroupMax), r.Owner, micros(r.ScheduledFor), micros(r.IntervalFrom), micros(r.IntervalTo), micros(r.NotBefore), micros(r.Turn),
		micros(r.StartedAt), micros(r.FinishedAt), r.ID,
	}
}

func (e *encoder) tasks(all []store.Task, firsts firsts) {
	for tasks := range ofOneRun(all, func(t *store.Task) string { return t.RunID }) {
		e.begin(putTask, tasks[0].RunID, len(tasks), 13)
		for i := range tasks {
			t := &tasks[i]
			e.row(nil, int64(t.Index), int64(t.Instance), t.ID, t.State.String(), string(t.Reason), int64(t.Attempts),
				number(t.ExitCode), t.Error, micros(t.StartedAt), micros(t.FinishedAt), pairs(t.Outputs), firsts.take(t))
		}
	}
}

func (e *encoder) attempts(all []store.Attempt, firsts firsts) {
	all = firsts.left(all)
	for _, a := range all {
		if a.Number == 1 {
			e.add(moveFirst, a.RunID, nil, int64(a.Index), int64(a.Instance))
		}
	}
	for attempts := range ofOneRun(all, func(a *store.Attempt) string { return a.RunID }) {
		e.begin(putAttempt, attempts[0].RunID, len(attempts), 12)
		for _, a := range attempts {
			e.row(nil, int64(a.Index), int64(a.Instance), int64(a.Number), a.State.String(), string(a.Reason),
				number(a.ExitCode), a.Error, list(a.Warnings), a.Log, micros(a.StartedAt), micros(a.FinishedAt))
		}
	}
}

// ofOneRun goes over records in parts that one statement writes.
func ofOneRun[T any](all []T, run func(*T) string) iter.Seq[[]T] {
	return func(yield func([]T) bool) {
		for len(all) > 0 {
			n := 1
			for n < min(together, len(all)) && run(&all[n]) == run(&all[0]) {
				n++
			}
			if !yield(all[:n]) {
				return
			}
			all = all[n:]
		}
	}
}

type encoder struct{ ops []op }

func (e *encoder) add(do statement, of string, args ...driver.Value) {
	e.begin(do, of, 1, len(args))
	e.row(args...)
}

// begin has the next rows belong to a statement.
func (e *encoder) begin(do statement, of string, rows, columns int) {
	e.ops = append(e.ops, op{do: do, of: of, rows: rows, args: make([]driver.Value, 0, rows*columns)})
}

func (e *encoder) row(values ...driver.Value) {
	o := &e.ops[len(e.ops)-1]
	o.args = append(o.args, values...)
}

// appended puts the events of a batch into one value: each with its length
// before it.
func (e *encoder) appended(a store.Appended) {
	if len(a.Data) == 0 {
		e.add(countEvents, a.RunID, a.RunID, int64(a.Have))
		return
	}
	size := 0
	for _, d := range a.Data {
		size += binary.MaxVarintLen32 + len(d)
	}
	all := make([]byte, 0, size)
	for _, d := range a.Data {
		all = append(binary.AppendUvarint(all, uint64(len(d))), d...)
	}
	e.add(appendEvents, a.RunID, a.RunID, int64(a.Have), int64(len(a.Data)), all)
}

// The values that the driver takes; nil is NULL.

func micros(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMicro()
}

func number(i *int) any {
	if i == nil {
		return nil
	}
	return int64(*i)
}

func bytes(b []byte) any {
	if len(b) == 0 {
		return nil
	}
	return b
}

func list(s []string) any {
	if len(s) == 0 {
		return nil
	}
	return asJSON(s)
}

func pairs(m map[string]string) any {
	if len(m) == 0 {
		return nil
	}
	return asJSON(m)
}

func asJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("strings without a form in JSON: %v", err)) // there are none
	}
	return string(b)
}
