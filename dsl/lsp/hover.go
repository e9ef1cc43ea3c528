package lsp

import (
	"fmt"
	"strings"
	"time"

	"go.lsp.dev/protocol"

	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/dsl/cron"
	"github.com/ax-scheduler/ax/dsl/expression"
)

// field is a name of expressions that the language gives, and what it is.
type field struct{ name, about string }

// The names of expressions (DSL.md, "Expressions"). A test holds them against
// package expression.
var (
	roots = []field{
		{"params", "the parameters of the run: params.NAME"},
		{"env", "the environment of the task: env.NAME"},
		{"secrets", "the secrets of the workflow: secrets.NAME"},
		{"run", "the run: run.date and others"},
		{"tasks", "the tasks that have ended by then: tasks.ID.state, tasks.ID.outputs.KEY"},
		{"item", "the item of this instance of a foreach"},
		{"index", "the number of this instance of a foreach, from 0"},
	}
	runFields = []field{
		{"id", "the id of the run"},
		{"workflow", "the name of the workflow"},
		{"scheduled_for", "the nominal time of the tick; of a manual run the moment of the request"},
		{"trigger", "what started the run"},
		{"date", "the date of scheduled_for in the workflow's zone"},
	}
	taskFields = []field{
		{"state", "how the task has ended: succeeded, failed, skipped or cancelled"},
		{"outputs", "what the task wrote to $AX_OUTPUT: outputs.KEY"},
		{"exit_code", "the exit code of the last attempt"},
		{"error", "what went wrong; empty if nothing did"},
	}
)

// note is what a hover shows of a part of the text: a title in code, then text.
type note struct {
	span
	title, text string
}

func (s *server) hover(p *protocol.HoverParams) (any, error) {
	d, good, err := s.document(p.TextDocument.URI)
	if err != nil || d.foreign() {
		return nil, err
	}
	t, readable := d.places()
	if !readable {
		return nil, nil
	}
	h := hover{tree: t, wf: &dsl.Workflow{}, o: &s.o, now: time.Now()}
	if good != nil {
		h.wf = good.lintFile().Workflow
	}
	n := h.at(offsetAt(d.text, p.Position))
	if n == nil {
		return nil, nil
	}
	at := rangeOf(t.src, n.from, n.to)
	if !s.markdown {
		return protocol.Hover{Contents: protocol.MarkupContent{Kind: protocol.PlainText, Value: n.title + "\n\n" + n.text}, Range: &at}, nil
	}
	// Longer fences than any in the title, which may be the user's own text.
	fence := strings.Repeat("`", 1+longestRun(n.title))
	text := fence + " " + n.title + " " + fence + "\n\n" + n.text
	return protocol.Hover{Contents: protocol.MarkupContent{Kind: protocol.Markdown, Value: text}, Range: &at}, nil
}

var backquotes = lazily("`+")

func longestRun(text string) int {
	longest := 0
	for _, run := range backquotes().FindAllString(text, -1) {
		longest = max(longest, len(run))
	}
	return longest
}

// hover finds what there is to say about a place.
type hover struct {
	*tree
	wf  *dsl.Workflow
	o   *Options
	now time.Time
}

// at gives what is said about a place, nil for nothing.
func (h *hover) at(offset int) *note {
	for i := range h.codes {
		if h.codes[i].holds(offset) {
			if n := h.name(&h.codes[i], offset); n != nil {
				return n
			}
		}
	}
	if id := h.idAt(offset); id != nil && h.isTask[id.id] {
		return h.task(id.span, id.id)
	}
	for _, c := range h.crons {
		if c.holds(offset) {
			return h.cron(c)
		}
	}
	for _, k := range h.keys {
		if k.holds(offset) {
			return h.key(k)
		}
	}
	return nil
}

// key gives the reference text of a key.
func (h *hover) key(k writtenKey) *note {
	n := &note{span: k.span, title: k.key}
	if h.o.About != nil {
		n.text = h.o.About(k.mapping, k.key)
	}
	if words := mappings()[k.mapping].Shapes[k.key].Words; len(words) > 0 {
		n.text = strings.TrimSpace(n.text + "\n\nOne of " + strings.Join(words, ", ") + ".")
	}
	return n
}

func (h *hover) task(at span, id string) *note {
	n := &note{span: at, title: id, text: "A task of this workflow."}
	for i := range h.wf.Tasks {
		if t := &h.wf.Tasks[i]; t.ID.V == id {
			n.text = strings.TrimSpace("A task (" + t.Kind.String() + ").\n\n" + t.Description.V)
		}
	}
	return n
}

// cron gives the next three times of a schedule, in its zone.
func (h *hover) cron(c writtenText) *note {
	expr, err := cron.Parse(c.value)
	if err != nil {
		return nil // the diagnostic says what is wrong
	}
	n := &note{span: c.span, title: c.value}
	zone, err := cron.LoadZone(h.zoneOf(expr, c.pos))
	if err != nil {
		if zone = h.o.Zone; zone == nil {
			zone = time.UTC
		}
	}
	lines := []string{fmt.Sprintf("Next times (%s):", zone)}
	at := h.now
	for range 3 {
		if at = expr.Next(at, zone); at.IsZero() {
			break
		}
		lines = append(lines, "- "+at.Format("Mon 2006-01-02 15:04:05 -0700"))
	}
	if len(lines) == 1 {
		lines = []string{"It never fires."}
	}
	n.text = strings.Join(lines, "\n")
	return n
}

// zoneOf gives the name of the zone that a schedule goes by: its own, that of
// its long form, or the workflow's; empty for the server's.
func (h *hover) zoneOf(expr *cron.Expr, at dsl.Pos) string {
	if expr.Zone != "" {
		return expr.Zone
	}
	find := func(list []dsl.Schedule) string {
		for _, s := range list {
			if s.Cron.Set() && h.src.InScalar(s.Cron.Pos, 0) == h.src.InScalar(at, 0) {
				return s.Timezone.V
			}
		}
		return ""
	}
	zone := find(h.wf.Schedules)
	for i := range h.wf.Tasks {
		if zone != "" {
			break
		}
		zone = find(h.wf.Tasks[i].Schedules)
	}
	if zone == "" {
		zone = h.wf.Timezone.V
	}
	return zone
}

// name gives what there is to say about a name in an expression.
func (h *hover) name(c *written, offset int) *note {
	for _, parts := range names(c.code, func(id string) bool { return h.isTask[id] }) {
		for i, p := range parts {
			if at := c.part(h.src, p); at.holds(offset) {
				return h.part(at, parts[:i+1])
			}
		}
	}
	return nil
}

// part gives what there is to say about the last part of a name.
func (h *hover) part(at span, parts []part) *note {
	word, root := parts[len(parts)-1].word, parts[0].word
	known := map[string][]field{"run": runFields}[root]
	switch {
	case len(parts) == 1:
		for _, f := range expression.Functions() {
			if f.Name == word {
				return &note{at, f.Signature, sentence(f.Doc)}
			}
		}
		known = roots
	case len(parts) == 2 && root == "params":
		return h.param(at, word)
	case len(parts) == 2 && root == "tasks" && h.isTask[word]:
		return h.task(at, word)
	case len(parts) == 3 && root == "tasks":
		known = taskFields
	case len(parts) > 2:
		return nil
	}
	for _, f := range known {
		if f.name == word {
			return &note{at, word, sentence(f.about)}
		}
	}
	return nil
}

func (h *hover) param(at span, name string) *note {
	for i := range h.wf.Params {
		p := &h.wf.Params[i]
		if p.Name.V != name {
			continue
		}
		text := "A parameter (" + string(p.Type.V) + ")."
		if p.Default.Set() {
			text += " Default: " + p.Default.V
		}
		return &note{at, "params." + name, strings.TrimSpace(text + "\n\n" + p.Description.V)}
	}
	return nil
}

func sentence(text string) string { return strings.ToUpper(text[:1]) + text[1:] + "." }
