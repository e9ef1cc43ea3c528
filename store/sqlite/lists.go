package sqlite

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/store"
)

// listed gives the parameters of a list of texts, beside their number. That is
// one of few, so that there are few queries: what is over is NULL, which equals
// nothing.
func listed(texts []string) (n int, args []any) {
	for n = 1; n < len(texts); n *= 2 {
	}
	args = make([]any, n)
	for i, t := range texts {
		args[i] = t
	}
	return n, args
}

// lastQuery gives the query of the last runs of so many workflows. Of each it
// merges the ranges of an index that is in the order of ids, one for a state.
func lastQuery(workflows int, states []machine.RunState) string {
	if len(states) == 0 {
		states = allStates()
	}
	var parts []string
	for _, st := range slices.Compact(slices.Sorted(slices.Values(states))) {
		parts = append(parts, `SELECT n, id FROM runs WHERE workflow = w.name AND state = '`+st.String()+`'`)
	}
	return `WITH w(name) AS (VALUES (?)` + strings.Repeat(", (?)", workflows-1) + `) SELECT ` + runColumns + ` FROM w CROSS JOIN runs WHERE n IN (SELECT n FROM (` +
		strings.Join(parts, " UNION ALL ") + ` ORDER BY id DESC LIMIT ?)) ORDER BY workflow, id DESC`
}

// LastRuns gives the newest runs of each of some workflows.
func (s *Store) LastRuns(ctx context.Context, workflows []string, states []machine.RunState, limit int) ([]store.Run, error) {
	n, args := listed(slices.Compact(slices.Sorted(slices.Values(workflows))))
	return read(ctx, s, lastQuery(n, states), scanRun, append(args, bounded(limit))...)
}

// marksText is the marks of a run as one text: reading a row for each costs more
// than finding them.
type marksText struct{ run, marks string }

// marksQuery gives the query of marks. It walks through all rows of the runs, unless
// most of them are instances that are not wanted: then it looks up each task.
func marksQuery(f store.MarkFilter) (query string, args []any) {
	n, args := listed(f.Runs)
	with := `WITH r(n) AS (SELECT n FROM runs WHERE id` + in(n) + `)`
	from, where := `tasks WHERE run IN r`, ""
	switch {
	case f.Whole && f.Apart:
		with += `, last(idx) AS (SELECT max((SELECT idx FROM tasks WHERE run = r.n ORDER BY idx DESC LIMIT 1)) FROM r),
			places(at) AS (SELECT 0 UNION ALL SELECT at + 1 FROM places WHERE at < (SELECT idx FROM last))`
		from = `r CROSS JOIN places CROSS JOIN tasks ON run = r.n AND idx = at AND instance = -1 WHERE true`
	case f.Whole:
		where = " AND instance = -1"
	}
	if len(f.States) > 0 {
		where += " AND state" + in(len(f.States))
		for _, st := range f.States {
			args = append(args, st.String())
		}
	}
	return with + ` SELECT (SELECT id FROM runs WHERE n = run), marks FROM (
		SELECT run, group_concat(format('%d %d %d %d %s %s', idx, instance, attempts > 0, outputs IS NOT NULL, state, reason), ',') AS marks
		FROM ` + from + where + ` GROUP BY run)`, args
}

// Marks gives the marks of runs.
func (s *Store) Marks(ctx context.Context, f store.MarkFilter) (map[string][]store.Mark, error) {
	query, args := marksQuery(f)
	texts, err := read(ctx, s, query, func(t *marksText) []any { return []any{&t.run, &t.marks} }, args...)
	if err != nil {
		return nil, err
	}
	all := make(map[string][]store.Mark, len(texts))
	for _, t := range texts {
		marks := make([]store.Mark, 0, strings.Count(t.marks, ",")+1)
		for text := range strings.SplitSeq(t.marks, ",") {
			m, err := markOf(text)
			if err != nil {
				return nil, fmt.Errorf("%w: a task of run %q is %q", store.ErrDamaged, t.run, text)
			}
			marks = append(marks, m)
		}
		store.SortMarks(marks)
		all[t.run] = marks
	}
	return all, nil
}

// markOf reads one mark.
func markOf(text string) (m store.Mark, err error) {
	next := func() (word string) {
		word, text, _ = strings.Cut(text, " ")
		return word
	}
	number := func() int {
		n, wrong := strconv.Atoi(next())
		err = cmp.Or(err, wrong)
		return n
	}
	m.Index, m.Instance = number(), number()
	m.Tried, m.Gave = next() == "1", next() == "1"
	state, wrong := machine.ParseTaskState(next())
	m.State, m.Reason = state, machine.Reason(text)
	return m, cmp.Or(err, wrong)
}

// atPlaces joins a table of what belongs to a run with a list of places.
func atPlaces(table string) string {
	return `(SELECT DISTINCT value FROM json_each(?1)) AS p CROSS JOIN ` + table + ` ON idx = p.value ->> 0 AND instance = p.value ->> 1`
}

func placesText(places []store.Place) string {
	pairs := make([][2]int, 0, len(places))
	for _, p := range places {
		pairs = append(pairs, [2]int{p.Index, p.Instance})
	}
	text, _ := json.Marshal(pairs) // numbers never fail
	return string(text)
}

// TasksAt gives those of a run's records of tasks that stand in some places.
func (s *Store) TasksAt(ctx context.Context, runID string, places []store.Place) ([]store.Task, error) {
	if len(places) == 0 {
		return nil, ctx.Err()
	}
	return read(ctx, s, `SELECT `+taskColumns+` FROM `+atPlaces("tasks")+` WHERE run = (SELECT n FROM runs WHERE id = ?2) ORDER BY idx, instance`, scanTask(runID), placesText(places), runID)
}

// Versions gives the versions of a workflow without their texts that come before
// one, the last first.
func (s *Store) Versions(ctx context.Context, workflow string, before store.Version, limit int) ([]store.Version, error) {
	const query = `SELECT hash, workflow, tasks, created_at FROM versions
		WHERE workflow = ? AND (coalesce(created_at, ?), hash) < (?, ?) ORDER BY created_at DESC, hash DESC LIMIT ?`
	const never = math.MinInt64
	end := int64(math.MaxInt64)
	switch {
	case !before.CreatedAt.IsZero():
		end = before.CreatedAt.UnixMicro()
	case before.Hash != "":
		end = never
	}
	return read(ctx, s, query, func(v *store.Version) []any {
		return []any{&v.Hash, &v.Workflow, fromJSON{&v.Tasks}, at{&v.CreatedAt}}
	}, workflow, int64(never), end, before.Hash, bounded(limit))
}
