package dsl

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

const workflowTitle = "the workflow"

// workflowKeys are the keys at the top of a file, in the order in which `ax fmt`
// lays them out.
var workflowKeys = &table[Workflow]{workflowTitle, "a map with the keys of a workflow", []key[Workflow]{
	{"name", func(v val, w *Workflow) {
		v.p.named = true
		w.Name = v.identifier("workflow name")
	}},
	{"description", func(v val, w *Workflow) { w.Description = v.str() }},
	{"owner", func(v val, w *Workflow) { w.Owner = v.str() }},
	{"tags", func(v val, w *Workflow) { w.Tags = list(v, "a list of texts", val.filled) }},
	{"disabled", func(v val, w *Workflow) { w.Disabled = v.boolean() }},

	{"cron", func(v val, w *Workflow) { w.Schedules = append(w.Schedules, v.crons()...) }},
	{"every", func(v val, w *Workflow) { w.Schedules = append(w.Schedules, v.every()...) }},
	{"after", func(v val, w *Workflow) { w.After = v.after() }},
	{"timezone", func(v val, w *Workflow) { w.Timezone = v.filled() }},
	{"valid_from", func(v val, w *Workflow) { w.ValidFrom = v.date() }},
	{"valid_until", func(v val, w *Workflow) { w.ValidUntil = v.date() }},
	{"except", func(v val, w *Workflow) { w.Except = list(v, "a list of dates or files", val.exception) }},
	{"jitter", func(v val, w *Workflow) { w.Jitter = v.duration(0) }},
	{"catchup", func(v val, w *Workflow) { w.Catchup = oneOf(v, catchups) }},
	{"catchup_window", func(v val, w *Workflow) { w.CatchupWindow = v.duration(0) }},
	{"max_active", func(v val, w *Workflow) { w.MaxActive = v.integer(0, maxInt) }},
	{"overlap", func(v val, w *Workflow) { w.Overlap = oneOf(v, overlaps) }},

	{"params", func(v val, w *Workflow) { w.Params = v.params() }},
	{"env", func(v val, w *Workflow) { w.Env = v.env() }},
	{"env_file", func(v val, w *Workflow) { w.EnvFile = oneOrList(v, "a path or a list of paths", val.filled) }},
	{"secrets", func(v val, w *Workflow) { w.Secrets = v.secrets() }},

	{"defaults", func(v val, w *Workflow) { v.defaults(&w.Defaults) }},
	{"max_parallel", func(v val, w *Workflow) { w.MaxParallel = v.integer(1, maxInt) }},
	{"timeout", func(v val, w *Workflow) { w.Timeout = v.duration(1) }},
	{"expect_within", func(v val, w *Workflow) { w.ExpectWithin = v.duration(1) }},
	{"priority", func(v val, w *Workflow) { w.Priority = v.integer(0, 9) }},
	{"retention", func(v val, w *Workflow) { w.Retention = v.retention() }},

	{"on_failure", func(v val, w *Workflow) { w.OnFailure = v.ids() }},
	{"on_success", func(v val, w *Workflow) { w.OnSuccess = v.ids() }},
	{"on_finish", func(v val, w *Workflow) { w.OnFinish = v.ids() }},
	{"notify", func(v val, w *Workflow) { w.Notify = v.notify() }},

	{"tasks", func(v val, w *Workflow) { w.Tasks = v.tasks() }},
}}

var catchups = []choice[Catchup]{
	{"none", CatchupNone}, {"latest", CatchupLatest}, {"all", CatchupAll}, {"merge", CatchupMerge},
}

var overlaps = []choice[Overlap]{
	{"skip", OverlapSkip}, {"buffer_one", OverlapBufferOne}, {"queue", OverlapQueue}, {"replace", OverlapReplace},
}

// defaultsKeys are the task keys that hold for every task.
var defaultsKeys = &table[Defaults]{`"defaults"`, "a map with keys of tasks", []key[Defaults]{
	{"timeout", func(v val, d *Defaults) { d.Timeout = v.duration(1) }},
	{"retry", func(v val, d *Defaults) { d.Retry = v.retry() }},
	{"shell", func(v val, d *Defaults) { d.Shell = v.shell() }},
	{"workdir", func(v val, d *Defaults) { d.Workdir = v.filled() }},
	{"env", func(v val, d *Defaults) { d.Env = v.env() }},
	{"pool", func(v val, d *Defaults) { d.Pool = v.pool() }},
	{"runs_on", func(v val, d *Defaults) { d.RunsOn = v.filled() }},
	{"recovery", func(v val, d *Defaults) { d.Recovery = oneOf(v, recoveries) }},
}}

func (v val) defaults(d *Defaults) {
	found, ok := read(v, defaultsKeys, d)
	if d.gaps = found.gaps; !ok {
		d.gaps = ^gaps(0)
	}
}

var retentionKeys = &table[Retention]{`"retention"`, `a map with "runs" or "age"`, []key[Retention]{
	{"runs", func(v val, r *Retention) { r.Runs = v.integer(1, maxInt) }},
	{"age", func(v val, r *Retention) { r.Age = v.duration(1) }},
}}

func (v val) retention() *Retention {
	r := &Retention{}
	found, ok := read(v, retentionKeys, r)
	if !ok {
		return nil
	}
	r.Pos = v.pos()
	found.needOne(v, "runs", "age")
	return r
}

var notifyKeys = &table[Notify]{`"notify"`, `a map with "url" or "email"`, []key[Notify]{
	{"url", func(v val, n *Notify) { n.URL = v.url() }},
	{"email", func(v val, n *Notify) { n.Email = v.filled() }},
	{"on", func(v val, n *Notify) {
		n.On = oneOrList(v, "an event or a list of events", func(v val) Value[string] { return oneOf(v, events) })
	}},
	{"secret", func(v val, n *Notify) { n.Secret = v.filled() }},
	{"format", func(v val, n *Notify) { n.Format = oneOf(v, formats) }},
}}

var (
	events  = words("failed", "recovered", "late", "succeeded", "broken")
	formats = words("json", "slack", "teams")
)

func (v val) notify() (all []Notify) {
	items, _ := v.items("a list of targets")
	for _, at := range items {
		v, n := v.itemAt(at), Notify{}
		if found, ok := read(v, notifyKeys, &n); ok {
			n.Pos = v.pos()
			found.exactlyOne(v, "url", "email")
			all = append(all, n)
		}
	}
	return all
}

var secretKeys = &table[Secret]{"a secret", `a map with "env" or "file"`, []key[Secret]{
	{"env", func(v val, s *Secret) { s.Env = v.variable() }},
	{"file", func(v val, s *Secret) { s.File = v.filled() }},
}}

func (v val) secrets() (all []Secret) {
	v.each = true
	v.entries("a map of names to secrets", func(name Value[string], v val) {
		v.p.variableName(name)
		s := Secret{Name: name}
		if v.node != nil && v.node.Kind == yaml.ScalarNode && !isNull(v.node) {
			v.wrongTypeHint(secretKeys.shape, "say where the value is, it does not belong here: "+name.V+": {env: "+name.V+"}")
		} else if found, ok := read(v, secretKeys, &s); ok {
			found.exactlyOne(v, "env", "file")
		}
		all = append(all, s)
	})
	return all
}

// env reads environment variables. Their values are exactly what is written.
func (v val) env() (all []EnvVar) {
	if v.node != nil && v.node.Kind != yaml.MappingNode {
		v.wrongTypeHint("a map of names to texts", v.p.envHint(v.node))
		return nil
	}
	v.entries("a map of names to texts", func(name Value[string], v val) {
		v.p.variableName(name)
		if s := v.str(); s.Set() {
			all = append(all, EnvVar{name, s})
		}
	})
	return all
}

// envHint says how to write variables that do not stand in a map: A=b, or a list
// of such or of maps. It is empty where that is not obvious.
func (p *parser) envHint(n *yaml.Node) string {
	items := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		items = n.Content
	}
	var entries []string
	for _, item := range items {
		name, text, ok := strings.Cut(p.text(item), "=")
		if item.Kind == yaml.MappingNode && len(item.Content) == 2 && item.Content[1].Kind == yaml.ScalarNode {
			name, text, ok = item.Content[0].Value, p.text(item.Content[1]), true
		}
		if !ok || !isWord(name, "") {
			return ""
		}
		if text == "" || strings.ContainsAny(text, ",[]{}:#' &*!|>%@`") || strconv.Quote(text) != `"`+text+`"` {
			text = strconv.Quote(text)
		}
		entries = append(entries, name+": "+text)
	}
	if len(entries) == 0 {
		return ""
	}
	return "write {" + clip(strings.Join(entries, ", "), 60) + "}"
}

// entries calls each for the entries of a map whose keys are free.
func (v val) entries(expected string, each func(name Value[string], v val)) {
	switch {
	case v.node == nil:
	case v.node.Kind != yaml.MappingNode:
		v.wrongType(expected)
	default:
		pairs := v.p.pairs(v.node, v.label())
		for i := 0; i < len(pairs) && v.p.budget >= 0; i += 2 {
			before := v.p.faults
			v.entry(pairs[i], pairs[i+1], each)
			if v.each {
				v.p.faults = before
			}
		}
	}
}

func (v val) entry(k, at *yaml.Node, each func(name Value[string], v val)) {
	name := Value[string]{v.p.text(k), v.p.pos(k)}
	if before, ok := v.p.noColon(k, at); ok {
		name.V = before
		each(name, val{p: v.p, name: k, at: at})
		return
	}
	if before, ok := v.p.noBlank(name, at); ok {
		name.V = before
		each(name, val{p: v.p, name: k, at: at})
		return
	}
	each(name, v.p.value(k, at))
}

// noBlank reports a colon without a blank behind it before a bracket, which
// makes key and value of what is none: in t:{run: x} the key is "t:{run".
func (p *parser) noBlank(name Value[string], value *yaml.Node) (before string, found bool) {
	before, after, _ := strings.Cut(name.V, ":")
	if !isIdentifier(before) || !strings.HasPrefix(after, "{") && !strings.HasPrefix(after, "[") {
		return "", false
	}
	p.add("bad-name", name.Pos, "no blank after the colon", fmt.Sprintf("write %q", clip(before+": "+after+": "+p.text(value), 40)))
	return before, true
}

// noColon reports an entry of a map in braces that has no colon, but something
// else in its place: {A=b}, {region cn}. It gives the part before that.
func (p *parser) noColon(k, value *yaml.Node) (before string, found bool) {
	name := p.text(k)
	i := strings.IndexAny(name, "= \"'")
	if i < 0 || !isIdentifier(name[:i]) || !p.lacksColon(k, value) {
		return "", false
	}
	hint := "write " + clip(name[:i]+": "+strings.TrimLeft(name[i:], "= "), 40)
	p.add("bad-name", p.pos(k), "no colon after the key", hint)
	return name[:i], true
}

// lacksColon tells whether a plain key stands without a colon, as it may in
// braces.
func (p *parser) lacksColon(k, value *yaml.Node) bool {
	if !isPlain(k) || !isNull(value) || value.Value != "" {
		return false
	}
	text := p.src.Text
	at := p.src.Extent(p.pos(k))
	for at < len(text) && (isBlank(text[at]) || isBreak(text[at])) {
		at++
	}
	return at < len(text) && text[at] != ':'
}

// free reads a map whose keys and values are the user's own. Lists and maps
// within it are kept as JSON where deep allows them.
func (v val) free(deep bool) (all []Field) {
	v.entries("a map", func(name Value[string], v val) {
		var s Value[string]
		if deep && v.node != nil && v.node.Kind != yaml.ScalarNode {
			s = v.json()
		} else {
			s = v.str()
		}
		if s.Set() {
			all = append(all, Field{name, s})
		}
	})
	return all
}

const identifierRule = `a letter or "_" first, then letters A-Z and a-z, digits, "_" and "-", 64 characters at most`

// isIdentifier tells whether a text can name a workflow, a task or a parameter.
func isIdentifier(s string) bool { return len(s) <= 64 && isWord(s, "-") }

// isWord tells whether a text is of ASCII letters, digits, _ and some more, and
// begins with a letter or _.
func isWord(s, more string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_':
		case i > 0 && (c >= '0' && c <= '9' || strings.IndexByte(more, c) >= 0):
		default:
			return false
		}
	}
	return s != ""
}

// checkName reports a name that is no identifier.
func (p *parser) checkName(what string, name Value[string]) bool {
	if isIdentifier(name.V) {
		return true
	}
	hint := "allowed are " + identifierRule
	if strings.Contains(name.V, "${{") {
		hint = "names are fixed when the file is read, they cannot be expressions"
	}
	hint = cmp.Or(straight(name.V), hint)
	p.add("bad-name", name.Pos, fmt.Sprintf("%s cannot be a %s", quote(name.V), what), hint)
	return false
}

// identifier reads a name that must follow the rule.
func (v val) identifier(what string) Value[string] {
	s, ok := v.scalar("a " + what)
	if !ok || !v.p.checkName(what, s) {
		return Value[string]{}
	}
	return s
}

// id reads the name of a task of this file. Whether there is such a task is
// for package dag to say, which also knows the near ones; so only what can
// never be a name is refused here.
func (v val) id() Value[string] {
	if v.node != nil && v.node.Kind == yaml.MappingNode && len(v.node.Content) == 2 {
		v.wrongTypeHint("a task id", v.p.idHint(v.node.Content[0], v.node.Content[1]))
		return Value[string]{}
	}
	s, ok := v.scalar("a task id")
	if ok && (strings.TrimSpace(s.V) == "" || strings.Contains(s.V, "${{")) {
		v.p.checkName("task id", s)
		return Value[string]{}
	}
	return s
}

// idHint says how to write an item of a list of ids that is a map with one entry.
func (p *parser) idHint(k, value *yaml.Node) string {
	if isNull(value) {
		return "write " + clip(p.text(k), 40) + ", without the colon"
	}
	if k.Kind == yaml.ScalarNode && slices.ContainsFunc(conditions, func(c choice[Outcomes]) bool { return c.word == value.Value }) {
		return fmt.Sprintf("ids with conditions are a map, not a list: {%s: %s}", clip(p.text(k), 40), value.Value)
	}
	return ""
}

func (v val) ids() []Value[string] {
	return oneOrList(v, "a task id or a list of task ids", val.id)
}

// variableName reports what cannot name an environment variable that a shell
// can read.
func (p *parser) variableName(name Value[string]) bool {
	if isWord(name.V, "") {
		return true
	}
	p.add("bad-name", name.Pos, fmt.Sprintf("%s cannot be the name of an environment variable", quote(name.V)),
		`allowed are letters A-Z and a-z, digits and "_", and no digit first`)
	return false
}

func (v val) variable() Value[string] {
	s, ok := v.scalar("the name of an environment variable")
	if !ok || !v.p.variableName(s) {
		return Value[string]{}
	}
	return s
}

// url reads a web address; one with expressions in it is checked when it is
// known.
func (v val) url() Value[string] {
	s := v.filled()
	if s.Set() && !strings.Contains(s.V, "${{") && !strings.HasPrefix(s.V, "http://") && !strings.HasPrefix(s.V, "https://") {
		v.bad(fmt.Sprintf("%s is %s, which is no web address", v.label(), quote(s.V)), "it begins with http:// or https://")
		return Value[string]{}
	}
	return s
}
