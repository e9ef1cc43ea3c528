package lint

import (
	"fmt"
	"slices"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dsl"
)

// schedules of tasks by which one can be started, by number and ascending.
// Whoever has no schedule of its own and no upstream that has one is started by
// any of them.
type startedBy struct {
	any bool
	by  []int
}

// mostStarters bounds how many schedules of one task are told apart; a task
// with more of them is taken to be started by any.
const mostStarters = 64

// mixedSchedules reports tasks whose upstreams are started by different
// schedules of tasks, so that no run ever has both. (DSL.md, "Schedules on
// tasks".) A workflow that is started as a whole as well has such runs.
func (p *pass) mixedSchedules() {
	wf := p.wf
	if len(wf.Schedules) > 0 || len(wf.After) > 0 || wf.Unread("cron", "every", "after") {
		return
	}
	g := p.graphOf()
	numbers := map[string]int{}
	starters := make([]startedBy, len(wf.Tasks))
	called := make([]startedBy, len(wf.Tasks))
	for _, t := range p.sketch.Order {
		spec := p.sketch.Tasks[t].Spec
		s := startedBy{any: true}
		if len(spec.Schedules) > 0 {
			s = startedBy{}
			for i := range spec.Schedules {
				s = s.or(startedBy{by: []int{number(numbers, &spec.Schedules[i])}})
			}
		}
		if p.sketch.Tasks[t].Callers > 0 {
			s = called[t]
		}
		if g.looseEdges[t] || g.uncalled[t] || spec.Unread("cron", "every") {
			starters[t] = startedBy{any: true}
		} else {
			starters[t] = p.together(t, s, starters)
		}
		for _, e := range p.sketch.Tasks[t].Downstream {
			if e.Kind == dag.Failure {
				called[e.To] = called[e.To].or(starters[t])
			}
		}
	}
}

// together gives the schedules that start all upstreams of a task, and reports
// the first of them with which there is none.
func (p *pass) together(t dag.Task, s startedBy, starters []startedBy) startedBy {
	deps := p.sketch.Tasks[t].Spec.DependsOn
	upstreams := p.graphOf().upstreams[t]
	for i, u := range upstreams {
		both := s.and(starters[u])
		if both.any || len(both.by) > 0 {
			s = both
			continue
		}
		other := slices.IndexFunc(upstreams[:i], func(v dag.Task) bool { return !starters[v].any })
		if other < 0 { // it is a handler
			p.report("mixed-schedules", deps[i].Task.Pos, "give both the same schedule",
				"no run has both %q and a task that calls %q: they are started by different schedules", deps[i].Task.V, p.sketch.Tasks[t].ID)
			return startedBy{any: true}
		}
		p.report("mixed-schedules", deps[i].Task.Pos, "give both the same schedule, put one on the workflow, or start a second workflow by \"after\"",
			"no run has both %q and %q: they are started by different schedules", deps[other].Task.V, deps[i].Task.V)
		return startedBy{any: true}
	}
	return s
}

func (s startedBy) or(o startedBy) startedBy {
	if s.any || o.any {
		return startedBy{any: true}
	}
	by := slices.Concat(s.by, o.by)
	slices.Sort(by)
	if by = slices.Compact(by); len(by) > mostStarters {
		return startedBy{any: true}
	}
	return startedBy{by: by}
}

func (s startedBy) and(o startedBy) startedBy {
	switch {
	case s.any:
		return o
	case o.any:
		return s
	}
	var both []int
	for _, n := range s.by {
		if slices.Contains(o.by, n) {
			both = append(both, n)
		}
	}
	return startedBy{by: both}
}

// number gives schedules that start one run the same number.
func number(numbers map[string]int, s *dsl.Schedule) int {
	key := fmt.Sprintf("%q %q %d", s.Cron.V, s.Timezone.V, s.Every.V)
	for _, f := range s.Params {
		key += fmt.Sprintf(" %q=%q", f.Name.V, f.Value.V)
	}
	n, ok := numbers[key]
	if !ok {
		n = len(numbers)
		numbers[key] = n
	}
	return n
}
