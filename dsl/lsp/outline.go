package lsp

import (
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/ax-scheduler/ax/dsl"
)

// outline gives the names that a text declares, from its lines alone: the text
// need not be YAML, be it at the cursor or elsewhere.
func outline(text []byte) *dsl.Workflow {
	o := &outliner{}
	for at := 0; at < len(text); at = skipBreak(text, lineEnd(text, at)) {
		raw := string(text[at:lineEnd(text, at)])
		if trimmed := strings.TrimLeft(raw, " "); trimmed == "" || trimmed[0] == '#' {
			continue
		}
		if l := lineOf(raw, at); len(l.tokens) > 0 && !l.tokens[0].dash {
			o.line(l)
		} else if indent(raw) == 0 {
			o.section = "" // what stands at the left edge ends what is above it
		}
	}
	return &o.wf
}

type outliner struct {
	wf      dsl.Workflow
	section string // the key of the workflow that the lines are under
	column  int    // of the names in it; 0 while there was none
}

func (o *outliner) line(l line) {
	first := l.tokens[0]
	switch {
	case first.column == 0:
		o.section, o.column = first.key, 0
		for _, name := range flowKeys(l.rest) {
			o.declare(name)
		}
	case o.column == 0:
		o.column = first.column
		o.declare(first.key)
	case first.column == o.column:
		o.declare(first.key)
	case first.key == "foreach" && o.section == "tasks" && first.column > o.column && len(o.wf.Tasks) > 0:
		o.wf.Tasks[len(o.wf.Tasks)-1].Foreach = &dsl.Foreach{}
	}
}

// declare notes a name of the present section.
func (o *outliner) declare(name string) {
	v := dsl.Value[string]{V: name}
	switch o.section {
	case "tasks":
		o.wf.Tasks = append(o.wf.Tasks, dsl.Task{ID: v})
	case "params":
		o.wf.Params = append(o.wf.Params, dsl.Param{Name: v})
	case "secrets":
		o.wf.Secrets = append(o.wf.Secrets, dsl.Secret{Name: v})
	case "env":
		o.wf.Env = append(o.wf.Env, dsl.EnvVar{Name: v})
	}
}

// flowKeys gives the keys of a map in brackets that one line holds whole.
func flowKeys(text string) (names []string) {
	var n yaml.Node
	if !strings.HasPrefix(text, "{") || yaml.Unmarshal([]byte(text), &n) != nil || len(n.Content) == 0 {
		return nil
	}
	for i := 0; i < len(n.Content[0].Content); i += 2 {
		names = append(names, n.Content[0].Content[i].Value)
	}
	return names
}
