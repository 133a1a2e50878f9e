// SPDX-License-Identifier: Apache-2.0

package sys

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// OpenProcess returns a pidfd of a process. EINVAL, since Linux 6.9 ENOENT:
// the number is that of a thread which does not lead its process.
func OpenProcess(pid int) (int, syscall.Errno) {
	fd, err := unix.PidfdOpen(pid, 0)
	return fd, errnoOf(err)
}

// OpenSingleThread returns a pidfd of a thread, to which SendSignal then
// sends. EINVAL: the kernel has none (before Linux 6.9).
func OpenSingleThread(tid int) (int, syscall.Errno) {
	fd, err := unix.PidfdOpen(tid, pidfdThread)
	return fd, errnoOf(err)
}

// HasThreadPidfds reports whether the kernel has pidfds of threads.
func HasThreadPidfds() bool {
	fd, errno := OpenSingleThread(unix.Getpid())
	if errno != 0 {
		return false
	}
	_ = unix.Close(fd)
	return true
}

// SendSignal sends a signal to what a pidfd stands for
// (pidfd_send_signal(2)). info is a siginfo_t, or nil.
func SendSignal(pidfd int, sig int32, info []byte, flags uint32) syscall.Errno {
	_, _, errno := unix.RawSyscall6(unix.SYS_PIDFD_SEND_SIGNAL, uintptr(pidfd), uintptr(sig),
		uintptr(unsafe.Pointer(unsafe.SliceData(info))), uintptr(flags), 0, 0)
	return errno
}

// SiginfoSize is the size of siginfo_t (SI_MAX_SIZE,
// asm-generic/siginfo.h).
const SiginfoSize = 128
