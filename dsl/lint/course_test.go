package lint

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/runtime/machine"
)

// drawConditional gives a small workflow some of whose tasks have a condition of
// their own.
func drawConditional(t *rapid.T) *File {
	f := drawWorkflow(t, 5)
	text := string(f.Source.Text)
	for i := range f.Plan.Tasks {
		head := fmt.Sprintf("  t%d:\n", i)
		if rapid.IntRange(0, 3).Draw(t, "conditional") == 0 {
			text = strings.Replace(text, head, head+"    when: run.trigger == \"manual\"\n", 1)
		} else if rapid.IntRange(0, 9).Draw(t, "disabled") == 0 {
			text = strings.Replace(text, head, head+"    disabled: true\n", 1)
		}
	}
	f = Parse("nightly.yaml", []byte(text), "", "")
	if f.Plan == nil {
		t.Fatalf("no plan:\n%s", text)
	}
	return f
}

// The ways in which a test lets a task end.
const (
	succeeds = iota
	fails
	skipsItself
	waysToEnd
)

// play is one run of a plan on the machine itself.
type play struct {
	run     *machine.Run
	end     func(dag.Task) int // how a task ends that may start
	start   func(dag.Task)     // is told of each task when its edges hold
	open    []dag.Task         // asked for their condition, or ready to start
	started map[dag.Task]bool
	at      time.Time
}

func newPlay(plan *dag.Plan, end func(dag.Task) int) *play {
	return &play{run: machine.New("r", plan, nil), end: end, started: map[dag.Task]bool{}, at: examplesNow}
}

func (p *play) apply(e machine.Event) {
	commands, err := p.run.Apply(e)
	if err != nil {
		panic(err)
	}
	for _, c := range commands {
		if ask, ok := c.(machine.Evaluate); ok {
			p.begins(ask.Task)
		}
	}
	for t := range p.run.Plan().Tasks {
		if p.run.Task(dag.Task(t)).State == machine.Ready {
			p.begins(dag.Task(t))
		}
	}
}

func (p *play) begins(t dag.Task) {
	if !p.started[t] {
		p.started[t] = true
		p.open = append(p.open, t)
		p.start(t)
	}
}

// step lets an open task end.
func (p *play) step(i int) {
	t := p.open[i]
	p.open = append(p.open[:i:i], p.open[i+1:]...)
	way := p.end(t)
	if p.run.Task(t).State == machine.Pending {
		if p.apply(machine.Evaluated{Task: t, Holds: way != skipsItself, At: p.at}); way == skipsItself {
			return
		}
	}
	p.apply(machine.AttemptStarted{Task: t, Attempt: 1, At: p.at})
	exit := 0
	if way == fails {
		exit = 1
	}
	p.apply(machine.AttemptEnded{Task: t, Attempt: 1, Result: machine.Result{ExitCode: exit}, At: p.at})
}

// What is said to have surely ended when a task starts has ended in every course
// of the run on the machine, and of what is not said to have, there is a course
// in which it has not.
func TestWhatHasSurelyEndedIsExactlyWhatEveryCourseEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawConditional(t)
		n := len(f.Plan.Tasks)
		l := newLineage(newGraph(f.Plan))

		some := newPlay(f.Plan, func(dag.Task) int { return rapid.IntRange(0, waysToEnd-1).Draw(t, "end") })
		some.start = func(started dag.Task) {
			for v := range n {
				if dag.Task(v) != started && l.surelyBefore(dag.Task(v), started) && !some.run.Task(dag.Task(v)).State.Final() {
					t.Fatalf("t%d had not ended when t%d started:\n%s", v, started, f.Source.Text)
				}
			}
		}
		some.apply(machine.RunStarted{At: some.at})
		for len(some.open) > 0 {
			some.step(rapid.IntRange(0, len(some.open)-1).Draw(t, "next"))
		}

		starts, before := allCourses(f.Plan)
		for pair, said := range surely(l, n) {
			if starts[pair[1]] && said == before[pair] {
				t.Fatalf("said that t%d surely ends before t%d: %v, but that there is a course in which it does not: %v\n%s",
					pair[0], pair[1], said, before[pair], f.Source.Text)
			}
		}
	})
}

func surely(l *lineage, n int) map[[2]dag.Task]bool {
	said := map[[2]dag.Task]bool{}
	for v := range dag.Task(n) {
		for t := range dag.Task(n) {
			if t != v && l.surelyBefore(v, t) || l.waits(v, t) { // what nothing leads from is no upstream
				said[[2]dag.Task{v, t}] = l.surelyBefore(v, t)
			}
		}
	}
	return said
}

// allCourses tries all ends of all tasks. It gives which tasks start, and which
// have not ended when another one starts.
func allCourses(plan *dag.Plan) (starts map[dag.Task]bool, before map[[2]dag.Task]bool) {
	starts, before = map[dag.Task]bool{}, map[[2]dag.Task]bool{}
	courses := 1
	for t := range plan.Tasks {
		courses *= waysOf(plan, t)
	}
	for number := range courses {
		way := func(t dag.Task) int {
			left := number
			for earlier := range int(t) {
				left /= waysOf(plan, earlier)
			}
			return left % waysOf(plan, int(t))
		}
		p := newPlay(plan, way)
		p.start = func(t dag.Task) {
			starts[t] = true
			for v := range dag.Task(len(plan.Tasks)) {
				if !p.run.Task(v).State.Final() {
					before[[2]dag.Task{v, t}] = true
				}
			}
		}
		p.apply(machine.RunStarted{At: p.at})
		for next := 0; next < len(p.open); {
			if way(p.open[next]) == waysOf(plan, int(p.open[next]))-1 { // it lasts
				next++
				continue
			}
			p.step(next)
		}
	}
	return starts, before
}

// waysOf tells in how many ways a task can end, with the last of them never.
func waysOf(plan *dag.Plan, t int) int {
	switch spec := plan.Tasks[t].Spec; {
	case spec.Disabled.V:
		return 1
	case !spec.When.Set():
		return waysToEnd
	}
	return waysToEnd + 1
}
