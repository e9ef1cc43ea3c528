package server

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/store"
)

// causeView is a task that failed: why, and what came of it.
type causeView struct {
	taskRow
	Task    string   // to retry: of an instance the task that it is of
	Tail    [][]byte // last lines of its log
	Blocked []string
	Others  int    // blocked beyond those
	Alike   int    // instances of the task that failed too
	All     string // address of their list
}

// firstFailed gives the first instance of a task that failed.
func firstFailed(t taskMark) (taskMark, bool) {
	if i := slices.IndexFunc(t.inner, func(t taskMark) bool { return t.State == machine.Failed }); i >= 0 {
		return t.inner[i], true
	}
	return t, false
}

// causes tells of the tasks that failed, the first one first: the cause is
// among them.
func (s *Server) causes(ctx context.Context, v *runView, tasks []taskMark, failed []taskMark, r recordSet, p *planned) error {
	failed = slices.Clone(failed)
	slices.SortStableFunc(failed, func(a, b taskMark) int { return r.tasks[a.Place].FinishedAt.Compare(r.tasks[b.Place].FinishedAt) })
	for _, st := range countStates(tasks) {
		if st.State == machine.Failed.String() {
			v.More = max(0, st.N-causesMost)
		}
	}
	failed = failed[:min(len(failed), causesMost)]
	told := map[store.Place]bool{}
	for i := range failed {
		first, _ := firstFailed(failed[i])
		told[first.Place] = true
	}
	tries, err := s.Store.AttemptsAt(ctx, v.Run.ID, placesOf(told))
	if err != nil {
		return err
	}
	skipped := map[dag.Task]bool{}
	for _, t := range tasks {
		if len(failed) > 0 && t.State == machine.Skipped && t.Reason == machine.ReasonUpstream {
			skipped[dag.Task(t.Index)] = true
		}
	}
	for _, t := range failed {
		first, instance := firstFailed(t)
		c := causeView{taskRow: s.row(v.Run, first, r), Task: t.task}
		if instance {
			c.All = instancesLink(v.Run, t.task, "state", machine.Failed.String())
			for _, st := range countStates(t.inner) {
				if st.State == machine.Failed.String() {
					c.Alike = st.N - 1
				}
			}
		}
		for _, a := range tries {
			if a.Index == first.Index && a.Instance == first.Instance {
				c.Attempts = append(c.Attempts, a)
			}
		}
		if n := len(c.Attempts); n > 0 {
			c.Tail = logTail(filepath.Join(s.Data, filepath.FromSlash(c.Attempts[n-1].Log)))
		}
		if p.plan() != nil {
			c.blocks(p.plan(), dag.Task(t.Index), skipped)
		}
		v.Causes = append(v.Causes, c)
	}
	return nil
}

// blocks names what is downstream of a task and was skipped.
func (c *causeView) blocks(p *dag.Plan, t dag.Task, skipped map[dag.Task]bool) {
	for _, d := range p.Downstream(t) {
		switch {
		case !skipped[d]:
		case len(c.Blocked) < blockedMost:
			c.Blocked = append(c.Blocked, p.Tasks[d].ID)
		default:
			c.Others++
		}
	}
}

// logTail gives the last lines of a log, where there is one.
func logTail(path string) [][]byte {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	buf := make([]byte, 4<<10)
	from := max(sizeOf(f)-int64(len(buf)), 0)
	n, err := f.ReadAt(buf, from)
	if err != nil && err != io.EOF {
		return nil
	}
	lines := strings.Split(strings.TrimRight(string(buf[:n]), "\n"), "\n")
	if from > 0 && len(lines) > 1 {
		lines = lines[1:]
	}
	var all [][]byte
	for _, l := range lines[max(0, len(lines)-tailMost):] {
		all = append(all, []byte(l))
	}
	if len(all) == 1 && len(all[0]) == 0 {
		return nil
	}
	return all
}
