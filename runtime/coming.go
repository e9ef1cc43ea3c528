package runtime

import (
	"cmp"
	"context"
	"slices"
	"time"
)

// Coming is a time at which a schedule will start a workflow.
type Coming struct {
	Workflow string
	Schedule string
	Tasks    []string // that it starts with; empty for the whole workflow
	At       time.Time
}

// Coming gives the times of all schedules that are not paused after one time and not after another,
// by time, at most perSchedule for each schedule. Jitter is left out.
func (e *Engine) Coming(ctx context.Context, after, until time.Time, perSchedule int) ([]Coming, error) {
	e.init()
	var schedules []*scheduled
	if err := e.look(ctx, func(lp *loop) {
		schedules = slices.DeleteFunc(slices.Clone(lp.schedules), func(s *scheduled) bool {
			_, paused := lp.paused[s.file.Head.Name.V]
			return paused
		})
	}); err != nil {
		return nil, err
	}
	var all []Coming
	for _, s := range schedules {
		rule, name := s.rule, s.file.Head.Name.V // neither changes once it is loaded
		at := after
		for range perSchedule {
			if at = rule.Next(at); at.IsZero() || at.After(until) {
				break
			}
			all = append(all, Coming{name, rule.Schedule, rule.Tasks, at})
		}
	}
	slices.SortFunc(all, func(a, b Coming) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Workflow, b.Workflow), cmp.Compare(a.Schedule, b.Schedule))
	})
	return all, nil
}
