// SPDX-License-Identifier: Apache-2.0

package sys

import (
	"os"

	"golang.org/x/sys/unix"
)

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
