// SPDX-License-Identifier: Apache-2.0

package sys

import (
	"os"

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
