// SPDX-License-Identifier: Apache-2.0

package sys

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// HasWriter reports whether a FIFO that is open for reading, with O_NONBLOCK,
// has been opened for writing since. Nothing is read from it: tee(2) copies,
// into spare, a pipe of the caller's own, and tells an empty FIFO with writers
// (EAGAIN) from one without (0); poll(2) tells of one that has come and gone.
func HasWriter(fifo int, spare [2]int) (bool, syscall.Errno) {
	n, err := unix.Tee(fifo, spare[1], 1, unix.SPLICE_F_NONBLOCK)
	switch {
	case err == unix.EAGAIN:
		return true, 0
	case err != nil:
		return false, errnoOf(err)
	case n > 0:
		return true, 0
	}
	fds := [1]unix.PollFd{{Fd: int32(fifo), Events: unix.POLLIN}}
	_, err = unix.Poll(fds[:], 0)
	if err == unix.EINTR {
		err = nil
	}
	return fds[0].Revents != 0, errnoOf(err)
}

// Pipe returns a pipe that blocks nobody (pipe2(2)).
func Pipe() (ends [2]int, errno syscall.Errno) {
	err := unix.Pipe2(ends[:], unix.O_CLOEXEC|unix.O_NONBLOCK)
	return ends, errnoOf(err)
}
