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
