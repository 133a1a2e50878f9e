// SPDX-License-Identifier: Apache-2.0

package landlock

import (
	"strings"
	"time"

	"github.com/ambit-sandbox/ambit/internal/plan"
	"github.com/ambit-sandbox/ambit/internal/probe"
)

// What a pattern can match below a folder is not known before it is there. So
// the folder has no rule for what the pattern takes away, and neither has any
// folder in it where the pattern can match as well. All that is the broker's,
// but for one thing that the broker can't do: executing.

// lacking returns the rights that a folder can't pass on, because something
// below it lacks them or could; never are those of them that no folder below
// it can have either, since a "**" reaches to any depth.
func (l *lowering) lacking(o plan.Object) (lacked, never probe.FS) {
	lacked = l.lacks[o.Path]
	if !o.Dir {
		return lacked, 0
	}
	patterns := l.tree.Patterns()
	for i := range patterns {
		p := &patterns[i]
		if p.Reaches(o.Path) != o.Path {
			continue
		}
		takes := l.rights(plan.Write) &^ l.rights(p.Mode)
		lacked |= takes
		if p.Endless(o.Path) {
			never |= takes
		}
	}
	return lacked, never
}

// note remembers an object that stands where a pattern matches.
func (l *lowering) note(c plan.Object) {
	if n := l.matches(c.Path); n != nil {
		l.matched[inodeOf(c)], l.closed[inodeOf(c)] = n, true
	}
}

// matches returns the node of a place that a pattern matches, nil for others.
func (l *lowering) matches(name string) *plan.Node {
	if n := l.tree.Find(name); n != nil && n.Path == name && n.Rule.Pattern {
		return n
	}
	return nil
}

// The bounds of the search for executable files, all folders together. What is
// not found can't be executed; nothing else depends on it.
const (
	searchEntries = 100_000
	searchTime    = time.Second
)

// executables grants reading of the executable files below a folder in which a
// pattern for reading can match at any depth. The rule of a file with one name
// can't come to hold under a name that is closed: giving it one is refused.
func (l *lowering) executables(folder plan.Object, read probe.FS) error {
	var found []plan.Object
	for todo := []plan.Object{folder}; len(todo) > 0; todo = todo[1:] {
		if kernelsOwn(todo[0].Path) {
			continue
		}
		if l.entries <= 0 || time.Now().After(l.until) {
			break
		}
		inside, err := l.list(todo[0], nil)
		if err != nil && todo[0].Path == folder.Path {
			return err
		}
		l.entries -= len(inside) + 1
		for _, c := range inside { // none of a folder that can't be listed, or is gone
			l.note(c)
			switch {
			case l.tree.Least(c.Path) < plan.Read:
			case c.Dir:
				todo = append(todo, c)
			case c.Executable && !c.Linked:
				found = append(found, c)
			}
		}
	}
	for _, c := range found {
		if !l.closed[inodeOf(c)] {
			l.grants = append(l.grants, grant{c, read & (probe.FSReadFile | probe.FSExecute), true})
		}
	}
	return nil
}

// kernelsOwn reports whether a place holds what the kernel tells, in which
// nothing is executed.
func kernelsOwn(name string) bool {
	for _, dir := range []string{"/proc", "/sys", "/dev"} {
		if name == dir || strings.HasPrefix(name, dir+"/") {
			return true
		}
	}
	return false
}
