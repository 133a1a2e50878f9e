// SPDX-License-Identifier: Apache-2.0

package sys

import (
	"os"

	"golang.org/x/sys/unix"
)

// LandlockABI returns the highest Landlock ABI that the running kernel
// offers, 1 or more.
//
// Errors are an *os.SyscallError. ENOSYS: the kernel is built without
// Landlock, or a seccomp filter hides the call. EOPNOTSUPP: built in, but not
// among the security modules started at boot. EPERM: a seccomp filter refuses
// the call, since the kernel itself asks for no privilege here
// (landlock_create_ruleset(2), ERRORS).
func LandlockABI() (int, error) {
	n, err := landlockQuery(unix.LANDLOCK_CREATE_RULESET_VERSION)
	return int(n), err
}

// LandlockErrata returns the mask of fixed errata: bit n-1 stands for erratum
// n. A kernel older than the query (6.15, and stable kernels without the
// backport) answers EINVAL, which says nothing about the errata.
func LandlockErrata() (uint32, error) {
	n, err := landlockQuery(unix.LANDLOCK_CREATE_RULESET_ERRATA)
	return uint32(n), err
}

// landlockQuery calls landlock_create_ruleset(2) in its two forms that create
// nothing.
func landlockQuery(flag uintptr) (uintptr, error) {
	for {
		n, _, errno := unix.RawSyscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, flag)
		switch errno {
		case 0:
			return n, nil
		case unix.EINTR:
			continue
		}
		return 0, os.NewSyscallError("landlock_create_ruleset", errno)
	}
}
