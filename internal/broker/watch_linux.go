// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/plan"
	"github.com/ambit-sandbox/ambit/internal/sys"
)

// addWatch serves inotify_add_watch: fs/notify/inotify/inotify_user.c. The
// watch is put into the caller's own instance, through a duplicate of its
// descriptor, and counts for whoever made the instance. What it then tells of
// is the object, whatever becomes of its name, as with a descriptor that was
// opened.
func addWatch(t *task) syscall.Errno {
	instance, flags, errno := t.duplicate(t.reg(0))
	switch {
	case errno == syscall.EBADF:
		instance = -1
	case errno != 0:
		return errno
	default:
		defer func() { _ = syscall.Close(instance) }()
	}
	if flags&oPath != 0 {
		return sys.WatchFault(-1, uint32(t.args[2]))
	}
	mask := uint32(t.args[2])
	if errno := sys.WatchFault(instance, mask); errno != 0 {
		return errno
	}
	var how naming
	if mask&sys.WatchLink != 0 {
		how = noFollow
	}
	on, errno := t.path(sys.AtCWD, 1, how)
	if errno != 0 {
		return errno
	}
	return t.watch(instance, on, mask)
}

func (t *task) watch(instance int, on target, mask uint32) syscall.Errno {
	o, errno := t.pin(on)
	if errno != 0 {
		return errno
	}
	defer o.close()
	if errno := t.alive(); errno != 0 {
		return errno
	}
	if mask&sys.WatchFolder != 0 && o.stat.Mode&syscall.S_IFMT != syscall.S_IFDIR {
		return syscall.ENOTDIR
	}
	if ok, node := t.mayRead(o); !ok {
		t.wants = plan.Read
		return t.refuse(on.String(), o.name, node, syscall.EACCES)
	}
	wd, errno := sys.Watch(instance, o.fd, mask)
	t.value = int64(wd)
	return errno
}
