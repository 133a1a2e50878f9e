// SPDX-License-Identifier: Apache-2.0

package sys

import (
	"os"

	"golang.org/x/sys/unix"
)

// StdioSocket says what a descriptor is, as far as sockets are concerned.
type StdioSocket struct {
	Socket, Unix bool
	// Stream is a connection-based type: SOCK_STREAM or SOCK_SEQPACKET.
	Stream    bool
	Connected bool
}

// SocketOf examines a descriptor. What is no socket answers ENOTSOCK to every
// socket option (getsockopt(2)), and EBADF if it is open with O_PATH.
func SocketOf(f *os.File) (StdioSocket, error) {
	fd := int(f.Fd())
	domain, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DOMAIN)
	if err == unix.ENOTSOCK || err == unix.EBADF {
		return StdioSocket{}, nil
	}
	if err != nil {
		return StdioSocket{}, os.NewSyscallError("getsockopt(SO_DOMAIN)", err)
	}
	kind, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TYPE)
	if err != nil {
		return StdioSocket{}, os.NewSyscallError("getsockopt(SO_TYPE)", err)
	}
	_, err = unix.Getpeername(fd)
	return StdioSocket{
		Socket: true, Unix: domain == unix.AF_UNIX,
		Stream:    kind == unix.SOCK_STREAM || kind == unix.SOCK_SEQPACKET,
		Connected: err == nil,
	}, nil
}

// OpenMode returns the access mode (O_RDONLY, O_WRONLY, O_RDWR) of an open
// regular file or character device. reopens is false for what else it may
// be: a descriptor open with O_PATH, a removed file, a folder, a pipe.
func OpenMode(fd int) (access int, reopens bool, err error) {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err != nil {
		return 0, false, os.NewSyscallError("fcntl(F_GETFL)", err)
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return 0, false, os.NewSyscallError("fstat", err)
	}
	kind := st.Mode & unix.S_IFMT
	reopens = flags&unix.O_PATH == 0 && (kind == unix.S_IFREG || kind == unix.S_IFCHR) && st.Nlink > 0
	return flags & unix.O_ACCMODE, reopens, nil
}

// HasDescriptors reports whether this process's limit allows descriptors up to
// the number n: fcntl(F_DUPFD) answers EINVAL for a lowest number that is
// beyond it (fcntl(2)), and EMFILE if all numbers from there on are taken.
func HasDescriptors(n int) bool {
	fd, err := unix.FcntlInt(2, unix.F_DUPFD_CLOEXEC, n)
	if err == nil {
		_ = unix.Close(fd)
	}
	return err != unix.EINVAL && err != unix.EMFILE
}
