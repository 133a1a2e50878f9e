// SPDX-License-Identifier: Apache-2.0

package sys

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// addFD is struct seccomp_notif_addfd (linux/seccomp.h).
type addFD struct {
	id       uint64
	flags    uint32
	source   uint32
	new      uint32
	newFlags uint32
}

// AddFD puts a duplicate of fd into the process of the caller that waits, and
// returns its number there. flags is 0 or O_CLOEXEC. The call is not answered
// yet: doing both in one (SECCOMP_ADDFD_FLAG_SEND) loses the descriptor when a
// signal comes in between, up to Linux 7.2.
//
// ENOENT, EINPROGRESS: the caller is gone. EMFILE: it has too many already.
func AddFD(listener int, id uint64, fd, flags int) (int, syscall.Errno) {
	a := addFD{id: id, source: uint32(fd), newFlags: uint32(flags)}
	for {
		n, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(listener), unix.SECCOMP_IOCTL_NOTIF_ADDFD,
			uintptr(unsafe.Pointer(&a)))
		if errno != unix.EINTR { // the request was taken back
			return int(n), errno
		}
	}
}
