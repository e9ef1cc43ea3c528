package main

import (
	"fmt"
	"time"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/store"
)

// explanation tells what became of the tasks of one run.
type explanation struct {
	g   *globals
	rec store.Run
	r   *machine.Run // as its events have left it
}

// view gives what can be seen of a unit. The events of a run that ended before it
// started know nothing of that: its tasks have ended with it.
func (x *explanation) view(u machine.Unit) machine.TaskView {
	v := x.r.View(u)
	if v.State == machine.Pending && x.rec.State.Final() {
		t := runtime.Untouched(x.r.Name(u), x.rec)
		v.State, v.Reason = t.State, t.Reason
		v.Error = "the run ended before it started"
	}
	return v
}

// named prints what became of one task, or of one of its instances.
func (x *explanation) named(task string) error {
	if u, ok := x.r.Named(task); ok && u.Instance != 0 {
		x.instance(u, "")
		return nil
	}
	id, _, ok := machine.ParseName(task)
	ts, err := tasksNamed(x.r.Plan(), []string{id})
	if err != nil {
		return err
	}
	if !ok || id != task {
		return fmt.Errorf("task %s of run %s has no instance %q: it has %s", id, x.rec.ID, task, runtime.InstancesText(x.r.Instances(ts[0])))
	}
	x.task(ts[0])
	x.instances(ts[0])
	return nil
}

// instances prints the first instances of a task that did not succeed.
func (x *explanation) instances(t dag.Task) {
	shown := 0
	for i := range x.r.Instances(t) {
		u := machine.Unit{Task: t, Instance: machine.InstanceOf(i)}
		switch {
		case x.r.View(u).State == machine.Succeeded:
		case shown == fewInstances:
			fmt.Fprintln(x.g.stdout, "  …")
			return
		default:
			shown++
			x.instance(u, "  ")
		}
	}
}

// instance prints what became of an instance, and of what item it is.
func (x *explanation) instance(u machine.Unit, indent string) {
	fmt.Fprintln(x.g.stdout, x.line(u, indent))
	fmt.Fprintf(x.g.stdout, "%s  item %s\n", indent, cut(x.r.Item(u), 200))
	x.wait(u, indent+"  ")
}

// line tells in one line what became of a task or an instance.
func (x *explanation) line(u machine.Unit, indent string) string {
	v := x.view(u)
	line := fmt.Sprintf("%stask %s: %s", indent, x.r.Name(u), outcome(v.State.String(), string(v.Reason)))
	switch {
	case x.r.Instances(u.Task) > 0 && u.Instance == 0:
		line += fmt.Sprintf(", %d instances", x.r.Instances(u.Task))
	case v.State == machine.Running:
		line += fmt.Sprintf(", in attempt %d", v.Attempts)
	case v.Attempts > 0 && !v.StartedAt.IsZero():
		line += fmt.Sprintf(" after attempt %d", v.Attempts)
	}
	if text := withEarlier(v.Error, v.Attempts, v.StartedAt); text != "" {
		line += ": " + text
	}
	return line
}

// withEarlier adds to what is said of a task that its attempts are of an earlier
// course: since the last retry of the run it has had none, and no start.
func withEarlier(text string, attempts int, started time.Time) string {
	switch {
	case attempts == 0 || !started.IsZero():
		return text
	case text != "":
		text += "; "
	}
	if attempts == 1 {
		return text + "attempt 1 ran before the retry"
	}
	return text + fmt.Sprintf("its %d attempts ran before the retry", attempts)
}

// task prints what became of a task, and then of the one that it goes back to,
// until there is none.
func (x *explanation) task(t dag.Task) {
	for indent := ""; ; indent += "  " {
		u := machine.Unit{Task: t}
		v := x.view(u)
		if !v.Member {
			fmt.Fprintf(x.g.stdout, "%stask %s does not belong to this run\n", indent, x.r.Name(u))
			return
		}
		fmt.Fprintln(x.g.stdout, x.line(u, indent))
		x.wait(u, indent+"  ")
		x.condition(u, v, indent+"  ")
		if v.State == machine.Pending {
			return
		}
		if root, ok := x.r.Root(t); ok {
			t = root
		} else if by, ok := x.r.FailedInto(t); ok && v.State != machine.Skipped {
			fmt.Fprintf(x.g.stdout, "%s  called by:\n", indent)
			t = by
		} else {
			return
		}
	}
}

// condition prints the condition that did not hold, and what it read.
func (x *explanation) condition(u machine.Unit, v machine.TaskView, indent string) {
	if v.State != machine.Skipped || v.Error != machine.WhenFalse {
		return
	}
	when, reads := runtime.NewInsight(x.r, x.rec, u).Condition()
	fmt.Fprintf(x.g.stdout, "%swhen: %s\n", indent, plain(when))
	for _, read := range reads {
		fmt.Fprintf(x.g.stdout, "%s  %s\n", indent, plain(read))
	}
}

// wait prints what a pending task, or a `wait_for` under way, waits for.
func (x *explanation) wait(u machine.Unit, indent string) {
	switch v := x.view(u); {
	case v.State == machine.Running && x.r.Instances(u.Task) > 0 == (u.Instance != 0):
		if what := runtime.NewInsight(x.r, x.rec, u).WaitsFor(); what != "" {
			fmt.Fprintf(x.g.stdout, "%swaits for %s, since %s\n", indent, plain(what), clock(v.AttemptAt))
		}
	case v.State != machine.Pending:
	case x.rec.State == machine.RunScheduled || x.rec.State == machine.RunQueued:
		fmt.Fprintf(x.g.stdout, "%swaits for the start of the run\n", indent)
	default:
		x.upstreams(u.Task, indent)
	}
}

// upstreams prints the tasks that a pending one waits for.
func (x *explanation) upstreams(t dag.Task, indent string) {
	for i := range x.r.Plan().Tasks {
		for _, e := range x.r.Plan().Tasks[i].Downstream {
			if v := x.r.Task(dag.Task(i)); e.To == t && v.Member && !v.State.Final() {
				fmt.Fprintf(x.g.stdout, "%swaits for task %s, which is %s\n", indent, x.r.Plan().Tasks[i].ID, v.State)
			}
		}
	}
}

// startsAt tells when a run starts that waits for its time.
func (g *globals) startsAt(notBefore time.Time) string {
	left := time.Until(notBefore)
	switch _, serves := g.client(); {
	case left > 0:
		return fmt.Sprintf("it starts at %s, %s", clock(notBefore), ahead(left))
	case serves:
		return fmt.Sprintf("it was to start at %s, and does now", clock(notBefore))
	}
	return fmt.Sprintf("it was to start at %s, and does with the next ax serve", clock(notBefore))
}

// ahead tells how soon something is, in as few words as are of use.
func ahead(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < time.Minute:
		return "in " + dsl.FormatDuration(max(d.Round(time.Second), time.Second))
	case d < day:
		return "in " + dsl.FormatDuration(d.Round(time.Minute))
	}
	d = d.Round(time.Hour)
	text := fmt.Sprintf("in %dd", d/day)
	if hours := d % day / time.Hour; hours > 0 {
		text += fmt.Sprintf("%dh", hours)
	}
	return text
}
