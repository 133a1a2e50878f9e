// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"strings"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/plan"
	"github.com/ambit-sandbox/ambit/internal/sys"
)

// open, creat, openat, and openat2 (openat2_linux.go): fs/open.c, fs/namei.c (path_openat).

func open(t *task) syscall.Errno   { return t.open(sys.AtCWD, 0, int(t.reg(1)), uint32(t.args[2]), 0) }
func openat(t *task) syscall.Errno { return t.open(t.reg(0), 1, int(t.reg(2)), uint32(t.args[3]), 0) }

func creat(t *task) syscall.Errno {
	return t.open(sys.AtCWD, 0, syscall.O_CREAT|syscall.O_WRONLY|syscall.O_TRUNC, uint32(t.args[1]), 0)
}

// opening is one open call.
type opening struct {
	t     *task
	on    target
	flags int
	mode  uint32
	// need is what the object must grant, if it exists.
	need plan.Mode
	// resolve restricts how the name is followed (openat2(2), RESOLVE_*).
	resolve uint64
	// empties: the file is to be emptied once the caller has its descriptor.
	empties bool
}

func (t *task) open(dir int32, arg, flags int, mode uint32, resolve uint64) syscall.Errno {
	switch {
	case flags&sys.OpenPathOnly != 0: // Landlock has no right for it
		return letKernel
	case flags&syscall.O_TRUNC != 0 && !t.b.options.Files.Truncate && !mayWrite(flags):
		return syscall.EACCES // the filter's answer, for what Landlock lets pass
	case flags&syscall.O_CREAT != 0 && flags&syscall.O_DIRECTORY != 0: // EINVAL since Linux 6.4
		return letKernel
	}
	op := &opening{t: t, flags: flags, mode: mode & 0o7777, resolve: resolve}
	switch access := flags & syscall.O_ACCMODE; {
	case access == syscall.O_WRONLY, access == syscall.O_RDWR, flags&syscall.O_TRUNC != 0:
		op.need = plan.Write
	case access == syscall.O_RDONLY:
		op.need = plan.Read
	}
	var how naming
	switch {
	case flags&(syscall.O_CREAT|syscall.O_EXCL) == syscall.O_CREAT|syscall.O_EXCL:
		how = noFollow | bareName
	case flags&syscall.O_NOFOLLOW != 0:
		how = noFollow
	}
	var errno syscall.Errno
	if op.on, errno = t.path(dir, arg, how); errno != 0 {
		return letKernel
	}
	switch {
	case flags&syscall.O_CREAT != 0:
		op.on.how |= makes
	case strings.HasSuffix(op.on.name, "/"):
		op.on.how = 0 // the slash wins over O_NOFOLLOW (open_last_lookups)
	}
	if op.on.asks = op.need; flags&syscall.O_CREAT != 0 {
		op.on.asks = plan.Write
	}
	t.wants = op.on.asks
	return op.run()
}

// mayWrite reports whether Landlock asks for the right to write on opening.
func mayWrite(flags int) bool {
	access := flags & syscall.O_ACCMODE
	return access == syscall.O_WRONLY || access == syscall.O_RDWR
}

// maxRounds bounds how often a name is resolved again, because it came into
// being, or ceased to be, in between.
const maxRounds = 16

func (op *opening) run() syscall.Errno {
	for range maxRounds {
		errno, again := op.once()
		if !again {
			return errno
		}
	}
	return syscall.EAGAIN
}

// once tries once; again says that the name has changed.
func (op *opening) once() (errno syscall.Errno, again bool) {
	s, errno := op.locate()
	switch {
	case errno != 0 && op.resolve != 0:
		return letKernel, false
	case errno != 0:
		return unfollowed(errno), false
	}
	defer s.close()
	op.empties = false
	switch {
	case op.flags&sys.OpenTemporary != 0:
		return op.temporary(s), false
	case s.object != nil:
		return op.existing(s), false
	case op.flags&syscall.O_CREAT == 0:
		return op.t.missing(s), false
	case s.slash:
		return letKernel, false // EISDIR
	}
	errno = op.t.atName(s, making, func() syscall.Errno {
		if errno := op.t.hasRoom(); errno != 0 {
			return errno
		}
		// With O_EXCL a link is not followed anyway, and the flag of
		// O_NOFOLLOW is one that the caller sees (F_GETFL).
		fd, errno := sys.OpenAt(s.folder.fd, s.last, op.inner()|op.flags&syscall.O_NOFOLLOW|syscall.O_CREAT|syscall.O_EXCL, op.mode)
		return op.hand(fd, errno)
	})
	return errno, errno == syscall.EEXIST && op.flags&syscall.O_EXCL == 0
}

func (op *opening) locate() (*spot, syscall.Errno) {
	if op.resolve != 0 {
		return op.t.locateWithin(op.on, op.resolve)
	}
	return op.t.locate(op.on)
}

// existing opens an object that is there.
func (op *opening) existing(s *spot) syscall.Errno {
	o := s.object
	kind := o.stat.Mode & syscall.S_IFMT
	creates := op.flags&syscall.O_CREAT != 0
	if errno := op.barred(s); errno != 0 {
		return op.t.unlessNative(s, errno)
	}
	if op.need == plan.None || creates && s.slash {
		return letKernel // Landlock has no right for access mode 3; EISDIR
	}
	j, node := op.t.judgeFound(s, op.need)
	switch {
	case j == refused && kind == syscall.S_IFDIR && op.need != plan.Read:
		return letKernel // EISDIR
	case j == refused && !op.t.stream(o):
		return op.t.refuse(op.on.String(), o.name, node, syscall.EACCES)
	case o.device, creates && op.shared(s):
		return letKernel
	case j == native && op.t.exchangeable(s, op.need):
	case j != brokered:
		return letKernel
	}
	if kind == syscall.S_IFIFO && !op.t.inner {
		return op.fifo(o)
	}
	return op.t.perform(removing, func() syscall.Errno { return op.reopen(o) })
}

// barred is the errno that an object has for everybody, which precedes all
// rights, in the order of do_open and may_open (fs/namei.c).
func (op *opening) barred(s *spot) syscall.Errno {
	kind := s.object.stat.Mode & syscall.S_IFMT
	creates := op.flags&syscall.O_CREAT != 0
	switch {
	case creates && s.slash:
		return 0 // EISDIR, whatever it is
	case creates && op.flags&syscall.O_EXCL != 0:
		return syscall.EEXIST
	case creates && kind == syscall.S_IFDIR:
		return syscall.EISDIR
	case (s.slash || op.flags&syscall.O_DIRECTORY != 0) && kind != syscall.S_IFDIR:
		return syscall.ENOTDIR
	case kind == syscall.S_IFLNK:
		return syscall.ELOOP
	}
	return 0
}

// reopen opens a pinned object. The kernel takes the descriptor's number
// before it opens (do_sys_openat2 in fs/open.c), so who can't have one must
// find the file as it was: it is emptied when the caller has the descriptor,
// through the same open file.
func (op *opening) reopen(o *object) syscall.Errno {
	flags := op.inner()
	if flags&syscall.O_TRUNC != 0 {
		// One that may only be appended to can't be emptied by anybody, which
		// comes to light too late where it is opened for just that.
		op.empties = o.stat.Mode&syscall.S_IFMT == syscall.S_IFREG &&
			flags&syscall.O_ACCMODE != syscall.O_RDONLY && flags&syscall.O_APPEND == 0
		if op.empties {
			flags &^= syscall.O_TRUNC
		} else if errno := op.t.hasRoom(); errno != 0 {
			return errno
		}
	}
	fd, errno := sys.OpenAt(sys.AtCWD, sys.FDPath(o.fd), flags, 0)
	return op.hand(fd, errno)
}

// shared reports whether the object is somebody else's in a folder where
// everybody may put things. With O_CREAT the kernel may refuse to open it
// (fs.protected_regular, proc_sys_fs(5)), which it could not see where the
// object is opened by its descriptor.
func (op *opening) shared(s *spot) bool {
	if s.folder == nil {
		return false
	}
	dir, st := &s.folder.stat, &s.object.stat
	return dir.Mode&syscall.S_ISVTX != 0 && st.Uid != dir.Uid && int(st.Uid) != syscall.Geteuid()
}

// temporary opens a file without a name (O_TMPFILE) in a folder.
func (op *opening) temporary(s *spot) syscall.Errno {
	o := s.object
	if o == nil || op.need != plan.Write || op.flags&syscall.O_DIRECTORY == 0 || op.flags&syscall.O_CREAT != 0 ||
		o.stat.Mode&syscall.S_IFMT != syscall.S_IFDIR {
		return letKernel
	}
	switch j, node := op.t.judgeFound(s, plan.Write); j {
	case refused:
		return op.t.deny(s.on, o, o.name, node)
	case native:
		return letKernel
	}
	return op.t.perform(making, func() syscall.Errno {
		fd, errno := sys.OpenAt(o.fd, ".", op.flags&^syscall.O_CLOEXEC, op.mode)
		return op.hand(fd, errno)
	})
}

// inner are the flags for opening by a pinned folder or object: how the name
// is found is settled, and who inherits the descriptor is the caller's.
func (op *opening) inner() int {
	return op.flags&^(syscall.O_CREAT|syscall.O_EXCL|syscall.O_NOFOLLOW|syscall.O_CLOEXEC) | syscall.O_NOCTTY
}

// hand gives an opened file to the caller, and the number as the answer.
func (op *opening) hand(fd int, errno syscall.Errno) syscall.Errno {
	if errno != 0 {
		return errno
	}
	defer func() { _ = syscall.Close(fd) }()
	n, errno := sys.AddFD(op.t.b.listener, op.t.id, fd, op.flags&syscall.O_CLOEXEC)
	op.t.value = int64(n)
	if errno == 0 && op.empties {
		errno = sys.Truncate(fd, 0)
	}
	return errno
}
