// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// fifo opens a FIFO, which waits for somebody at the other end (fifo(7)). A
// thread that is blocked in open(2) could not be called back, so the end is
// opened without blocking, and then looked after.
func (op *opening) fifo(o *object) syscall.Errno {
	access := op.flags & syscall.O_ACCMODE
	waits := op.flags&syscall.O_NONBLOCK == 0 && access != syscall.O_RDWR
	flags := op.inner()
	if waits {
		flags |= syscall.O_NONBLOCK
	}
	if errno := op.t.alive(); errno != 0 {
		return errno
	}
	fd, errno := sys.OpenAt(sys.AtCWD, sys.FDPath(o.fd), flags, 0)
	if !waits || errno != 0 && errno != syscall.ENXIO {
		return op.hand(fd, errno)
	}
	if access == syscall.O_WRONLY {
		return op.awaitReader(o, flags, fd)
	}
	return op.awaitWriter(fd)
}

// awaitReader tries until somebody reads: until then opening fails (ENXIO).
func (op *opening) awaitReader(o *object, flags, fd int) syscall.Errno {
	if fd >= 0 {
		return op.handBlocking(fd, 0)
	}
	held, errno := sys.Duplicate(o.fd)
	if errno != 0 {
		return errno
	}
	return op.t.await(&visitor{
		t: op.t, poll: -1,
		try: func() (bool, syscall.Errno) {
			var errno syscall.Errno
			fd, errno = sys.OpenAt(sys.AtCWD, sys.FDPath(held), flags, 0)
			return errno != syscall.ENXIO, errno
		},
		leave: func(errno syscall.Errno) syscall.Errno {
			_ = syscall.Close(held)
			return op.handBlocking(fd, errno)
		},
	})
}

// awaitWriter waits until somebody writes. The caller counts as a reader
// meanwhile, as it would if it were blocked.
func (op *opening) awaitWriter(fd int) syscall.Errno {
	hasWriter := func() (bool, syscall.Errno) {
		spare, errno := sys.Pipe()
		if errno != 0 {
			return true, errno
		}
		defer func() {
			_ = syscall.Close(spare[0])
			_ = syscall.Close(spare[1])
		}()
		ok, errno := sys.HasWriter(fd, spare)
		return ok || errno != 0, errno
	}
	if ok, errno := hasWriter(); ok {
		return op.handBlocking(fd, errno)
	}
	return op.t.await(&visitor{
		t: op.t, poll: fd, events: sys.PollIn, try: hasWriter,
		leave: func(errno syscall.Errno) syscall.Errno { return op.handBlocking(fd, errno) },
	})
}

// handBlocking gives the caller the end that it asked for: one that blocks.
func (op *opening) handBlocking(fd int, errno syscall.Errno) syscall.Errno {
	if errno == 0 {
		errno = sys.SetFileFlags(fd, op.flags&^syscall.O_NONBLOCK)
	}
	if errno != 0 {
		if fd >= 0 {
			_ = syscall.Close(fd)
		}
		return errno
	}
	return op.hand(fd, 0)
}
