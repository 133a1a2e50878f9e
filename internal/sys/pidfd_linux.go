// SPDX-License-Identifier: Apache-2.0

package sys

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// pidfdThread is PIDFD_THREAD (linux/pidfd.h, Linux 6.9): the descriptor
// stands for one thread, and pidfd_getfd takes from its own table.
const pidfdThread = unix.O_EXCL

// OpenThread returns a pidfd of a thread. EINVAL: the kernel can't name a
// thread that does not lead its process (before 6.9).
func OpenThread(tid int) (int, syscall.Errno) {
	fd, err := unix.PidfdOpen(tid, pidfdThread)
	if err == unix.EINVAL {
		fd, err = unix.PidfdOpen(tid, 0)
	}
	return fd, errnoOf(err)
}

// TakeFD duplicates a descriptor of the process or thread that pidfd stands
// for: both then share one open file description (pidfd_getfd(2)). EBADF: it
// has no such descriptor.
func TakeFD(pidfd, fd int) (int, syscall.Errno) {
	dup, err := unix.PidfdGetfd(pidfd, fd, 0)
	return dup, errnoOf(err)
}

// SameDescriptors reports whether two threads share one table of descriptors
// (kcmp(2), KCMP_FILES). It is false where the kernel would not say.
func SameDescriptors(tid1, tid2 int) bool {
	r, _, errno := unix.RawSyscall6(unix.SYS_KCMP, uintptr(tid1), uintptr(tid2), kcmpFiles, 0, 0, 0)
	return errno == 0 && r == 0
}

// kcmpFiles is KCMP_FILES (linux/kcmp.h).
const kcmpFiles = 2
