package reload

import (
	"sync"
	"weak"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/dsl/lint"
)

// Loaded is a workflow that a catalog holds: what is asked of every workflow now
// and then, and the text, from which the rest is made again when somebody needs
// it. It does not change, and is safe for concurrent use.
type Loaded struct {
	Head    *dsl.Workflow // without its tasks
	Entries []dag.Entry   // schedules of tasks, as its plan has them
	Version string        // the hash of the text

	plan plan
}

// Keep gives what a catalog keeps of a file, which must have a plan.
func (f *File) Keep() *Loaded {
	l := &Loaded{Head: f.Workflow.Head(), Entries: f.Plan.Entries, Version: f.Source.Hash()}
	l.plan.have(f.Plan)
	return l
}

// Plan gives the compiled workflow. It is the same one for all who ask as long as
// any of them holds it.
func (l *Loaded) Plan() *dag.Plan {
	return l.plan.get(func() *dag.Plan {
		return lint.Parse(l.Head.Source.File, l.Head.Source.Text, "", "").Plan // as Check has it
	})
}

// smallPlan is how many tasks a plan may have that is let go when nobody uses it:
// it takes no longer to compile than a page to be made.
const smallPlan = 200

// plan decides how long a compiled workflow stays in memory. A small one is there
// while somebody holds it, a run or a page, and then until memory is collected; a
// large one stays.
type plan struct {
	mu    sync.Mutex // one compiles, and others wait for it
	large *dag.Plan
	small weak.Pointer[dag.Plan]
}

func (p *plan) have(made *dag.Plan) {
	if len(made.Tasks) > smallPlan {
		p.large = made
	} else {
		p.small = weak.Make(made)
	}
}

// get gives the plan, which compile makes where it is not there any more.
func (p *plan) get(compile func() *dag.Plan) *dag.Plan {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.large != nil {
		return p.large
	}
	if had := p.small.Value(); had != nil {
		return had
	}
	made := compile()
	p.have(made)
	return made
}
