// SPDX-License-Identifier: Apache-2.0

package sys

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// rlimitLocks is RLIMIT_LOCKS (asm-generic/resource.h): the number of file
// locks up to Linux 2.4.24, and without a meaning since (getrlimit(2)).
const rlimitLocks = 10

// LocksLimit returns the hard limit of locks of the process that a thread
// belongs to; 0 is the caller's.
func LocksLimit(tid int) (uint64, syscall.Errno) {
	var l unix.Rlimit
	err := unix.Prlimit(tid, rlimitLocks, nil, &l)
	return l.Max, errnoOf(err)
}

// LowerLocksLimit sets the limit of locks of the process that a thread belongs
// to, which must be one of the same user and group (prlimit(2)).
func LowerLocksLimit(tid int, limit uint64) syscall.Errno {
	return errnoOf(unix.Prlimit(tid, rlimitLocks, &unix.Rlimit{Cur: limit, Max: limit}, nil))
}
