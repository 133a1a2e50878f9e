// SPDX-License-Identifier: Apache-2.0

package sys

import (
	"os"

	"golang.org/x/sys/unix"
)

// Capability numbers that decide what a host offers to us.
const (
	CapSysPtrace = unix.CAP_SYS_PTRACE
	CapSysAdmin  = unix.CAP_SYS_ADMIN
)

// EffectiveCaps returns the calling thread's effective capabilities, bit n
// for capability n (capget(2), version 3).
func EffectiveCaps() (uint64, error) {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return 0, os.NewSyscallError("capget", err)
	}
	return uint64(data[1].Effective)<<32 | uint64(data[0].Effective), nil
}

// CapSetpcap allows dropping capabilities from the bounding set
// (capabilities(7)).
const CapSetpcap = unix.CAP_SETPCAP

// LastCap returns the highest capability number that the kernel knows:
// PR_CAPBSET_READ answers EINVAL above it (PR_CAPBSET_READ(2const)).
func LastCap() int {
	for c := 63; c > 0; c-- {
		if _, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, uintptr(c), 0, 0, 0); err == nil {
			return c
		}
	}
	return 0
}

// StepDropBounding takes a capability out of the bounding set.
func StepDropBounding(c int) Step { return StepPrctl(unix.PR_CAPBSET_DROP, uintptr(c)) }

// StepClearAmbient empties the ambient set.
func StepClearAmbient() Step { return StepPrctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL) }

// StepLockSecurebits ends root's special treatment by exec and setuid, for
// ever: SECBIT_NOROOT, NO_SETUID_FIXUP and NO_CAP_AMBIENT_RAISE, each with
// its lock, and KEEP_CAPS_LOCKED (capabilities(7), "The securebits flags").
func StepLockSecurebits() Step { return StepPrctl(unix.PR_SET_SECUREBITS, 0xef) }
