package format

import (
	"slices"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"

	"github.com/ax-scheduler/ax/dsl"
)

// mapping is what is known of the keys of a mapping.
type mapping struct {
	dsl.Mapping
	values *dsl.Shape // where keys are free
}

var mappings = sync.OnceValue(func() map[string]dsl.Mapping {
	all := map[string]dsl.Mapping{}
	for _, m := range dsl.Mappings() {
		all[m.Name] = m
	}
	return all
})

// meant gives the mapping that a value in braces is where a shape is expected,
// which is nil where it could be anything.
func meant(s *dsl.Shape) mapping {
	if s == nil {
		return mapping{}
	}
	return mapping{mappings()[s.Mapping], s.Values}
}

func (m mapping) shape(key string) *dsl.Shape {
	if s, ok := m.Shapes[key]; ok {
		return &s
	}
	return m.values
}

// kindOf says which mappings a value may be, or hold.
func kindOf(s *dsl.Shape) string {
	if s == nil {
		return ""
	}
	return s.Mapping + "[" + kindOf(s.Items) + "]{" + kindOf(s.Values) + "}"
}

// ordered lists keys whose order in a mapping means something: schedules stand
// in one list, and of several actions the first counts.
var ordered = sync.OnceValue(func() [][]string {
	return [][]string{{"cron", "every"}, mappings()["a task"].OneOf}
})

// most is how many keys a mapping may have to be sorted.
const most = 100

// sort brings the keys of a group and of those within it into their order.
// Anchors stay before their aliases. A mapping with keys that it should not
// have, or has twice, is left in its order, and so is what is frozen.
func (g *group) sort(frozen map[*yaml.Node]bool, still bool) {
	g.setHead()
	still = still || frozen[g.node]
	for _, e := range g.entries {
		if e.inner != nil {
			e.inner.sort(frozen, still)
		}
	}
	ranks, ok := g.ranks()
	if !ok || still {
		return
	}
	var sorted []*entry
	for left := g.entries; len(left) > 0; {
		best := -1
		for i, e := range left {
			free := !slices.ContainsFunc(left[:i], func(before *entry) bool { return stays(before, e) })
			free = free && (len(sorted) > 0 || g.mayBeFirst(i))
			if free && (best < 0 || ranks[e] < ranks[left[best]]) {
				best = i
			}
		}
		sorted = append(sorted, left[best])
		left = slices.Concat(left[:best], left[best+1:])
	}
	g.entries = sorted
}

// ranks gives the place of each key, that of an anchor at the latest the place
// of what needs it; false if the group is to be left alone.
func (g *group) ranks() (map[*entry]int, bool) {
	if g.keys == nil || len(g.entries) > most {
		return nil, false
	}
	seen, ranks := map[string]bool{}, map[*entry]int{}
	for i := len(g.entries) - 1; i >= 0; i-- {
		e := g.entries[i]
		rank := slices.Index(g.keys, e.key)
		switch {
		case rank >= 0:
		case e.key == "<<":
		case strings.HasPrefix(e.key, "x-") && slices.Contains(g.keys, "tasks"): // at the top
			rank = len(g.keys)
		default:
			return nil, false
		}
		if seen[e.key] {
			return nil, false
		}
		seen[e.key] = true
		for _, later := range g.entries[i+1:] {
			if stays(e, later) {
				rank = min(rank, ranks[later])
			}
		}
		ranks[e] = rank
	}
	return ranks, true
}

// mayBeFirst tells whether an entry may become the first of its group. Comments
// for the file as a whole mean something above its first key only: none that
// stood below may come there, and none that stood there may leave.
func (g *group) mayBeFirst(i int) bool {
	if i == 0 || !g.root {
		return true
	}
	about := func(n note) bool { return forFile(n.text) }
	return !slices.ContainsFunc(g.entries[0].lead, about) && !slices.ContainsFunc(g.entries[i].lead, about)
}

// stays tells whether an entry must stay before one that comes after it.
func stays(e, later *entry) bool {
	for name, marked := range e.anchors {
		if marksLater, ok := later.anchors[name]; ok && (marked || marksLater) {
			return true
		}
	}
	return slices.ContainsFunc(ordered(), func(keys []string) bool {
		return slices.Contains(keys, e.key) && slices.Contains(keys, later.key)
	})
}

// link finds the anchors that the entries of all groups mark and use.
func (g *group) link() map[string]bool {
	all := map[string]bool{}
	for _, e := range g.entries {
		e.anchors = map[string]bool{}
		for i, n := range e.nodes {
			if i == len(e.nodes)-1 && e.inner != nil {
				e.mark(n, false)
				for name, marked := range e.inner.link() {
					e.anchors[name] = e.anchors[name] || marked
				}
				continue
			}
			e.mark(n, true)
		}
		for name, marked := range e.anchors {
			all[name] = all[name] || marked
		}
	}
	return all
}

// mark notes the anchors and aliases of a node, and of those within it.
func (e *entry) mark(n *yaml.Node, within bool) {
	switch {
	case n.Kind == yaml.AliasNode:
		if _, ok := e.anchors[n.Value]; !ok {
			e.anchors[n.Value] = false
		}
		return
	case n.Anchor != "":
		e.anchors[n.Anchor] = true
	}
	if within {
		for _, c := range n.Content {
			e.mark(c, true)
		}
	}
}

// setHead makes comments above the first entry a head of their own, so that
// they stay where they are: those with a blank line below them, and those that
// are for the file as a whole.
func (g *group) setHead() {
	first := g.entries[0]
	head := 0
	for i, n := range first.lead {
		if strings.Contains(n.text, ignoreWord) {
			break
		}
		if n.text == "" || forFile(n.text) {
			head = i + 1
		}
	}
	g.head, first.lead = first.lead[:head], first.lead[head:]
	if head > 0 && g.head[head-1].text == "" {
		first.lead = slices.Concat([]note{{}}, first.lead) // wherever it goes
	}
}

// forFile tells whether a comment speaks to a program about the whole file.
func forFile(comment string) bool {
	text := strings.TrimLeft(comment, "# \t")
	return strings.HasPrefix(comment, "#!") || strings.HasPrefix(text, "yaml-language-server:") || strings.Contains(text, "ax-ignore-file:")
}
