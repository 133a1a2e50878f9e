// SPDX-License-Identifier: Apache-2.0

package sys

import (
	"os"

	"golang.org/x/sys/unix"
)

// RaiseLoopback switches on the loopback interface of the calling thread's
// network namespace, which is down in a new one. It needs CAP_NET_ADMIN there.
func RaiseLoopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return os.NewSyscallError("socket", err)
	}
	defer unix.Close(fd)
	ifr, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	ifr.SetUint16(unix.IFF_UP)
	return os.NewSyscallError("ioctl(SIOCSIFFLAGS)", unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, ifr))
}
