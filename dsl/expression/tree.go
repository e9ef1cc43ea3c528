package expression

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// Tree has the nodes of a script in one row, as syntax.Walk comes by them.
// Several rules look at every script: so only the first of them climbs.
type Tree []Branch

// Branch is a node with its place in the tree.
type Branch struct {
	Node syntax.Node
	Up   int // the number of the node that it is a part of, -1 for the first
	Next int // the number of the next node that is no part of it
}

// NewTree gives the tree of a node in the memory of an old one, which may be nil.
func NewTree(old Tree, root syntax.Node) Tree {
	t, here := old[:0], -1
	syntax.Walk(root, func(n syntax.Node) bool {
		if n == nil {
			t[here].Next = len(t)
			here = t[here].Up
			return true
		}
		t = append(t, Branch{Node: n, Up: here})
		here = len(t) - 1
		return true
	})
	return t
}

// Walk calls visit for every node in order. Where it is false the parts of the
// node are left out.
func (t Tree) Walk(visit func(syntax.Node) bool) { t.WalkPart(0, visit) }

// WalkPart is Walk for a node, by its number, and its parts.
func (t Tree) WalkPart(root int, visit func(syntax.Node) bool) {
	for i := root; i < t[root].Next; {
		if visit(t[i].Node) {
			i++
		} else {
			i = t[i].Next
		}
	}
}

// Find gives the number of a node that is in the tree, from a number on. It
// steps from one to the next.
func (t Tree) Find(from int, n syntax.Node) int {
	for t[from].Node != n {
		from++
	}
	return from
}

// way gives the nodes that lead to one, from the first on, in the memory of an
// old way.
func (t Tree) way(old []syntax.Node, to int) []syntax.Node {
	way := old[:0]
	for ; to >= 0; to = t[to].Up {
		way = append(way, t[to].Node)
	}
	slices.Reverse(way)
	return way
}
