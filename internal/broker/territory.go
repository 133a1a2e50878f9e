// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"strings"

	"github.com/ambit-sandbox/ambit/internal/plan"
	"github.com/ambit-sandbox/ambit/internal/stock"
)

// Files says what the kernel decides by itself where a path tree has
// exceptions, places with less than a folder above them grants, or new places,
// where nothing stood that could have a rule.
type Files struct {
	// Native are the objects that have rules of their own in the command's
	// Landlock ruleset, and the mode that the rules give. Those that count
	// stand directly in a folder that has an exception somewhere below it.
	// What is missing here is served by the broker, which is right everywhere
	// and only slower.
	Native map[Inode]plan.Mode
	// Executable are files in such folders that have a rule by which they can
	// be read and executed. Opening them is the broker's all the same: a name
	// may come to mean another file in between.
	Executable map[Inode]bool
	// Stock are inodes that have rules too, for what the command makes. They
	// are in Native, or, if they are files, in Executable. The default, nil, is an empty one.
	Stock *stock.Stock
	// Streams are the command's standard streams. Each may have a rule that
	// gives what its descriptor does.
	Streams map[Inode]bool
	// Matched are objects that stand where a pattern matches, and the node of
	// each place. They are known by other names too, if they have hard links.
	Matched map[Inode]*plan.Node
	// Truncate says that Landlock restricts truncation (ABI 3). By default it
	// does not, and no call that truncates without the right to write is left
	// to the kernel.
	Truncate bool
}

// Inode identifies an object on this host (stat(2), st_dev and st_ino). A
// Landlock rule keeps its inode in memory, so that the number does not pass to
// another object while the command runs (get_inode_object and ihold in
// security/landlock/fs.c).
type Inode struct{ Dev, Ino uint64 }

// territory is the part of a path tree that Landlock rules can't express.
type territory struct {
	tree   *plan.Tree
	native map[Inode]plan.Mode
	// spine are the folders with an exception somewhere below them, and the
	// least mode of these. They have no native rule for more.
	spine map[string]plan.Mode
	// pinned are the names that must go on meaning what they meant: the
	// exceptions and every folder on the way to one. Each has the node that
	// it is pinned for.
	pinned map[string]*plan.Node
	// folded leads from the pinned names as [plan.Fold] has them to their
	// spelling: some file systems find them in any. beside are the pinned names
	// in each folder.
	folded map[string]string
	beside map[string][]string
	// fresh are the places where something may be made in a directory that is
	// not writable, and the mode of that directory. ways are the directories on
	// the way to one that were missing, too.
	fresh map[string]plan.Mode
	ways  map[string]bool
	// denied are the objects that stood at the exceptions when the plan was
	// made. They are known by other names too, if they have hard links.
	denied map[Inode]*plan.Node
	// identify returns what stands at a canonical name now, the zero Inode if
	// nothing does.
	identify func(string) Inode
	// list returns the names in a folder. The default, nil, is for file systems
	// in which every object has the names that are listed.
	list func(string) []string
}

func newTerritory(tree *plan.Tree, files *Files, identify func(string) Inode) *territory {
	t := &territory{
		tree: tree, native: files.Native, identify: identify,
		spine: map[string]plan.Mode{}, pinned: map[string]*plan.Node{}, denied: map[Inode]*plan.Node{},
		folded: map[string]string{}, beside: map[string][]string{}, fresh: map[string]plan.Mode{}, ways: map[string]bool{},
	}
	exceptions := tree.Exceptions()
	for i := range exceptions {
		t.except(&exceptions[i])
	}
	for i := range exceptions { // where one is on the way to another, it is itself
		t.pinned[exceptions[i].Path] = &exceptions[i]
	}
	t.addPatterns()
	t.addNewPlaces()
	for i, n := range files.Matched {
		if t.denied[i] == nil {
			t.denied[i] = n
		}
	}
	for p := range t.pinned {
		t.folded[plan.FoldPath(p)] = p
		if folder, ok := parentOfPath(p); ok {
			t.beside[folder] = append(t.beside[folder], p)
		}
	}
	return t
}

func (t *territory) except(n *plan.Node) {
	if n.Object.Exists {
		t.denied[Inode{n.Object.Dev, n.Object.Ino}] = n
	}
	if p, ok := parentOfPath(n.Path); ok {
		t.lead(p, n)
	}
}

// lead makes p and all above it folders on the way to a node.
func (t *territory) lead(p string, n *plan.Node) {
	for ok := true; ok; p, ok = parentOfPath(p) {
		if m := t.tree.Mode(p); m > n.Mode {
			if least, found := t.spine[p]; !found || n.Mode < least {
				t.spine[p] = n.Mode
			}
		}
		if _, found := t.pinned[p]; !found {
			t.pinned[p] = n
		}
	}
}

// judgement is who acts on a call.
type judgement uint8

const (
	// refused: the tree does not grant it, so the broker refuses it. The kernel
	// has a rule for it if a process outside moved it there. The zero value.
	refused judgement = iota
	// native: the kernel was told of a rule.
	native
	// brokered: it is granted, and no rule says so.
	brokered
)

// judge decides over an object that has, or gets, the canonical name p. The
// node is the one of the tree that decided, or nil.
func (t *territory) judge(p string, need plan.Mode) (judgement, *plan.Node) {
	return t.judgeBy(p, need, t.identify)
}

// judgeBy is judge by what identify says stands at a name.
func (t *territory) judgeBy(p string, need plan.Mode, identify func(string) Inode) (judgement, *plan.Node) {
	p = t.spell(p)
	n := t.find(p)
	if n == nil || n.Mode < need {
		return refused, n
	}
	first, ok := t.belowSpine(p, need)
	switch {
	case !ok:
		return native, n
	case first == "":
		return brokered, n
	}
	if m, found := t.native[identify(first)]; found && m >= need {
		return native, n
	}
	return brokered, n
}

// judgeName decides over the name p itself: making it, removing it, putting
// something else in its place. That changes the folder that it stands in, too,
// and it is that folder's rule which counts to the kernel.
func (t *territory) judgeName(p string) (judgement, *plan.Node) {
	p = t.spell(p)
	if n := t.pinned[p]; n != nil {
		return refused, n
	}
	if n := t.find(p); n == nil || n.Mode < plan.Write {
		return refused, n
	}
	if _, found := t.fresh[p]; found {
		return brokered, t.find(p)
	}
	folder, ok := parentOfPath(p)
	if !ok {
		return refused, nil
	}
	return t.judge(folder, plan.Write)
}

// belowSpine finds the nearest folder at or above p that has no native rule
// for need because of an exception below it, or of a new place in it, and
// returns the name in that folder which leads to p; empty if it is p itself. It
// is false where no such folder is.
func (t *territory) belowSpine(p string, need plan.Mode) (first string, ok bool) {
	reached := t.tree.Reached(p, need)
	for ok = true; ok; p, ok = parentOfPath(p) {
		if p == reached {
			return first, true
		}
		if least, found := t.spine[p]; found && least < need {
			return first, true
		}
		if around, found := t.fresh[p]; found && around < need {
			return p, true
		}
		first = p
	}
	return "", false
}

// awaited reports whether p is a folder on the way to a new place, or one on
// the way to an exception, and not one itself, in a writable place: it may be
// made, as a plain folder, if it is missing.
func (t *territory) awaited(p string) bool {
	p = t.spell(p)
	if t.ways[p] {
		return true
	}
	n := t.pinned[p]
	if n == nil || n.Path == p || t.mode(p) < plan.Write {
		return false
	}
	if _, found := t.fresh[p]; found {
		return true
	}
	folder, ok := parentOfPath(p)
	return ok && t.mode(folder) == plan.Write
}

// uniform reports whether everything at and below p, now and later, has the
// mode write, so that a rule on what stands at p says all there is to say.
func (t *territory) uniform(p string) bool {
	p = t.spell(p)
	return t.pinned[p] == nil && t.tree.Least(p) == plan.Write && t.tree.Reached(p, plan.Write) != p
}

// parentOfPath returns the folder that holds a canonical path; the root has
// none.
func parentOfPath(p string) (string, bool) {
	i := strings.LastIndexByte(p, '/')
	switch {
	case i < 0 || p == "/":
		return "", false
	case i == 0:
		return "/", true
	}
	return p[:i], true
}

// join is the canonical path of a name in a folder.
func join(dir, name string) string {
	if dir == "/" {
		return "/" + name
	}
	return dir + "/" + name
}
