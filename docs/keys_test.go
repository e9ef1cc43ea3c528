package docs_test

import (
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/ax-scheduler/ax/dsl"
)

// entries gives the values of a mapping by their keys, none of anything else.
func entries(n *yaml.Node) map[string]*yaml.Node {
	all := map[string]*yaml.Node{}
	if n != nil && n.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(n.Content); i += 2 {
			all[n.Content[i].Value] = n.Content[i+1]
		}
	}
	return all
}

// under gives what stands in a list or a mapping.
func under(n *yaml.Node) []*yaml.Node {
	if n != nil && n.Kind == yaml.SequenceNode {
		return n.Content
	}
	var all []*yaml.Node
	for _, value := range entries(n) {
		all = append(all, value)
	}
	return all
}

// shown notes by their mapping which keys a workflow has.
func shown(workflow *yaml.Node, note func(mapping, key string)) {
	keys := func(mapping string, of ...*yaml.Node) {
		for _, n := range of {
			for key := range entries(n) {
				note(mapping, key)
			}
		}
	}
	parts := func(n *yaml.Node, names ...string) {
		for _, name := range names {
			keys(`"`+name+`"`, entries(n)[name])
		}
	}
	w := entries(workflow)
	keys("the workflow", workflow)
	keys("a secret", under(w["secrets"])...)
	keys("a parameter", under(w["params"])...)
	keys(`"notify"`, under(w["notify"])...)
	keys(`an entry of "cron"`, under(w["cron"])...)
	parts(workflow, "retention", "defaults")
	parts(w["defaults"], "retry", "pool")
	for _, task := range under(w["tasks"]) {
		keys("a task", task)
		parts(task, "sql", "http", "workflow", "wait_for", "retry", "foreach", "pool")
		parts(entries(task)["wait_for"], "http", "sql")
	}
}

func TestEveryKeyHasAnExampleThatIsCarriedOut(t *testing.T) {
	p := readPage(t, language)
	there, carried := map[string]bool{}, map[string]bool{}
	for i := range p.blocks {
		b := &p.blocks[i]
		var doc yaml.Node
		if !b.isWorkflow() || b.shownWrong(t) {
			continue
		}
		if err := yaml.Unmarshal([]byte(b.text), &doc); err != nil {
			t.Fatal(err)
		}
		shown(doc.Content[0], func(mapping, key string) {
			there[mapping+" "+key] = true
			if b.command(t) != nil {
				carried[mapping+" "+key] = true
			}
		})
	}
	for mapping, keys := range dsl.Keys() {
		for _, key := range keys {
			id := mapping + " " + key
			switch {
			case !there[id]:
				t.Errorf("%s: there is no example of %q", mapping, key)
			case !carried[id]:
				t.Errorf("%s: no example of %q has a command that the tests carry out", mapping, key)
			}
		}
	}
}
