package lint

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ax-scheduler/ax/dsl"
)

// noTimeout reports, once for a file, the tasks that nothing would ever end.
func (p *pass) noTimeout() {
	if p.wf.Timeout.Set() {
		return
	}
	var without []*dsl.Task
	for i := range p.wf.Tasks {
		if t := &p.wf.Tasks[i]; !t.Timeout.Set() && t.Kind != dsl.NoKind {
			without = append(without, t)
		}
	}
	if len(without) == 0 {
		return
	}
	p.report("no-timeout", without[0].ID.Pos, `add "timeout" to the task, to "defaults" or to the workflow`,
		"%s no timeout: one that hangs does so until somebody looks", havers(without))
}

// havers begins a sentence about some tasks.
func havers(tasks []*dsl.Task) string {
	const most = 3
	if len(tasks) == 1 {
		return fmt.Sprintf("task %q has", tasks[0].ID.V)
	}
	var names []string
	for _, t := range tasks[:min(len(tasks), most)] {
		names = append(names, strconv.Quote(t.ID.V))
	}
	last := names[len(names)-1]
	if len(tasks) > most {
		last = fmt.Sprintf("%d more", len(tasks)-most+1)
	}
	return fmt.Sprintf("tasks %s and %s have", strings.Join(names[:len(names)-1], ", "), last)
}
