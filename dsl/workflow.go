// Package dsl turns the text of a workflow file into a typed Workflow in which
// everything keeps the place it was written at, and into diagnostics that
// point at that place.
//
// It knows one file at a time and nothing of graphs, runs, clocks or the
// environment: whether a name in depends_on exists is a question for package
// dag, whether a schedule is wise one for dsl/lint.
package dsl

import (
	"strings"
	"time"
)

// Pos is a place in a file: line and column, both from 1, columns in code
// points. The zero Pos means that something was not written but defaulted.
type Pos struct{ Line, Col int32 }

// Written tells whether p is a place in the file.
func (p Pos) Written() bool { return p.Line > 0 }

// Value is a scalar that knows where it was written. A key that the file does
// not have gives the zero Value.
type Value[T any] struct {
	V   T
	Pos Pos
}

// Set tells whether the file has the value.
func (v Value[T]) Set() bool { return v.Pos.Written() }

// Or gives the value, or d where the file does not have it.
func (v Value[T]) Or(d T) T {
	if v.Set() {
		return v.V
	}
	return d
}

// Workflow is one parsed file. Lists are in file order.
type Workflow struct {
	Source *Source // the text it was read from

	Name        Value[string] // Pos is zero where it was taken from the file's name
	Description Value[string]
	Owner       Value[string]
	Tags        []Value[string]

	Schedules  []Schedule // cron and every
	After      []After
	Timezone   Value[string] // IANA name
	ValidFrom  Value[Date]
	ValidUntil Value[Date]
	Except     []Value[string] // a date, or the path of a file with a date a line
	Jitter     Value[time.Duration]

	Catchup       Value[Catchup]
	CatchupWindow Value[time.Duration]
	MaxActive     Value[int] // 0 means no limit
	Overlap       Value[Overlap]

	Params  []Param
	Env     []EnvVar
	EnvFile []Value[string] // paths
	Secrets []Secret

	Defaults    Defaults // already applied to Tasks; kept for those who show the file
	MaxParallel Value[int]
	Timeout     Value[time.Duration]
	Priority    Value[int] // 0 to 9

	OnFailure []Value[string] // handlers: ids of tasks
	OnSuccess []Value[string]
	OnFinish  []Value[string]

	Retention    *Retention
	Disabled     Value[bool]
	ExpectWithin Value[time.Duration]
	Notify       []Notify

	Tasks []Task

	gaps gaps // see Unread
}

// Head gives the workflow without its tasks, which are nearly all of it, and with
// a Source of its own that has made out nothing of the text yet.
func (w *Workflow) Head() *Workflow {
	head := *w
	head.Source, head.Tasks = NewSource(w.Source.File, w.Source.Text), nil
	return &head
}

// Date is a calendar day without a zone.
type Date struct {
	Year  int
	Month time.Month
	Day   int
}

// Before tells whether d comes before o.
func (d Date) Before(o Date) bool {
	return d.Year < o.Year || d.Year == o.Year && (d.Month < o.Month || d.Month == o.Month && d.Day < o.Day)
}

// After tells whether d comes after o.
func (d Date) After(o Date) bool { return o.Before(d) }

// Next gives the day after d.
func (d Date) Next() Date {
	y, m, day := time.Date(d.Year, d.Month, d.Day+1, 0, 0, 0, 0, time.UTC).Date()
	return Date{y, m, day}
}

// Schedule is one cron expression or one interval, of a workflow or of a task.
// Exactly one of Cron and Every is set.
type Schedule struct {
	Cron     Value[string]
	Every    Value[time.Duration]
	Timezone Value[string] // only in the long form {cron, timezone, params}
	Params   []Field
}

// After starts a workflow when a run of another one has ended.
type After struct {
	Workflow Value[string]
	On       AfterOutcome
}

// AfterOutcome says which end of the other run counts.
type AfterOutcome uint8

// The ends that `after` can wait for.
const (
	AfterSucceeded AfterOutcome = iota
	AfterFailed
	AfterFinished
)

// Field is one entry of a free map (with, params of a child, headers).
type Field struct {
	Name  Value[string]
	Value Value[string] // the scalar's text exactly as written; lists and maps as JSON
}

// EnvVar is one variable of `env`, with its value exactly as written.
type EnvVar struct {
	Name  Value[string]
	Value Value[string]
}

// Secret says where the value of a secret variable comes from. Exactly one of
// Env and File is set.
type Secret struct {
	Name Value[string]
	Env  Value[string] // name of a variable of the engine's environment
	File Value[string] // path
}

// ParamType is the declared or inferred type of a parameter.
type ParamType string

// The types of parameters.
const (
	ParamString   ParamType = "string"
	ParamInt      ParamType = "int"
	ParamFloat    ParamType = "float"
	ParamBool     ParamType = "bool"
	ParamDate     ParamType = "date"
	ParamDuration ParamType = "duration"
)

// Param is one declared input of a workflow.
type Param struct {
	Name        Value[string]
	Type        Value[ParamType] // inferred from the default where not written
	Default     Value[string]    // text as written; unset where there is none
	Required    Value[bool]
	Choices     []Value[string]
	Min, Max    Value[string] // in the parameter's type
	Pattern     Value[string] // a regular expression (RE2) for the whole value
	Description Value[string]

	unread bool
}

// Defaults holds the task keys that `defaults` may set for every task.
type Defaults struct {
	Timeout  Value[time.Duration]
	Retry    *Retry
	Shell    Shell
	Workdir  Value[string]
	Env      []EnvVar
	Pool     *Pool
	RunsOn   Value[string]
	Recovery Value[Recovery]

	gaps gaps // by the table of defaults
}

// Retention says how many old runs are kept, and for how long.
type Retention struct {
	Pos  Pos
	Runs Value[int]
	Age  Value[time.Duration]
}

// Notify is one message target. Exactly one of URL and Email is set.
type Notify struct {
	Pos    Pos
	URL    Value[string]
	Email  Value[string]
	On     []Value[string] // failed, recovered, late, succeeded, broken
	Secret Value[string]
	Format Value[string] // json, slack, teams
}

// Kind says what a task does.
type Kind uint8

// The kinds of tasks, named by their keys.
const (
	NoKind Kind = iota // only in files with errors
	KindRun
	KindCommand
	KindSQL
	KindHTTP
	KindWorkflow
	KindWaitFor
	KindCall
)

// String gives the key of the kind.
func (k Kind) String() string {
	return [...]string{"", "run", "command", "sql", "http", "workflow", "wait_for", "call"}[k]
}

// Waits tells whether a task of this kind only waits for something else, and so
// holds no slot while it is under way.
func (k Kind) Waits() bool { return k == KindWorkflow || k == KindWaitFor }

// Task is one entry of `tasks`. Values from `defaults` are already in it (their
// Pos is then the place in `defaults`), those of the workflow's own env are not.
type Task struct {
	ID          Value[string]
	Description Value[string]

	Kind     Kind
	Run      Value[string]   // script
	Command  []Value[string] // program and arguments
	SQL      *SQL
	HTTP     *HTTP
	Workflow *ChildWorkflow
	WaitFor  *WaitFor
	Call     Value[string] // registered name
	With     []Field

	DependsOn []Dependency
	Join      Value[Join]
	OnFailure []Value[string] // ids of tasks
	When      Value[string]   // expression

	Retry        *Retry
	Timeout      Value[time.Duration] // of one attempt
	KillAfter    Value[time.Duration] // from SIGTERM to SIGKILL, default 10s
	Schedules    []Schedule
	Foreach      *Foreach
	AllowFailure Value[bool]
	SuccessCodes []Value[int] // empty means 0
	SkipCodes    []Value[int]

	Env      []EnvVar // of defaults, then of the task; a name stands once
	Workdir  Value[string]
	Shell    Shell
	Pool     *Pool
	RunsOn   Value[string]
	Priority Value[int]
	Recovery Value[Recovery]
	Disabled Value[bool]

	gaps     gaps // see Unread
	uncalled bool
}

// Shell is the argv list that takes a script: `sh`, `bash` and `python3` stand
// for themselves, anything else is taken as written. Empty means sh.
type Shell struct {
	Pos  Pos
	Argv []string
}

// Dependency is one entry of depends_on.
type Dependency struct {
	Task Value[string]
	On   Outcomes
}

// Outcomes is a set of the ends of an upstream task for which an edge holds.
type Outcomes uint8

// The conditions of an edge. Finished holds on every end, a cancel included.
const (
	OnSucceeded Outcomes = 1 << iota
	OnFailed
	OnSkipped
	OnCancelled
	OnFinished = OnSucceeded | OnFailed | OnSkipped | OnCancelled
)

// String gives the condition as depends_on writes it.
func (o Outcomes) String() string {
	if o == OnFinished {
		return "finished"
	}
	var names []string
	for _, c := range []struct {
		bit  Outcomes
		name string
	}{{OnSucceeded, "succeeded"}, {OnFailed, "failed"}, {OnSkipped, "skipped"}} {
		if o&c.bit != 0 {
			names = append(names, c.name)
		}
	}
	return strings.Join(names, ", ")
}

// Join says how many of the depends_on edges must hold.
type Join uint8

// The values of join.
const (
	JoinAll Join = iota
	JoinAny
)

// Backoff says how the pause between attempts grows.
type Backoff uint8

// The values of retry.backoff; Exponential is the default.
const (
	Exponential Backoff = iota
	Constant
	Linear
)

// Retry says how often and when a failed task is tried again.
type Retry struct {
	Pos       Pos
	Max       Value[int] // further attempts after the first
	Delay     Value[time.Duration]
	Backoff   Value[Backoff]
	MaxDelay  Value[time.Duration]
	Jitter    Value[time.Duration]
	ExitCodes []Value[int]
	If        Value[string] // expression
}

// Foreach makes one instance of a task for each item. Exactly one of Items and
// Expr is set.
type Foreach struct {
	Pos         Pos
	Items       []Value[string]
	Expr        Value[string]
	MaxParallel Value[int]
}

// Pool is a server-wide limit that a task's attempts hold a slot of.
type Pool struct {
	Name  Value[string]
	Slots Value[int]
	Busy  Value[Busy]
}

// Busy says what happens where a pool has no free slot.
type Busy uint8

// The values of pool.busy.
const (
	BusyWait Busy = iota
	BusySkip
)

// Recovery says what happens to an attempt that a crash cut off.
type Recovery uint8

// The values of recovery.
const (
	RecoveryRerun Recovery = iota
	RecoveryFail
)

// Catchup says which missed ticks are run.
type Catchup uint8

// The values of catchup; CatchupLatest is the default.
const (
	CatchupLatest Catchup = iota
	CatchupNone
	CatchupAll
	CatchupMerge
)

// Overlap says what a tick does when max_active runs are going.
type Overlap uint8

// The values of overlap; OverlapBufferOne is the default.
const (
	OverlapBufferOne Overlap = iota
	OverlapSkip
	OverlapQueue
	OverlapReplace
)

// SQL is one statement or script. Exactly one of Query and File is set.
type SQL struct {
	Pos    Pos
	DB     Value[string]
	Query  Value[string]
	File   Value[string]
	Params []Field // values of :name in the statements
	Save   Value[string]
}

// HTTP is one request.
type HTTP struct {
	Pos     Pos
	Method  Value[string]
	URL     Value[string]
	Headers []Field
	Body    Value[string]
	Expect  []Value[int] // empty means 200 to 299
	Save    Value[string]
}

// ChildWorkflow is a run of another workflow.
type ChildWorkflow struct {
	Pos    Pos
	Name   Value[string]
	Params []Field
}

// WaitFor is a condition to wait for. Exactly one of File, HTTP, SQL and Until
// is set.
type WaitFor struct {
	Pos   Pos
	File  Value[string]
	HTTP  *HTTP
	SQL   *SQL
	Until Value[string] // a time, or an expression
	Poll  Value[time.Duration]
}
