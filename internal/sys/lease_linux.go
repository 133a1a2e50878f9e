// SPDX-License-Identifier: Apache-2.0

package sys

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// LeaseReading takes a lease on a file that is open for reading (fcntl(2),
// "Leases"). EAGAIN: somebody has it open for writing. As long as the lease
// lasts, whoever opens it for writing or truncates it waits, and a signal,
// SIGIO, that the Go runtime ignores says so.
func LeaseReading(fd int) syscall.Errno {
	_, err := unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_RDLCK)
	return errnoOf(err)
}

// LeasesReading reports whether a lease for reading lasts, and nobody waits
// for its end.
func LeasesReading(fd int) bool {
	kind, err := unix.FcntlInt(uintptr(fd), unix.F_GETLEASE, 0)
	return err == nil && kind == unix.F_RDLCK
}
