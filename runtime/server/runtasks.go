package server

import (
	"context"
	"slices"

	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/store"
)

// runTasks are the tasks of a run as they were after so many events: what a page
// is chosen from, which then reads the records of what it shows. Nobody changes
// them.
type runTasks struct {
	id     string
	state  machine.RunState
	events int
	tasks  []taskMark
}

// taskMark is a task of a run, with its instances where it has a foreach.
type taskMark struct {
	store.Mark
	task  string
	inner []taskMark
}

// name gives the name by which a task or an instance is shown.
func (t taskMark) name() string { return machine.InstanceOf(t.Instance).Name(t.task) }

// rowsKept is how many runs are kept as they were read last: looking at the next
// part of a large one does not read all of it again.
const rowsKept = 8

// readRun reads a run and what its tasks are at.
func (s *Server) readRun(ctx context.Context, id string) (store.Run, []taskMark, *planned, error) {
	run, err := s.findRun(ctx, id)
	if err != nil {
		return run, nil, nil, err
	}
	plan, err := s.planOf(ctx, run.Workflow, run.Version)
	if err != nil {
		return run, nil, nil, err
	}
	v := &s.views
	v.mu.Lock()
	i := slices.IndexFunc(v.read, func(r runTasks) bool { return r.id == id && r.events == run.Events && r.state == run.State })
	if i >= 0 {
		tasks := v.read[i].tasks
		v.mu.Unlock()
		return run, tasks, plan, nil
	}
	v.mu.Unlock()
	marks, err := s.Store.Marks(ctx, store.MarkFilter{Runs: []string{id}})
	if err != nil {
		return run, nil, nil, err
	}
	tasks := tasksOf(run, plan.names, marks[id])
	v.mu.Lock()
	defer v.mu.Unlock()
	// What is younger than its key may be there as well: it is read again then.
	v.read = append(slices.DeleteFunc(v.read, func(r runTasks) bool { return r.id == id }), runTasks{id, run.State, run.Events, tasks})
	v.read = v.read[max(0, len(v.read)-rowsKept):]
	return run, tasks, plan, nil
}

// tasksOf puts marks, which are in order, under the names of their tasks. Those
// that are not marked are untouched; an instance that is pending is none yet, or
// none any more.
func tasksOf(run store.Run, names []string, marks []store.Mark) []taskMark {
	member := make(map[string]bool, len(run.Only))
	for _, name := range run.Only {
		member[name] = true
	}
	all := make([]taskMark, 0, len(names))
	for i, name := range names {
		n := 0
		for n < len(marks) && marks[n].Index == i {
			n++
		}
		var of []store.Mark
		of, marks = marks[:n], marks[n:]
		if len(member) > 0 && !member[name] {
			continue
		}
		t := taskMark{task: name}
		if n > 0 && of[0].Instance < 0 {
			t.Mark, of = of[0], of[1:]
		} else {
			none := runtime.Untouched(name, run)
			t.Mark = store.Mark{Place: store.Place{Index: i, Instance: -1}, State: none.State, Reason: none.Reason}
		}
		for _, m := range of {
			if m.State != machine.Pending {
				t.inner = append(t.inner, taskMark{Mark: m, task: name})
			}
		}
		all = append(all, t)
	}
	return all
}

// stateCount is how many are in a state.
type stateCount struct {
	State string
	N     int
}

func countStates(tasks []taskMark) []stateCount {
	var n [machine.Cancelled + 1]int
	for i := range tasks {
		n[tasks[i].State]++
	}
	var all []stateCount
	for st, n := range n {
		if n > 0 {
			all = append(all, stateCount{machine.TaskState(st).String(), n})
		}
	}
	return all
}

// urgency orders tasks for somebody who looks at a run of many: what is wrong or
// goes on comes first.
var urgency = [...]int{
	machine.Failed: 0, machine.Retrying: 1, machine.Running: 2, machine.Ready: 3, machine.Cancelled: 4, machine.Skipped: 5, machine.Pending: 6, machine.Succeeded: 7,
}

// mostUrgent gives some of the tasks from a place on, by urgency where there are
// more of them. They are not sorted, of which there may be very many.
func mostUrgent(tasks []taskMark, from, most int) []taskMark {
	from = min(max(from, 0), len(tasks))
	if len(tasks) <= most {
		return tasks[from:]
	}
	var n [len(urgency)]int
	for i := range tasks {
		n[urgency[tasks[i].State]]++
	}
	chosen := make([]taskMark, 0, most)
	for rank, count := range n {
		skip := min(from, count)
		if from -= skip; skip == count {
			continue
		}
		for i := 0; i < len(tasks) && len(chosen) < most; i++ {
			switch {
			case urgency[tasks[i].State] != rank:
			case skip > 0:
				skip--
			default:
				chosen = append(chosen, tasks[i])
			}
		}
	}
	return chosen
}

// recordSet is what is stored of some tasks of a run.
type recordSet struct {
	tasks map[store.Place]store.Task
	tries map[store.Place][]store.Attempt
}

// recordsAt reads the records of what was chosen.
func (s *Server) recordsAt(ctx context.Context, run store.Run, c shown) (recordSet, error) {
	tasks, tried := c.places()
	r := recordSet{map[store.Place]store.Task{}, map[store.Place][]store.Attempt{}}
	found, err := s.Store.TasksAt(ctx, run.ID, placesOf(tasks))
	if err != nil {
		return r, err
	}
	for _, t := range found {
		r.tasks[store.Place{Index: t.Index, Instance: t.Instance}] = t
	}
	attempts, err := s.Store.AttemptsAt(ctx, run.ID, placesOf(tried))
	for _, a := range attempts {
		p := store.Place{Index: a.Index, Instance: a.Instance}
		r.tries[p] = append(r.tries[p], a)
	}
	return r, err
}

func placesOf(set map[store.Place]bool) []store.Place {
	all := make([]store.Place, 0, len(set))
	for p := range set {
		all = append(all, p)
	}
	return all
}

// row gives a task with what is stored of it.
func (s *Server) row(run store.Run, t taskMark, r recordSet) taskRow {
	rec, ok := r.tasks[t.Place]
	if !ok {
		rec = runtime.Untouched(t.name(), run)
	}
	row := taskRow{TaskReport: runtime.NewTaskReport(rec), Attempts: r.tries[t.Place], Started: s.local(rec.StartedAt), Finished: s.local(rec.FinishedAt)}
	row.ID = t.name()
	if len(t.inner) > 0 {
		row.Link, row.States = instancesLink(run, t.task), countStates(t.inner)
	} else if t.Tried {
		row.Link = taskLink(run, row.ID)
	}
	return row
}

// urgencyOf gives the place of a state, by its name, in the order of urgency.
func urgencyOf(state string) int {
	st, _ := machine.ParseTaskState(state) // they are names of states
	return urgency[st]
}
