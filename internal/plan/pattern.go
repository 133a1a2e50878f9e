// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
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
	// now are the states behind the whole path.
	now states
	// at are the lengths of the parts of the path that match.
	at []int
	// alive is the length of the longest part of the path below which the
	// pattern can still match something; -1: none.
	alive int
}

// run follows a pattern along a path.
func (p *Pattern) run(path string, c caseRule) progress {
	rest, below := cutBase(path, p.Base)
	if !below || inProc(path) && !inProc(p.Base) {
		return progress{alive: -1}
	}
	here := len(path) - len(rest)
	at := progress{now: p.glob.start(), alive: max(here, 1)} // the root has one too
	for here < len(path) && at.now != 0 {
		name := path[here+1:]
		if i := strings.IndexByte(name, '/'); i >= 0 {
			name = name[:i]
		}
		here += 1 + len(name)
		if c == folded {
			name = Fold(name)
		}
		at.now = p.glob.step(at.now, name, c)
		if at.now&p.glob.end != 0 {
			at.at = append(at.at, here)
		}
		if at.now&^p.glob.end != 0 {
			at.alive = here
		}
	}
	return at
}

// inProc reports whether a place is in /proc. What is there has names that the
// kernel gives, and can be opened by nobody on behalf of another process. So a
// pattern that starts further up leaves it alone: else all of it was closed.
func inProc(path string) bool { return path == "/proc" || strings.HasPrefix(path, "/proc/") }

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
	loose := p.run(path, folded)
	if len(loose.at) == 0 && p.glob.foldable { // as for nearly every path
		return "", nil
	}
	if strict := p.run(path, exact); len(strict.at) > 0 {
		place = path[:strict.at[0]]
	}
	for _, n := range loose.at {
		if place == "" || n < len(place) {
			likely = append(likely, path[:n])
		}
	}
	return place, likely
}

// Reaches returns the deepest folder at or above a path below which the
// pattern can match something, in any case of letters; empty if there is none.
func (p *Pattern) Reaches(path string) string {
	n := p.run(path, folded).alive
	if !p.glob.foldable {
		n = max(n, p.run(path, exact).alive)
	}
	if n < 0 {
		return ""
	}
	return path[:n]
}

// Endless reports whether the pattern can match at any depth below a folder.
func (p *Pattern) Endless(folder string) bool {
	return (p.run(folder, exact).now|p.run(folder, folded).now)&p.glob.deep != 0
}

// Deep reports whether the pattern can match at any depth somewhere.
func (p *Pattern) Deep() bool { return p.glob.deep != 0 }

// alike reports whether a pattern has come equally far in two paths, so that
// it matches the same below both.
func (p *Pattern) alike(a, b string) bool {
	return p.run(a, exact).now == p.run(b, exact).now && p.run(a, folded).now == p.run(b, folded).now
}

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
// n, or one for the place that a pattern matches and which has less. A place
// that would match in another case counts if also says so.
func (t *Tree) restrict(path string, n *Node, also func(place string) bool) *Node {
	for i := range t.patterns {
		p := &t.patterns[i]
		if n == nil || n.Mode <= p.Mode {
			continue
		}
		place, likely := p.Matched(path)
		if at := slices.IndexFunc(likely, also); at >= 0 {
			place = likely[at]
		}
		if place != "" {
			n = p.At(place)
		}
	}
	return n
}

func never(string) bool  { return false }
func always(string) bool { return true }

// FindFolded is Find for a tree in which a place that would match a pattern in
// another case matches it if ignores says that case makes no difference there.
func (t *Tree) FindFolded(path string, ignores func(place string) bool) *Node {
	return t.restrict(path, t.nearest(path), ignores)
}

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
			// What patterns take from the folder they take from the path too.
			if n := t.nearest(at); n != nil && n.Mode > p.Mode {
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

// Least returns the mode that a canonical path would have if the case of
// letters made no difference to patterns anywhere: on some file systems it
// makes none.
func (t *Tree) Least(path string) Mode {
	if n := t.FindFolded(path, always); n != nil {
		return n.Mode
	}
	return None
}

// At is the node of a place that the pattern matches.
func (p *Pattern) At(place string) *Node { return &Node{Path: place, Mode: p.Mode, Rule: p.Rule} }
