package sqlite

import (
	"context"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/store"
)

// Most tasks have one attempt, which begins and ends in the batches in which its
// task does. It stands in the task's row, so that each of them writes one row
// instead of two. All others stand in the table of attempts, and so does a first
// one that is written without its task, or that JSON cannot tell.

// hasFirst is the first version of a database whose tasks have their first attempt.
const hasFirst = 5

// unit is where a task or an instance stands among those of all runs.
type unit struct {
	run             string
	index, instance int
}

// firsts are the first attempts of a batch that do not stand in a row yet, as the
// texts of its column.
type firsts map[unit]string

func firstAttempts(all []store.Attempt) firsts {
	if len(all) == 0 {
		return nil
	}
	fs := make(firsts, len(all))
	for i := range all {
		if a := &all[i]; a.Number == 1 {
			fs[unit{a.RunID, a.Index, a.Instance}] = firstText(a)
		}
	}
	return fs
}

// take gives the column of a task: NULL leaves what is there, and an empty text says
// that the first attempt stands elsewhere.
func (fs firsts) take(t *store.Task) any {
	u := unit{t.RunID, t.Index, t.Instance}
	text, ok := fs[u]
	if !ok {
		return nil
	}
	if text != "" {
		delete(fs, u)
	}
	return text
}

// left gives the attempts that stand in no row of a task.
func (fs firsts) left(all []store.Attempt) (left []store.Attempt) {
	for i := range all {
		a := &all[i]
		if a.Number == 1 {
			if _, ok := fs[unit{a.RunID, a.Index, a.Instance}]; !ok {
				continue
			}
		}
		left = append(left, *a)
	}
	return left
}

// firstText gives an attempt as a JSON list, empty where its texts are not UTF-8 or
// hold a NUL, at which SQLite would end them.
func firstText(a *store.Attempt) string {
	for _, text := range []string{a.Error, a.Log, string(a.Reason)} {
		if !utf8.ValidString(text) || strings.IndexByte(text, 0) >= 0 {
			return ""
		}
	}
	var b strings.Builder
	b.Grow(160 + len(a.Log) + len(a.Error))
	var digits [20]byte
	whole := func(n int64) { b.Write(strconv.AppendInt(digits[:0], n, 10)) }
	b.WriteByte('[')
	for _, text := range []string{a.State.String(), string(a.Reason), a.Error, a.Log} {
		if strings.ContainsFunc(text, escaped) {
			b.WriteString(asJSON(text))
		} else {
			b.WriteByte('"')
			b.WriteString(text)
			b.WriteByte('"')
		}
		b.WriteByte(',')
	}
	if a.ExitCode != nil {
		whole(int64(*a.ExitCode))
	} else {
		b.WriteString("null")
	}
	b.WriteByte(',')
	if len(a.Warnings) > 0 {
		b.WriteString(asJSON(a.Warnings))
	} else {
		b.WriteString("null")
	}
	for _, at := range []time.Time{a.StartedAt, a.FinishedAt} {
		b.WriteByte(',')
		if at.IsZero() {
			b.WriteString("null")
		} else {
			whole(at.UnixMicro())
		}
	}
	b.WriteByte(']')
	if a.FinishedAt.IsZero() {
		b.WriteString(roomForEnd)
	}
	return b.String()
}

// roomForEnd stands behind an attempt that is going on. Without it the row would grow
// when it succeeds, and each page that is full of such rows be split in two.
const roomForEnd = "                                "

// escaped tells what a text in JSON cannot hold as it is.
func escaped(r rune) bool { return r < ' ' || r == '"' || r == '\\' }

const attemptColumns = `idx, instance, number, state, reason, exit_code, error, warnings, log, started_at, finished_at`

func scanAttempt(runID string) func(*store.Attempt) []any {
	return func(a *store.Attempt) []any {
		a.RunID = runID
		return []any{
			&a.Index, &a.Instance, &a.Number, state[machine.TaskState]{&a.State, machine.ParseTaskState}, &a.Reason,
			&a.ExitCode, &a.Error, fromJSON{&a.Warnings}, &a.Log, at{&a.StartedAt}, at{&a.FinishedAt},
		}
	}
}

// attemptsQuery gives the query of a run's attempts, where tasks and attempts are
// taken from two tables or joins. The first attempt in a task's row is the newer one
// where there are two: the other was written before the database was brought up to
// date.
func (s *Store) attemptsQuery(ctx context.Context, tasks, attempts, run string) string {
	const order = ` ORDER BY idx, instance, number`
	run = ` WHERE run = (SELECT n FROM runs WHERE id = ` + run + `)`
	query := `SELECT ` + attemptColumns + ` FROM ` + attempts + run
	if !s.has(ctx, hasFirst) {
		return query + order
	}
	return query + ` AND NOT (number = 1 AND EXISTS (SELECT 1 FROM tasks AS t
			WHERE t.run = attempts.run AND t.idx = attempts.idx AND t.instance = attempts.instance AND t.first_attempt <> ''))
		UNION ALL
		SELECT idx, instance, 1, first_attempt ->> 0, first_attempt ->> 1, first_attempt ->> 4, first_attempt ->> 2, first_attempt -> 5,
			first_attempt ->> 3, first_attempt ->> 6, first_attempt ->> 7 FROM ` + tasks + run + ` AND first_attempt <> ''` + order
}

// Attempts gives a run's attempts by index, instance and number.
func (s *Store) Attempts(ctx context.Context, runID string) ([]store.Attempt, error) {
	return read(ctx, s, s.attemptsQuery(ctx, "tasks", "attempts", "?1"), scanAttempt(runID), runID)
}

// AttemptsAt gives the attempts of what stands in some places.
func (s *Store) AttemptsAt(ctx context.Context, runID string, places []store.Place) ([]store.Attempt, error) {
	if len(places) == 0 {
		return nil, ctx.Err()
	}
	query := s.attemptsQuery(ctx, atPlaces("tasks"), atPlaces("attempts"), "?2")
	return read(ctx, s, query, scanAttempt(runID), placesText(places), runID)
}
