package machine

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/ax-scheduler/ax/dag"
)

// The kinds of stored events. They are stored for good.
const (
	kindRunStarted      = "run-started"
	kindEvaluated       = "evaluated"
	kindExpanded        = "expanded"
	kindAttemptStarted  = "attempt-started"
	kindAttemptEnded    = "attempt-ended"
	kindRetryDue        = "retry-due"
	kindAttemptTimedOut = "attempt-timed-out"
	kindPoolBusy        = "pool-busy"
	kindRunTimedOut     = "run-timed-out"
	kindCancelRequested = "cancel-requested"
	kindRunRetried      = "run-retried"
	kindTakenOver       = "taken-over"
	kindVersionChanged  = "version-changed"
)

// Encode gives the form in which an event is stored: one JSON object with the
// event's kind, its time in microseconds since 1970, tasks by their place in
// the plan, and no field that has its zero value but these. Times come back
// from Decode in UTC and without what is finer than a microsecond, empty lists
// and maps as nil, text that is no UTF-8 with replacement characters. The only
// errors are an event that is none of this package's and an item that is no JSON.
func Encode(e Event) ([]byte, error) {
	o := make(object, 0, 192)
	switch e := e.(type) {
	case RunStarted:
		o.begin(kindRunStarted, e.At)
	case Evaluated:
		o.begin(kindEvaluated, e.At)
		o.number("task", int(e.Task))
		o.flag("holds", e.Holds)
		o.text("error", e.Error)
	case Expanded:
		return encodeExpanded(e)
	case AttemptStarted:
		o.begin(kindAttemptStarted, e.At)
		o.attempt(Unit{e.Task, e.Instance}, e.Attempt)
	case AttemptEnded:
		o.begin(kindAttemptEnded, e.At)
		o.attempt(Unit{e.Task, e.Instance}, e.Attempt)
		o.result(&e.Result)
	case RetryDue:
		o.begin(kindRetryDue, e.At)
		o.attempt(Unit{e.Task, e.Instance}, e.Attempt)
	case AttemptTimedOut:
		o.begin(kindAttemptTimedOut, e.At)
		o.attempt(Unit{e.Task, e.Instance}, e.Attempt)
	case PoolBusy:
		o.begin(kindPoolBusy, e.At)
		o.unit(Unit{e.Task, e.Instance})
	case RunTimedOut:
		o.begin(kindRunTimedOut, e.At)
	case CancelRequested:
		o.begin(kindCancelRequested, e.At)
		o.text("by", e.By)
	case RunRetried:
		o.begin(kindRunRetried, e.At)
		list(&o, "tasks", e.Tasks, func(o *object, t dag.Task) { *o = strconv.AppendInt(*o, int64(t), 10) })
		list(&o, "instances", e.Instances, (*object).pair)
		o.flag("waits", e.Waits)
	case VersionChanged:
		o.begin(kindVersionChanged, e.At)
		o.text("from", e.From)
		o.text("to", e.To)
	case TakenOver:
		o.begin(kindTakenOver, e.At)
		o.text("by", e.By)
	default:
		return nil, fmt.Errorf("encode event: unknown type %T", e)
	}
	return append(o, '}'), nil
}

// object is a JSON object that is being written. It is written by hand since
// every step of every run passes here.
type object []byte

func (o *object) begin(kind string, at time.Time) {
	*o = append(append(append(*o, `{"kind":"`...), kind...), `","at":`...)
	*o = strconv.AppendInt(*o, at.UnixMicro(), 10)
}

func (o *object) name(name string) {
	*o = append(append(append(*o, `,"`...), name...), `":`...)
}

func (o *object) number(name string, v int) {
	o.name(name)
	*o = strconv.AppendInt(*o, int64(v), 10)
}

func (o *object) flag(name string, v bool) {
	if v {
		o.name(name)
		*o = append(*o, "true"...)
	}
}

func (o *object) text(name, v string) {
	if v != "" {
		o.name(name)
		o.quote(v)
	}
}

// quote leaves what is not plain to the library.
func (o *object) quote(v string) {
	for i := range len(v) {
		if c := v[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			quoted, _ := json.Marshal(v) // a string never fails
			*o = append(*o, quoted...)
			return
		}
	}
	*o = append(append(append(*o, '"'), v...), '"')
}

func list[T any](o *object, name string, vs []T, each func(*object, T)) {
	if len(vs) == 0 {
		return
	}
	o.name(name)
	for i, v := range vs {
		*o = append(*o, "[,"[min(i, 1)])
		each(o, v)
	}
	*o = append(*o, ']')
}

func encodeExpanded(e Expanded) ([]byte, error) {
	var o object
	o.begin(kindExpanded, e.At)
	o.number("task", int(e.Task))
	for i, item := range e.Items {
		if !json.Valid([]byte(item)) {
			return nil, fmt.Errorf("encode event: item %d of task %d is no JSON", i, e.Task)
		}
	}
	list(&o, "items", e.Items, func(o *object, item string) { *o = append(*o, item...) })
	o.text("error", e.Error)
	return append(o, '}'), nil
}

func (o *object) unit(u Unit) {
	o.number("task", int(u.Task))
	if u.Instance != 0 {
		o.number("instance", u.Instance.Index())
	}
}

func (o *object) attempt(u Unit, n int) {
	o.unit(u)
	o.number("attempt", n)
}

// pair writes an instance of a task as [task, index].
func (o *object) pair(u Unit) {
	*o = strconv.AppendInt(append(*o, '['), int64(u.Task), 10)
	*o = strconv.AppendInt(append(*o, ','), int64(u.Instance.Index()), 10)
	*o = append(*o, ']')
}

func (o *object) result(r *Result) {
	if r.ExitCode != 0 {
		o.number("exit", r.ExitCode)
	}
	o.text("signal", r.Signal)
	o.text("start_error", r.StartError)
	o.text("failure", r.Failure)
	o.flag("stopped", r.Stopped)
	o.flag("interrupted", r.Interrupted)
	o.flag("no_retry", r.NoRetry)
	o.text("last", r.LastLine)
	list(o, "left", r.Left, (*object).quote)
	if len(r.Outputs) == 0 {
		return
	}
	o.name("outputs")
	for i, k := range slices.Sorted(maps.Keys(r.Outputs)) {
		*o = append(*o, "{,"[min(i, 1)])
		o.quote(k)
		*o = append(*o, ':')
		o.quote(r.Outputs[k])
	}
	*o = append(*o, '}')
}

// stored has the fields of all kinds of events.
type stored struct {
	Kind      string            `json:"kind"`
	At        *int64            `json:"at"`
	Task      *dag.Task         `json:"task"`
	Instance  *int32            `json:"instance"`
	Attempt   *int              `json:"attempt"`
	Holds     bool              `json:"holds"`
	Error     string            `json:"error"`
	By        string            `json:"by"`
	From      string            `json:"from"`
	To        string            `json:"to"`
	Tasks     []dag.Task        `json:"tasks"`
	Instances [][2]int32        `json:"instances"`
	Waits     bool              `json:"waits"`
	Items     []json.RawMessage `json:"items"`
	storedResult
}

// instance gives the instance that an event is about: none where it names none.
func (s *stored) instance() Instance {
	if s.Instance == nil {
		return 0
	}
	return InstanceOf(int(*s.Instance))
}

func (s *stored) instances() (us []Unit) {
	for _, pair := range s.Instances {
		us = append(us, Unit{dag.Task(pair[0]), InstanceOf(int(pair[1]))})
	}
	return us
}

func (s *stored) items() (items []string) {
	for _, item := range s.Items {
		items = append(items, string(item))
	}
	return items
}

// storedResult has the fields of Result, so that one turns into the other.
type storedResult struct {
	ExitCode    int               `json:"exit"`
	Signal      string            `json:"signal"`
	StartError  string            `json:"start_error"`
	Failure     string            `json:"failure"`
	Stopped     bool              `json:"stopped"`
	Interrupted bool              `json:"interrupted"`
	NoRetry     bool              `json:"no_retry"`
	LastLine    string            `json:"last"`
	Left        []string          `json:"left"`
	Outputs     map[string]string `json:"outputs"`
}

// Decode is the inverse of Encode. It passes over fields that it does not know,
// since fields are only ever added, but refuses a kind that it does not know
// and an event that lacks its time, task or attempt.
func Decode(data []byte) (Event, error) {
	var s stored
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("decode event: %w", err)
	}
	lacks := ""
	at := time.UnixMicro(need(s.At, "at", &lacks)).UTC()
	task := func() dag.Task { return need(s.Task, "task", &lacks) }
	attempt := func() int { return need(s.Attempt, "attempt", &lacks) }
	var e Event
	switch s.Kind {
	case kindRunStarted:
		e = RunStarted{at}
	case kindEvaluated:
		e = Evaluated{task(), s.Holds, s.Error, at}
	case kindExpanded:
		e = Expanded{task(), s.items(), s.Error, at}
	case kindAttemptStarted:
		e = AttemptStarted{task(), s.instance(), attempt(), at}
	case kindAttemptEnded:
		e = AttemptEnded{task(), s.instance(), attempt(), Result(s.storedResult), at}
	case kindRetryDue:
		e = RetryDue{task(), s.instance(), attempt(), at}
	case kindAttemptTimedOut:
		e = AttemptTimedOut{task(), s.instance(), attempt(), at}
	case kindPoolBusy:
		e = PoolBusy{task(), s.instance(), at}
	case kindRunTimedOut:
		e = RunTimedOut{at}
	case kindCancelRequested:
		e = CancelRequested{s.By, at}
	case kindRunRetried:
		e = RunRetried{s.Tasks, s.instances(), s.Waits, at}
	case kindTakenOver:
		e = TakenOver{s.By, at}
	case kindVersionChanged:
		e = VersionChanged{s.From, s.To, at}
	case "":
		return nil, fmt.Errorf("decode event: %q is missing", "kind")
	default:
		return nil, fmt.Errorf("decode event: unknown kind %q, perhaps written by a newer version", s.Kind)
	}
	if lacks != "" {
		return nil, fmt.Errorf("decode event of kind %q: %q is missing", s.Kind, lacks)
	}
	return e, nil
}

// need gives a field that must be there.
func need[T any](field *T, name string, lacks *string) T {
	if field == nil {
		*lacks = name
		return *new(T)
	}
	return *field
}
