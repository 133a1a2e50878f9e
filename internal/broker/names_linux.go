// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/plan"
	"github.com/ambit-sandbox/ambit/internal/stock"
	"github.com/ambit-sandbox/ambit/internal/sys"
)

// The calls that make and remove one name: mkdir, mknod, symlink, unlink and
// rmdir, each with its *at form (fs/namei.c). None of them follows a symbolic
// link that the name ends in.

func mkdir(t *task) syscall.Errno   { return t.makeFolder(sys.AtCWD, 0) }
func mkdirat(t *task) syscall.Errno { return t.makeFolder(t.reg(0), 1) }

// makeFolder may make a folder that an exception is to lie in: it is empty,
// and from then on can't be moved.
func (t *task) makeFolder(dir int32, arg int) syscall.Errno {
	s, errno := t.spotFor(dir, arg, plan.Write)
	if errno != 0 {
		return errno
	}
	defer s.close()
	mode := uint32(uint16(t.args[arg+1]))
	do := func() syscall.Errno { return sys.MakeFolder(s.folder.fd, s.raw(), mode) }
	if s.object == nil && t.b.land.awaited(s.path()) {
		return t.perform(making, do)
	}
	return t.atName(s, making, func() syscall.Errno {
		if t.fromStock(s, mode) {
			return 0
		}
		return do()
	})
}

// fromStock makes a folder by taking one that has a rule already, so that what
// is done in it later is the kernel's.
func (t *task) fromStock(s *spot, mode uint32) bool {
	const bits = syscall.S_ISVTX | 0o777 // what mkdir(2) takes of the mode
	if s.object != nil || !t.b.land.uniform(s.path()) {
		return false
	}
	return t.b.options.Files.Stock.Put(stock.Parent{FD: s.folder.fd, Stat: &s.folder.stat}, s.last, mode&bits&^t.umask)
}

func mknod(t *task) syscall.Errno   { return t.makeNode(sys.AtCWD, 0) }
func mknodat(t *task) syscall.Errno { return t.makeNode(t.reg(0), 1) }

// makeNode leaves it to the kernel to refuse a kind that can't be made so.
// Devices it refuses by itself: that must not hang on the broker's lack of
// capabilities alone.
func (t *task) makeNode(dir int32, arg int) syscall.Errno {
	mode := uint32(uint16(t.args[arg+1]))
	device := false
	switch mode & syscall.S_IFMT {
	case 0, syscall.S_IFREG, syscall.S_IFIFO, syscall.S_IFSOCK:
	case syscall.S_IFCHR, syscall.S_IFBLK:
		device = true
	default:
		return letKernel
	}
	s, errno := t.spotFor(dir, arg, plan.Write)
	if errno != 0 {
		return errno
	}
	defer s.close()
	return t.atName(s, making, func() syscall.Errno {
		switch {
		case device && (s.object != nil || s.slash):
			return letKernel // EEXIST, ENOENT
		case device:
			return syscall.EPERM
		}
		return sys.MakeNode(s.folder.fd, s.raw(), mode)
	})
}

func symlink(t *task) syscall.Errno   { return t.makeLink(sys.AtCWD, 1) }
func symlinkat(t *task) syscall.Errno { return t.makeLink(t.reg(1), 2) }

func (t *task) makeLink(dir int32, arg int) syscall.Errno {
	text, errno := t.copyPath(t.args[0])
	if errno != 0 || text == "" {
		return letKernel
	}
	s, errno := t.spot(dir, arg)
	if errno != 0 {
		return errno
	}
	defer s.close()
	if n := t.b.land.waypoint(s.path()); n != nil && s.object == nil {
		return t.deny(s.on, s.folder, s.path(), n)
	}
	return t.atName(s, making, func() syscall.Errno { return sys.MakeLink(text, s.folder.fd, s.raw()) })
}

func unlink(t *task) syscall.Errno { return t.remove(sys.AtCWD, 0, sys.Unlink) }
func rmdir(t *task) syscall.Errno  { return t.remove(sys.AtCWD, 0, sys.RemoveFolder) }

func unlinkat(t *task) syscall.Errno {
	const removeDir = 0x200 // AT_REMOVEDIR (linux/fcntl.h)
	switch t.reg(2) {
	case 0:
		return t.remove(t.reg(0), 1, sys.Unlink)
	case removeDir:
		return t.remove(t.reg(0), 1, sys.RemoveFolder)
	}
	return letKernel
}

func (t *task) remove(dir int32, arg int, do func(int, string) syscall.Errno) syscall.Errno {
	s, errno := t.spotFor(dir, arg, plan.Write)
	if errno != 0 {
		return errno
	}
	defer s.close()
	return t.atName(s, removing, func() syscall.Errno { return do(s.folder.fd, s.raw()) })
}

// spot finds the place of a name that is not followed. What is wrong with the
// name the kernel says itself.
func (t *task) spot(dir int32, arg int) (*spot, syscall.Errno) {
	return t.spotFor(dir, arg, plan.None)
}

// spotFor is spot for a call that is the kernel's where the folder has a rule
// for as much as the call asks.
func (t *task) spotFor(dir int32, arg int, asks plan.Mode) (*spot, syscall.Errno) {
	on, errno := t.path(dir, arg, noFollow)
	if errno != 0 {
		return nil, letKernel
	}
	on.asks = asks
	return t.spotOf(on)
}

func (t *task) spotOf(on target) (*spot, syscall.Errno) {
	on.how |= bareName
	s, errno := t.locate(on)
	if errno != 0 {
		return nil, unfollowed(errno)
	}
	return s, 0
}

// spotBeside is spot for a second name of the same call. Where it begins as the
// first one does, up to its last component, it stands in the same folder.
func (t *task) spotBeside(first *spot, dir int32, arg int) (*spot, syscall.Errno) {
	on, errno := t.path(dir, arg, noFollow)
	if errno != 0 {
		return nil, letKernel
	}
	folder, last, slash := splitLast(on.name)
	of, _, _ := splitLast(first.on.name)
	if first.folder == nil || folder != of || dir != first.on.dir || last == "" || last == "." || last == ".." {
		return t.spotOf(on)
	}
	s := &spot{on: on, folder: first.folder, lent: true, last: last, slash: slash}
	if _, errno := t.lookAt(s, 0); errno != 0 {
		return nil, unfollowed(errno)
	}
	return s, 0
}
