package sim_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/runtime/sim"
)

// shrinkTries is how often a scenario that failed is tried again with less.
const shrinkTries = 150

// shrink takes away from a scenario what is not needed for a promise to be broken:
// acts, faults, workflows, versions, tasks. Goroutines do not take turns in the
// same way each time, so a little may stay that is not needed.
func shrink(t *testing.T, sc *scenario, wrong []string, data string) (*scenario, []string) {
	tries := 0
	for again := true; again; {
		again = false
		for _, less := range smaller(sc) {
			if tries++; tries > shrinkTries {
				return sc, wrong
			}
			if w := try(t, less, data); len(w) > 0 {
				sc, wrong, again = less, w, true
				break
			}
		}
	}
	return sc, wrong
}

// smaller gives the scenarios with one thing less, the large things first.
func smaller(sc *scenario) (all []*scenario) {
	for i, f := range sc.flows {
		if !f.gone {
			less := sc.copy()
			less.flows[i].gone = true
			all = append(all, less)
		}
	}
	for i := range sc.acts {
		less := sc.copy()
		less.acts = slices.Delete(less.acts, i, i+1)
		all = append(all, less)
	}
	for i := range sc.harm {
		less := sc.copy()
		less.harm = slices.Delete(less.harm, i, i+1)
		all = append(all, less)
	}
	for i, f := range sc.flows {
		for v := range f.versions {
			for k := range f.versions[v].tasks {
				if !f.gone && len(f.versions[v].tasks) > 1 {
					less := sc.copy()
					less.flows[i].versions[v] = f.versions[v].without(k)
					all = append(all, less)
				}
			}
		}
	}
	return all
}

func (sc *scenario) copy() *scenario {
	c := *sc
	c.acts, c.harm, c.flows = slices.Clone(sc.acts), slices.Clone(sc.harm), nil
	for _, f := range sc.flows {
		g := *f
		g.versions = slices.Clone(f.versions)
		c.flows = append(c.flows, &g)
	}
	return &c
}

// without gives a version with one task less.
func (r *version) without(k int) *version {
	c, id := *r, r.tasks[k].id
	c.tasks, c.rooted = nil, r.rooted && k > 0
	for i, t := range r.tasks {
		if i == k {
			continue
		}
		u := *t
		u.deps = slices.DeleteFunc(slices.Clone(t.deps), func(d dep) bool { return d.on == id })
		u.keys = slices.DeleteFunc(slices.Clone(t.keys), func(k string) bool { return strings.Contains(k, "tasks."+id+".") })
		if u.failed == id {
			u.failed = ""
		}
		c.tasks = append(c.tasks, &u)
	}
	for i := range c.handlers {
		if c.handlers[i] == id {
			c.handlers[i] = ""
		}
	}
	return &c
}

// String tells what is tried.
func (sc *scenario) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d slots, trouble for %s\n", sc.slots, sc.span)
	for _, f := range sc.flows {
		for v := range f.versions {
			if !f.gone {
				fmt.Fprintf(&b, "--- %s, version %d\n%s", f.name, v, f.text(f.versions[v]))
			}
		}
	}
	for _, a := range sc.acts {
		fmt.Fprintln(&b, a)
	}
	for _, h := range sc.harm {
		fmt.Fprintln(&b, h)
	}
	return b.String()
}

// story tells what has happened in a world, a line each.
func (w *world) story() string {
	var b strings.Builder
	for _, e := range w.history.Entries() {
		what := ""
		switch x := e.What.(type) {
		case sim.Written:
			what = fmt.Sprint("engine ", x.Engine, " wrote") + batchText(x)
		case sim.Began:
			what = fmt.Sprintf("began %s %s %s #%d", x.Attempt.Workflow, x.Attempt.RunID, x.Attempt.Task, x.Attempt.Number)
		case sim.Asked:
			what = fmt.Sprintf("asked to stop %s %s #%d", x.Attempt.RunID, x.Attempt.Task, x.Attempt.Number)
		case sim.Gone:
			what = fmt.Sprintf("gone %s %s #%d lost=%v code=%d", x.Attempt.RunID, x.Attempt.Task, x.Attempt.Number, x.Lost, x.Outcome.ExitCode)
		case loaded:
			what = fmt.Sprint("loads ", len(x.catalog.Workflows), " workflows")
		default:
			what = fmt.Sprintf("%T %+v", x, x)
		}
		fmt.Fprintln(&b, e.At.UTC().Format("Jan _2 15:04:05.000000"), e.Wall.UTC().Format("15:04:05"), what)
	}
	return b.String()
}

func batchText(x sim.Written) string {
	var b strings.Builder
	for _, r := range x.Batch.Create {
		fmt.Fprintf(&b, "; new run %s of %s, %s, by %s for %s", r.ID, r.Workflow, r.State, r.Trigger, r.ScheduledFor.Format("15:04:05"))
	}
	for _, r := range x.Batch.Update {
		fmt.Fprintf(&b, "; run %s of %s %s", r.ID, r.Workflow, r.State)
	}
	for _, a := range x.Batch.Append {
		for _, data := range a.Data {
			e, _ := machine.Decode(data)
			fmt.Fprintf(&b, "; %s %s%+v", a.RunID, strings.TrimPrefix(fmt.Sprintf("%T", e), "machine."), e)
		}
	}
	for _, t := range x.Batch.Ticks {
		fmt.Fprintf(&b, "; tick %s %q %s %s", t.Workflow, t.Schedule, t.At.Format("15:04:05"), t.Outcome)
	}
	return b.String()
}
