package runtime

import "github.com/ax-scheduler/ax/dsl"

// Unsupported tells of the keys in a workflow that this version reads and checks
// but cannot carry out: a run of it is refused.
func Unsupported(wf *dsl.Workflow) dsl.Diagnostics {
	u := &unsupported{src: wf.Source}
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
