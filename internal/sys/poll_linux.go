// SPDX-License-Identifier: Apache-2.0

package sys

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// PollFD is a descriptor to be waited for, and what has come of it (poll(2)).
type PollFD = unix.PollFd

// Events to wait for.
const (
	PollIn  = unix.POLLIN
	PollOut = unix.POLLOUT
)

// Poll waits until something has come of one of the descriptors, but no longer
// than most.
func Poll(fds []PollFD, most time.Duration) syscall.Errno {
	_, err := unix.Poll(fds, int((most+time.Millisecond-1)/time.Millisecond))
	if err == unix.EINTR {
		err = nil
	}
	return errnoOf(err)
}

// Drain makes a descriptor of NewWakeFD unreadable again.
func Drain(fd int) {
	var count [8]byte
	_, _ = unix.Read(fd, count[:]) // it never blocks
}

// Duplicate returns another descriptor of an open file (F_DUPFD_CLOEXEC,
// fcntl(2)).
func Duplicate(fd int) (int, syscall.Errno) {
	n, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	return n, errnoOf(err)
}
