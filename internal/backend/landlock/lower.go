// SPDX-License-Identifier: Apache-2.0

package landlock

import (
	"path"

	"github.com/ambit-sandbox/ambit/internal/broker"
	"github.com/ambit-sandbox/ambit/internal/plan"
	"github.com/ambit-sandbox/ambit/internal/probe"
)

// grant is one native rule: rights beneath an object.
type grant struct {
	object plan.Object
	rights probe.FS
	// listed: the object was found by listing a folder, nobody named it.
	listed bool
}

// children lists what is in a folder: names and what they are.
type children func(dir plan.Object) ([]plan.Object, error)

// lowering turns a path tree into native rules. Landlock only adds: a rule
// holds for everything beneath its object, for ever. So a folder with a place
// below it that has less (an exception) gets no rule for the rights that
// differ. Such a folder is a spine folder; what it holds now gets those rights
// one by one, and what comes later is the broker's.
type lowering struct {
	rights func(plan.Mode) probe.FS
	list   children
	tree   *plan.Tree
	// lacks says, of each folder above an exception, which rights some
	// exception below it lacks.
	lacks map[string]probe.FS
	// closed are the objects of exceptions, which may have other names.
	closed map[broker.Inode]bool
	grants []grant
	// native are the objects that have rules, with the mode that those give.
	native map[broker.Inode]plan.Mode
}

func inodeOf(o plan.Object) broker.Inode { return broker.Inode{Dev: o.Dev, Ino: o.Ino} }

// lower returns the rules for a tree, and the objects in spine folders that
// have some.
func lower(t *plan.Tree, rights func(plan.Mode) probe.FS, list children) ([]grant, map[broker.Inode]plan.Mode, error) {
	l := &lowering{rights: rights, list: list, tree: t, lacks: map[string]probe.FS{}, closed: map[broker.Inode]bool{}, native: map[broker.Inode]plan.Mode{}}
	for _, e := range t.Exceptions() {
		if e.Object.Exists {
			l.closed[inodeOf(e.Object)] = true
		}
		lacked := rights(plan.Write) &^ rights(e.Mode)
		for p := path.Dir(e.Path); ; p = path.Dir(p) {
			l.lacks[p] |= lacked
			if p == "/" {
				break
			}
		}
	}
	for _, n := range t.Grants() {
		if err := l.beneath(grant{object: n.Object, rights: rights(n.Mode)}); err != nil {
			return nil, nil, err
		}
	}
	return l.grants, l.native, nil
}

// beneath grants rights on an object and below it, as far as no exception
// below lacks them.
func (l *lowering) beneath(g grant) error {
	lacked := l.lacks[g.object.Path] & g.rights
	if now := g.rights &^ lacked; now != 0 {
		l.grants = append(l.grants, grant{g.object, now, g.listed})
	}
	if lacked == 0 {
		return nil
	}
	inside, err := l.list(g.object)
	if err != nil {
		return err
	}
	for _, c := range inside {
		if err := l.child(c, lacked); err != nil {
			return err
		}
	}
	return nil
}

// child grants what a spine folder does not pass on to one of the things in
// it. A place with a node of its own in the tree is not one of those.
func (l *lowering) child(c plan.Object, rights probe.FS) error {
	if n := l.tree.Find(c.Path); n != nil && n.Path == c.Path {
		rights &= l.rights(n.Mode)
	}
	own := l.tree.Find(c.Path) != nil && l.tree.Find(c.Path).Path == c.Path
	// A rule sticks to the inode. One on a file with several names, or on a
	// bind mount of an exception, would hold under the exception's name too.
	if rights == 0 || c.Linked || !own && l.closed[inodeOf(c)] {
		return nil
	}
	if !c.Dir && !c.Special {
		// A file may be moved by others to where it must not be written, or
		// be replaced while it is opened; the broker opens it by descriptor.
		// Reading stays native, since executing can't be brokered.
		return l.beneath(grant{c, rights & l.rights(plan.Read), true})
	}
	if l.lacks[c.Path]&rights == 0 {
		l.native[inodeOf(c)] = l.tree.Mode(c.Path)
	}
	return l.beneath(grant{c, rights, true})
}
