package server

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/runtime/reload"
	"github.com/ax-scheduler/ax/store"
)

const (
	// stripsHold is how long the last runs of a workflow are kept: events tell of
	// those of this engine at once, but other processes write runs too.
	stripsHold = 5 * time.Second
	comingHold = 15 * time.Second
)

// recent keeps what the first page is made from, which everybody looks at and
// which changes seldom.
type recent struct {
	mu     sync.Mutex
	strips map[string]strip
	edits  map[string]int // of the runs of each workflow

	coming   []runtime.Coming
	comingAt time.Time
	catalog  *reload.Catalog
}

type strip struct {
	runs []store.Run // newest first
	at   time.Time
}

// changed forgets the last runs of a workflow.
func (c *recent) changed(workflow string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.edits == nil {
		c.edits = map[string]int{}
	}
	c.edits[workflow]++
	delete(c.strips, workflow)
}

// stripsOf gives the last runs of some workflows, newest first.
func (s *Server) stripsOf(ctx context.Context, workflows []string) (map[string][]store.Run, error) {
	c := &s.views.recent
	all := make(map[string][]store.Run, len(workflows))
	before := map[string]int{} // of those that are asked for
	c.mu.Lock()
	for _, w := range workflows {
		if known, ok := c.strips[w]; ok && time.Since(known.at) < stripsHold {
			all[w] = known.runs
		} else {
			before[w] = c.edits[w]
		}
	}
	c.mu.Unlock()
	if len(before) == 0 {
		return all, nil
	}
	runs, err := s.Store.LastRuns(ctx, slices.Sorted(maps.Keys(before)), nil, stripRuns)
	if err != nil {
		return nil, err
	}
	for _, run := range runs {
		all[run.Workflow] = append(all[run.Workflow], run)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.strips == nil {
		c.strips = map[string]strip{}
	}
	for w, n := range before {
		if c.edits[w] == n {
			c.strips[w] = strip{all[w], time.Now()}
		}
	}
	return all, nil
}

// comingDay gives the starts of the next day, as they stood a moment ago.
func (s *Server) comingDay(ctx context.Context, now time.Time) ([]runtime.Coming, error) {
	c, catalog := &s.views.recent, s.Catalog()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.catalog == catalog && now.Sub(c.comingAt).Abs() < comingHold {
		return c.coming, nil
	}
	coming, err := s.Engine.Coming(ctx, now, now.Add(daySpan), ticksInDay)
	if err == nil {
		c.coming, c.comingAt, c.catalog = coming, now, catalog
	}
	return coming, err
}
