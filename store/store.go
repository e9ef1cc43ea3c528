// Package store says what is remembered: the records, and the interface that
// every store passes (package storetest holds it to it).
//
// A store keeps and finds; it decides nothing. Times are parameters, never read
// from a clock. What goes in comes out, with these exceptions: times come out in
// UTC with the precision of a microsecond, empty slices and maps come out nil,
// and in maps and in lists of strings each byte that is not UTF-8 comes out as
// U+FFFD. The caller may go on using what it gave and what it got.
package store

import (
	"context"
	"errors"
	"time"

	"github.com/ax-scheduler/ax/runtime/machine"
)

// Errors that callers branch on. Stores wrap them with what was asked for.
var (
	ErrNotFound = errors.New("not found")
	ErrConflict = errors.New("conflict") // the batch expected another number of events, or a run id, key or tick is taken
	ErrFull     = errors.New("no space left for the database")
	ErrReadOnly = errors.New("the database cannot be written")
	ErrDamaged  = errors.New("the database is damaged")
	ErrNewer    = errors.New("the database is from a newer version of ax")
	ErrForeign  = errors.New("the file is not a database of ax")
)

// Version is the text of a workflow file as runs were started with it.
type Version struct {
	Hash      string // SHA-256 of Text in hex: the key
	Workflow  string
	Text      []byte
	Tasks     []string // ids in file order, so that a run can be shown without compiling
	CreatedAt time.Time
}

// Trigger says what started a run.
type Trigger string

// The triggers.
const (
	TriggerManual   Trigger = "manual"
	TriggerSchedule Trigger = "schedule"
	TriggerAPI      Trigger = "api"
	TriggerAfter    Trigger = "after"
	TriggerWorkflow Trigger = "workflow"
	TriggerBackfill Trigger = "backfill"
)

// Run is one execution of a workflow. Unset times are zero.
type Run struct {
	ID           string // sorts by time of creation
	Workflow     string
	File         string // path of the workflow file when the run was created
	Version      string // hash
	State        machine.RunState
	Reason       machine.Reason
	Error        string // one line
	Trigger      Trigger
	Key          string // repeated requests with one key of one workflow give one run; empty for none
	Params       map[string]string
	Only         []string // ids of the tasks that belong to the run; empty for all
	Priority     int
	Group        string // runs that were asked for together, as a backfill; empty for none
	GroupMax     int    // how many of its group go at a time; 0 for no limit
	Owner        string // the engine process that runs it; empty when none does
	ScheduledFor time.Time
	IntervalFrom time.Time // the slice of time that the run stands for
	IntervalTo   time.Time
	NotBefore    time.Time // a run in state scheduled waits for it
	Turn         time.Time // its place among the queued: the earlier starts first; of others, see WentAt
	CreatedAt    time.Time
	StartedAt    time.Time // the first time
	FinishedAt   time.Time
	Events       int // how many events are stored: counted by the store, whatever Create and Update say
}

// WentAt gives when the run began to go the last time: its start, or that of its last
// retry, which has a turn of its own. It is zero while the run waits to.
func (r Run) WentAt() time.Time {
	switch again := machine.TurnSince(r.Turn, r.Priority); {
	case r.State == machine.RunScheduled, r.State == machine.RunQueued:
		return time.Time{}
	case r.StartedAt.IsZero(), again.Before(r.StartedAt):
		return r.StartedAt
	default:
		return again
	}
}

// Task is the state of one task of a run: a projection of the run's events.
// Tasks that are still pending have no record.
type Task struct {
	RunID      string
	Index      int // place in Version.Tasks
	Instance   int // of a foreach, from 0; -1 for the task itself
	ID         string
	State      machine.TaskState
	Reason     machine.Reason
	Attempts   int
	ExitCode   *int
	Error      string // one line
	StartedAt  time.Time
	FinishedAt time.Time
	Outputs    map[string]string
}

// Attempt is one try of a task.
type Attempt struct {
	RunID      string
	Index      int
	Instance   int
	Number     int               // from 1
	State      machine.TaskState // Running, or how it ended
	Reason     machine.Reason
	ExitCode   *int
	Error      string
	Warnings   []string
	Log        string // path relative to the data folder
	StartedAt  time.Time
	FinishedAt time.Time
}

// Event is one stored fact of a run, in the form of machine.Encode.
type Event struct {
	Seq  int // from 1 in each run
	Data []byte
}

// TickOutcome says what became of a tick.
type TickOutcome string

// What becomes of a tick.
const (
	TickFired   TickOutcome = "fired"
	TickSkipped TickOutcome = "skipped"
	TickMissed  TickOutcome = "missed"
	TickMerged  TickOutcome = "merged"
	// TickLoaded is no tick but the time at which a schedule was first loaded.
	TickLoaded TickOutcome = "loaded"
)

// Tick is one due time of one schedule. Workflow, Schedule and At identify it.
type Tick struct {
	Workflow string
	Schedule string    // as written, with its zone where it has one of its own
	At       time.Time // nominal
	Outcome  TickOutcome
	Reason   string
	RunID    string // the run that it started, or that was in its way
}

// Span is the time from which and up to which the ticks of one schedule stand in
// the store.
type Span struct {
	Schedule    string
	First, Last time.Time
}

// Appended is a run's new events. Have is how many the writer knows of: if the
// store has another number nothing is written and Commit gives ErrConflict.
type Appended struct {
	RunID string
	Have  int
	Data  [][]byte
}

// Batch is what one transaction writes: all of it or nothing. Its parts are
// written in the order of the fields, so that a run may be created and appended
// to in one batch; the first that cannot be written gives the error. Whatever
// belongs to a run that is not there gives ErrNotFound.
type Batch struct {
	Versions []Version // those already there are left as they are
	Create   []Run     // ErrConflict where the id, or the key of the workflow, is taken
	Update   []Run     // by id; Workflow, Key and CreatedAt stay as they were created
	Append   []Appended
	Restate  []string  // ids of runs whose tasks and attempts go: they are told anew
	Tasks    []Task    // inserted or replaced by run, index and instance
	Attempts []Attempt // inserted or replaced by run, index, instance and number
	Ticks    []Tick    // ErrConflict where the tick is there already
	Messages []Message // those already there are left as they are
	Tries    []Try     // ErrConflict where the message has had another number of tries, ErrNotFound where it is not there
	Pause    []Pause   // inserted or replaced by workflow and Since; ErrConflict where another of the workflow lasts too
	Changes  []Change  // who asked for this
	Remove   []string  // ids of runs that go, with all that belongs to them but their version and messages; those not there are passed over
	Forget   []Forgotten
	Purge    time.Time // messages made before it go, but for those that wait; zero for none

	PurgeChanges time.Time // changes asked for before it go; zero for none
}

// Forgotten says which ticks of a workflow go: those before a time, but for the
// first and the last of each schedule.
type Forgotten struct {
	Workflow string
	Before   time.Time
}

// Empty tells whether there is nothing to write.
func (b *Batch) Empty() bool {
	return len(b.Versions)+len(b.Create)+len(b.Update)+len(b.Append)+len(b.Restate)+len(b.Tasks)+len(b.Attempts)+len(b.Ticks)+
		len(b.Messages)+len(b.Tries)+len(b.Pause)+len(b.Changes)+len(b.Remove)+len(b.Forget) == 0 && b.Purge.IsZero() && b.PurgeChanges.IsZero()
}

// MaxLimit is the length of the longest list of runs. A limit outside 1 to
// MaxLimit is brought into it.
const MaxLimit = 1000

// RunFilter selects runs for a list, newest first.
type RunFilter struct {
	Workflow string // empty for all
	States   []machine.RunState
	Limit    int    // 1 to MaxLimit
	Before   string // only runs with a smaller id: the key-set cursor
	// From and To bound ScheduledFor, both inclusive; zero for no bound. A run
	// without that time lies within no bounds.
	From, To time.Time
}

// Store remembers. All methods may be called from several goroutines, and each
// sees every batch whole or not at all.
type Store interface {
	// Commit writes a batch and returns when it is durable. If the context
	// ends before writing has begun, its error is returned and nothing is
	// written; once writing has begun Commit waits for how it ends.
	Commit(ctx context.Context, b *Batch) error

	// Run gives one run by its id, or ErrNotFound.
	Run(ctx context.Context, id string) (Run, error)
	// RunByKey gives the run of a workflow with a key, or ErrNotFound.
	RunByKey(ctx context.Context, workflow, key string) (Run, error)
	// Resolve gives the ids, at most limit, that begin with a prefix, in order.
	Resolve(ctx context.Context, prefix string, limit int) ([]string, error)
	// Runs lists runs, newest first.
	Runs(ctx context.Context, f RunFilter) ([]Run, error)
	// Unfinished lists queued and running runs with ids greater than after,
	// oldest first.
	Unfinished(ctx context.Context, after string, limit int) ([]Run, error)
	// Scheduled lists runs in state scheduled by NotBefore and id.
	Scheduled(ctx context.Context, limit int) ([]Run, error)
	// Queued lists the queued runs of a workflow by Turn and id.
	Queued(ctx context.Context, workflow string, limit int) ([]Run, error)
	// Tasks gives the records of a run's tasks by index and instance; none if
	// there is no such run. So do Attempts and Events.
	Tasks(ctx context.Context, runID string) ([]Task, error)
	// Attempts gives a run's attempts by index, instance and number.
	Attempts(ctx context.Context, runID string) ([]Attempt, error)
	// Events gives all events of a run in order.
	Events(ctx context.Context, runID string) ([]Event, error)
	// Version gives a version by its hash, or ErrNotFound.
	Version(ctx context.Context, hash string) (Version, error)
	// Ticks gives a workflow's ticks with from <= At <= to, by time and
	// schedule; limit 0 for all.
	Ticks(ctx context.Context, workflow string, from, to time.Time, limit int) ([]Tick, error)

	// LastTicks gives a workflow's ticks that come before one, by time and
	// schedule, the last first, at most limit; before the zero Tick come all.
	LastTicks(ctx context.Context, workflow string, before Tick, limit int) ([]Tick, error)
	// TasksIn gives those of a run's records of tasks that are in some states,
	// in the order of Tasks, at most limit.
	TasksIn(ctx context.Context, runID string, states []machine.TaskState, limit int) ([]Task, error)

	// Schedules gives the span of each schedule that a workflow has ticks of,
	// by schedule.
	Schedules(ctx context.Context, workflow string) ([]Span, error)

	Lists
	Outbox
	Pausing
	Audit

	// Close waits for the batches that are being written. After it every
	// other method gives an error.
	Close() error
}
