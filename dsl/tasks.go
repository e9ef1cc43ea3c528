package dsl

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

const taskTitle = "a task"

// taskKeys are the keys of a task, in the order in which `ax fmt` lays them out:
// what it is and what starts it, how and what it does, what comes of it.
var taskKeys = &table[Task]{taskTitle, "a map with the keys of a task", []key[Task]{
	{"description", func(v val, t *Task) { t.Description = v.str() }},
	{"disabled", func(v val, t *Task) { t.Disabled = v.boolean() }},

	{"cron", func(v val, t *Task) { t.Schedules = append(t.Schedules, v.crons()...) }},
	{"every", func(v val, t *Task) { t.Schedules = append(t.Schedules, v.every()...) }},
	{"depends_on", func(v val, t *Task) { t.DependsOn = v.dependencies() }},
	{"join", func(v val, t *Task) { t.Join = oneOf(v, joins) }},
	{"when", func(v val, t *Task) { t.When = v.filled() }},
	{"foreach", func(v val, t *Task) { t.Foreach = v.foreach() }},

	{"workdir", func(v val, t *Task) { t.Workdir = v.filled() }},
	{"shell", func(v val, t *Task) { t.Shell = v.shell() }},
	{"env", func(v val, t *Task) { t.Env = v.env() }},

	{"run", func(v val, t *Task) { t.Run = v.script() }},
	{"command", func(v val, t *Task) { t.Command = v.command() }},
	{"sql", func(v val, t *Task) { t.SQL = v.sql() }},
	{"http", func(v val, t *Task) { t.HTTP = v.http() }},
	{"workflow", func(v val, t *Task) { t.Workflow = v.child() }},
	{"wait_for", func(v val, t *Task) { t.WaitFor = v.waitFor() }},
	{"call", func(v val, t *Task) { t.Call = v.call() }},
	{"with", func(v val, t *Task) { t.With = v.free(true) }},

	{"retry", func(v val, t *Task) { t.Retry = v.retry() }},
	{"timeout", func(v val, t *Task) { t.Timeout = v.duration(1) }},
	{"kill_after", func(v val, t *Task) { t.KillAfter = v.duration(0) }},
	{"success_codes", func(v val, t *Task) { t.SuccessCodes = v.exitCodes() }},
	{"skip_codes", func(v val, t *Task) { t.SkipCodes = v.exitCodes() }},
	{"allow_failure", func(v val, t *Task) { t.AllowFailure = v.boolean() }},

	{"pool", func(v val, t *Task) { t.Pool = v.pool() }},
	{"runs_on", func(v val, t *Task) { t.RunsOn = v.filled() }},
	{"priority", func(v val, t *Task) { t.Priority = v.integer(0, 9) }},
	{"recovery", func(v val, t *Task) { t.Recovery = oneOf(v, recoveries) }},
	{"on_failure", func(v val, t *Task) { t.OnFailure = v.ids() }},
}}

var (
	joins      = []choice[Join]{{"all", JoinAll}, {"any", JoinAny}}
	recoveries = []choice[Recovery]{{"rerun", RecoveryRerun}, {"fail", RecoveryFail}}
)

// actions are the keys that say what a task does, by Kind.
var actions = []string{"", "run", "command", "sql", "http", "workflow", "wait_for", "call"}

// tasks reads all tasks. One that is wrong is kept, so that what names it is
// not wrong as well.
func (v val) tasks() []Task {
	var all []Task
	if v.node != nil && v.node.Kind == yaml.MappingNode {
		if len(v.node.Content) == 0 {
			v.bad(v.label()+" is empty", "a workflow needs at least one task")
		}
		all = make([]Task, 0, len(v.node.Content)/2)
	}
	v.each, v.node = true, v.indentTasks()
	read := func(id Value[string], v val) {
		v.what = "task "
		v.p.task = v.label()
		all = append(all, Task{ID: id})
		v.p.checkName("task id", id)
		v.task(&all[len(all)-1], len(all)-1)
		v.p.task = ""
	}
	v.entries("a map of ids to tasks", read)
	for len(v.p.deep) > 0 && v.p.budget >= 0 {
		k, value := v.p.deep[0], v.p.deep[1]
		v.p.deep = v.p.deep[2:]
		v.entry(k, value, read)
	}
	return all
}

// task reads the task of a number.
func (v val) task(t *Task, number int) {
	switch {
	case v.node != nil && isNull(v.node):
		t.gaps = ^gaps(0)
		v.p.add("missing-key", t.ID.Pos, v.label()+" does nothing", "it needs one of "+strings.Join(actions[1:], ", "))
		return
	case v.node != nil && v.node.Kind == yaml.ScalarNode:
		t.gaps = ^gaps(0)
		v.wrongTypeHint(taskKeys.shape, "write {run: …}")
		return
	}
	if v.node != nil && v.node.Kind == yaml.SequenceNode {
		t.gaps = ^gaps(0)
		v.wrongTypeHint(taskKeys.shape, "a task does one thing: its keys stand without a dash; several steps are several tasks, or lines of one \"run: |\"")
		return
	}
	found, ok := read(v, taskKeys, t)
	if t.gaps = found.gaps; !ok {
		t.gaps = ^gaps(0)
		return
	}
	found.strays(number)
	v.action(t, found)
	if with := found.key("with"); with != nil && !found.has("call") {
		v.p.add("bad-value", v.p.pos(with), `"with" is only for "call"`, "")
	}
	for _, code := range t.SkipCodes {
		if slices.ContainsFunc(t.SuccessCodes, func(c Value[int]) bool { return c.V == code.V }) {
			v.p.add("bad-value", code.Pos, fmt.Sprintf("exit code %d is in \"success_codes\" too", code.V), "keep it in one of them")
		}
	}
}

// action finds what the task does. Of several actions the first counts that has
// a value.
func (v val) action(t *Task, f given) {
	var empty bool
	for i := 0; i < len(f.keys); i += 2 {
		k := f.keys[i]
		switch kind := slices.Index(actions, k.Value); {
		case kind <= 0, t.Kind != NoKind && isNull(f.keys[i+1]):
		case t.Kind == NoKind, empty:
			t.Kind, empty = Kind(kind), isNull(f.keys[i+1])
		default:
			v.p.add("bad-value", v.p.pos(k), fmt.Sprintf("%s has both %q and %q", v.label(), t.Kind, k.Value), "a task does one thing: make two tasks of it")
		}
	}
	if t.Kind == NoKind && !slices.ContainsFunc(actions[1:], f.has) && !slices.Contains(f.broken, "shell") {
		v.p.add("missing-key", t.ID.Pos, v.label()+" does nothing", "it needs one of "+strings.Join(actions[1:], ", "))
	}
}

var conditions = []choice[Outcomes]{
	{"succeeded", OnSucceeded}, {"failed", OnFailed}, {"skipped", OnSkipped}, {"finished", OnFinished},
}

// dependencies reads depends_on: an id, a list of ids, or a map of ids to
// conditions.
func (v val) dependencies() (all []Dependency) {
	if v.node == nil || v.node.Kind != yaml.MappingNode {
		for _, id := range oneOrList(v, "a task id, a list of task ids or a map of them to conditions", val.id) {
			all = append(all, Dependency{id, OnSucceeded})
		}
		return all
	}
	v.entries("", func(id Value[string], v val) {
		on := v.condition()
		if strings.TrimSpace(id.V) == "" || strings.Contains(id.V, "${{") {
			v.p.checkName("task id", id)
		} else if on != 0 {
			all = append(all, Dependency{id, on})
		}
	})
	return all
}

// condition reads a condition of an edge, or a list of them.
func (v val) condition() (on Outcomes) {
	if v.node == nil || v.node.Kind != yaml.SequenceNode {
		return oneOf(v, conditions).V
	}
	for _, at := range v.node.Content {
		on |= oneOf(v.itemAt(at), conditions).V
	}
	if len(v.node.Content) == 0 {
		v.bad(v.label()+" has no condition", "leave the list out for succeeded")
	}
	return on
}

// retryKeys is the long form of `retry`.
var retryKeys = &table[Retry]{`"retry"`, "an integer, or a map with max, delay and so on", []key[Retry]{
	{"max", func(v val, r *Retry) { r.Max = v.integer(0, maxInt) }},
	{"delay", func(v val, r *Retry) { r.Delay = v.duration(0) }},
	{"backoff", func(v val, r *Retry) { r.Backoff = oneOf(v, backoffs) }},
	{"max_delay", func(v val, r *Retry) { r.MaxDelay = v.duration(0) }},
	{"jitter", func(v val, r *Retry) { r.Jitter = v.duration(0) }},
	{"exit_codes", func(v val, r *Retry) { r.ExitCodes = v.exitCodes() }},
	{"if", func(v val, r *Retry) { r.If = v.filled() }},
}}

var backoffs = []choice[Backoff]{{"exponential", Exponential}, {"constant", Constant}, {"linear", Linear}}

func (v val) retry() *Retry {
	r := &Retry{}
	if v.node != nil && v.node.Kind == yaml.ScalarNode {
		if r.Max = v.integer(0, maxInt); !r.Max.Set() {
			return nil
		}
	} else if found, ok := read(v, retryKeys, r); ok {
		found.need(v, "max")
	} else {
		return nil
	}
	r.Pos = v.pos()
	return r
}

// foreachKeys is the long form of `foreach`.
var foreachKeys = &table[Foreach]{`"foreach"`, "a list, an expression, or a map with items and max_parallel", []key[Foreach]{
	{"items", func(v val, f *Foreach) { v.foreachItems(f) }},
	{"max_parallel", func(v val, f *Foreach) { f.MaxParallel = v.integer(1, maxInt) }},
}}

func (v val) foreach() *Foreach {
	f := &Foreach{}
	if v.node == nil || v.node.Kind != yaml.MappingNode {
		v.foreachItems(f)
	} else if found, ok := read(v, foreachKeys, f); ok {
		found.need(v, "items")
	}
	if len(f.Items) == 0 && !f.Expr.Set() {
		return nil
	}
	f.Pos = v.pos()
	return f
}

// foreachItems reads the items themselves, or the expression that gives them.
func (v val) foreachItems(f *Foreach) {
	switch {
	case v.node == nil:
	case v.node.Kind == yaml.ScalarNode && !isNull(v.node):
		f.Expr = v.filled()
	case v.node.Kind == yaml.SequenceNode && len(v.node.Content) == 0:
		v.bad(v.label()+" has no items", "")
	default:
		f.Items = list(v, "a list or an expression", val.str)
	}
}

func (v val) exitCodes() []Value[int] {
	return list(v, "a list of exit codes", func(v val) Value[int] { return v.integer(0, 255) })
}

// poolKeys is the long form of `pool`.
var poolKeys = &table[Pool]{`"pool"`, "a name, or a map with name, slots and busy", []key[Pool]{
	{"name", func(v val, p *Pool) { p.Name = v.identifier("pool name") }},
	{"slots", func(v val, p *Pool) { p.Slots = v.integer(1, maxInt) }},
	{"busy", func(v val, p *Pool) { p.Busy = oneOf(v, busies) }},
}}

var busies = []choice[Busy]{{"wait", BusyWait}, {"skip", BusySkip}}

func (v val) pool() *Pool {
	p := &Pool{}
	if v.node != nil && v.node.Kind == yaml.ScalarNode {
		p.Name = v.identifier("pool name")
	} else if found, ok := read(v, poolKeys, p); ok {
		found.need(v, "name")
	}
	if !p.Name.Set() {
		return nil
	}
	return p
}

// shell reads a program, or an argv list that a script's file is added to.
func (v val) shell() Shell {
	if v.node != nil && v.node.Kind == yaml.SequenceNode {
		s := Shell{Pos: v.pos()}
		for _, arg := range v.argv() {
			s.Argv = append(s.Argv, arg.V)
		}
		return s
	}
	s := Shell{}
	switch word := v.filled(); {
	case !word.Set():
	case len(strings.Fields(word.V)) > 1:
		var quoted []string
		for _, arg := range strings.Fields(word.V) {
			quoted = append(quoted, strconv.Quote(arg))
		}
		v.bad(fmt.Sprintf("%s is %s, but must be one program or a list", v.label(), quote(word.V)),
			fmt.Sprintf("write [%s]; the script itself stands in \"run\"", strings.Join(quoted, ", ")))
	default:
		s = Shell{word.Pos, []string{word.V}}
	}
	return s
}

// applyDefaults gives the tasks what `defaults` says and they do not. Slices
// are shared where nothing of the task's own comes in between.
func (p *parser) applyDefaults() {
	d := &p.wf.Defaults
	for i := range p.wf.Tasks {
		t := &p.wf.Tasks[i]
		if d.lends(t, "timeout", t.Timeout.Set()) {
			t.Timeout = d.Timeout
		}
		if d.lends(t, "retry", t.Retry != nil) {
			t.Retry = d.Retry
		}
		if d.lends(t, "shell", t.Shell.Argv != nil) {
			t.Shell = d.Shell
		}
		if d.lends(t, "workdir", t.Workdir.Set()) {
			t.Workdir = d.Workdir
		}
		// What only waits would keep those from the pool that it waits for.
		if !t.Kind.Waits() && d.lends(t, "pool", t.Pool != nil) {
			t.Pool = d.Pool
		}
		if d.lends(t, "runs_on", t.RunsOn.Set()) {
			t.RunsOn = d.RunsOn
		}
		if d.lends(t, "recovery", t.Recovery.Set()) {
			t.Recovery = d.Recovery
		}
		t.Env = p.mergeEnv(d.Env, t)
	}
}

// lends tells whether a task has the value of a key from the defaults. Where
// its own could not be read it has none, and where the defaults' could not, it
// does not know its own.
func (d *Defaults) lends(t *Task, key string, set bool) bool {
	if set || t.Unread(key) {
		return false
	}
	if d.gaps.has(defaultsKeys, key) {
		t.gaps |= gapOf(taskKeys, key)
	}
	return true
}

// mergeEnv puts a task's variables over those of `defaults`.
func (p *parser) mergeEnv(defaults []EnvVar, t *Task) []EnvVar {
	if len(t.Env) == 0 {
		return defaults
	}
	if len(defaults) == 0 || !p.spendAt(len(defaults), t.ID.Pos) {
		return t.Env
	}
	at := make(map[string]int, len(defaults))
	all := slices.Clone(defaults)
	for i, e := range defaults {
		at[e.Name.V] = i
	}
	for _, e := range t.Env {
		if i, ok := at[e.Name.V]; ok {
			all[i] = e
		} else {
			all = append(all, e)
		}
	}
	return all
}
