// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"sort"
	"strings"

	"github.com/ambit-sandbox/ambit/policy"
)

// Node is a place in the path tree. Its mode holds for the place itself and
// for everything below it, down to the next node.
type Node struct {
	// Path is canonical: absolute, clean, without symbolic links (but for
	// the name of a blocked place that is reached through a link, which is
	// guarded under both names).
	Path string `json:"path"`
	Mode Mode   `json:"mode"`
	// Object is what stands there now.
	Object Object `json:"-"`
	// Rule is the listed path that decided the mode.
	Rule policy.PathRule `json:"rule"`
}

// Tree is the path tree that every policy compiles to: the nearest node at
// or above a path decides, and where there is none the mode is None. Patterns
// then take away what is more than they leave.
type Tree struct {
	nodes    []Node // sorted by path, so a parent stands before its children
	index    map[string]int
	patterns []Pattern // the effective ones

	exceptions, grants []Node
	newPlaces          []NewPlace
}

func newTree(nodes []Node, patterns []Pattern) *Tree {
	sort.Slice(nodes, func(i, j int) bool { return nodes[i].Path < nodes[j].Path })
	t := &Tree{nodes: nodes, index: make(map[string]int, len(nodes))}
	for i, n := range nodes {
		t.index[n.Path] = i
	}
	t.patterns = patterns
	for i := range nodes {
		by := t.restrict(nodes[i].Path, &nodes[i], never)
		nodes[i].Mode, nodes[i].Rule = by.Mode, by.Rule
	}
	t.patterns = effective(t, patterns)
	t.exceptions, t.grants, t.newPlaces = t.findExceptions(), t.findGrants(), t.findNewPlaces()
	return t
}

// Nodes returns the nodes, sorted by path. The slice must not be changed.
func (t *Tree) Nodes() []Node { return t.nodes }

// Find returns the node that decides over path, which must be canonical; nil
// where none does, and the mode is then None.
func (t *Tree) Find(path string) *Node { return t.restrict(path, t.nearest(path), never) }

func (t *Tree) nearest(path string) *Node {
	for p, ok := path, true; ok; p, ok = parent(p) {
		if i, found := t.index[p]; found {
			return &t.nodes[i]
		}
	}
	return nil
}

// Mode returns the mode of a canonical path.
func (t *Tree) Mode(path string) Mode {
	if n := t.Find(path); n != nil {
		return n.Mode
	}
	return None
}

// Exceptions returns the nodes with less than a node above them grants. An
// additive mechanism such as Landlock can't say them: a rule on the parent
// holds for everything below it, for ever (landlock(7), "Rules"). The slice must
// not be changed.
func (t *Tree) Exceptions() []Node { return t.exceptions }

func (t *Tree) findExceptions() []Node {
	var out []Node
	for _, n := range t.nodes {
		if n.Mode < t.above(n.Path) {
			out = append(out, n)
		}
	}
	return out
}

// Grants returns the nodes that give something which the nearest node above
// them does not give already: what an additive mechanism must be told. Of
// nodes that have no object yet there is nothing to tell ([Tree.NewPlaces]). The
// slice must not be changed.
func (t *Tree) Grants() []Node { return t.grants }

func (t *Tree) findGrants() []Node {
	var out []Node
	for _, n := range t.nodes {
		inherited := None
		if up, ok := parent(n.Path); ok {
			inherited = t.Mode(up)
		}
		if n.Object.Exists && n.Mode > inherited {
			out = append(out, n)
		}
	}
	return out
}

// above returns the highest mode of the nodes strictly above path.
func (t *Tree) above(path string) Mode {
	m := None
	for p, ok := parent(path); ok; p, ok = parent(p) {
		if i, found := t.index[p]; found {
			m = max(m, t.nodes[i].Mode)
		}
	}
	return m
}

// parent returns the path of the folder that holds path, and whether there
// is one: the root has none.
func parent(path string) (string, bool) {
	i := strings.LastIndexByte(path, '/')
	switch {
	case i < 0 || path == "/":
		return "", false
	case i == 0:
		return "/", true
	}
	return path[:i], true
}
