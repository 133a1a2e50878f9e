// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"strings"

	"github.com/ambit-sandbox/ambit/internal/plan"
)

// Some file systems find an object by names that are not the one it has. The
// name that the kernel then gives is the one that was asked for (fs/fat,
// fs/unicode), so it must be led back to the one that the tree knows.

// spell returns p as the tree would spell it, if that means the same.
func (t *territory) spell(p string) string { return t.real(t.spellPinned(p)) }

// spellPinned has pinned names spelled as the tree spells them where the folder
// makes no difference between the two, or where that can't be known because
// nothing stands there yet.
func (t *territory) spellPinned(p string) string {
	folded := plan.FoldPath(p)
	parts := slashesAlike(folded, p) // as nearly always: a part of one is that part of the other
	for at, ok := p, true; ok; at, ok = parentOfPath(at) {
		if t.pinned[at] != nil {
			return p
		}
		if folded = folded[:min(len(at), len(folded))]; !parts {
			folded = plan.FoldPath(at)
		}
		name, found := t.folded[folded]
		if found {
			there := t.identify(name)
			found = there == (Inode{}) || there == t.identify(at)
		}
		if !found {
			name, found = t.alias(at)
		}
		if found {
			return t.spellPinned(name + p[len(at):])
		}
	}
	return p
}

// slashesAlike reports whether two paths have their slashes, and their ends, at
// the same places.
func slashesAlike(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if (a[i] == '/') != (b[i] == '/') {
			return false
		}
	}
	return true
}

// alias returns the pinned name in the same folder that p is another name of,
// one that can't be told by looking at it.
func (t *territory) alias(p string) (string, bool) {
	folder, ok := parentOfPath(p)
	if !ok || len(t.beside[folder]) == 0 || !plan.Strange(p[len(folder):]) {
		return "", false
	}
	here := t.identify(p)
	for _, name := range t.beside[folder] {
		if here != (Inode{}) && here == t.identify(name) {
			return name, true
		}
	}
	return "", false
}

// real returns a path with each short name below a folder that a pattern
// reaches as the folder lists it.
func (t *territory) real(p string) string {
	if t.list == nil || !plan.Short(p) || len(t.tree.Patterns()) == 0 {
		return p
	}
	out := ""
	for _, name := range strings.Split(strings.TrimPrefix(p, "/"), "/") {
		folder := out
		if out += "/" + name; plan.Short(name) && t.reaches(max(folder, "/")) {
			out = folder + "/" + t.listed(folder, name)
		}
	}
	return out
}

func (t *territory) reaches(folder string) bool {
	patterns := t.tree.Patterns()
	for i := range patterns {
		if patterns[i].Reaches(folder) == folder {
			return true
		}
	}
	return false
}

// listed returns the name that what stands under a name is listed by: the name
// itself, where that is.
func (t *territory) listed(folder, name string) string {
	names := t.list(max(folder, "/"))
	for _, n := range names {
		if n == name {
			return name
		}
	}
	here := t.identify(folder + "/" + name)
	for _, n := range names {
		if here != (Inode{}) && here == t.identify(folder+"/"+n) {
			return n
		}
	}
	return name
}
