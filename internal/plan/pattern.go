// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"strings"

	"github.com/ambit-sandbox/ambit/policy"
)

// Pattern takes away, from every place that it matches and from all below it,
// what is more than Mode. It speaks of names below Base, now and later.
type Pattern struct {
	// Base is canonical, or the name by which the policy reaches it.
	Base string
	// Path is the pattern below Base, escaped as in a policy.
	Path string
	Mode Mode
	Rule policy.PathRule
	glob *glob
}

func newPattern(base string, said policy.Pattern, rule policy.PathRule) Pattern {
	p := Pattern{Base: base, Path: patternPath(base, said), Mode: None, Rule: rule, glob: newGlob(said.Parts)}
	if rule.Kind == policy.BlockedWrite {
		p.Mode = Read
	}
	return p
}

func patternPath(base string, said policy.Pattern) string {
	return strings.TrimSuffix(policy.Literal(base), "/") + "/" + said.Rest
}

// progress is how far a pattern has come in a path.
type progress struct {
	// now are the states behind the whole path, with the case of letters and
	// without.
	now [2]states
	// at is the length of the first part of the path that matches; 0: none.
	at int
	// likely are those of all parts that match where case does not count.
	likely []int
	// alive is the length of the longest part of the path below which the
	// pattern can still match something; -1: none.
	alive int
}

// run follows a pattern along a path.
func (p *Pattern) run(path string) progress {
	rest, below := cutBase(path, p.Base)
	if !below {
		return progress{alive: -1}
	}
	at := progress{now: [2]states{p.glob.start(), p.glob.start()}, alive: len(path) - len(rest)}
	if at.alive == 0 { // the root
		at.alive = 1
	}
	for rest != "" {
		var name string
		name, rest, _ = strings.Cut(rest[1:], "/")
		if rest != "" {
			rest = path[len(path)-len(rest)-1:]
		}
		here := len(path) - len(rest)
		at.step(p.glob, name, here)
		if at.now[exact]|at.now[folded] == 0 {
			break
		}
		if (at.now[exact]|at.now[folded])&^p.glob.end != 0 {
			at.alive = here
		}
	}
	return at
}

func (at *progress) step(g *glob, name string, here int) {
	at.now[exact] = g.step(at.now[exact], name, exact)
	at.now[folded] = g.step(at.now[folded], strings.ToLower(name), folded)
	if at.now[exact]&g.end != 0 && at.at == 0 {
		at.at = here
	}
	if at.now[folded]&g.end != 0 && at.at == 0 {
		at.likely = append(at.likely, here)
	}
}

// cutBase returns what of a path comes below a folder, with the slash.
func cutBase(path, base string) (rest string, below bool) {
	if base == "/" {
		if path == "/" {
			return "", true
		}
		return path, true
	}
	rest, below = strings.CutPrefix(path, base)
	return rest, below && (rest == "" || rest[0] == '/')
}

// Matched returns the first place at or above a canonical path that the
// pattern matches; empty if none. likely are those above it that it would match
// if the case of letters made no difference there.
func (p *Pattern) Matched(path string) (place string, likely []string) {
	at := p.run(path)
	for _, n := range at.likely {
		likely = append(likely, path[:n])
	}
	return path[:at.at], likely
}

// Reaches returns the deepest folder at or above a path below which the
// pattern can match something; empty if there is none.
func (p *Pattern) Reaches(path string) string {
	if n := p.run(path).alive; n >= 0 {
		return path[:n]
	}
	return ""
}

// Endless reports whether the pattern can match at any depth below a folder.
func (p *Pattern) Endless(folder string) bool {
	at := p.run(folder)
	return (at.now[exact]|at.now[folded])&p.glob.deep != 0
}

// Deep reports whether the pattern can match at any depth somewhere.
func (p *Pattern) Deep() bool { return p.glob.deep != 0 }

// alike reports whether a pattern has come equally far in two paths, so that
// it matches the same below both.
func (p *Pattern) alike(a, b string) bool { return p.run(a).now == p.run(b).now }

// effective returns the patterns that take something away from some place.
func effective(t *Tree, patterns []Pattern) []Pattern {
	var out []Pattern
	for _, p := range patterns {
		takes := t.Mode(p.Base) > p.Mode
		for _, n := range t.nodes {
			_, below := cutBase(n.Path, p.Base)
			takes = takes || below && n.Mode > p.Mode
		}
		if takes {
			out = append(out, p)
		}
	}
	return out
}

// restrict returns the node that decides over path, where n is the nearest one:
// n, or one for the place that a pattern matches and which has less.
func (t *Tree) restrict(path string, n *Node) *Node {
	for i := range t.patterns {
		p := &t.patterns[i]
		if n == nil || n.Mode <= p.Mode {
			continue
		}
		if place, _ := p.Matched(path); place != "" {
			n = p.At(place)
		}
	}
	return n
}

// Least returns the mode that a canonical path would have if the case of
// letters made no difference to patterns anywhere: on some file systems it
// makes none.
func (t *Tree) Least(path string) Mode {
	m := t.Mode(path)
	for i := range t.patterns {
		p := &t.patterns[i]
		if _, likely := p.Matched(path); len(likely) > 0 {
			m = min(m, p.Mode)
		}
	}
	return m
}

// At is the node of a place that the pattern matches.
func (p *Pattern) At(place string) *Node { return &Node{Path: place, Mode: p.Mode, Rule: p.Rule} }

// Patterns returns those that take something away. The slice must not be
// changed.
func (t *Tree) Patterns() []Pattern { return t.patterns }

// Reached returns the deepest folder at or above a canonical path below which
// a pattern can take the mode need away from what has more than the pattern
// leaves; empty if there is none.
func (t *Tree) Reached(path string, need Mode) string {
	deepest := ""
	for i := range t.patterns {
		p := &t.patterns[i]
		if p.Mode >= need {
			continue
		}
		for at, ok := p.Reaches(path), true; ok && len(at) > len(deepest) && len(at) >= len(p.Base); at, ok = parent(at) {
			if t.Mode(at) > p.Mode {
				deepest = at
			}
		}
	}
	return deepest
}

// Alike reports whether all patterns match the same below two folders.
func (t *Tree) Alike(a, b string) bool {
	for i := range t.patterns {
		if !t.patterns[i].alike(a, b) {
			return false
		}
	}
	return true
}
