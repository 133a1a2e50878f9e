// SPDX-License-Identifier: Apache-2.0

package sys

import (
	"golang.org/x/sys/unix"
)

// AwaitEnd waits until a child has ended, and leaves it to be waited for: its
// number can't become another process's meanwhile (waitid(2), WNOWAIT). It
// returns at once where there is no such child.
func AwaitEnd(pid int) {
	for unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT|unix.WALL, nil) == unix.EINTR {
		continue
	}
}

// ReapEnded waits for the process that a pidfd stands for, if it is a child
// that has ended (waitid(2), P_PIDFD). It never blocks.
func ReapEnded(pidfd int) {
	for unix.Waitid(unix.P_PIDFD, pidfd, nil, unix.WEXITED|unix.WNOHANG|unix.WALL, nil) == unix.EINTR {
		continue
	}
}
