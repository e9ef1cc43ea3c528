package runtime

import "github.com/ax-scheduler/ax/dsl"

// Unsupported tells of the keys in a workflow that this version reads and checks
// but cannot carry out: a run of it is refused.
func Unsupported(wf *dsl.Workflow) dsl.Diagnostics {
	u := &unsupported{src: wf.Source}
	for _, n := range wf.Notify {
		u.say(n.Pos, "notify")
	}
	if wf.ExpectWithin.Set() {
		u.say(wf.ExpectWithin.Pos, "expect_within")
	}
	for i := range wf.Tasks {
		u.task(&wf.Tasks[i])
	}
	u.ds.Sort()
	return u.ds
}

type unsupported struct {
	src *dsl.Source
	ds  dsl.Diagnostics
}

func (u *unsupported) say(pos dsl.Pos, what string) {
	u.ds = append(u.ds, u.src.Diagnostic("unsupported", dsl.Error, pos,
		what+" cannot be carried out by this version of ax yet", "a run of the workflow is refused: do without it for now"))
}

func (u *unsupported) task(t *dsl.Task) {
	for _, key := range []struct {
		pos  dsl.Pos
		used bool
		name string
	}{
		{pos(t.SQL, func(s *dsl.SQL) dsl.Pos { return s.Pos }), t.SQL != nil, "sql"},
		{pos(t.HTTP, func(h *dsl.HTTP) dsl.Pos { return h.Pos }), t.HTTP != nil, "http"},
		{pos(t.Workflow, func(w *dsl.ChildWorkflow) dsl.Pos { return w.Pos }), t.Workflow != nil, "workflow"},
		{pos(t.WaitFor, func(w *dsl.WaitFor) dsl.Pos { return w.Pos }), t.WaitFor != nil, "wait_for"},
		{t.RunsOn.Pos, t.RunsOn.Set(), "runs_on"},
	} {
		if key.used {
			u.say(key.pos, key.name)
		}
	}
}

// pos gives the place of an optional part.
func pos[T any](part *T, of func(*T) dsl.Pos) dsl.Pos {
	if part == nil {
		return dsl.Pos{}
	}
	return of(part)
}
