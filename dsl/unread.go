package dsl

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// gaps is a set of keys of a mapping whose values are not known, though the
// file has something for them: a bit for each key, in the order of its table.
type gaps uint64

// has tells whether one of some keys of a table is in the set.
func (g gaps) has(s section, keys ...string) bool {
	return g != 0 && slices.ContainsFunc(keys, func(key string) bool { return g&gapOf(s, key) != 0 })
}

func gapOf(s section, key string) gaps {
	if i := slices.Index(s.names(), key); i >= 0 {
		return 1 << i
	}
	return 0
}

// Unread tells whether the value of one of some keys of the workflow is not
// known, for a mistake that has been reported: there is something wrong with
// it, or an unknown key may have been meant to be it. A rule that would take
// the key for absent stays silent then. What is wrong with one task is that
// task's own, and so it is with a parameter or a secret: those keys are unread
// only where entries of them may be missing.
func (w *Workflow) Unread(keys ...string) bool { return w.gaps.has(workflowKeys, keys...) }

// Unread tells the same of keys of a task, those that it has from `defaults`
// included.
func (t *Task) Unread(keys ...string) bool { return t.gaps.has(taskKeys, keys...) }

// Uncalled tells whether something that could not be read names the task, so
// that it may be a handler that nothing is known to call.
func (t *Task) Uncalled() bool { return t.uncalled }

// Unread tells whether something that the parameter says of itself is not
// known, for a mistake that has been reported.
func (p *Param) Unread() bool { return p.unread }

// stray is a value that may name tasks at the other end of edges, but stands
// under a key that could not be read.
type stray struct {
	task  int  // whose it is; -1 for the workflow's own
	from  bool // it may have been its depends_on as well
	value *yaml.Node
}

// edgeKeys are those that draw edges between tasks.
var edgeKeys = []string{"depends_on", "on_failure", "on_success", "on_finish"}

// unclear notes which keys an unknown one may have been meant to be: those that
// are not there and could have such a value.
func unclear[T any](f *given, t *table[T], v val) {
	for j := range t.keys {
		name := t.keys[j].name
		if (f.gaps|f.there)&(1<<j) != 0 || slices.Contains(edgeKeys, name) || !couldBe(v, &t.keys[j]) {
			continue
		}
		f.gaps |= 1 << j
		f.perhaps = append(f.perhaps, name)
	}
}

// likeliest gives the keys of a table in the order in which the unknown one of a
// number may have been meant to be them: first those that are not there, and of these first
// one that has to be, then those that could have such a value.
func likeliest[T any](f given, t *table[T], i int) []string {
	p := *f.p
	p.trial = true
	v := p.value(f.keys[i], f.keys[i+1])
	rank, required := make(map[string]int, len(t.keys)), f.p.rules()[t.name].Required
	for j := range t.keys {
		switch name := t.keys[j].name; {
		case f.key(name) != nil:
			rank[name] = 3
		case slices.Contains(required, name):
		case couldBe(v, &t.keys[j]):
			rank[name] = 1
		default:
			rank[name] = 2
		}
	}
	names := t.names()
	slices.SortStableFunc(names, func(a, b string) int { return rank[a] - rank[b] })
	return names
}

// couldBe tries whether a value can be that of a key. A timezone is a text like
// any other, so one that looks like none is left aside.
func couldBe[T any](v val, k *key[T]) bool {
	if k.name == "timezone" && (v.node == nil || !strings.Contains(v.node.Value, "/") && v.node.Value != "UTC") {
		return false
	}
	p := *v.p
	p.trial, p.faults, p.ds, p.seen = true, 0, nil, nil
	v.p = &p
	k.read(v, new(T))
	return p.faults == 0 && p.budget >= 0
}

// strays notes the values of a task, or of the workflow (-1), that may have
// drawn edges.
func (f given) strays(task int) {
	names := edgeKeys
	if task >= 0 {
		names = names[1:2]
	}
	for i := 0; i < len(f.keys); i += 2 {
		name := f.keys[i].Value
		if slices.Contains(f.broken, name) && slices.Contains(names, name) {
			f.p.strays = append(f.p.strays, stray{task, false, f.keys[i+1]})
		}
	}
	for _, u := range f.unknown {
		if !u.clear || slices.Contains(names, u.meant) {
			f.p.strays = append(f.p.strays, stray{task, !u.clear, u.value})
		}
	}
}

// loseEdges marks the tasks whose edges are not all known for what stands
// under keys that could not be read.
func (p *parser) loseEdges() {
	if len(p.strays) == 0 {
		return
	}
	tasks := p.wf.Tasks
	at := make(map[string]int, len(tasks))
	for i := range tasks {
		at[tasks[i].ID.V] = i
	}
	gap := gapOf(taskKeys, "depends_on")
	for _, s := range p.strays {
		for _, n := range scalarsOf(s.value) {
			i, ok := at[n.Value]
			if !ok {
				continue
			}
			tasks[i].uncalled = true
			if s.from && s.task >= 0 {
				tasks[s.task].gaps |= gap
			}
		}
	}
}

// scalarsOf gives the scalars that a value is or has directly in it.
func scalarsOf(n *yaml.Node) []*yaml.Node {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind == yaml.ScalarNode {
		return []*yaml.Node{n}
	}
	return n.Content
}
