// SPDX-License-Identifier: Apache-2.0

package sys

import (
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The functions of this file make one system call of somebody else on a
// duplicate of its socket, and return the bare errno: it is the answer.

// SocketKind is what a socket was made as (socket(2)).
type SocketKind struct{ Domain, Type int }

// SocketKindOf asks a socket for its kind. ENOTSOCK: it is none.
func SocketKindOf(fd int) (SocketKind, syscall.Errno) {
	domain, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DOMAIN)
	if err != nil {
		return SocketKind{}, errnoOf(err)
	}
	typ, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TYPE)
	return SocketKind{domain, typ}, errnoOf(err)
}

// SendTimeout returns how long sending, and connecting, may block; 0 is for
// ever (socket(7), SO_SNDTIMEO).
func SendTimeout(fd int) time.Duration {
	tv, err := unix.GetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO)
	if err != nil {
		return 0
	}
	return time.Duration(tv.Nano())
}

// SetFileFlags sets the status flags of an open file (fcntl(2), F_SETFL).
func SetFileFlags(fd, flags int) syscall.Errno {
	_, err := unix.FcntlInt(uintptr(fd), unix.F_SETFL, flags)
	return errnoOf(err)
}

// Connect connects a socket to an address as the kernel knows it, a struct
// sockaddr of some family (connect(2)). EINTR is not retried: the connection
// goes on in the background, and another call would answer EALREADY.
func Connect(fd int, addr []byte) syscall.Errno {
	_, _, errno := unix.Syscall(unix.SYS_CONNECT, uintptr(fd),
		uintptr(unsafe.Pointer(unsafe.SliceData(addr))), uintptr(len(addr)))
	return errno
}

// ScopeAbstractUnix, in Ruleset.Scoped, keeps abstract unix sockets outside
// the domain out of reach (landlock(7), ABI 6).
const ScopeAbstractUnix = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET
