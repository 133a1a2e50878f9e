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
	if on.name == "" { // the working directory itself; no right to search it is needed
		return t.b.describe(base, oPath)
	}
	if base != sys.AtCWD {
		defer func() { _ = syscall.Close(base) }()
	}
	return t.lookUp(base, on)
}

// base opens the folder that a target's name starts from. It returns
// sys.AtCWD for an absolute name: the caller's root is the broker's own, since
// the filter lets nobody change it (chroot, pivot_root, mount namespaces). If
// it were another one, calls would fail or meet the broker's object of that
// name, and be decided by that name: no more would be granted.
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
	var how sys.PinFlags
	if on.how&noFollow != 0 {
		how = sys.PinLink
	}
	if fd, errno := sys.Pin(base, on.name, how); errno == 0 {
		o, errno := t.b.describe(fd, oPath)
		if errno != 0 || !t.b.ours(o.name) {
			return o, errno
		}
		o.close()
	}
	return t.walk(base, on.name, on.how)
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
	dup, flags, errno := t.duplicate(fd)
	if errno != 0 {
		return nil, errno
	}
	return t.b.describe(dup, flags)
}

func (b *Broker) takeFrom(tid int, fd int32) (*object, syscall.Errno) {
	dup, flags, errno := duplicate(tid, fd)
	if errno != 0 {
		return nil, errno
	}
	return b.describe(dup, flags)
}

// duplicate returns a duplicate of a thread's descriptor, and its flags.
func duplicate(tid int, fd int32) (dup, flags int, errno syscall.Errno) {
	thread, errno := openThread(tid)
	if errno != 0 {
		return -1, 0, closed(errno)
	}
	defer func() { _ = syscall.Close(thread) }()
	return withFlags(sys.TakeFD(thread, int(fd)))
}

// withFlags adds its flags to a duplicate that was taken.
func withFlags(dup int, errno syscall.Errno) (int, int, syscall.Errno) {
	if errno != 0 {
		return -1, 0, closed(errno)
	}
	flags, errno := sys.FileFlags(dup)
	if errno != 0 {
		_ = syscall.Close(dup)
		return -1, 0, errno
	}
	return dup, flags, 0
}

// openThread returns a pidfd for a thread. Before Linux 6.9 there are none
// but for the leader of a process; other threads then speak of the leader's
// descriptors, which are theirs too unless they parted (unshare(2),
// CLONE_FILES).
func openThread(tid int) (int, syscall.Errno) {
	pidfd, errno := sys.OpenThread(tid)
	if errno != syscall.EINVAL {
		return pidfd, errno
	}
	leader, errno := groupOf(tid)
	if errno != 0 {
		return -1, errno
	}
	if !sys.SameDescriptors(tid, leader) {
		return -1, syscall.EACCES
	}
	return sys.OpenThread(leader)
}
