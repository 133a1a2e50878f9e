// SPDX-License-Identifier: Apache-2.0

package sys

import (
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// TryListener installs, on the calling thread, a seccomp filter that allows
// everything and has a user-notification listener, and returns the listener.
// It sets no_new_privs. Filters can't be taken away again, so this belongs
// into a process that ends afterwards.
//
// EBUSY means that a filter of this process has a listener already; the
// kernel allows one per process tree (init_listener in kernel/seccomp.c).
func TryListener() (int, error) {
	if err := SetNoNewPrivs(); err != nil {
		return -1, err
	}
	allow := unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW}
	prog := unix.SockFprog{Len: 1, Filter: &allow}
	const flags = unix.SECCOMP_FILTER_FLAG_NEW_LISTENER | unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
	fd, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags,
		uintptr(unsafe.Pointer(&prog)))
	runtime.KeepAlive(&allow)
	if errno != 0 {
		return -1, os.NewSyscallError("seccomp", errno)
	}
	return int(fd), nil
}

// SetSyncWakeUp tells the kernel that the listener's two sides wait for each
// other, so that a notification need not wake another processor (Linux 6.6;
// EINVAL before).
func SetSyncWakeUp(listener int) error {
	_, _, errno := unix.RawSyscall(unix.SYS_IOCTL, uintptr(listener),
		unix.SECCOMP_IOCTL_NOTIF_SET_FLAGS, unix.SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP)
	if errno != 0 {
		return os.NewSyscallError("ioctl(SECCOMP_IOCTL_NOTIF_SET_FLAGS)", errno)
	}
	return nil
}
