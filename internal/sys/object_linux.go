// SPDX-License-Identifier: Apache-2.0

package sys

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// Object describes an open object as statx(2) does.
type Object struct {
	Major, Minor uint32
	Inode        uint64
	Mode         uint32
	UID, GID     uint32
	Links        uint32
	// DevMajor and DevMinor are a device node's own numbers.
	DevMajor, DevMinor uint32
	// Mount is the number that mountinfo begins with; 0 is unknown (Linux
	// 5.8).
	Mount uint64
	// Attributes are set, of those that the file system knows.
	Attributes, Known uint64
}

// Attributes of an Object (statx(2), stx_attributes).
const (
	AttrAppend    = unix.STATX_ATTR_APPEND
	AttrImmutable = unix.STATX_ATTR_IMMUTABLE
	AttrVerity    = unix.STATX_ATTR_VERITY
	AttrMountRoot = unix.STATX_ATTR_MOUNT_ROOT
	AttrAutomount = unix.STATX_ATTR_AUTOMOUNT
)

// Flags that InodeFlags returns (ioctl_iflags(2)).
const (
	InodeAppend    = 0x20
	InodeImmutable = 0x10
)

// Describe describes what a descriptor pins; O_PATH is enough.
func Describe(fd int) (Object, syscall.Errno) {
	var s unix.Statx_t
	for {
		err := unix.Statx(fd, "", unix.AT_EMPTY_PATH|unix.AT_NO_AUTOMOUNT, unix.STATX_BASIC_STATS|unix.STATX_MNT_ID, &s)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return Object{}, errnoOf(err)
		}
		break
	}
	o := Object{
		Major: s.Dev_major, Minor: s.Dev_minor, Inode: s.Ino, Mode: uint32(s.Mode), UID: s.Uid, GID: s.Gid,
		Links: s.Nlink, DevMajor: s.Rdev_major, DevMinor: s.Rdev_minor, Attributes: s.Attributes, Known: s.Attributes_mask,
	}
	if s.Mask&unix.STATX_MNT_ID != 0 {
		o.Mount = s.Mnt_id
	}
	return o, 0
}

// MayAccess asks whether this process, with its effective ids, may use the
// pinned object so (R_OK, W_OK, X_OK): 0 if it may. Modules that decide at
// open alone, such as Landlock, have no say in the answer.
func MayAccess(fd int, mode uint32) syscall.Errno {
	return errnoOf(unix.Faccessat2(unix.AT_FDCWD, FDPath(fd), mode, unix.AT_EACCESS))
}
