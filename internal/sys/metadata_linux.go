// SPDX-License-Identifier: Apache-2.0

package sys

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The functions of this file change an object through a descriptor that pins
// it, and return the bare errno: it is somebody else's answer. All but those
// that say so take O_PATH descriptors.

// ChangeMode sets the permission bits. On kernels without fchmodat2 (before
// 6.6) it goes through /proc/self/fd, which reaches the same object.
func ChangeMode(fd int, mode uint32) syscall.Errno {
	for {
		_, _, errno := unix.Syscall6(unix.SYS_FCHMODAT2, uintptr(fd), uintptr(unsafe.Pointer(unsafe.StringData(emptyPath))),
			uintptr(mode), unix.AT_EMPTY_PATH, 0, 0)
		switch errno {
		case unix.EINTR:
		case unix.ENOSYS:
			return changeModeByName(fd, mode)
		default:
			return errno
		}
	}
}

// HasFchmodat2 reports whether the kernel has that call (Linux 6.6). A
// descriptor that can't be open is asked for, so that nothing changes.
func HasFchmodat2() bool {
	_, _, errno := unix.Syscall6(unix.SYS_FCHMODAT2, ^uintptr(0), uintptr(unsafe.Pointer(unsafe.StringData(emptyPath))),
		0, unix.AT_EMPTY_PATH, 0, 0)
	return errno == unix.EBADF
}

// emptyPath, with AT_EMPTY_PATH, means the descriptor itself. It ends in the
// NUL that the kernel looks for.
const emptyPath = "\x00"

func changeModeByName(fd int, mode uint32) syscall.Errno {
	for {
		err := unix.Fchmodat(unix.AT_FDCWD, FDPath(fd), mode, 0)
		if err != unix.EINTR {
			return errnoOf(err)
		}
	}
}

// ChangeOwner sets user and group; ^uint32(0) leaves one as it is.
func ChangeOwner(fd int, uid, gid uint32) syscall.Errno {
	for {
		_, _, errno := unix.Syscall6(unix.SYS_FCHOWNAT, uintptr(fd), uintptr(unsafe.Pointer(unsafe.StringData(emptyPath))),
			uintptr(uid), uintptr(gid), unix.AT_EMPTY_PATH, 0)
		if errno != unix.EINTR {
			return errno
		}
	}
}

// Times are an access and a modification time as utimensat(2) takes them,
// with its special values in the nanoseconds.
type Times [2]struct{ Sec, Nsec int64 }

// Special values of nanoseconds (utimensat(2)).
const (
	TimeNow  = unix.UTIME_NOW
	TimeOmit = unix.UTIME_OMIT
)

// ChangeTimes sets the times, both to now if t is nil. utimensat takes
// AT_EMPTY_PATH since Linux 5.8.
func ChangeTimes(fd int, t *Times) syscall.Errno {
	for {
		_, _, errno := unix.Syscall6(unix.SYS_UTIMENSAT, uintptr(fd), uintptr(unsafe.Pointer(unsafe.StringData(emptyPath))),
			uintptr(unsafe.Pointer(t)), unix.AT_EMPTY_PATH, 0, 0)
		if errno != unix.EINTR {
			return errno
		}
	}
}

// SetAttribute sets an extended attribute, of the link itself if the
// descriptor pins a symbolic link: the jump through /proc/self/fd is not
// followed by another one (nd_jump_link in fs/namei.c).
func SetAttribute(fd int, name string, value []byte, flags int) syscall.Errno {
	for {
		err := unix.Setxattr(FDPath(fd), name, value, flags)
		if err != unix.EINTR {
			return errnoOf(err)
		}
	}
}

// RemoveAttribute removes an extended attribute, as SetAttribute sets it.
func RemoveAttribute(fd int, name string) syscall.Errno {
	for {
		err := unix.Removexattr(FDPath(fd), name)
		if err != unix.EINTR {
			return errnoOf(err)
		}
	}
}
