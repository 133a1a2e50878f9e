// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"syscall"
	"time"

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
	errno := op.t.await(func() (bool, syscall.Errno) {
		if fd >= 0 {
			return true, 0
		}
		var errno syscall.Errno
		fd, errno = sys.OpenAt(sys.AtCWD, sys.FDPath(o.fd), flags, 0)
		if errno == syscall.ENXIO {
			return false, 0
		}
		return true, errno
	})
	return op.handBlocking(fd, errno)
}

// awaitWriter waits until somebody writes. The caller counts as a reader
// meanwhile, as it would if it were blocked.
func (op *opening) awaitWriter(fd int) syscall.Errno {
	spare, errno := sys.Pipe()
	if errno != 0 {
		_ = syscall.Close(fd)
		return errno
	}
	defer func() {
		_ = syscall.Close(spare[0])
		_ = syscall.Close(spare[1])
	}()
	errno = op.t.await(func() (bool, syscall.Errno) { return sys.HasWriter(fd, spare) })
	return op.handBlocking(fd, errno)
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

// await asks until the answer is yes, or the caller must be let go. Others are
// served meanwhile. The number of those that wait is bounded (maxWaiting).
func (t *task) await(ready func() (bool, syscall.Errno)) syscall.Errno {
	if ok, errno := ready(); ok || errno != 0 {
		return errno
	}
	b := t.b
	if b.waiting.Add(1) > maxWaiting {
		b.waiting.Add(-1)
		return syscall.EAGAIN
	}
	defer b.waiting.Add(-1)
	b.crew.resign(t.w)
	who := &caller{t: t}
	pause, looked := firstPause, time.Now()
	for {
		time.Sleep(pause)
		pause = min(pause*2, longestPause)
		if ok, errno := ready(); ok || errno != 0 {
			return errno
		}
		if time.Since(looked) >= lookAgain {
			looked = time.Now()
			if errno := who.look(); errno != 0 {
				return errno
			}
		}
		if b.crew.finished() {
			return syscall.EINTR
		}
	}
}
