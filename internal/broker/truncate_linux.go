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
	case j == refused:
		return t.declineFound(s, o.name, node)
	case j == native && !t.exchangeable(s, plan.Write):
		return letKernel
	}
	// The caller's limit counts, not the broker's (RLIMIT_FSIZE,
	// getrlimit(2)); the signal that goes with it is not sent.
	if limit, errno := sys.FileSizeLimit(t.tid); errno != 0 || size > o.stat.Size && uint64(size) > limit {
		return syscall.EFBIG
	}
	return t.perform(removing, func() syscall.Errno {
		fd, errno := sys.OpenAt(sys.AtCWD, sys.FDPath(o.fd), syscall.O_WRONLY|syscall.O_NONBLOCK, 0)
		if errno != 0 {
			return errno
		}
		defer func() { _ = syscall.Close(fd) }()
		return sys.Truncate(fd, size)
	})
}
