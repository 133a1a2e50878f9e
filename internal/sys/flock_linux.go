// SPDX-License-Identifier: Apache-2.0

package sys

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// TryLock takes the lock of an open file or folder for its open description
// alone, and does not wait: EWOULDBLOCK says that another one has it. The
// kernel gives it up when the last descriptor is closed, at the latest when
// the process ends (flock(2)).
func TryLock(fd int) syscall.Errno {
	for {
		if err := unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB); err != unix.EINTR {
			return errnoOf(err)
		}
	}
}
