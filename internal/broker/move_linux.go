// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"strings"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/plan"
	"github.com/ambit-sandbox/ambit/internal/sys"
)

// The calls that concern two names: rename and link (fs/namei.c).

func rename(t *task) syscall.Errno   { return t.move(sys.AtCWD, 0, sys.AtCWD, 1, 0) }
func renameat(t *task) syscall.Errno { return t.move(t.reg(0), 1, t.reg(2), 3, 0) }

func renameat2(t *task) syscall.Errno {
	flags := uint(uint32(t.reg(4)))
	const known = sys.RenameNoReplace | sys.RenameExchange
	if flags&^known != 0 || flags == known {
		return letKernel
	}
	return t.move(t.reg(0), 1, t.reg(2), 3, flags)
}

// move needs write on both places, and neither name pinned. A folder on the
// way to an exception is pinned itself, so what is moved has none below it;
// and nothing becomes such a folder, since the names of those that don't
// exist yet are pinned too. What patterns match below a folder stays the same
// wherever it is moved, so that a name which was judged means the same until
// the call is made, whatever is moved meanwhile.
func (t *task) move(fromDir int32, fromArg int, toDir int32, toArg int, flags uint) syscall.Errno {
	from, errno := t.spot(fromDir, fromArg)
	if errno != 0 {
		return errno
	}
	defer from.close()
	to, errno := t.spotBeside(from, toDir, toArg)
	if errno != 0 {
		return errno
	}
	defer to.close()
	if from.path() == "" || to.path() == "" {
		return letKernel
	}
	a, nodeA := t.judgeName(from)
	b, nodeB := t.judgeName(to)
	switch {
	case from.object == nil && (a == refused || b == refused):
		return letKernel // ENOENT, or EXDEV
	case (a == refused || b == refused) && neverMoves(from, to, flags):
		return letKernel // which has an errno of its own for it
	case a == refused:
		return t.deny(from.on, from.folder, from.path(), nodeA)
	case b == refused:
		return t.deny(to.on, to.folder, to.path(), nodeB)
	case !t.b.land.alike(from.path(), to.path()):
		// A folder would come to where patterns match other names below it.
		// Whether it is one can change until the kernel looks.
		return syscall.EXDEV
	case a == native && b == native:
		return letKernel
	}
	return t.perform(removing, func() syscall.Errno {
		return sys.Rename(from.folder.fd, from.raw(), to.folder.fd, to.raw(), flags)
	})
}

// neverMoves reports whether the kernel refuses a rename before it asks for
// rights (filename_renameat2 in fs/namei.c): the flags or a slash don't fit what
// stands there, or one name is on the way to the other.
func neverMoves(from, to *spot, flags uint) bool {
	folder := from.object.stat.Mode&syscall.S_IFMT == syscall.S_IFDIR
	a, b := from.path()+"/", to.path()+"/"
	switch {
	case flags&sys.RenameNoReplace != 0 && to.object != nil, flags&sys.RenameExchange != 0 && to.object == nil:
		return true
	case flags&sys.RenameExchange == 0 && !folder && (from.slash || to.slash):
		return true
	}
	return a != b && (strings.HasPrefix(a, b) || strings.HasPrefix(b, a))
}

func link(t *task) syscall.Errno { return t.addName(sys.AtCWD, 0, sys.AtCWD, 1, noFollow) }

func linkat(t *task) syscall.Errno {
	const follow = 0x400 // AT_SYMLINK_FOLLOW (linux/fcntl.h)
	how := noFollow
	switch flags := t.reg(4); {
	case flags&^(follow|atEmptyPath) != 0:
		return letKernel
	case flags&follow != 0:
		how = 0
		fallthrough
	default:
		if flags&atEmptyPath != 0 {
			how |= emptyIsDir
		}
	}
	return t.addName(t.reg(0), 1, t.reg(2), 3, how)
}

// addName makes a hard link to a pinned object. Whoever has write on the new
// name could change the object by it, so write on the old one is needed too.
func (t *task) addName(fromDir int32, fromArg int, toDir int32, toArg int, how naming) syscall.Errno {
	on, errno := t.path(fromDir, fromArg, how)
	if errno != 0 {
		return letKernel
	}
	if strings.HasSuffix(on.name, "/") {
		on.how &^= noFollow // a slash says that a folder is meant
	}
	from, errno := t.locate(on)
	if errno != 0 {
		return unfollowed(errno)
	}
	defer from.close()
	if from.object == nil {
		return t.missing(from)
	}
	o := from.object
	if from.slash && o.stat.Mode&syscall.S_IFMT != syscall.S_IFDIR {
		return t.unlessNative(from, syscall.ENOTDIR)
	}
	to, errno := t.spot(toDir, toArg)
	if errno != 0 {
		return errno
	}
	defer to.close()
	if to.path() == "" || o.place == nowhere || o.place == unnamed {
		return letKernel
	}
	a, nodeA := t.judgeSource(from)
	b, nodeB := t.judgeName(to)
	if n := t.b.land.waypoint(to.path()); n != nil && o.stat.Mode&syscall.S_IFMT == syscall.S_IFLNK {
		b, nodeB = refused, n
	}
	switch {
	case a == refused && b == native:
		// As Landlock answers where only the old directory lacks rights
		// (current_check_refer_path in security/landlock/fs.c): programs copy then.
		t.refuseFor("", from.on.String(), o.name, nodeA, syscall.EXDEV)
		return syscall.EXDEV
	case a == refused:
		return t.deny(from.on, o, o.name, nodeA)
	case b == refused && to.object == nil:
		return t.deny(to.on, to.folder, to.path(), nodeB)
	case b == refused, a == native && b == native:
		return letKernel
	}
	return t.perform(removing, func() syscall.Errno { return sys.Link(o.fd, to.folder.fd, to.raw()) })
}

// judgeSource decides over linking an object that stands somewhere. Landlock
// wants the rights of the folder that it stands in, too.
func (t *task) judgeSource(s *spot) (judgement, *plan.Node) {
	land, o := t.b.land, s.object
	if n := land.pinned[land.spell(o.name)]; n != nil {
		return refused, n
	}
	j, node := t.judgeFound(s, plan.Write)
	if folder, ok := parentOfPath(o.name); ok && j == native {
		if up, _ := land.judge(folder, plan.Write); up == brokered {
			j = brokered
		}
	}
	return j, node
}
