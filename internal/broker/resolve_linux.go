// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"strconv"
	"strings"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// pin finds what a target names, in the caller's view, and pins it.
func (t *task) pin(on target) (*object, syscall.Errno) {
	switch {
	case on.how&descriptor != 0:
		o, errno := t.take(on.dir)
		if errno == 0 && o.flags&oPath != 0 {
			o.close()
			return nil, syscall.EBADF
		}
		return o, errno
	case on.name == "" && on.dir != sys.AtCWD:
		return t.take(on.dir)
	}
	base, errno := t.base(on)
	if errno != 0 {
		return nil, errno
	}
	if base != sys.AtCWD {
		defer func() { _ = syscall.Close(base) }()
	}
	return t.lookUp(base, on)
}

// base opens the folder that a target's name starts from. It returns
// sys.AtCWD for an absolute name: the caller's root is the broker's own.
func (t *task) base(on target) (int, syscall.Errno) {
	switch {
	case strings.HasPrefix(on.name, "/"):
		return sys.AtCWD, 0
	case on.dir == sys.AtCWD:
		fd, errno := sys.Pin(t.b.proc, t.proc("cwd"), sys.PinJumps)
		return fd, closed(errno)
	}
	fd, errno := sys.Pin(t.b.proc, t.proc("fd/"+strconv.Itoa(int(on.dir))), sys.PinJumps)
	if errno == syscall.ENOENT {
		errno = syscall.EBADF
	}
	return fd, closed(errno)
}

// lookUp follows a name. The kernel does it in one step where the name means
// the same to the caller and to us; everything else, and every error, is
// walked hop by hop.
func (t *task) lookUp(base int, on target) (*object, syscall.Errno) {
	name := on.name
	if name == "" { // the working directory itself, by AT_EMPTY_PATH
		name = "."
	}
	var how sys.PinFlags
	if on.how&noFollow != 0 {
		how = sys.PinLink
	}
	if fd, errno := sys.Pin(base, name, how); errno == 0 {
		o, errno := t.b.describe(fd, oPath)
		if errno != 0 || !t.b.ours(o.name) {
			return o, errno
		}
		o.close()
	}
	return t.walk(base, name, on.how)
}

// ours reports whether a name lies in the broker's own directory of a proc
// file system: then "self" was on the way, which means another process to the
// caller.
func (b *Broker) ours(name string) bool {
	return strings.Contains(name+"/", b.self)
}

// take duplicates a descriptor of the caller. What is decided and done then
// concerns the duplicate: the caller may put something else under the number.
func (t *task) take(fd int32) (*object, syscall.Errno) {
	if fd < 0 {
		return nil, syscall.EBADF
	}
	thread, errno := sys.OpenThread(t.tid)
	if errno != 0 {
		return nil, closed(errno)
	}
	defer func() { _ = syscall.Close(thread) }()
	dup, errno := sys.TakeFD(thread, int(fd))
	if errno != 0 {
		return nil, closed(errno)
	}
	flags, errno := sys.FileFlags(dup)
	if errno != 0 {
		_ = syscall.Close(dup)
		return nil, errno
	}
	return t.b.describe(dup, flags)
}

// walk is not there yet: what the one step can't do is refused.
func (t *task) walk(base int, name string, how naming) (*object, syscall.Errno) {
	fd, errno := sys.Pin(base, name, 0)
	if errno == 0 {
		_ = syscall.Close(fd)
		errno = syscall.EACCES
	}
	return nil, errno
}
