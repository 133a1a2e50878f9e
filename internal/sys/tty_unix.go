// SPDX-License-Identifier: Apache-2.0

//go:build unix

package sys

import (
	"golang.org/x/sys/unix"
)

// InForeground reports whether this process's group is the foreground group
// of its controlling terminal. Without such a terminal it is not.
func InForeground() bool {
	fd, err := unix.Open("/dev/tty", unix.O_RDONLY|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer func() { _ = unix.Close(fd) }()
	pgrp, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
	return err == nil && pgrp == unix.Getpgrp()
}
