package lint

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"

	"github.com/ax-scheduler/ax/dsl"
)

// unusedParams reports parameters that nothing uses. A parameter is used where
// an expression names it, or something that a task runs reads its variable. What
// a program from elsewhere reads cannot be seen: then nothing is reported.
func (p *pass) unusedParams() {
	if len(p.wf.Params) == 0 {
		return
	}
	u := &uses{pass: p}
	u.scan(p.Source.Text)
	unused := u.left()
	if len(unused) == 0 || !u.programs() {
		return
	}
	for _, q := range u.left() {
		if nameWidth([]byte(q.Name.V)) < len(q.Name.V) || q.Name.V == "" || isDigit(q.Name.V[0]) { // no expression can name it
			continue
		}
		p.report("unused-param", q.Name.Pos, fmt.Sprintf("use it as ${{ params.%s }} or $%s, or remove it", q.Name.V, q.Variable()),
			"nothing uses parameter %q", q.Name.V)
		p.found[len(p.found)-1].code = q.Name.V
	}
}

// uses gathers which parameters are used.
type uses struct {
	*pass
	all   bool // a name is put together when it runs
	names map[string]bool
	files map[string]bool // those that were looked into
}

func (u *uses) left() (unused []*dsl.Param) {
	for i := range u.wf.Params {
		q := &u.wf.Params[i]
		if !u.all && !u.names["params."+q.Name.V] && !u.names[q.Variable()] {
			unused = append(unused, q)
		}
	}
	return unused
}

// scan notes every name of a parameter in a text, be it in an expression, in a
// script or in a comment.
func (u *uses) scan(text []byte) {
	if u.names == nil {
		u.names = map[string]bool{}
	}
	const word, variable = "params", "AX_PARAM_"
	for rest := text; ; {
		i := bytes.Index(rest, []byte(variable))
		if i < 0 {
			break
		}
		n := nameWidth(rest[i:])
		u.all = u.all || n == len(variable)
		u.names[string(rest[i:i+n])] = true
		rest = rest[i+n:]
	}
	for rest := text; ; {
		i := bytes.Index(rest, []byte(word))
		if i < 0 {
			break
		}
		rest = rest[i+len(word):]
		name := bytes.TrimLeft(rest, " ?")
		switch {
		case bytes.HasPrefix(name, []byte(".")):
			name = name[1:]
		case bytes.HasPrefix(name, []byte("[")):
			name = bytes.TrimLeft(name[1:], " \\")
			if len(name) == 0 || name[0] != '\'' && name[0] != '"' && name[0] != '`' {
				u.all = true
				continue
			}
			name = name[1:]
		default:
			continue
		}
		// A hyphen may be a minus as well.
		for n := nameWidth(name); n > 0; n = bytes.LastIndexByte(name[:n], '-') {
			u.names["params."+string(name[:n])] = true
		}
	}
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// nameWidth gives how many bytes of a name a text begins with.
func nameWidth(text []byte) int {
	n := 0
	for n < len(text) && (text[n] == '_' || text[n] == '-' || text[n] >= '0' && text[n] <= '9' || text[n]|' ' >= 'a' && text[n]|' ' <= 'z') {
		n++
	}
	return n
}

// programs looks into the files that the tasks run. It is false if one of them
// runs something that cannot be seen.
func (u *uses) programs() bool {
	if u.wf.Unread("tasks") {
		return false
	}
	for i := range u.wf.Tasks {
		t := &u.wf.Tasks[i]
		if t.Kind == dsl.NoKind || t.Unread("shell", "workdir", "run", "command") {
			return false
		}
		switch t.Kind {
		case dsl.KindCommand:
			var words []string
			for _, w := range t.Command {
				words = append(words, w.V)
			}
			if !u.known(t, words, nil) {
				return false
			}
		case dsl.KindRun:
			if s := u.parse(t, false); s == nil && !u.python(t) || s != nil && !u.script(t, s) {
				return false
			}
		}
	}
	return true
}

func (u *uses) script(t *dsl.Task, s *script) bool {
	functions := map[string]bool{}
	known := true
	for _, b := range s.tree {
		switch n := b.Node.(type) {
		case *syntax.FuncDecl:
			functions[n.Name.Value] = true
		case *syntax.CallExpr:
			known = known && (len(n.Args) == 0 || u.known(t, literals(n), functions))
		}
	}
	return known
}

// known tells whether it can be seen which variables a command reads. Every file
// among its words is looked into.
func (u *uses) known(t *dsl.Task, words []string, functions map[string]bool) bool {
	program := programFile(words)
	if program < 0 && !slices.Contains(utilities, words[0]) && !functions[words[0]] {
		return false
	}
	for i, w := range words {
		if !u.file(t, w) && i == program {
			return false
		}
	}
	return true
}

// file looks into a file, if there is one of this name.
func (u *uses) file(t *dsl.Task, name string) bool {
	dir := u.workdir(t)
	if name == "" || !strings.HasPrefix(name, "/") && dir == "" {
		return false
	}
	if !strings.HasPrefix(name, "/") {
		name = path.Join(dir, name)
	}
	if u.files[name] {
		return true
	}
	text, ok := u.disk.read(name)
	if !ok || looksElsewhere().Match(text) {
		return false
	}
	u.scan(text)
	if u.files == nil {
		u.files = map[string]bool{}
	}
	u.files[name] = true
	return true
}

// looksElsewhere finds scripts that read variables under names which they put
// together, or other files of which nothing is known.
var looksElsewhere = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)\b(environ|getenv|import|require|source|printenv|process\.env|ENV)\b|^\s*\. `)
})

// utilities are programs that read no variables of a workflow and start no other
// program, and what a shell does itself.
var utilities = slices.Concat(sayers, filters, strings.Fields(`
	[ alias base64 basename bg cd chmod chown cksum cmp comm cp csplit curl diff dirname du expand expr false fg file flock
	getopts git gunzip gzip hash hexdump install jobs join jq kill link ln logger ls mail mkdir mkfifo mktemp mv od openssl
	patch ping pg_dump pv realpath rm rmdir rsync scp set sha256sum shift sleep split sqlite3 ssh stat strings sync tar
	test touch trap truncate type umask unalias unexpand unlink unset unxz unzip wait wget xz zcat zip zstd`))

// scheduleParams holds the parameters that schedules give against those that
// are declared: a tick whose parameters do not fit starts nothing.
func (p *pass) scheduleParams() {
	in := inputsOf(p.wf)
	for s, whole := range p.schedules() {
		p.given(in, s.Params)
		if !whole {
			continue
		}
		at := s.Cron.Pos
		if s.Every.Set() {
			at = s.Every.Pos
		}
		p.required(at, "the schedule", p.wf.Params, s.Params)
	}
	for _, a := range p.wf.After {
		p.required(a.Workflow.Pos, `"after"`, p.wf.Params, nil)
	}
}

// given checks the parameters that are given to a workflow.
func (p *pass) given(in *inputs, fields []dsl.Field) {
	for _, f := range fields {
		q := in.byName[f.Name.V]
		if q == nil {
			hint := "declared are " + strings.Join(in.names, ", ")
			if len(in.names) == 0 {
				hint = "it declares none"
			}
			if meant := dsl.DidYouMean(dsl.Nearest(f.Name.V, in.names)); meant != "" {
				hint = meant
			} else if in.wf.Unread("params") {
				continue
			}
			p.report("unknown-reference", f.Name.Pos, hint, "workflow %q has no parameter %q", in.wf.Name.V, f.Name.V)
			continue
		}
		if strings.Contains(f.Value.V, "${{") || q.Unread() {
			continue
		}
		if err := q.Check(f.Value.V); err != nil {
			p.report("bad-value", f.Value.Pos, "", "parameter %q: %v", f.Name.V, err)
		}
	}
}

// required reports that a parameter without a default is not given.
func (p *pass) required(at dsl.Pos, who string, params []dsl.Param, fields []dsl.Field) {
	meant := misspelt(params, fields)
	for i := range params {
		q := &params[i]
		if meant[q.Name.V] || !q.Required.V || q.Default.Set() || q.Unread() || slices.ContainsFunc(fields, func(f dsl.Field) bool { return f.Name.V == q.Name.V }) {
			continue
		}
		p.report("missing-key", at, "give it, or a default to the parameter", "%s gives no value to parameter %q, which is required", who, q.Name.V)
		return
	}
}

// misspelt gives the parameters that fields with other names were meant to be:
// that is said where these stand.
func misspelt(params []dsl.Param, fields []dsl.Field) map[string]bool {
	var names []string
	meant := map[string]bool{}
	for _, f := range fields {
		if slices.ContainsFunc(params, func(q dsl.Param) bool { return q.Name.V == f.Name.V }) {
			continue
		}
		for i := len(names); i < len(params); i++ {
			names = append(names, params[i].Name.V)
		}
		meant[dsl.Nearest(f.Name.V, names)] = true
	}
	return meant
}
