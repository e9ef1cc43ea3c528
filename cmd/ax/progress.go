package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/runtime/executor"
	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/store"
)

// progress shows a run while it goes: on a terminal a line for each task that
// is under way, redrawn, below the lines of those that have ended; elsewhere a
// plain line for each start and end. Of a foreach with many instances the ends
// are counted, and only the first failures have lines of their own.
type progress struct {
	g       *globals
	plan    *dag.Plan
	run     store.Run
	shown   map[place]shownState // what was last printed of a task or an instance
	current map[int]store.Task   // running or waiting for a retry
	each    map[int]*crowd       // the instances of a foreach
	ended   int
	term    *os.File // nil where standard error is none
	colour  bool
	drawn   int // lines on the screen that the next draw replaces
}

// place is where a task or an instance stands in the records.
type place struct{ index, instance int }

// shownState tells one line of a task from the next.
type shownState struct {
	state   machine.TaskState
	attempt int
}

func newProgress(g *globals, plan *dag.Plan, run store.Run) *progress {
	p := &progress{
		g: g, plan: plan, run: run, colour: g.colour(g.stderr),
		shown: map[place]shownState{}, current: map[int]store.Task{}, each: map[int]*crowd{},
	}
	if f, ok := g.stderr.(*os.File); ok && term.IsTerminal(int(f.Fd())) && p.colour {
		p.term = f
	}
	return p
}

// follow shows updates until the run has ended, or the updates do.
func (p *progress) follow(updates <-chan *runtime.Update) {
	redraw := time.NewTicker(200 * time.Millisecond)
	defer redraw.Stop()
	for {
		select {
		case u, ok := <-updates:
			if !ok {
				p.erase()
				return
			}
			if u.Run.ID != p.run.ID {
				continue
			}
			p.take(u)
			if u.Run.State.Final() {
				p.erase()
				return
			}
		case <-redraw.C:
			p.draw()
		}
	}
}

func (p *progress) take(u *runtime.Update) {
	p.erase()
	for _, t := range u.Tasks {
		if t.Instance >= 0 { // before their task is looked at, which comes first
			p.crowdOf(t.Index).count(t)
		}
	}
	for _, t := range u.Tasks {
		switch {
		case t.Instance >= 0:
		case t.State.Final():
			p.ended++
			delete(p.current, t.Index)
		case t.State == machine.Running, t.State == machine.Retrying:
			p.current[t.Index] = t
		}
		if c := p.each[t.Index]; t.Instance < 0 || !c.many() || c.remarkable(t) {
			p.line(t)
		}
	}
	for i := range p.plan.Tasks {
		if c := p.each[i]; c != nil && p.term == nil && c.step() {
			p.print(machine.Running, p.plan.Tasks[i].ID+": "+c.String())
		}
	}
	p.draw()
}

func (p *progress) crowdOf(index int) *crowd {
	c := p.each[index]
	if c == nil {
		c = &crowd{states: map[int]machine.TaskState{}}
		p.each[index] = c
	}
	return c
}

// line prints a permanent line where the state of a task is news.
func (p *progress) line(t store.Task) {
	now, at := shownState{t.State, t.Attempts}, place{t.Index, t.Instance}
	if t.Instance < 0 && p.each[t.Index] != nil {
		now.attempt = 0 // it counts those of all instances
	}
	if t.State <= machine.Ready || p.shown[at] == now || p.term != nil && !t.State.Final() && t.State != machine.Retrying {
		return
	}
	p.shown[at] = now
	text := fmt.Sprintf("%s: %s", t.ID, t.State)
	switch {
	case t.State == machine.Running && now.attempt > 1:
		text += fmt.Sprintf(" (attempt %d)", t.Attempts)
	case t.State == machine.Retrying:
		text += fmt.Sprintf(" after attempt %d", t.Attempts)
	case t.State.Final() && !t.StartedAt.IsZero():
		text += " in " + duration(t.FinishedAt.Sub(t.StartedAt))
	}
	if t.State == machine.Failed && p.plan.Tasks[t.Index].Spec.AllowFailure.V {
		text += " (it is allowed to)"
	}
	if t.Error != "" {
		text += ": " + t.Error
	}
	p.print(t.State, text)
}

func (p *progress) print(s machine.TaskState, text string) {
	fmt.Fprintln(p.g.stderr, p.paint(s, time.Now().Format("15:04:05")+" "+text))
}

// erase takes the live lines off the screen.
func (p *progress) erase() {
	if p.drawn > 0 {
		fmt.Fprintf(p.g.stderr, "\x1b[%dA\x1b[J", p.drawn)
		p.drawn = 0
	}
}

// draw puts a line on the screen for each task that is under way, as many as
// fit, and one that sums up.
func (p *progress) draw() {
	if p.term == nil {
		return
	}
	p.erase()
	width, height, err := term.GetSize(int(p.term.Fd()))
	if err != nil || width < 20 || height < 4 {
		width, height = 80, 24
	}
	var lines []string
	for i := range p.plan.Tasks {
		t, ok := p.current[i]
		if !ok || len(lines) >= height-3 {
			continue
		}
		text := fmt.Sprintf("  %s  %s  %s", t.ID, t.State, duration(time.Since(t.StartedAt).Truncate(100*time.Millisecond)))
		if c := p.each[i]; c != nil {
			text += "  " + c.String()
		} else if last := p.lastLine(t); last != "" {
			text += "  " + last
		}
		lines = append(lines, p.paint(t.State, cut(text, width-1)))
	}
	lines = append(lines, fmt.Sprintf("  %d of %d ended, %d under way", p.ended, len(p.plan.Tasks), len(p.current)))
	fmt.Fprintln(p.g.stderr, strings.Join(lines, "\n"))
	p.drawn = len(lines)
}

// lastLine gives the last line that a running task has written.
func (p *progress) lastLine(t store.Task) string {
	path := runtime.LogPath(p.run.ID, t.Index, t.ID, t.Attempts)
	return executor.LastLine(filepath.Join(p.g.data, filepath.FromSlash(path)))
}

func cut(text string, width int) string {
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	return string([]rune(text)[:width-1]) + "…"
}

func (p *progress) paint(s machine.TaskState, text string) string {
	if !p.colour {
		return text
	}
	colours := map[machine.TaskState]string{
		machine.Succeeded: "32", machine.Failed: "31", machine.Running: "36",
		machine.Retrying: "33", machine.Skipped: "90", machine.Cancelled: "35",
	}
	if c, ok := colours[s]; ok {
		return "\x1b[" + c + "m" + text + "\x1b[0m"
	}
	return text
}
