// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"strings"

	"github.com/ambit-sandbox/ambit/internal/plan"
)

// addPatterns pins the folder that each pattern starts from, and all above it,
// as it does for places that are listed by name. Below it nothing is pinned:
// where a pattern matches moves with the names.
func (t *territory) addPatterns() {
	patterns := t.tree.Patterns()
	for i := range patterns {
		t.lead(patterns[i].Base, patterns[i].At(patterns[i].Path))
	}
}

// Find returns the node that decides over a canonical path, in any spelling
// that means the same there.
func (t *territory) Find(p string) *plan.Node { return t.find(t.spell(p)) }

// find is Find for a path that is spelled.
func (t *territory) find(p string) *plan.Node { return t.tree.FindFolded(p, t.ignoresCase) }

func (t *territory) mode(p string) plan.Mode {
	if n := t.find(p); n != nil {
		return n.Mode
	}
	return plan.None
}

// ignoresCase reports whether the folder that a name stands in finds it in
// another spelling too ([plan.Fold]), or whether that can't be known because
// nothing stands there, or something else by now.
func (t *territory) ignoresCase(p string) bool {
	here := t.identify(p)
	if here == (Inode{}) {
		return true
	}
	i := strings.LastIndexByte(p, '/') + 1
	for _, other := range []string{p[:i] + plan.Fold(p[i:]), p[:i] + plan.OtherCase(p[i:])} {
		if other != p && here == t.identify(other) {
			return true
		}
	}
	return here != t.identify(p)
}

// alike reports whether what is below two names is under the same patterns, so
// that a folder can be moved from one to the other with all that is in it.
func (t *territory) alike(a, b string) bool { return t.tree.Alike(t.spell(a), t.spell(b)) }

// through returns the node of a symbolic link that stands where a pattern
// matches, or nil: what the link leads to is closed under this name.
func (t *territory) through(link string) *plan.Node {
	if n := t.Find(link); n != nil && n.Rule.Pattern {
		return n
	}
	return nil
}

// waypoint returns the node of a protection that speaks of names below p, were
// there a folder, or nil. A symbolic link there would lead these names away from
// where the protection holds: to what the command has prepared. Patterns of the
// user's own may start so high up that no link could be made anywhere.
func (t *territory) waypoint(p string) *plan.Node {
	p = t.spell(p)
	patterns := t.tree.Patterns()
	for i := range patterns {
		if n := &patterns[i]; n.Rule.Builtin && len(p) > len(n.Base) && n.Reaches(p) == p {
			return n.At(p)
		}
	}
	return nil
}
