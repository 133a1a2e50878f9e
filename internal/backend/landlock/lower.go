// SPDX-License-Identifier: Apache-2.0

package landlock

import (
	"path"
	"slices"
	"time"

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

// children lists what is in a folder: names and what they are. Regular files
// whose names in it wanted, unless it is nil, does not ask for may be left out.
type children func(dir plan.Object, wanted func(name string) bool) ([]plan.Object, error)

// plainFiles bounds how many files that nobody could execute get a rule, so that
// a folder of very many does not hold up the start. The broker opens them all
// the same; the rule is for programs that restrict themselves further, for which
// it opens nothing.
const plainFiles = 1000

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
	// matched are the objects that were found under a name that a pattern
	// matches.
	matched map[broker.Inode]*plan.Node
	// plain counts the rules of files that can't be executed.
	plain int
	// entries and until bound the search for executable files.
	entries int
	until   time.Time
}

func inodeOf(o plan.Object) broker.Inode { return broker.Inode{Dev: o.Dev, Ino: o.Ino} }

// lower finds the rules for a tree, and the objects in spine folders that have
// some.
func lower(t *plan.Tree, rights func(plan.Mode) probe.FS, list children) (*lowering, error) {
	l := &lowering{
		rights: rights, list: list, tree: t, lacks: map[string]probe.FS{}, closed: map[broker.Inode]bool{},
		native: map[broker.Inode]plan.Mode{}, matched: map[broker.Inode]*plan.Node{},
		entries: searchEntries, until: time.Now().Add(searchTime),
	}
	for _, e := range t.Exceptions() {
		if e.Object.Exists {
			l.closed[inodeOf(e.Object)] = true
		}
		l.lack(path.Dir(e.Path), e.Mode)
	}
	for _, p := range t.Patterns() {
		l.lack(path.Dir(p.Base), p.Mode)
	}
	for _, n := range t.Grants() {
		if err := l.beneath(grant{object: n.Object, rights: rights(n.Mode)}); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// lack notes that something below a folder has no more than a mode.
func (l *lowering) lack(folder string, m plan.Mode) {
	for ; ; folder = path.Dir(folder) {
		l.lacks[folder] |= l.rights(plan.Write) &^ l.rights(m)
		if folder == "/" {
			return
		}
	}
}

// beneath grants rights on an object and below it, as far as no exception
// below lacks them.
func (l *lowering) beneath(g grant) error {
	lacked, never := l.lacking(g.object)
	lacked &= g.rights
	if now := g.rights &^ lacked; now != 0 {
		l.grants = append(l.grants, grant{g.object, now, g.listed})
	}
	if read := lacked & never & l.rights(plan.Read); read != 0 {
		if err := l.executables(g.object, read); err != nil {
			return err
		}
	}
	if lacked &^= never; lacked == 0 {
		return nil
	}
	inside, err := l.list(g.object, l.wanted(g.object, lacked))
	if err != nil {
		return err
	}
	for _, c := range inside { // first of all, so that no rule gets to one by another name
		l.note(c)
	}
	for _, c := range inside {
		if err := l.child(c, lacked); err != nil {
			return err
		}
	}
	return nil
}

// wanted says which regular files matter in a folder that does not pass these
// rights on. A file gets a rule for reading only, so where reading is passed on
// that is those to be noted: of thousands of files not one is looked at.
func (l *lowering) wanted(folder plan.Object, lacked probe.FS) func(name string) bool {
	if lacked&l.rights(plan.Read) != 0 {
		return nil
	}
	if patterns := l.tree.Patterns(); !slices.ContainsFunc(patterns, func(p plan.Pattern) bool { return p.Reaches(folder.Path) == folder.Path }) {
		return func(string) bool { return false }
	}
	return func(name string) bool { return l.matches(path.Join(folder.Path, name)) != nil }
}

// child grants what a spine folder does not pass on to one of the things in
// it. A place with a node of its own in the tree is not one of those.
func (l *lowering) child(c plan.Object, rights probe.FS) error {
	n := l.tree.Find(c.Path)
	own := n != nil && n.Path == c.Path
	if own {
		rights &= l.rights(n.Mode)
	}
	rights &= l.rights(l.tree.Least(c.Path))
	// A rule sticks to the inode. One on a file with several names, or on a
	// bind mount of an exception, would hold under the exception's name too.
	if rights == 0 || c.Linked || !own && l.closed[inodeOf(c)] {
		return nil
	}
	if !c.Dir && !c.Special {
		// A file may be moved by others to where it must not be written, or
		// be replaced while it is opened; the broker opens it by descriptor.
		// Reading stays native, since executing can't be brokered.
		read := rights & l.rights(plan.Read)
		if read != 0 && !c.Executable {
			if l.plain++; l.plain > plainFiles {
				return nil
			}
		}
		return l.beneath(grant{c, read, true})
	}
	if lacked, _ := l.lacking(c); lacked&rights == 0 {
		m := l.tree.Least(c.Path)    // which is what the rights were cut down to
		if lacked&l.rights(m) != 0 { // in a pattern's reach, for writing
			m = plan.Read
		}
		l.native[inodeOf(c)] = m
	}
	return l.beneath(grant{c, rights, true})
}
