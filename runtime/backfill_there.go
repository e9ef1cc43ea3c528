package runtime

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/runtime/trigger"
	"github.com/ax-scheduler/ax/store"
)

// A run of a backfill is known by its key, which names the tick, its schedule as the
// ledger does, and how often it was done: "backfill 2026-03-01T06:00:00Z 0 6 * * * #1".
// Parameters that the ledger leaves out of the name stand in it too, in brackets.
// Keys of before name the tasks in place of the schedule.
const backfillWord = "backfill "

// fillIDs gives the names of a schedule in keys: the one that it has, and the one that
// it would have in another order of the file, which decides whether the ledger has its
// parameters in the name.
func fillIDs(r *trigger.Rule) [2]string {
	var params strings.Builder
	for _, f := range r.Params {
		fmt.Fprintf(&params, " %s=%s", f.Name.V, f.Value.V)
	}
	if params.Len() == 0 {
		return [2]string{scheduleID(r), scheduleID(r)}
	}
	base, named := strings.CutSuffix(r.Schedule, params.String())
	tasks := strings.TrimPrefix(scheduleID(r), r.Schedule)
	ids := [2]string{base + " (" + params.String()[1:] + ")" + tasks, base + params.String() + tasks}
	if named {
		ids[0], ids[1] = ids[1], ids[0]
	}
	return ids
}

// keyOf gives the part of a run's key that is the same however often its tick is
// filled.
func keyOf(at time.Time, schedule string) string {
	return backfillWord + timestamp(at).Format(time.RFC3339Nano) + " " + schedule + " #"
}

// nextKey gives the key of the run of a tick that has had some. Two backfills at
// the same time give it the same one, and one of them is refused.
func nextKey(t ruleTick, old []store.Run) string {
	ids, last := fillIDs(t.rule), 0
	for _, r := range old {
		for _, id := range ids {
			if number, ok := strings.CutPrefix(r.Key, keyOf(t.at, id)); ok {
				n, _ := strconv.Atoi(number)
				last = max(last, n)
			}
		}
	}
	return keyOf(t.at, ids[0]) + strconv.Itoa(last+1)
}

// fillIDOf gives the name of the schedule in the key of a run; empty where the run
// is not of a backfill, or of one from before.
func fillIDOf(r store.Run) string {
	rest, ok := strings.CutPrefix(r.Key, backfillWord+r.ScheduledFor.UTC().Format(time.RFC3339Nano)+" ")
	n := strings.LastIndex(rest, " #")
	if !ok || r.Trigger != store.TriggerBackfill || n < 0 || !strings.ContainsAny(rest[:n], " @") { // ids of tasks have neither
		return ""
	}
	return rest[:n]
}

// FilledSchedule gives the schedule whose tick a run of a backfill has filled, as
// the ledger names it; empty where that is not known.
func FilledSchedule(r store.Run) string {
	id := fillIDOf(r)
	if open, end := strings.Index(id, " ("), strings.LastIndex(id, ")"); 0 <= open && open < end {
		return id[:open] + id[end+1:]
	}
	return id
}

// present are the runs that stand for times in a span.
type present struct {
	rules  []trigger.Rule        // of the workflow as it is now
	runs   map[int64][]store.Run // by time in microseconds, oldest first
	ledger map[string]string     // schedules by the ids of the runs that they started
}

// runsBetween gives the runs of a workflow that stand for a time in a span. One
// that an overlap rule dropped has not done anything, and one that followed on
// another workflow stands for no tick.
func (e *Engine) runsBetween(ctx context.Context, workflow string, from, to time.Time) (*present, error) {
	p := &present{runs: map[int64][]store.Run{}, ledger: map[string]string{}}
	f := store.RunFilter{Workflow: workflow, From: from, To: to, Limit: store.MaxLimit}
	for more := true; more; {
		runs, err := e.Store.Runs(ctx, f)
		if err != nil {
			return nil, err
		}
		for _, r := range runs {
			if f.Before = r.ID; r.State != machine.RunSkipped && r.Trigger != store.TriggerAfter {
				at := r.ScheduledFor.UnixMicro()
				p.runs[at] = append(p.runs[at], r)
			}
		}
		more = len(runs) == store.MaxLimit
	}
	for _, runs := range p.runs {
		slices.Reverse(runs)
	}
	ticks, err := e.Store.Ticks(ctx, workflow, from, to, 0)
	for _, t := range ticks {
		if t.Outcome == store.TickFired {
			p.ledger[t.RunID] = t.Schedule
		}
	}
	return p, err
}

// spot is a tick for which runs are looked for.
type spot struct {
	rule  *trigger.Rule
	only  []string          // the tasks of its run
	given map[string]string // parameters, by its schedule
}

// shared gives the runs that each of the ticks of one instant has had, oldest
// first. A run whose schedule is known stands for the tick of that one alone. The
// others were asked for by hand or by an earlier version, or were started by a
// schedule that was written otherwise then: each stands for the tick with its tasks
// and, of several, with its parameters.
func (p *present) shared(wf *dsl.Workflow, at time.Time, ticks []spot) [][]store.Run {
	had := make([][]store.Run, len(ticks))
	var others []store.Run
	for _, r := range p.runs[at.UnixMicro()] {
		if i, known := p.known(wf, r, ticks); i >= 0 {
			had[i] = append(had[i], r)
		} else if !known {
			others = append(others, r)
		}
	}
	for _, r := range others {
		if i := alike(wf, r, ticks, had); i >= 0 {
			had[i] = append(had[i], r)
		}
	}
	for _, runs := range had {
		slices.SortFunc(runs, func(a, b store.Run) int { return strings.Compare(a.ID, b.ID) })
	}
	return had
}

// known gives the tick of the schedule that a run is known to belong to, below 0
// where it has none in this instant, and tells whether there is such a schedule.
func (p *present) known(wf *dsl.Workflow, r store.Run, ticks []spot) (int, bool) {
	if id := fillIDOf(r); id != "" {
		is := func(rule *trigger.Rule) bool { ids := fillIDs(rule); return ids[0] == id || ids[1] == id }
		return slices.IndexFunc(ticks, func(t spot) bool { return is(t.rule) }),
			slices.ContainsFunc(p.rules, func(rule trigger.Rule) bool { return is(&rule) })
	}
	id, ok := p.ledger[r.ID]
	if !ok || !slices.ContainsFunc(p.rules, func(rule trigger.Rule) bool { return scheduleID(&rule) == id }) {
		return -1, false
	}
	own := slices.IndexFunc(ticks, func(t spot) bool { return scheduleID(t.rule) == id })
	if own < 0 || agrees(wf, r, ticks, own) {
		return own, true
	}
	// Which of two that differ by parameters alone bears them in its name goes by their order in the file, which may
	// have been another.
	for i := range ticks {
		if slices.Equal(ticks[i].rule.Tasks, ticks[own].rule.Tasks) && agrees(wf, r, ticks, i) {
			return i, true
		}
	}
	return own, true
}

// alike gives the tick that a run of an unknown schedule stands for; below 0 for
// none. One that has no run yet comes first.
func alike(wf *dsl.Workflow, r store.Run, ticks []spot, had [][]store.Run) int {
	var same []int
	for i := range ticks {
		if slices.Equal(ticks[i].only, r.Only) {
			same = append(same, i)
		}
	}
	if len(same) > 1 {
		same = slices.DeleteFunc(same, func(i int) bool { return !agrees(wf, r, ticks, i) })
	}
	for _, i := range same {
		if len(had[i]) == 0 {
			return i
		}
	}
	if len(same) == 0 {
		return -1
	}
	return same[0]
}

// agrees tells whether a run has the parameters of a tick: of those that the
// schedules of the instant give.
func agrees(wf *dsl.Workflow, r store.Run, ticks []spot, i int) bool {
	names := map[string]string{}
	for _, t := range ticks {
		maps.Copy(names, t.given)
	}
	for j := range wf.Params {
		p := &wf.Params[j]
		if _, among := names[p.Name.V]; !among {
			continue
		}
		want, given := ticks[i].given[p.Name.V]
		if !given {
			want = p.Default.V
		}
		if r.Params[p.Name.V] != want {
			return false
		}
	}
	return true
}
