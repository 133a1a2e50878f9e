// SPDX-License-Identifier: Apache-2.0

package sys

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Requests of ioctl_ns(2) (linux/nsfs.h).
const (
	nsGetUserns   = 0xb701
	nsGetParent   = 0xb702
	nsGetOwnerUID = 0xb704
	nsGetID       = 0x8008b70d
)

// NamespaceOwner opens the user namespace that owns an open namespace. EPERM:
// that one is outside of the caller's own (ioctl_ns(2), NS_GET_USERNS).
func NamespaceOwner(ns int) (int, syscall.Errno) { return openNamespace(ns, nsGetUserns) }

// NamespaceParent opens the parent of an open user namespace; EPERM as with
// NamespaceOwner.
func NamespaceParent(ns int) (int, syscall.Errno) { return openNamespace(ns, nsGetParent) }

func openNamespace(ns int, request uintptr) (int, syscall.Errno) {
	fd, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(ns), request, 0)
	if errno != 0 {
		return -1, errno
	}
	unix.CloseOnExec(int(fd)) // the kernel sets it already (open_related_ns, fs/nsfs.c)
	return int(fd), 0
}

// OwnerUID returns the user who made an open user namespace, as the caller's
// user namespace numbers users (ioctl_ns(2), NS_GET_OWNER_UID).
func OwnerUID(userns int) (uint32, syscall.Errno) {
	var uid uint32
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(userns), nsGetOwnerUID, uintptr(unsafe.Pointer(&uid)))
	return uid, errno
}

// NamespaceID returns a number that no other namespace gets before the next
// start, which an inode number does not promise: it is given away again. ENOTTY:
// this kernel has none (Linux 6.18, NS_GET_ID).
func NamespaceID(ns int) (uint64, syscall.Errno) {
	var id uint64
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(ns), nsGetID, uintptr(unsafe.Pointer(&id)))
	return id, errno
}

// Securebits returns the calling thread's secure bits (PR_GET_SECUREBITS(2const)).
func Securebits() (int, syscall.Errno) {
	n, err := unix.PrctlRetInt(unix.PR_GET_SECUREBITS, 0, 0, 0, 0)
	return n, errnoOf(err)
}

// PeerOf returns the process and user at the other end of a connected unix
// socket of this process, as they were when it was connected (unix(7),
// SO_PEERCRED).
func PeerOf(fd int) (pid int, uid uint32, errno syscall.Errno) {
	c, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return 0, 0, errnoOf(err)
	}
	return int(c.Pid), c.Uid, 0
}

// ReadFrom reads a file of /proc or /sys below an open folder, up to most
// bytes; cut says that there was more.
func ReadFrom(dir int, name string, most int) (text []byte, cut bool, errno syscall.Errno) {
	fd, errno := OpenAt(dir, name, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if errno != 0 {
		return nil, false, errno
	}
	defer unix.Close(fd)
	return readUpTo(fd, most)
}

// readUpTo reads in pieces of 64 KiB: procfs fills at most a page or a few of
// them at a time, and its files have no size.
func readUpTo(fd, most int) (text []byte, cut bool, errno syscall.Errno) {
	buf := make([]byte, 64<<10)
	for {
		n, err := unix.Read(fd, buf)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return text, false, errnoOf(err)
		case n == 0:
			return text, false, 0
		default:
			if len(text)+n > most {
				return append(text, buf[:most-len(text)]...), true, 0
			}
			text = append(text, buf[:n]...)
		}
	}
}
