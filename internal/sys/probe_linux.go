// SPDX-License-Identifier: Apache-2.0

package sys

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Flags of seccomp(SECCOMP_SET_MODE_FILTER), for SeccompTryFlags.
const (
	SeccompNewListener      = unix.SECCOMP_FILTER_FLAG_NEW_LISTENER
	SeccompWaitKillableRecv = unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
)

// NotifSizes are the sizes in bytes of the user-notification structures as
// the running kernel knows them (seccomp(2), SECCOMP_GET_NOTIF_SIZES).
type NotifSizes struct {
	Notif uint16 // struct seccomp_notif
	Resp  uint16 // struct seccomp_notif_resp
	Data  uint16 // struct seccomp_data
}

// KernelRelease returns the release of the running kernel, as uname -r prints
// it. It names a kernel to people and decides nothing: enterprise kernels
// carry newer features under old numbers.
func KernelRelease() (string, error) {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return "", os.NewSyscallError("uname", err)
	}
	return unix.ByteSliceToString(u.Release[:]), nil
}

// SeccompTryFlags asks, without installing anything, whether the kernel can
// install filters with these flags, and returns nil if it can. It passes no
// program: the kernel looks at the flags first (EINVAL for an unknown one)
// and fails with EFAULT only when it then reads the program
// (seccomp_set_mode_filter in kernel/seccomp.c; TestSeccompFlagProbe). Any
// other error comes from a filter that refuses seccomp(2) itself.
func SeccompTryFlags(flags uintptr) error {
	err := seccomp(unix.SECCOMP_SET_MODE_FILTER, flags, nil)
	if err == unix.EFAULT {
		return nil
	}
	return os.NewSyscallError("seccomp", err)
}

// SeccompNotifSizes returns the kernel's sizes of the notification
// structures; EINVAL on a kernel without user notification (before 5.0).
func SeccompNotifSizes() (NotifSizes, error) {
	var s NotifSizes
	if err := seccomp(unix.SECCOMP_GET_NOTIF_SIZES, 0, unsafe.Pointer(&s)); err != 0 {
		return NotifSizes{}, os.NewSyscallError("seccomp", err)
	}
	return s, nil
}

// seccomp is the bare system call. Success of SECCOMP_SET_MODE_FILTER with no
// program does not exist, so no caller here changes the process.
func seccomp(op, flags uintptr, arg unsafe.Pointer) unix.Errno {
	for {
		_, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, op, flags, uintptr(arg))
		if errno != unix.EINTR {
			return errno
		}
	}
}
