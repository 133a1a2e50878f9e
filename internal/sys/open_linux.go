// SPDX-License-Identifier: Apache-2.0

package sys

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// OpenPath pins the object that name leads to, following symbolic links, with
// no access to its content (O_PATH, open(2)).
func OpenPath(name string) (int, error) {
	return retryFD("open", name, func() (int, error) {
		return unix.Open(name, unix.O_PATH|unix.O_CLOEXEC, 0)
	})
}

// OpenPathCanonical pins the object under a name that must hold no symbolic
// link at all: ELOOP says that one was put there since the name was learnt
// (RESOLVE_NO_SYMLINKS, openat2(2)).
func OpenPathCanonical(name string) (int, error) {
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS}
	return retryFD("openat2", name, func() (int, error) {
		return unix.Openat2(unix.AT_FDCWD, name, &how)
	})
}

// OpenPathAt pins what stands under a name in an open folder, a symbolic link
// itself.
func OpenPathAt(dir int, name string) (int, error) {
	return retryFD("openat", name, func() (int, error) {
		return unix.Openat(dir, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	})
}

func retryFD(op, name string, open func() (int, error)) (int, error) {
	for {
		fd, err := open()
		switch err {
		case nil:
			return fd, nil
		case unix.EINTR: // a signal without SA_RESTART; nothing was opened
		default:
			return -1, &os.PathError{Op: op, Path: name, Err: err}
		}
	}
}

// LstatAt describes what stands under a name in an open folder, a symbolic
// link itself.
func LstatAt(dir int, name string, st *syscall.Stat_t) error {
	var u unix.Stat_t
	err := unix.Fstatat(dir, name, &u, unix.AT_SYMLINK_NOFOLLOW)
	*st = syscall.Stat_t{Dev: u.Dev, Ino: u.Ino, Mode: u.Mode, Nlink: u.Nlink, Uid: u.Uid, Gid: u.Gid, Size: u.Size}
	return err
}
