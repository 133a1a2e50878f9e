// SPDX-License-Identifier: Apache-2.0

package sys

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// InodeFlags returns the flags of an open file or folder that chattr(1) shows
// (ioctl_iflags(2), FS_IOC_GETFLAGS); none where the file system has no such
// flags.
func InodeFlags(fd int) (uint32, syscall.Errno) {
	for {
		n, err := unix.IoctlGetInt(fd, unix.FS_IOC_GETFLAGS)
		switch err {
		case nil:
			return uint32(n), 0
		case unix.EINTR:
		case unix.ENOTTY, unix.EOPNOTSUPP, unix.ENOSYS:
			return 0, 0
		default:
			return 0, errnoOf(err)
		}
	}
}
