package lint

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/dsl/cron"
)

// overrun reports schedules whose next tick can come before the run of the last
// one has ended, if its tasks use up their timeouts and retries. Who has said
// what happens then, by max_active or overlap, is not told. Tasks without a
// timeout count only with the pauses of their retries, so that the sum is a
// lower bound of the worst case, unless the run has a timeout.
func (p *pass) overrun() {
	if p.wf.MaxActive.Or(1) != 1 || p.wf.Overlap.Set() || p.wf.Unread("max_active", "overlap", "timeout", "cron", "every") {
		return
	}
	w := &worst{pass: p}
	if len(p.wf.Schedules) > 0 {
		var roots []dag.Task
		for t := range p.sketch.Tasks {
			if n := &p.sketch.Tasks[t]; !n.Late && n.Upstreams+n.Callers == 0 {
				roots = append(roots, dag.Task(t))
			}
		}
		w.check(p.wf.Schedules, roots)
	}
	for t := range p.sketch.Tasks {
		if s := p.sketch.Tasks[t].Spec.Schedules; len(s) > 0 {
			w.check(s, []dag.Task{dag.Task(t)})
		}
	}
}

// worst holds the longest ways through the plan.
type worst struct {
	*pass
	sums []time.Duration // from the beginning of each task to the end of all behind it
	next []dag.Task      // the task behind it on the longest way, None at the end

	handlers      time.Duration // the longest way of what handles the end of the run
	handlersTerms []string
}

// check holds the worst case of the runs that begin with some tasks against the
// distance of their ticks.
func (w *worst) check(schedules []dsl.Schedule, roots []dag.Task) {
	w.measure()
	sum, first := w.longest(roots)
	terms := w.terms(first)
	if limit := w.wf.Timeout; limit.Set() && (limit.V < sum || w.endless(roots)) {
		sum, terms = limit.V, []string{"the timeout of the run, " + dsl.FormatDuration(limit.V)}
	}
	if sum = add(sum, w.handlers); sum == 0 {
		return
	}
	const day = 24 * time.Hour
	if sum <= day && len(schedules) == 1 && onceADay(schedules[0].Cron.V) {
		return
	}
	distance := w.distance(schedules)
	if distance == 0 || sum <= distance {
		return
	}
	at := schedules[0].Cron.Pos
	if schedules[0].Every.Set() {
		at = schedules[0].Every.Pos
	}
	w.report("overrun", at,
		strings.Join(clipped(append(terms, w.handlersTerms...)), " + ")+`: lower a timeout or a retry, or say with "overlap" what a tick does that comes too early`,
		"in the worst case a run takes %s, but the next tick comes after %s", dsl.FormatDuration(sum), dsl.FormatDuration(distance))
}

// endless tells whether a task of the runs that begin with some tasks has no
// timeout, so that only that of the run ends it.
func (w *worst) endless(roots []dag.Task) bool {
	return slices.ContainsFunc(w.sketch.Downstream(roots...), func(t dag.Task) bool {
		spec := w.sketch.Tasks[t].Spec
		return !spec.Timeout.Set() && !spec.Unread("timeout") && !spec.Disabled.V && !w.sketch.Tasks[t].Late
	})
}

// onceADay tells whether an expression surely fires no more often than that.
func onceADay(text string) bool {
	fields := strings.Fields(text)
	for _, f := range fields[:min(len(fields), hour+1)] {
		if strings.Trim(f, "0123456789") != "" {
			return false
		}
	}
	return len(fields) == len(fieldNames)
}

// clipped shortens a long list of terms.
func clipped(terms []string) []string {
	const most = 6
	if len(terms) <= most {
		return terms
	}
	return append(slices.Clone(terms[:most-1]), fmt.Sprintf("%d more tasks", len(terms)-most+1))
}

// measure finds the longest way behind each task. What handles the failure of
// the run comes after all else, whoever else calls it.
func (w *worst) measure() {
	if w.sums != nil {
		return
	}
	tasks := w.sketch.Tasks
	w.sums, w.next = make([]time.Duration, len(tasks)), make([]dag.Task, len(tasks))
	for _, t := range slices.Backward(w.sketch.Order) {
		w.next[t] = dag.None
		var behind time.Duration
		for _, e := range tasks[t].Downstream {
			if s := w.sums[e.To]; s > behind && tasks[t].Late == tasks[e.To].Late {
				behind, w.next[t] = s, e.To
			}
		}
		w.sums[t] = add(behind, taskWorst(tasks[t].Spec))
	}
	var late []dag.Task
	for t := range tasks {
		if tasks[t].Handles != 0 {
			late = append(late, dag.Task(t))
		}
	}
	var first dag.Task
	w.handlers, first = w.longest(late)
	w.handlersTerms = w.terms(first)
}

// terms shows the sum of the longest way from a task.
func (w *worst) terms(first dag.Task) (all []string) {
	for t := first; t != dag.None; t = w.next[t] {
		if text := term(w.sketch.Tasks[t].Spec); text != "" {
			all = append(all, text)
		}
	}
	return all
}

// longest gives the longest of the ways from some tasks.
func (w *worst) longest(from []dag.Task) (sum time.Duration, first dag.Task) {
	first = dag.None
	for _, t := range from {
		if w.sums[t] > sum {
			sum, first = w.sums[t], t
		}
	}
	return sum, first
}

// distance gives the shortest time between two ticks of some schedules; 0 if it
// is not known. Many tasks may have the same schedule.
func (w *worst) distance(schedules []dsl.Schedule) time.Duration {
	if len(schedules) > 1 || schedules[0].Every.Set() {
		return w.shortest(schedules)
	}
	c := w.clockOf(&schedules[0])
	if !c.paced {
		c.pace, c.paced = w.shortest(schedules), true
	}
	return c.pace
}

// shortest looks at the first hundred ticks. Changes of the clock, which shorten
// a day once a year, are left aside.
func (w *worst) shortest(schedules []dsl.Schedule) time.Duration {
	least := time.Duration(math.MaxInt64)
	var crons []*cron.Expr
	var next []time.Time
	monday := time.Date(2001, time.January, 1, 0, 0, 0, 0, time.UTC)
	for i := range schedules {
		if every := schedules[i].Every; every.Set() {
			least = min(least, every.V)
		} else if c := w.clockOf(&schedules[i]); c.expr != nil && c.expr.Satisfiable() {
			crons = append(crons, c.expr)
			next = append(next, c.expr.Next(monday.Add(-1), time.UTC))
		}
	}
	const ticks = 100
	var last time.Time
	for n := 0; n < ticks && len(crons) > 0; n++ {
		first := 0
		for i, t := range next {
			if t.Before(next[first]) {
				first = i
			}
		}
		if d := next[first].Sub(last); n > 0 && d > 0 {
			least = min(least, d)
		}
		last, next[first] = next[first], crons[first].Next(next[first], time.UTC)
	}
	if least == math.MaxInt64 {
		return 0
	}
	return least
}

// taskWorst is the longest that all attempts of a task take, with the pauses
// between them. Where it is not known how it is tried again, one attempt counts.
func taskWorst(t *dsl.Task) time.Duration {
	if t.Unread("retry") {
		return t.Timeout.V
	}
	return add(times(t.Timeout.V, attempts(t)), pauses(t.Retry))
}

func attempts(t *dsl.Task) int {
	if t.Retry == nil {
		return 1
	}
	return 1 + t.Retry.Max.V
}

// pauses is the sum of the pauses between the attempts. (DSL.md, "Task keys":
// delay 1s, max_delay 1m or the delay where that is longer.)
func pauses(r *dsl.Retry) time.Duration {
	if r == nil {
		return 0
	}
	delay := r.Delay.Or(time.Second)
	limit := r.MaxDelay.Or(max(time.Minute, delay))
	sum, left := times(r.Jitter.V, r.Max.V), r.Max.V
	switch {
	case delay == 0:
		return sum
	case r.Backoff.V == dsl.Linear && delay < limit:
		rising := min(left, int(min(limit/delay, math.MaxInt32)))
		sum = add(sum, times(delay, rising*(rising+1)/2))
		left -= rising
	case r.Backoff.V == dsl.Exponential:
		for pause := delay; pause < limit && left > 0; pause = add(pause, pause) {
			sum = add(sum, pause)
			left--
		}
	case r.Backoff.V == dsl.Constant:
		limit = min(delay, limit)
	}
	return add(sum, times(limit, left))
}

// term shows what one task adds to the sum.
func term(t *dsl.Task) string {
	var parts []string
	switch n := attempts(t); {
	case t.Timeout.V == 0:
	case n > 1:
		parts = append(parts, fmt.Sprintf("%d × %s", n, dsl.FormatDuration(t.Timeout.V)))
	default:
		parts = append(parts, dsl.FormatDuration(t.Timeout.V))
	}
	if d := pauses(t.Retry); d > 0 {
		parts = append(parts, dsl.FormatDuration(d)+" of pauses")
	}
	if len(parts) == 0 {
		return ""
	}
	return t.ID.V + " " + strings.Join(parts, " and ")
}

// add and times stop at the longest duration there is.
func add(a, b time.Duration) time.Duration {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

func times(d time.Duration, n int) time.Duration {
	if n > 0 && d > math.MaxInt64/time.Duration(n) {
		return math.MaxInt64
	}
	return d * time.Duration(n)
}
