package runtime_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// simFlow is a workflow as the generator draws it: the text that the engine runs
// is written from it, and the model reads it as it is. Tasks are known by their
// place in the file.
type simFlow struct {
	seed        uint64
	tasks       []simTask
	pools       []int // slots of p0, p1, …
	maxParallel int
	slots       int // of the engine
	timeout     time.Duration
	priority    int
	n           int  // params
	flag        bool //

	onFailure, onSuccess, onFinish []int

	steps []simStep // what is done to it from outside, by time
}

// simStep is a cancel, or the end of one engine and the start of the next.
type simStep struct {
	at     time.Duration
	cancel bool
	gap    time.Duration // without an engine
}

type simTask struct {
	id        string
	deps      []simDep
	joinAny   bool
	handlers  []int // on_failure
	when      *simWhen
	retry     *simRetry
	timeout   time.Duration
	killAfter time.Duration
	success   []int
	skip      []int
	each      *simEach
	pool      int // -1 for none
	busySkip  bool
	priority  int // -1 for the workflow's
	output    int // upstream whose output is handed to it, -1 for none

	script, allowFailure, disabled, recoveryFail bool
}

type simDep struct {
	on    int
	conds []string
}

// simWhen is one of the few conditions that the model can read.
type simWhen struct {
	kind string // param, flag, state, exit, exit_or, output
	of   int    // the upstream that it is about
	k    int
}

type simRetry struct {
	max             int
	delay, maxDelay time.Duration
	backoff         string
	codes           []int
	unless          int // exit code that retry.if rules out; -1 for no retry.if
}

// simEach is a foreach over the numbers 1 to items, or to what a task puts out.
type simEach struct {
	items, from, maxParallel int // from -1: items holds
}

// simMove is what one attempt does.
type simMove struct {
	took   time.Duration
	deaf   time.Duration // how long it goes on after SIGTERM
	dying  time.Duration // and after SIGKILL
	code   int
	signal string
	out    int
}

// move tells what an attempt does. It depends on nothing but the seed, the name
// of the unit and the number of the attempt.
func (f *simFlow) move(unit string, attempt int) simMove {
	h := f.seed*0x9e3779b97f4a7c15 + uint64(attempt)
	for _, c := range []byte(unit) {
		h = (h ^ uint64(c)) * 0x100000001b3
	}
	r := rand.New(rand.NewPCG(f.seed, h))
	m := simMove{out: r.IntN(5)}
	// Never whole milliseconds, as timeouts are: so that two things happen at one
	// instant only where one is the cause of the other.
	m.took = time.Duration(r.IntN(40_000))*time.Millisecond + time.Duration(1+r.IntN(998))*time.Microsecond
	m.deaf = time.Duration(1+r.IntN(12_000_000)) * time.Microsecond
	m.dying = time.Duration(1+r.IntN(900_000)) * time.Microsecond
	switch p := r.IntN(100); {
	case p < 78:
	case p < 92:
		m.code = 1 + r.IntN(5)
	case p < 96:
		m.code, m.signal = 137, "SIGKILL"
	default:
		m.code, m.signal = 139, "SIGSEGV"
	}
	return m
}

// stopped tells how long an attempt goes on after it is stopped, and the signal
// that ends it.
func (m simMove) stopped(killAfter time.Duration) (after time.Duration, code int, signal string) {
	if m.deaf < killAfter {
		return m.deaf, 143, "SIGTERM"
	}
	return killAfter + m.dying, 137, "SIGKILL"
}

// drawer draws a workflow.
type drawer struct {
	*rand.Rand
	f     *simFlow
	place []int // in the file, of the tasks in an order in which they can run
}

func (d *drawer) chance(percent int) bool { return d.IntN(100) < percent }

func (d *drawer) ms(from, to int) time.Duration {
	return time.Duration(from+d.IntN(to-from)) * time.Millisecond
}

// The last tasks handle the run: lateHandler is for the failure of one of these.
const simTasks, simHandlers = 200, 4

func drawFlow(seed uint64) *simFlow {
	r := rand.New(rand.NewPCG(seed, 1))
	f := &simFlow{seed: seed, priority: r.IntN(10), n: r.IntN(6), slots: 10 + r.IntN(100), flag: r.IntN(2) == 0, tasks: make([]simTask, simTasks)}
	d := &drawer{r, f, r.Perm(simTasks)}
	if d.chance(60) {
		f.maxParallel = 2 + d.IntN(20)
	}
	if d.chance(25) {
		f.timeout = d.ms(20_000, 300_000)
	}
	for range 3 {
		f.pools = append(f.pools, 1+d.IntN(3))
	}
	for i := range simTasks {
		d.task(i)
	}
	d.handlers()
	d.steps()
	return f
}

// task draws the i-th task in the order in which they can run.
func (d *drawer) task(i int) {
	t := &d.f.tasks[d.place[i]]
	*t = simTask{id: fmt.Sprintf("t%d", i), pool: -1, priority: -1, output: -1}
	ordinary := i < simTasks-simHandlers
	if ordinary && !d.chance(12) {
		d.edges(i, t)
	}
	d.attempts(t)
	t.allowFailure, t.disabled, t.recoveryFail = d.chance(12), d.chance(4), d.chance(10)
	t.script = d.chance(20)
	if d.chance(20) {
		t.pool, t.busySkip = d.IntN(len(d.f.pools)), d.chance(40)
	}
	if d.chance(30) {
		t.priority = d.IntN(10)
	}
	if d.chance(20) {
		d.condition(t)
	}
	if d.chance(10) {
		t.each = &simEach{items: d.IntN(6), from: -1, maxParallel: d.IntN(4)}
		if u := d.source(t); u >= 0 && d.chance(50) {
			t.each.from = u
		}
	}
	if u := d.source(t); u >= 0 && d.chance(40) {
		t.output = u
	}
}

// edges draws what an ordinary task depends on.
func (d *drawer) edges(i int, t *simTask) {
	for range 1 + d.IntN(3) {
		on := d.place[max(0, i-1-d.IntN(25))]
		if i == 0 || slices.ContainsFunc(t.deps, func(x simDep) bool { return x.on == on }) {
			continue
		}
		conds := []string{"succeeded"}
		switch p := d.IntN(100); {
		case p < 25:
			conds = []string{"finished"}
		case p < 32:
			conds = []string{"failed"}
		case p < 36:
			conds = []string{"skipped"}
		case p < 50:
			conds = []string{"succeeded", "skipped"}
		case p < 60:
			conds = []string{"failed", "succeeded"}
		}
		t.deps = append(t.deps, simDep{on, conds})
	}
	t.joinAny = len(t.deps) > 1 && d.chance(30)
}

// attempts draws how often and how long a task is tried.
func (d *drawer) attempts(t *simTask) {
	if d.chance(40) {
		t.retry = &simRetry{max: 1 + d.IntN(3), delay: d.ms(0, 5_000), maxDelay: d.ms(3_000, 9_000),
			backoff: []string{"exponential", "linear", "constant"}[d.IntN(3)], unless: -1}
		if d.chance(15) {
			t.retry.delay = 0
		}
		if d.chance(20) {
			t.retry.codes = []int{1, 2, 137, 143}
		}
		if d.chance(20) {
			t.retry.unless = 1 + d.IntN(3)
		}
	}
	if d.chance(25) {
		t.timeout = d.ms(5_000, 45_000)
	}
	if d.chance(30) {
		t.killAfter = d.ms(1, 9_000)
	}
	if d.chance(10) {
		t.success = []int{0, 3}
	}
	if d.chance(15) {
		t.skip = []int{4, 5}
	}
}

// source gives an upstream that has surely ended when a task starts and has its
// own outputs, -1 if there is none.
func (d *drawer) source(t *simTask) int {
	if len(t.deps) == 0 || t.joinAny {
		return -1
	}
	u := t.deps[d.IntN(len(t.deps))].on
	if d.f.tasks[u].each != nil {
		return -1
	}
	return u
}

func (d *drawer) condition(t *simTask) {
	t.when = &simWhen{kind: []string{"param", "flag"}[d.IntN(2)], of: -1, k: d.IntN(3)}
	if u := d.source(t); u >= 0 && d.chance(70) {
		t.when.kind, t.when.of = []string{"state", "exit", "exit_or", "output"}[d.IntN(4)], u
	}
}

// handlers draws the handlers of tasks, and those of the run, which come last.
func (d *drawer) handlers() {
	for range 12 {
		h := 20 + d.IntN(simTasks-simHandlers-20)
		for range 1 + d.IntN(4) {
			by := &d.f.tasks[d.place[d.IntN(h)]]
			if !slices.Contains(by.handlers, d.place[h]) {
				by.handlers = append(by.handlers, d.place[h])
			}
		}
	}
	first := simTasks - simHandlers
	f := d.f
	f.onFailure = []int{d.place[first]}
	f.onSuccess = []int{d.place[first+1]}
	f.onFinish = []int{d.place[first+2]}
	if d.chance(30) {
		f.onSuccess = append(f.onSuccess, d.place[first])
	}
	for i := range 3 {
		f.tasks[d.place[first+i]].handlers = []int{d.place[first+3]}
	}
}

// steps draws what is done to the run from outside.
func (d *drawer) steps() {
	at := time.Duration(0)
	if d.chance(30) {
		for range []int{1, 1, 2, 3}[d.IntN(4)] {
			// Longer than what an attempt goes on after SIGTERM.
			s := simStep{at: at + time.Duration(1+d.IntN(60_000_000))*time.Microsecond, gap: 13*time.Second + d.ms(0, 20_000)}
			at = s.at + s.gap
			d.f.steps = append(d.f.steps, s)
		}
	}
	if d.chance(10) {
		d.f.steps = append(d.f.steps, simStep{at: at + time.Duration(1+d.IntN(90_000_000))*time.Microsecond, cancel: true})
	}
}

// text writes the workflow file.
func (f *simFlow) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "name: flow\npriority: %d\nparams: {n: {type: int, default: 0}, flag: {type: bool, default: false}}\n", f.priority)
	if f.maxParallel > 0 {
		fmt.Fprintf(&b, "max_parallel: %d\n", f.maxParallel)
	}
	if f.timeout > 0 {
		fmt.Fprintf(&b, "timeout: %s\n", simDuration(f.timeout))
	}
	fmt.Fprintf(&b, "on_failure: %s\non_success: %s\non_finish: %s\ntasks:\n", f.ids(f.onFailure), f.ids(f.onSuccess), f.ids(f.onFinish))
	for i := range f.tasks {
		fmt.Fprintf(&b, "  %s: {%s}\n", f.tasks[i].id, strings.Join(f.keys(&f.tasks[i]), ", "))
	}
	return b.String()
}

func (f *simFlow) ids(tasks []int) string {
	var ids []string
	for _, t := range tasks {
		ids = append(ids, f.tasks[t].id)
	}
	return "[" + strings.Join(ids, ", ") + "]"
}

func simDuration(d time.Duration) string { return fmt.Sprintf("%dms", d.Milliseconds()) }

func (f *simFlow) keys(t *simTask) []string {
	keys := []string{`command: [work, "${{ params.n }}"]`}
	if t.script {
		keys[0] = `run: "work ${{ params.n }}"`
	}
	add := func(is bool, format string, args ...any) {
		if is {
			keys = append(keys, fmt.Sprintf(format, args...))
		}
	}
	var deps []string
	for _, d := range t.deps {
		deps = append(deps, fmt.Sprintf("%s: [%s]", f.tasks[d.on].id, strings.Join(d.conds, ", ")))
	}
	add(len(deps) > 0, "depends_on: {%s}", strings.Join(deps, ", "))
	add(t.joinAny, "join: any")
	add(len(t.handlers) > 0, "on_failure: %s", f.ids(t.handlers))
	add(t.timeout > 0, "timeout: %s", simDuration(t.timeout))
	add(t.killAfter > 0, "kill_after: %s", simDuration(t.killAfter))
	add(t.success != nil, "success_codes: %s", simCodes(t.success))
	add(t.skip != nil, "skip_codes: %s", simCodes(t.skip))
	add(t.allowFailure, "allow_failure: true")
	add(t.disabled, "disabled: true")
	add(t.recoveryFail, "recovery: fail")
	add(t.priority >= 0, "priority: %d", t.priority)
	if t.when != nil {
		add(true, "when: %q", f.expression(t.when))
	}
	if r := t.retry; r != nil {
		more := ""
		if r.codes != nil {
			more += ", exit_codes: " + simCodes(r.codes)
		}
		if r.unless >= 0 {
			more += fmt.Sprintf(", if: %q", fmt.Sprintf("tasks.%s.exit_code != %d", t.id, r.unless))
		}
		add(true, "retry: {max: %d, delay: %s, max_delay: %s, backoff: %s%s}", r.max, simDuration(r.delay), simDuration(r.maxDelay), r.backoff, more)
	}
	if e := t.each; e != nil {
		items := fmt.Sprintf("1 .. %d", e.items)
		if e.from >= 0 {
			items = fmt.Sprintf("1 .. int(tasks.%s.outputs.v)", f.tasks[e.from].id)
		}
		limit := ""
		if e.maxParallel > 0 {
			limit = fmt.Sprintf(", max_parallel: %d", e.maxParallel)
		}
		add(true, "foreach: {items: %q%s}", items, limit)
	}
	if t.pool >= 0 {
		busy := ""
		if t.busySkip {
			busy = ", busy: skip"
		}
		add(true, "pool: {name: p%d, slots: %d%s}", t.pool, f.pools[t.pool], busy)
	}
	if t.output >= 0 {
		add(true, `env: {GOT: "${{ tasks.%s.outputs.v ?? 'nothing' }}"}`, f.tasks[t.output].id)
	}
	return keys
}

func simCodes(codes []int) string { return strings.ReplaceAll(fmt.Sprint(codes), " ", ", ") }

func (f *simFlow) expression(w *simWhen) string {
	switch w.kind {
	case "param":
		return fmt.Sprintf("params.n > %d", w.k)
	case "flag":
		return "params.flag"
	case "state":
		return fmt.Sprintf("tasks.%s.state != 'failed'", f.tasks[w.of].id)
	case "exit":
		return fmt.Sprintf("tasks.%s.exit_code == %d", f.tasks[w.of].id, w.k)
	case "exit_or":
		return fmt.Sprintf("(tasks.%s.exit_code ?? 0) == %d", f.tasks[w.of].id, w.k)
	}
	return fmt.Sprintf("int(tasks.%s.outputs.v) > %d", f.tasks[w.of].id, w.k)
}
