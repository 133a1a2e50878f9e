// SPDX-License-Identifier: Apache-2.0

package sys

import (
	"os"

	"golang.org/x/sys/unix"
)

// DuplicateFrom returns another descriptor of an open file, of the lowest free
// number from least on (F_DUPFD_CLOEXEC, fcntl(2)).
func DuplicateFrom(fd, least int) (int, error) {
	n, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, least)
	return n, os.NewSyscallError("fcntl(F_DUPFD_CLOEXEC)", err)
}

// StreamPair returns two connected unix stream sockets.
func StreamPair() (a, b int, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, -1, os.NewSyscallError("socketpair", err)
	}
	return fds[0], fds[1], nil
}

// SendSome writes as much to a stream socket as it takes, and descriptors at
// the first byte. It returns how many bytes that was.
func SendSome(fd int, b []byte, pass ...int) (int, error) {
	var oob []byte
	if len(pass) > 0 {
		oob = unix.UnixRights(pass...)
	}
	for {
		n, err := unix.SendmsgN(fd, b, oob, nil, unix.MSG_NOSIGNAL)
		if err != unix.EINTR {
			return n, os.NewSyscallError("sendmsg", err)
		}
	}
}
