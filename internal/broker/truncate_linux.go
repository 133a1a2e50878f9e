// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/plan"
	"github.com/ambit-sandbox/ambit/internal/sys"
)

// truncate: fs/open.c.
func truncate(t *task) syscall.Errno {
	size := int64(t.args[1])
	on, errno := t.path(sys.AtCWD, 0, 0)
	if errno != 0 || size < 0 {
		return letKernel
	}
	s, errno := t.locate(on)
	if errno != 0 {
		return unfollowed(errno)
	}
	defer s.close()
	if s.object == nil {
		return t.missing(s)
	}
	o, kind := s.object, s.object.stat.Mode&syscall.S_IFMT
	switch {
	case kind == syscall.S_IFDIR:
		return t.unlessNative(s, syscall.EISDIR)
	case s.slash:
		return t.unlessNative(s, syscall.ENOTDIR)
	case kind != syscall.S_IFREG:
		return t.unlessNative(s, syscall.EINVAL)
	}
	j, node := t.judgeFound(s, plan.Write)
	switch {
	case j == refused && !t.stream(o):
		return t.deny(on, o, o.name, node)
	case j == refused:
		return letKernel
	case j == native && !t.exchangeable(s, plan.Write):
		return letKernel
	}
	return t.cut(o, size)
}

// truncateAnywhere is truncate where Landlock has no right for it (below ABI
// 3): the broker decides everywhere, and the kernel nowhere.
func truncateAnywhere(t *task) syscall.Errno {
	size := int64(t.args[1])
	if size < 0 {
		return syscall.EINVAL
	}
	on, errno := t.path(sys.AtCWD, 0, 0)
	if errno != 0 {
		return errno
	}
	if t.b.land == nil {
		o, errno := t.pin(on)
		if errno != 0 {
			return errno
		}
		defer o.close()
		return t.cutAnywhere(on, o, size)
	}
	s, errno := t.locate(on)
	if errno != 0 {
		return errno
	}
	defer s.close()
	switch {
	case s.object == nil:
		return syscall.ENOENT
	case s.slash && s.object.stat.Mode&syscall.S_IFMT != syscall.S_IFDIR:
		return syscall.ENOTDIR
	}
	if j, node := t.judgeFound(s, plan.Write); j == refused {
		return t.refuse(on.String(), s.object.name, node, syscall.EACCES)
	}
	return t.cutAnywhere(on, s.object, size)
}

func (t *task) cutAnywhere(on target, o *object, size int64) syscall.Errno {
	switch o.stat.Mode & syscall.S_IFMT {
	case syscall.S_IFREG:
	case syscall.S_IFDIR:
		return syscall.EISDIR
	default:
		return syscall.EINVAL
	}
	ok, node := mayChange(t.b.places(), o.facts)
	// A file of /proc answers by who has opened it (proc(5)).
	if kind, errno := sys.FSKindOf(o.fd); !ok || errno != 0 || kind.Proc {
		return t.refuse(on.String(), o.name, node, syscall.EACCES)
	}
	return t.cut(o, size)
}

// cut makes a file that may be written as long as asked for.
func (t *task) cut(o *object, size int64) syscall.Errno {
	return t.perform(removing, func() syscall.Errno {
		fd, errno := sys.OpenAt(sys.AtCWD, sys.FDPath(o.fd), syscall.O_WRONLY|syscall.O_NONBLOCK, 0)
		if errno != 0 {
			return errno
		}
		defer func() { _ = syscall.Close(fd) }()
		if errno := t.withinLimit(o, size); errno != 0 {
			return errno
		}
		return sys.Truncate(fd, size)
	})
}

// withinLimit checks the caller's limit for the size of files, where the kernel
// would check the broker's, and sends the signal that goes with it
// (inode_newsize_ok in fs/attr.c; RLIMIT_FSIZE, getrlimit(2)). It comes when
// the call has been answered, as outside.
func (t *task) withinLimit(o *object, size int64) syscall.Errno {
	limit, errno := sys.FileSizeLimit(t.tid)
	if errno != 0 {
		return syscall.EFBIG
	}
	if size <= o.stat.Size || uint64(size) <= limit {
		return 0
	}
	if thread, errno := openThread(t.tid); errno == 0 {
		if t.alive() == 0 { // it is really the caller that was opened
			_ = sys.SendSignal(thread, int32(syscall.SIGXFSZ), nil, 0)
		}
		_ = syscall.Close(thread)
	}
	return syscall.EFBIG
}
