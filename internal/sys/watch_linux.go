// SPDX-License-Identifier: Apache-2.0

package sys

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// Flags of inotify_add_watch(2) that concern how its path is followed.
const (
	WatchLink   = unix.IN_DONT_FOLLOW
	WatchFolder = unix.IN_ONLYDIR
)

// Watch has an inotify instance watch the object that a descriptor pins, and
// returns the number of the watch (inotify_add_watch(2)). A pinned symbolic
// link is meant itself, with WatchLink or without.
func Watch(inotify, fd int, mask uint32) (int, syscall.Errno) {
	if mask&WatchLink != 0 { // it would mean the descriptor's own name, which is a link under /proc
		// A mask must not be empty; IN_UNMOUNT every watch has anyway
		// (inotify_arg_to_mask in fs/notify/inotify/inotify_user.c).
		mask = mask&^WatchLink | unix.IN_UNMOUNT
	}
	for {
		wd, err := unix.InotifyAddWatch(inotify, FDPath(fd), mask)
		if err != unix.EINTR {
			return wd, errnoOf(err)
		}
	}
}

// WatchFault returns what the kernel has to say against a descriptor and a
// mask before it looks at the path (fs/notify/inotify/inotify_user.c), and 0
// if nothing: the path that it is given then is none.
func WatchFault(inotify int, mask uint32) syscall.Errno {
	_, _, errno := unix.Syscall(unix.SYS_INOTIFY_ADD_WATCH, uintptr(inotify), 0, uintptr(mask))
	if errno == unix.EFAULT {
		return 0
	}
	return errno
}
