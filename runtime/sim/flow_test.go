package sim_test

import (
	"fmt"
	"strings"
	"time"
)

// version is one text of a workflow, as it is drawn.
type version struct {
	number      int
	schedules   []schedule
	rooted      bool // the schedule is that of the first task
	after       string
	afterOn     string
	catchup     string
	window      time.Duration
	overlap     string
	maxActive   int // -1: not said
	jitter      time.Duration
	timeout     time.Duration
	maxParallel int
	priority    int
	disabled    bool
	expect      time.Duration
	notify      []string  // what each target wants to be told of
	handlers    [3]string // on_failure, on_success, on_finish
	tasks       []*task
}

// schedule is a cron expression or an interval.
type schedule struct {
	cron  string
	every time.Duration
}

type task struct {
	id     string
	kind   string // command, run, http, workflow, until
	until  time.Time
	child  string
	keys   []string // what needs no other task
	deps   []dep
	failed string // on_failure
}

type dep struct{ on, cond string }

// version draws the v-th text of the i-th workflow.
func (d *drawer) version(i, v int) *version {
	r := &version{number: v, maxActive: pick(d, -1, -1, 0, 1, 2, 3)}
	if d.chance(75) {
		r.schedules = append(r.schedules, d.schedule())
		r.rooted = d.chance(12)
		if d.chance(15) && !r.rooted {
			r.schedules = append(r.schedules, d.schedule())
		}
	}
	if i > 0 && d.chance(25) {
		r.after, r.afterOn = fmt.Sprint("w", d.IntN(i)), pick(d, "succeeded", "failed", "finished")
	}
	r.catchup = pick(d, "", "none", "latest", "all", "all", "merge")
	if d.chance(30) {
		r.window = pick(d, 10*time.Minute, time.Hour, 5*time.Hour)
	}
	r.overlap = pick(d, "", "skip", "buffer_one", "queue", "replace")
	if d.chance(15) {
		r.jitter = d.between(time.Second, 4*time.Minute).Truncate(time.Millisecond)
	}
	if d.chance(15) {
		r.timeout = d.between(time.Minute, 30*time.Minute).Truncate(time.Millisecond)
	}
	if d.chance(30) {
		r.maxParallel = 1 + d.IntN(3)
	}
	if d.chance(10) {
		r.expect = d.between(time.Minute, 30*time.Minute).Truncate(time.Millisecond)
	}
	if d.chance(25) {
		for range 1 + d.IntN(2) {
			r.notify = append(r.notify, pick(d, "failed", "succeeded", "recovered, failed", "recovered, succeeded", "late, broken", "failed, recovered, late, succeeded, broken"))
		}
	}
	r.priority, r.disabled = d.IntN(10), d.chance(3)
	d.tasks(i, r)
	return r
}

func (d *drawer) schedule() schedule {
	switch d.IntN(5) {
	case 0:
		return schedule{every: time.Duration(2+d.IntN(20)) * 30 * time.Second}
	case 1:
		return schedule{cron: fmt.Sprintf("%d * * * *", d.IntN(60))}
	case 2:
		return schedule{cron: fmt.Sprintf("%d %d * * *", d.IntN(60), d.IntN(24))}
	case 3:
		return schedule{cron: fmt.Sprintf("%d */%d * * *", d.IntN(60), 1+d.IntN(3))}
	}
	return schedule{cron: fmt.Sprintf("*/%d * * * *", pick(d, 5, 7, 10, 20, 25))}
}

// tasks draws those of a workflow, of which the last two may be handlers.
func (d *drawer) tasks(i int, r *version) {
	n := 1 + d.IntN(5)
	for k := range n {
		t := &task{id: string(rune('a' + k)), kind: pick(d, "command", "command", "command", "run", "run", "http")}
		if i+1 < len(d.sc.flows) && d.chance(10) {
			t.kind, t.child = "workflow", fmt.Sprint("w", i+1+d.IntN(len(d.sc.flows)-i-1))
		}
		if d.chance(6) {
			t.kind, t.until = "until", time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Add(d.sc.start+d.between(0, d.sc.span)).Truncate(time.Second)
		}
		for _, up := range r.tasks {
			if d.chance(35) && len(t.deps) < 3 {
				t.deps = append(t.deps, dep{up.id, pick(d, "succeeded", "succeeded", "succeeded", "finished", "failed", "[succeeded, skipped]", "skipped")})
			}
		}
		d.keys(t)
		r.tasks = append(r.tasks, t)
	}
	if d.chance(30) {
		r.tasks = append(r.tasks, &task{id: "h", kind: "command"})
		for _, t := range r.tasks[:n] {
			if d.chance(40) || t == r.tasks[0] {
				t.failed = "h"
			}
		}
	}
	if d.chance(30) {
		z := &task{id: "z", kind: "command"}
		d.attempts(z)
		r.tasks = append(r.tasks, z)
		r.handlers[d.IntN(3)] = "z"
		if d.chance(50) {
			r.handlers[d.IntN(3)] = "z"
		}
	}
}

// keys draws what a task says of itself.
func (d *drawer) keys(t *task) {
	add := func(percent int, format string, args ...any) {
		if d.chance(percent) {
			t.keys = append(t.keys, fmt.Sprintf(format, args...))
		}
	}
	d.attempts(t)
	add(10, "allow_failure: true")
	add(4, "disabled: true")
	if up := t.upstream(d); up != "" && d.chance(40) {
		add(30, "when: %q", pick(d, fmt.Sprintf("tasks.%s.state != 'failed'", up), fmt.Sprintf("int(tasks.%s.outputs.v ?? '0') > %d", up, d.IntN(4))))
	} else {
		add(12, "when: %q", fmt.Sprintf("params.n > %d", d.IntN(3)))
	}
	add(15, "priority: %d", d.IntN(10))
	if len(t.deps) > 1 {
		add(30, "join: any")
	}
	if t.kind == "workflow" || t.kind == "until" {
		return // a child that needs the pool of its parent waits for it for ever
	}
	add(15, "recovery: fail")
	items := "[1, 2, 3]"
	if up := t.upstream(d); up != "" && d.chance(50) {
		items = fmt.Sprintf("%q", fmt.Sprintf("1 .. int(tasks.%s.outputs.v)", up))
	}
	add(12, "foreach: {items: %s, max_parallel: %d}", items, 1+d.IntN(3))
	if t.kind != "http" {
		add(10, "success_codes: [0, 3]")
		add(10, "skip_codes: [2]")
	}
	pool := d.IntN(len(d.sc.pools))
	busy := ""
	if d.chance(25) {
		busy = ", busy: skip"
	}
	add(25, "pool: {name: p%d, slots: %d%s}", pool, d.sc.pools[pool], busy)
}

// upstream picks a task that this one waits for.
func (t *task) upstream(d *drawer) string {
	if len(t.deps) == 0 {
		return ""
	}
	return t.deps[d.IntN(len(t.deps))].on
}

func (d *drawer) attempts(t *task) {
	if d.chance(45) {
		more := ""
		if d.chance(20) {
			more += ", max_delay: " + text(d.between(0, 90*time.Second))
		}
		if d.chance(15) {
			more += ", jitter: " + text(d.between(0, 20*time.Second))
		}
		if t.kind == "command" || t.kind == "run" {
			more += pick(d, "", "", "", "", ", exit_codes: [1, 3]", fmt.Sprintf(`, if: "tasks.%s.exit_code != 1"`, t.id))
		}
		t.keys = append(t.keys, fmt.Sprintf("retry: {max: %d, delay: %s, backoff: %s%s}",
			1+d.IntN(3), text(d.between(0, 2*time.Minute)), pick(d, "constant", "linear", "exponential"), more))
	}
	if d.chance(35) {
		t.keys = append(t.keys, "timeout: "+text(d.between(5*time.Second, 4*time.Minute)))
	}
	if d.chance(30) && (t.kind == "command" || t.kind == "run") {
		t.keys = append(t.keys, "kill_after: "+text(d.between(time.Millisecond, 20*time.Second)))
	}
}

func text(d time.Duration) string { return fmt.Sprintf("%dms", d.Milliseconds()) }

// text writes the workflow file of a version.
func (f *flow) text(r *version) string {
	var b strings.Builder
	line := func(is bool, format string, args ...any) {
		if is {
			fmt.Fprintf(&b, format+"\n", args...)
		}
	}
	line(true, "name: %s\ntimezone: %s\npriority: %d\nparams: {n: {type: int, default: 2}}", f.name, f.zone, r.priority)
	line(r.after != "", "after: {%s: %s}", r.after, r.afterOn)
	line(r.catchup != "", "catchup: %s", r.catchup)
	line(r.window > 0, "catchup_window: %s", text(r.window))
	line(r.overlap != "", "overlap: %s", r.overlap)
	line(r.maxActive >= 0, "max_active: %d", r.maxActive)
	line(r.jitter > 0, "jitter: %s", text(r.jitter))
	line(r.timeout > 0, "timeout: %s", text(r.timeout))
	line(r.maxParallel > 0, "max_parallel: %d", r.maxParallel)
	line(r.disabled, "disabled: true")
	line(r.expect > 0, "expect_within: %s", text(r.expect))
	b.WriteString(f.days.String())
	line(len(r.notify) > 0, "notify:")
	for _, on := range r.notify {
		line(true, "  - {url: \"http://127.0.0.1/told\", on: [%s]}", on)
	}
	for i, on := range []string{"on_failure", "on_success", "on_finish"} {
		line(r.handlers[i] != "", "%s: %s", on, r.handlers[i])
	}
	if !r.rooted {
		b.WriteString(schedules(r.schedules))
	}
	b.WriteString("tasks:\n")
	for i, t := range r.tasks {
		line(true, "  %s:", t.id)
		if i == 0 && r.rooted {
			b.WriteString("    " + schedules(r.schedules))
		}
		mark := fmt.Sprint("v", r.number)
		switch t.kind {
		case "command":
			line(true, "    command: [work, %s]", mark)
		case "run":
			line(true, "    run: \"work %s ${{ params.n }}\"", mark)
		case "http":
			line(true, "    http: {url: \"http://127.0.0.1/%s\"}", mark)
		case "workflow":
			line(true, "    workflow: {name: %s}", t.child)
		case "until":
			line(true, "    wait_for: {until: %q}", t.until.Format(time.RFC3339))
		}
		for _, k := range t.keys {
			line(true, "    %s", k)
		}
		line(t.failed != "", "    on_failure: %s", t.failed)
		var deps []string
		for _, d := range t.deps {
			deps = append(deps, d.on+": "+d.cond)
		}
		line(len(deps) > 0, "    depends_on: {%s}", strings.Join(deps, ", "))
	}
	return b.String()
}

func schedules(all []schedule) string {
	var crons []string
	for _, s := range all {
		if s.every > 0 {
			return fmt.Sprintf("every: %s\n", text(s.every))
		}
		crons = append(crons, fmt.Sprintf("%q", s.cron))
	}
	if len(crons) == 0 {
		return ""
	}
	return fmt.Sprintf("cron: [%s]\n", strings.Join(crons, ", "))
}
