package runtime

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/store"
)

// Report is a run with its tasks, in the form that `ax run --json`, `ax show
// --json` and the API give. Times that there are none of yet are nil.
type Report struct {
	ID           string            `json:"id"`
	Workflow     string            `json:"workflow"`
	Version      string            `json:"version"`
	State        string            `json:"state"`
	Reason       string            `json:"reason"`
	Trigger      string            `json:"trigger"`
	ScheduledFor *time.Time        `json:"scheduled_for"`
	NotBefore    *time.Time        `json:"not_before,omitempty"` // of a delayed run
	StartedAt    *time.Time        `json:"started_at"`
	FinishedAt   *time.Time        `json:"finished_at"`
	Params       map[string]string `json:"params"`
	Tasks        []TaskReport      `json:"tasks,omitempty"` // in file order, instances of a foreach after their task
}

// TaskReport is one task of a Report, or one instance of a foreach. Of the task
// itself the outputs are then JSON lists, of a value an instance, null where it
// has none.
type TaskReport struct {
	ID         string            `json:"id"`
	State      string            `json:"state"`
	Reason     string            `json:"reason"`
	Attempts   int               `json:"attempts"`
	ExitCode   *int              `json:"exit_code"`
	Error      string            `json:"error"`
	StartedAt  *time.Time        `json:"started_at"`
	FinishedAt *time.Time        `json:"finished_at"`
	Outputs    map[string]string `json:"outputs"`
}

// NewReport gives the report of a run without its tasks.
func NewReport(r store.Run) Report {
	return Report{
		ID: r.ID, Workflow: r.Workflow, Version: r.Version,
		State: r.State.String(), Reason: string(r.Reason), Trigger: string(r.Trigger),
		ScheduledFor: optional(r.ScheduledFor), NotBefore: optional(r.NotBefore), StartedAt: optional(r.StartedAt), FinishedAt: optional(r.FinishedAt),
		Params: notNil(r.Params),
	}
}

// ReadReport reads a run with its tasks from a store; those that have no record
// are pending.
func ReadReport(ctx context.Context, s store.Store, id string) (Report, error) {
	run, err := s.Run(ctx, id)
	if err != nil {
		return Report{}, err
	}
	version, err := s.Version(ctx, run.Version)
	if err != nil {
		return Report{}, err
	}
	tasks, err := s.Tasks(ctx, id)
	if err != nil {
		return Report{}, err
	}
	rep := NewReport(run)
	rep.Tasks = make([]TaskReport, 0, len(version.Tasks))
	for i, id := range version.Tasks {
		var of []store.Task // the records are in order
		for len(tasks) > 0 && tasks[0].Index == i {
			of, tasks = append(of, tasks[0]), tasks[1:]
		}
		if len(run.Only) > 0 && !slices.Contains(run.Only, id) {
			continue
		}
		if len(of) == 0 {
			of = []store.Task{Untouched(id, run)}
		}
		rep.add(of)
	}
	return rep, nil
}

// add adds a task and its instances. One that is pending is none, or none any
// more: a retry has had the items anew.
func (rep *Report) add(of []store.Task) {
	instances := slices.DeleteFunc(of[1:], func(t store.Task) bool { return t.State == machine.Pending })
	task := NewTaskReport(of[0])
	if len(instances) > 0 && of[0].State.Final() {
		all := NewOutputLists(len(instances))
		for i, t := range instances {
			all.Add(i, t.Outputs)
		}
		task.Outputs = all.Texts()
	}
	rep.Tasks = append(rep.Tasks, task)
	for _, t := range instances {
		rep.Tasks = append(rep.Tasks, NewTaskReport(t))
	}
}

// OutputLists gathers the outputs of the instances of a task, which are those of
// the task: for each name a JSON list with the values in the order of the
// instances, null for those that have none.
type OutputLists struct {
	n  int
	by map[string][]*string
}

// NewOutputLists makes the lists for so many instances.
func NewOutputLists(instances int) *OutputLists {
	return &OutputLists{instances, map[string][]*string{}}
}

// Add adds the outputs of the instance with a number, from 0.
func (l *OutputLists) Add(instance int, outputs map[string]string) {
	for key, value := range outputs {
		if l.by[key] == nil {
			l.by[key] = make([]*string, l.n)
		}
		l.by[key][instance] = &value
	}
}

// Texts gives the lists as JSON, by the names of the outputs.
func (l *OutputLists) Texts() map[string]string {
	texts := make(map[string]string, len(l.by))
	for key, list := range l.by {
		var text strings.Builder
		out := json.NewEncoder(&text)
		out.SetEscapeHTML(false)
		_ = out.Encode(list) // strings never fail
		texts[key] = strings.TrimSuffix(text.String(), "\n")
	}
	return texts
}

// Untouched gives a task without a record, to which nothing has happened: it is
// pending, or went with its run before that started.
func Untouched(id string, run store.Run) store.Task {
	t := store.Task{ID: id, State: machine.Pending}
	switch run.State {
	case machine.RunCancelled:
		t.State, t.Reason, t.FinishedAt = machine.Cancelled, run.Reason, run.FinishedAt
	case machine.RunSkipped, machine.RunFailed:
		t.State, t.Reason, t.FinishedAt = machine.Skipped, run.Reason, run.FinishedAt
	}
	return t
}

// NewTaskReport gives the report of a task.
func NewTaskReport(t store.Task) TaskReport {
	return TaskReport{
		ID: t.ID, State: t.State.String(), Reason: string(t.Reason), Attempts: t.Attempts,
		ExitCode: t.ExitCode, Error: t.Error,
		StartedAt: optional(t.StartedAt), FinishedAt: optional(t.FinishedAt), Outputs: notNil(t.Outputs),
	}
}

func optional(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

func notNil(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}

// FilledList is what a backfill does, or would do, in the form that the API gives;
// `ax backfill --json` gives its items.
type FilledList struct {
	Items   []FilledReport `json:"items"`                     // by time
	LeftOut int            `json:"left_out"`                  // ticks that are not due yet
	Reason  string         `json:"left_out_reason,omitempty"` // why they are left out
}

// FilledReport is one tick of a backfill.
type FilledReport struct {
	At       time.Time         `json:"at"`
	Schedule string            `json:"schedule"`
	Tasks    []string          `json:"tasks"`  // that it starts with; empty for the whole workflow
	Params   map[string]string `json:"params"` // those that the schedule gives, as the run has them
	Run      *string           `json:"run"`    // its id; null where it is only planned
	State    string            `json:"state"`  // of the run, or WouldRun
	Left     bool              `json:"left"`   // the run was there already
}

// WouldRun stands in place of the state of a run that is only planned.
const WouldRun = "would run"

// NewFilledList gives the report of a backfill.
func NewFilledList(f Filling) FilledList {
	l := FilledList{Items: make([]FilledReport, 0, len(f.Ticks)), LeftOut: f.LeftOut}
	if f.LeftOut > 0 {
		l.Reason = "still to come, and started by the schedules when they are due"
	}
	for _, t := range f.Ticks {
		r := FilledReport{
			At: t.At.UTC(), Schedule: t.Schedule, Tasks: append([]string{}, t.Tasks...),
			Params: notNil(t.Params), State: WouldRun, Left: t.Left,
		}
		if t.Run.ID != "" {
			r.Run, r.State = &t.Run.ID, t.Run.State.String()
		}
		l.Items = append(l.Items, r)
	}
	return l
}

// OfSeveral tells whether the ticks are of several schedules.
func (l FilledList) OfSeveral() bool {
	return slices.ContainsFunc(l.Items, func(r FilledReport) bool {
		return r.Schedule != l.Items[0].Schedule || !slices.Equal(r.Tasks, l.Items[0].Tasks)
	})
}

// Names tells the schedule of a tick, as written and for which tasks, and the
// parameters that it gives.
func (r FilledReport) Names() (schedule, params string) {
	if schedule = r.Schedule; len(r.Tasks) > 0 {
		schedule += " of " + strings.Join(r.Tasks, ",")
	}
	for i, name := range slices.Sorted(maps.Keys(r.Params)) {
		if i > 0 {
			params += " "
		}
		params += name + "=" + r.Params[name]
	}
	return schedule, params
}
