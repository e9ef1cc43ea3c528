package lint

import (
	"fmt"
	"net/mail"
	"regexp"
	"strings"
	"time"

	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/dsl/expression"
	"github.com/ax-scheduler/ax/dsl/statement"
)

// sqlName is what can stand behind the colon of :name.
var sqlName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// query checks the text of a query: its expressions, which are values that are
// bound, and the names of its parameters.
func (p *pass) query(s *dsl.SQL, scope func() *expression.Scope) {
	given := map[string]bool{}
	var names []string
	for _, f := range s.Params {
		given[f.Name.V] = true
		names = append(names, f.Name.V)
		if !sqlName.MatchString(f.Name.V) {
			p.report("bad-name", f.Name.Pos, `allowed are letters A-Z and a-z, digits and "_", and no digit first`,
				"%q cannot be the name of a parameter of a statement", f.Name.V)
		}
	}
	if !s.Query.Set() || p.faults > p.mostFaults() {
		return
	}
	d := statement.DialectOf(s.DB.V)
	_, faults := expression.CompileQuery(s.Query.V, d, scope())
	p.faulty(s.Query, faults)
	if !p.whole {
		return // a parameter may be there and not have been read
	}
	statements, _ := statement.Split(s.Query.V, d, true)
	for _, st := range statements {
		for _, m := range st.Marks {
			if m.Name == "" || given[m.Name] {
				continue
			}
			hint := `give it in "params"; behind a colon that is no parameter, leave a blank`
			if near := dsl.Nearest(m.Name, names); near != "" {
				hint = dsl.DidYouMean(":" + near)
			}
			p.within("unknown-reference", s.Query, m.Start, m.End-m.Start, hint, `":%s" has no value in "params"`, m.Name)
		}
	}
}

// email checks addresses that are written out.
func (p *pass) email(v dsl.Value[string]) {
	if !v.Set() || strings.Contains(v.V, "${{") {
		return
	}
	if _, err := mail.ParseAddressList(v.V); err != nil {
		p.report("bad-value", v.Pos, "write it like data@example.com, several with commas between", `"email" is %q, which is no mail address`, v.V)
	}
}

// moment checks a time that is written out.
func (p *pass) moment(v dsl.Value[string]) {
	if !v.Set() || strings.Contains(v.V, "${{") {
		return
	}
	if _, err := dsl.ParseMoment(v.V, time.UTC, time.Unix(0, 0)); err != nil {
		p.report("bad-value", v.Pos, "write a time of day as 08:00, a day as 2026-01-31, both as 2026-01-31 08:00, or RFC 3339", `"until" is %q, which is no time`, v.V)
	}
}

// fixed reports expressions in a key whose value is the same for every run.
func (p *pass) fixed(what, hint string, v dsl.Value[string]) {
	list, _ := dsl.Expressions(v.V)
	if len(list) > 0 && v.Set() {
		p.within("bad-expression", v, list[0].Start, list[0].End-list[0].Start, hint, "%s is fixed when the file is read: it cannot have expressions", what)
	}
}

// fixedInWorkflow looks at the keys outside of tasks.
func (p *pass) fixedInWorkflow() {
	for _, e := range p.wf.Except {
		p.fixed(`"except"`, "write the date or the path out", e)
	}
	for i := range p.wf.Params {
		q := &p.wf.Params[i]
		what := fmt.Sprintf("parameter %q", q.Name.V)
		p.fixed("the default of "+what, `leave the parameter without one, and write params.`+q.Name.V+` ?? … where it is used`, q.Default)
		for _, c := range q.Choices {
			p.fixed("a choice of "+what, "", c)
		}
		p.fixed("the pattern of "+what, "", q.Pattern)
	}
	p.fixedShell(p.wf.Defaults.Shell)
	p.fixed(`"runs_on"`, "", p.wf.Defaults.RunsOn)
}

// fixedInTask looks at the keys of a task.
func (p *pass) fixedInTask(t *dsl.Task) {
	if t.Shell.Pos != p.wf.Defaults.Shell.Pos {
		p.fixedShell(t.Shell)
	}
	if t.RunsOn.Pos != p.wf.Defaults.RunsOn.Pos {
		p.fixed(`"runs_on"`, "", t.RunsOn)
	}
}

func (p *pass) fixedShell(s dsl.Shell) {
	if strings.Contains(strings.Join(s.Argv, " "), "${{") {
		p.report("bad-expression", s.Pos, "write two tasks, and choose between them by when", `"shell" is fixed when the file is read: it cannot have expressions`)
	}
}
