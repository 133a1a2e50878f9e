// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"strconv"
	"strings"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// procRoot is the inode number of a proc file system's root (PROC_ROOT_INO,
// linux/proc_fs.h).
const procRoot = 1

// procLink follows a symbolic link of a proc file system. There are two
// kinds: those with a text, of which "self" and "thread-self" name whoever
// asks, and magic ones, whose text is only for the eye.
func (w *walker) procLink(h hop) (*object, string, syscall.Errno) {
	if fd, errno := sys.Pin(w.at, h.name, 0); errno == 0 {
		_ = syscall.Close(fd)
	} else if errno == syscall.ELOOP {
		o, errno := w.jump(h)
		return o, "", errno
	}
	var dir syscall.Stat_t
	if err := syscall.Fstat(w.at, &dir); err != nil {
		return nil, "", asErrno(err)
	}
	if dir.Ino == procRoot && (h.name == "self" || h.name == "thread-self") {
		return w.self(h.name)
	}
	text, errno := sys.ReadLinkAt(w.at, h.name)
	if errno == 0 && text == "" {
		errno = syscall.ENOENT
	}
	return nil, text, errno
}

// self says what a link to whoever asks says to the caller.
func (w *walker) self(name string) (*object, string, syscall.Errno) {
	group, errno := w.t.group()
	if errno != 0 {
		return nil, "", errno
	}
	text := strconv.Itoa(group)
	if name == "thread-self" {
		text += "/task/" + strconv.Itoa(w.t.tid)
	}
	return nil, text, 0
}

// jump follows a magic link, if it is one of a process inside the sandbox.
// Landlock lets the caller follow no others (its domain must hold the other
// process, hook_ptrace_access_check in security/landlock/task.c), while the
// broker could.
func (w *walker) jump(h hop) (*object, syscall.Errno) {
	name, errno := w.t.b.nameOf(w.at)
	if errno != 0 {
		return nil, errno
	}
	tid, dir := procOwner(name)
	if tid == 0 || !w.t.inside(tid) {
		return nil, syscall.EACCES
	}
	n, err := strconv.Atoi(h.name)
	if dir == "fd" && err == nil && h.last {
		return w.descriptorOf(tid, int32(n), h.name)
	}
	fd, errno := sys.Pin(w.at, h.name, sys.PinJumps)
	if errno != 0 {
		return nil, closed(errno)
	}
	return w.t.b.describe(fd, oPath)
}

// descriptorOf takes a descriptor that a magic link stands for, so that it
// counts how it was opened. The folder w.at is bound to one process for ever;
// if the link is still in it, the process lives, and so it is the one that
// was asked for the descriptor, and not another one under the same number.
func (w *walker) descriptorOf(tid int, n int32, link string) (*object, syscall.Errno) {
	o, errno := w.t.b.takeFrom(tid, n)
	if errno == syscall.EBADF {
		errno = syscall.ENOENT
	}
	if errno != 0 {
		return nil, errno
	}
	fd, errno := sys.Pin(w.at, link, sys.PinLink)
	if errno != 0 {
		o.close()
		return nil, errno
	}
	_ = syscall.Close(fd)
	return o, 0
}

// procOwner reads whose folder of a proc file system a name is: the thread,
// and the folder's name below it ("fd", "ns", or empty for the thread's own).
// The name is the kernel's: nobody can make folders there.
func procOwner(name string) (tid int, dir string) {
	parts := strings.Split(name, "/")
	last := len(parts) - 1
	if id, err := strconv.Atoi(parts[last]); err == nil {
		return id, ""
	}
	if last == 0 {
		return 0, ""
	}
	if id, err := strconv.Atoi(parts[last-1]); err == nil {
		return id, parts[last]
	}
	return 0, ""
}
