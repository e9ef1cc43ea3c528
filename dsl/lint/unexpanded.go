package lint

import (
	"regexp"
	"slices"
	"strings"

	"github.com/ax-scheduler/ax/dsl"
)

// ofAx is a variable of ax as a shell would expand it.
var ofAx = regexp.MustCompile(`\$(?:(AX_[A-Z][A-Z0-9_]*)|\{(AX_[A-Z][A-Z0-9_]*)\})`)

// inExpressions is how expressions name what the variables of ax hold.
var inExpressions = map[string]string{
	"AX_RUN_ID": "run.id", "AX_WORKFLOW": "run.workflow", "AX_SCHEDULED_FOR": "run.scheduled_for", "AX_DATE": "run.date",
	"AX_ITEM": "item", "AX_INDEX": "index",
}

// unexpanded reports the first variable of ax in a text that no shell reads, so
// that it would stay as it is.
func (p *pass) unexpanded(v dsl.Value[string]) {
	if !strings.Contains(v.V, "AX_") || isList(v.V) {
		return
	}
	m := ofAx.FindStringSubmatchIndex(v.V)
	if m == nil {
		return
	}
	found := v.V[m[0]:m[1]]
	hint := "only a script has it: take run"
	name := strings.Trim(found, "${}")
	if x := inExpressions[name]; x != "" {
		hint = "write ${{ " + x + " }}"
	}
	if parameter, ok := strings.CutPrefix(name, "AX_PARAM_"); ok {
		hint = "write ${{ params." + strings.ToLower(parameter) + " }}"
		for i := range p.wf.Params {
			if p.wf.Params[i].Variable() == name {
				hint = "write ${{ params." + p.wf.Params[i].Name.V + " }}"
			}
		}
	}
	p.within("unset-variable", v, m[0], m[1]-m[0], hint, "%q stays as it is here: no shell reads this text", found)
}

// placed is the same for the path of a file that is written, of a database and of
// what is waited for: these may begin with the folder of the run's artifacts.
func (p *pass) placed(v dsl.Value[string]) {
	if path := strings.TrimPrefix(v.V, "sqlite:"); !strings.HasPrefix(path, "$AX_ARTIFACTS/") && !strings.HasPrefix(path, "${AX_ARTIFACTS}/") {
		p.unexpanded(v)
	}
}

// unexpandedInWorkflow looks at the texts outside of tasks.
func (p *pass) unexpandedInWorkflow() {
	for _, v := range slices.Concat(p.wf.Env, p.wf.Defaults.Env) {
		p.unexpanded(v.Value)
	}
	for _, v := range p.wf.EnvFile {
		p.unexpanded(v)
	}
	for _, s := range p.wf.Secrets {
		p.unexpanded(s.File)
	}
	for _, n := range p.wf.Notify {
		p.unexpanded(n.URL)
		p.unexpanded(n.Email)
	}
}

// reads are words of a command behind which a text is read by a shell, or by
// something that expands variables itself.
var reads = regexp.MustCompile(`^(-\w*c|-e|envsubst|ssh)$`)

// unexpandedInTask looks at the texts of a task that no shell reads. An
// environment that its script evaluates is left alone.
func (p *pass) unexpandedInTask(t *dsl.Task) {
	for _, v := range t.Env {
		byDefault := func(d dsl.EnvVar) bool { return d.Value.Pos == v.Value.Pos }
		if strings.Contains(v.Value.V, "AX_") && !slices.ContainsFunc(p.wf.Defaults.Env, byDefault) && !evaluates(t.Run.V) {
			p.unexpanded(v.Value)
		}
	}
	for _, w := range t.Command {
		if reads.MatchString(w.V) {
			break
		}
		p.unexpanded(w)
	}
	p.unexpanded(t.Workdir)
	if t.Workflow != nil {
		p.unexpandedFields(t.Workflow.Params)
	}
	p.unexpandedSQL(t.SQL)
	p.unexpandedHTTP(t.HTTP)
	if w := t.WaitFor; w != nil {
		p.placed(w.File)
		p.unexpanded(w.Until)
		p.unexpandedSQL(w.SQL)
		p.unexpandedHTTP(w.HTTP)
	}
}

// evaluates tells whether a script expands what its variables hold.
func evaluates(script string) bool {
	return given.MatchString(script) || strings.Contains(script, "envsubst") || strings.Contains(script, "sh -c")
}

func (p *pass) unexpandedFields(list []dsl.Field) {
	for _, f := range list {
		p.unexpanded(f.Value)
	}
}

func (p *pass) unexpandedSQL(s *dsl.SQL) {
	if s != nil {
		p.placed(s.DB)
		p.unexpanded(s.Query)
		p.unexpandedFields(s.Params)
		p.placed(s.Save)
	}
}

func (p *pass) unexpandedHTTP(h *dsl.HTTP) {
	if h != nil {
		p.unexpanded(h.URL)
		p.unexpanded(h.Body)
		p.unexpandedFields(h.Headers)
		p.placed(h.Save)
	}
}
