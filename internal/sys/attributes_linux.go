// SPDX-License-Identifier: Apache-2.0

package sys

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// The functions of this file read of an object through a descriptor that pins
// it, O_PATH too, and return the bare errno: it is somebody else's answer. As
// with SetAttribute, a pinned symbolic link is meant itself.

// ReadAttribute copies the value of an extended attribute into buf and returns
// its length; with an empty buf only that. ERANGE: it is longer than buf.
func ReadAttribute(fd int, name string, buf []byte) (int, syscall.Errno) {
	for {
		n, err := unix.Getxattr(FDPath(fd), name, buf)
		if err != unix.EINTR {
			return n, errnoOf(err)
		}
	}
}

// ListAttributes copies the names of the extended attributes into buf, each
// with a NUL behind it, and returns their length; with an empty buf only that.
// ERANGE: they are longer than buf.
func ListAttributes(fd int, buf []byte) (int, syscall.Errno) {
	for {
		n, err := unix.Listxattr(FDPath(fd), buf)
		if err != unix.EINTR {
			return n, errnoOf(err)
		}
	}
}
