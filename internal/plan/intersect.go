// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"maps"
	"slices"

	"github.com/ambit-sandbox/ambit/policy"
)

// Intersect returns the plan of what is asked within what a bound allows: at
// each place the lesser mode of both. Everything but paths is as asked, and
// must have been narrowed before. The error is a *[BoundError] for a path that
// was listed, and not by a built-in policy, and would get less than it was to.
func Intersect(asked, bound *Plan) (*Plan, error) {
	p := *asked
	p.Unfound = maps.Clone(asked.Unfound)
	for subject, unfound := range bound.Unfound {
		p.Unfound[subject] = p.Unfound[subject] || unfound
	}
	p.Tree = intersectTrees(asked.Tree, bound.Tree)
	p.Listed = make([]Listed, 0, len(asked.Listed))
	for _, l := range asked.Listed {
		narrowed, want, have := narrows(l, asked.Tree, bound.Tree)
		if narrowed && !l.Builtin {
			return nil, &BoundError{l.PathRule, want, have}
		}
		if narrowed && l.Status == Enforced {
			l.Status = Narrowed
		}
		if l.Status == Creatable && !p.Tree.creatable(l.Canonical) {
			l.Status = Missing
		}
		p.Listed = append(p.Listed, l)
	}
	for _, l := range bound.Listed {
		if grants(l.Kind) == None && !slices.ContainsFunc(p.Listed, l.same) {
			p.Listed = append(p.Listed, l)
		}
	}
	return &p, p.standsWithin(bound)
}

// same: the same is said of the same place, whoever says it.
func (l Listed) same(other Listed) bool {
	return l.Canonical == other.Canonical && l.Kind == other.Kind && l.Pattern == other.Pattern
}

// narrows reports whether a grant gets less than it would without the bound.
func narrows(l Listed, asked, bound *Tree) (narrowed bool, want, have Mode) {
	want = grants(l.Kind)
	if l.Status == Enforced || l.Status == Creatable {
		want = min(want, asked.Mode(l.Canonical)) // its own blocks are no wish
	}
	have = min(want, bound.Mode(l.Canonical))
	return have < want, want, have
}

// standsWithin refuses a working directory that was chosen where the bound
// does not let the command look.
func (p *Plan) standsWithin(bound *Plan) error {
	at := p.WorkDir.Path
	if have := bound.Tree.Mode(at); at != bound.WorkDir.Path && have < Read {
		return &BoundError{policy.PathRule{Path: at, Kind: policy.Read, Origin: "work_dir"}, Read, have}
	}
	return nil
}

// AllPresent is what strict mode demands of the listed paths.
func (p *Plan) AllPresent() error {
	for _, l := range p.Listed {
		status := l.Status
		if status == Creatable {
			status = Missing
		}
		if (status == Missing || status == Unreadable) && !l.Builtin {
			return &PathError{l.PathRule, "it is " + string(status) + " (strict mode)", l.Err}
		}
	}
	return nil
}

// intersectTrees makes the tree in which each path has the lesser mode. The
// nodes of both are enough: between two of them neither changes but by
// patterns, and those of both hold. A pattern that has no effect in its own
// tree has none in the other either: what it matches has no more than it
// leaves.
func intersectTrees(a, b *Tree) *Tree {
	objects := make(map[string]Object, len(a.nodes)+len(b.nodes))
	for _, t := range []*Tree{a, b} {
		for _, n := range t.nodes {
			if old, seen := objects[n.Path]; !seen || !old.Exists {
				objects[n.Path] = n.Object
			}
		}
	}
	nodes := make([]Node, 0, len(objects))
	for path, obj := range objects {
		x, y := a.Find(path), b.Find(path)
		if x == nil || y == nil {
			continue // nor is there a node of that tree above it
		}
		if y.Mode < x.Mode {
			x = y
		}
		nodes = append(nodes, Node{Path: path, Mode: x.Mode, Rule: x.Rule, Object: obj})
	}
	return newTree(nodes, slices.Concat(a.patterns, b.patterns))
}

// BoundError is a path that was asked for and can't be had in full.
type BoundError struct {
	Rule       policy.PathRule
	Want, Have Mode
}

func (e *BoundError) Error() string {
	return fmt.Sprintf("the policy asks for more than is allowed here: %s on path %q from %s, where %s is the most",
		e.Want, e.Rule.Path, e.Rule.Origin, e.Have)
}
