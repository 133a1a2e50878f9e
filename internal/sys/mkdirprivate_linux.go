// SPDX-License-Identifier: Apache-2.0

package sys

import (
	"os"

	"golang.org/x/sys/unix"
)

// MkdirPrivate makes a folder for its owner alone (mode 0700), whatever the
// umask is. The umask itself is left alone: it is the whole process's
// (umask(2)), and two threads that set it aside and put it back at once leave
// one's value to everybody for good. Where it takes rights of the owner away,
// they are given back to the new folder, by a descriptor: the name may have
// come to mean another object meanwhile, and only a folder of the caller's own
// is touched (EEXIST otherwise).
func MkdirPrivate(name string) error {
	err := unix.Mkdir(name, 0o700)
	if err == nil {
		err = givePrivate(name)
	}
	if err != nil {
		return &os.PathError{Op: "mkdir", Path: name, Err: err}
	}
	return nil
}

func givePrivate(name string) error {
	fd, err := unix.Open(name, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	var st unix.Stat_t
	switch err := unix.Fstat(fd, &st); {
	case err != nil:
		return err
	case int(st.Uid) != unix.Geteuid():
		return unix.EEXIST
	case st.Mode&0o777 == 0o700:
		return nil
	}
	return unix.Chmod(FDPath(fd), 0o700)
}
