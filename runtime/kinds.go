package runtime

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/dsl/expression"
	"github.com/ax-scheduler/ax/dsl/statement"
	"github.com/ax-scheduler/ax/runtime/executor"
)

// defaultPoll is the pause between two looks of wait_for.
const defaultPoll = 30 * time.Second

// kindPrograms are the compiled expressions of sql, http, workflow and wait_for.
// What the task does not have is nil.
type kindPrograms struct {
	sql    *sqlPrograms
	http   *httpPrograms
	file   *expression.Template
	until  *expression.Template
	params []namedTemplate // of a child

	all []interface{ References() []expression.Reference }
}

type sqlPrograms struct {
	spec           *dsl.SQL
	db, file, save *expression.Template
	query          *expression.Query
	params         []namedTemplate
}

type httpPrograms struct {
	spec            *dsl.HTTP
	url, body, save *expression.Template
	headers         []namedTemplate
}

func (k *kindPrograms) references() []expression.Reference {
	var refs []expression.Reference
	for _, p := range k.all {
		refs = append(refs, p.References()...)
	}
	return refs
}

// kind compiles what is not compiled for every task.
func (c *programCompiler) kind(t *dsl.Task) *kindPrograms {
	k := &kindPrograms{}
	switch t.Kind {
	case dsl.KindSQL:
		k.sql = k.compileSQL(c, t.SQL)
	case dsl.KindHTTP:
		k.http = k.compileHTTP(c, t.HTTP)
	case dsl.KindWorkflow:
		k.params = k.named(c, t.Workflow.Params)
	case dsl.KindWaitFor:
		w := t.WaitFor
		k.sql, k.http = k.compileSQL(c, w.SQL), k.compileHTTP(c, w.HTTP)
		k.file, k.until = k.text(c, w.File), k.text(c, w.Until)
	}
	return k
}

func (k *kindPrograms) text(c *programCompiler, v dsl.Value[string]) *expression.Template {
	if !v.Set() {
		return nil
	}
	t := c.template(v)
	k.all = append(k.all, t)
	return t
}

func (k *kindPrograms) named(c *programCompiler, fields []dsl.Field) []namedTemplate {
	var all []namedTemplate
	for _, f := range fields {
		all = append(all, namedTemplate{f.Name.V, k.text(c, f.Value)})
	}
	return all
}

func (k *kindPrograms) compileSQL(c *programCompiler, s *dsl.SQL) *sqlPrograms {
	if s == nil {
		return nil
	}
	p := &sqlPrograms{spec: s, db: k.text(c, s.DB), file: k.text(c, s.File), save: k.text(c, s.Save), params: k.named(c, s.Params)}
	if s.Query.Set() {
		q, faults := expression.CompileQuery(s.Query.V, statement.DialectOf(s.DB.V), c.scope)
		c.faults(s.Query.Pos, faults)
		p.query = q
		k.all = append(k.all, q)
	}
	return p
}

func (k *kindPrograms) compileHTTP(c *programCompiler, h *dsl.HTTP) *httpPrograms {
	if h == nil {
		return nil
	}
	return &httpPrograms{spec: h, url: k.text(c, h.URL), body: k.text(c, h.Body), save: k.text(c, h.Save), headers: k.named(c, h.Headers)}
}

// kind evaluates what the task is to do. Relative paths start at dir.
func (j *job) kind(dir string) (executor.Action, error) {
	k := j.programs.kind
	switch j.spec.Kind {
	case dsl.KindSQL:
		s, err := j.sql(k.sql, dir)
		if err != nil {
			return nil, err
		}
		return *s, nil
	case dsl.KindHTTP:
		h, err := j.http(k.http, dir)
		if err != nil {
			return nil, err
		}
		return *h, nil
	case dsl.KindWorkflow:
		params, err := j.texts(k.params, func(i int) dsl.Pos { return j.spec.Workflow.Params[i].Value.Pos })
		if err != nil {
			return nil, err
		}
		return j.child(mapOf(params))
	}
	return j.wait(k, dir)
}

func (j *job) wait(k *kindPrograms, dir string) (executor.Action, error) {
	w := executor.Wait{Poll: j.spec.WaitFor.Poll.Or(defaultPoll)}
	var err error
	switch spec := j.spec.WaitFor; {
	case k.file != nil:
		w.File, err = j.path(k.file, spec.File, dir)
	case k.http != nil:
		w.HTTP, err = j.http(k.http, dir)
	case k.sql != nil:
		w.SQL, err = j.sql(k.sql, dir)
	default:
		var text string
		if text, err = j.text(k.until, spec.Until); err != nil {
			break
		}
		if w.Until, err = dsl.ParseMoment(text, j.values.Zone, j.values.Run.ScheduledFor); err != nil {
			err = fmt.Errorf("%s: until is %q: %w", j.at(spec.Until.Pos), text, err)
		}
	}
	return w, err
}

func (j *job) sql(p *sqlPrograms, dir string) (*executor.SQL, error) {
	s, spec := &executor.SQL{Named: map[string]any{}}, p.spec
	var err error
	if s.DB, err = j.text(p.db, spec.DB); err != nil {
		return nil, err
	}
	if file, ok := strings.CutPrefix(s.DB, "sqlite:"); ok && file != ":memory:" {
		s.DB = "sqlite:" + j.env.within(dir, file)
	}
	if s.Save, err = j.path(p.save, spec.Save, dir); err != nil {
		return nil, err
	}
	if s.Save != "" && filepath.Ext(s.Save) != ".csv" && filepath.Ext(s.Save) != ".json" {
		return nil, fmt.Errorf("%s: save is %q, but must end in .csv or .json", j.at(spec.Save.Pos), s.Save)
	}
	for i, t := range p.params {
		if s.Named[t.name], err = j.value(t.text, spec.Params[i].Value); err != nil {
			return nil, err
		}
	}
	if p.query != nil {
		s.Text = p.query.Text()
		s.Place = func(offset int) string { return j.at(j.env.src.InScalar(spec.Query.Pos, offset)) }
		if s.Inserted, err = p.query.Values(&j.values); err != nil {
			return nil, placedError(j.env.src, spec.Query.Pos, err)
		}
		return s, nil
	}
	file, err := j.path(p.file, spec.File, j.env.dir)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", j.at(spec.File.Pos), err)
	}
	s.Text = string(text)
	src := dsl.NewSource(file, text)
	s.Place = func(offset int) string {
		p := src.Pos(offset)
		return fmt.Sprintf("%s:%d:%d", file, p.Line, p.Col)
	}
	return s, nil
}

func (j *job) http(p *httpPrograms, dir string) (*executor.HTTP, error) {
	h, spec := &executor.HTTP{Method: p.spec.Method.V}, p.spec
	var err error
	if h.URL, err = j.text(p.url, spec.URL); err != nil {
		return nil, err
	}
	if h.Body, err = j.text(p.body, spec.Body); err != nil {
		return nil, err
	}
	if h.Save, err = j.path(p.save, spec.Save, dir); err != nil {
		return nil, err
	}
	for i, t := range p.headers {
		value, err := j.text(t.text, spec.Headers[i].Value)
		if err != nil {
			return nil, err
		}
		h.Headers = append(h.Headers, executor.Header{Name: t.name, Value: value})
	}
	for _, code := range spec.Expect {
		h.Expect = append(h.Expect, code.V)
	}
	return h, nil
}

// text evaluates a text; one that the task does not have is empty.
func (j *job) text(t *expression.Template, v dsl.Value[string]) (string, error) {
	if t == nil {
		return "", nil
	}
	text, err := t.Text(&j.values)
	if err != nil {
		return "", placedError(j.env.src, v.Pos, err)
	}
	return text, nil
}

// path evaluates a path, which starts at dir if it is relative.
func (j *job) path(t *expression.Template, v dsl.Value[string], dir string) (string, error) {
	text, err := j.text(t, v)
	if err != nil || text == "" {
		return "", err
	}
	return j.env.within(dir, text), nil
}

// number is how an integer or a decimal fraction is written that has no other
// way to be written.
var number = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?$`)

// value evaluates a value that is bound in a statement. One that is written out
// has the type that it looks like; an expression has its own.
func (j *job) value(t *expression.Template, v dsl.Value[string]) (any, error) {
	value, err := t.Value(&j.values)
	if err != nil {
		return nil, placedError(j.env.src, v.Pos, err)
	}
	text, _ := value.(string)
	switch {
	case !t.Constant():
	case text == "true" || text == "false":
		return text == "true", nil
	case number.MatchString(text):
		if n, err := strconv.Atoi(text); err == nil {
			return n, nil
		}
		if f, err := strconv.ParseFloat(text, 64); err == nil && strings.Contains(text, ".") {
			return f, nil
		}
	}
	return value, nil
}

// at names a place of the workflow file.
func (j *job) at(p dsl.Pos) string {
	return fmt.Sprintf("%s:%d:%d", j.env.src.File, p.Line, p.Col)
}

// within gives an absolute path for one that starts at a folder, or with
// $AX_ARTIFACTS at the folder of the run's artifacts.
func (env *environment) within(dir, path string) string {
	for _, name := range []string{"$AX_ARTIFACTS", "${AX_ARTIFACTS}"} {
		if rest, ok := strings.CutPrefix(path, name); ok && (rest == "" || rest[0] == '/') {
			return filepath.Join(env.artifacts, rest)
		}
	}
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}
