// SPDX-License-Identifier: Apache-2.0

package seccomp

import (
	"os"
	"syscall"
)

// signalProbes send signals that do nothing, and ask the kernel to.
func signalProbes(want syscall.Errno) []probe {
	const setFlags, setOwner, setSignal, async = 4, 8, 10, 0x2000
	var p [2]int
	if err := syscall.Pipe2(p[:], syscall.O_CLOEXEC); err != nil {
		panic(err)
	}
	fd, self := uintptr(p[0]), uintptr(os.Getpid())
	return []probe{
		{name: "kill", do: raw("kill", self, 0), want: want},
		{name: "tkill", do: raw("tkill", self, 0), want: want},
		{name: "tgkill", do: raw("tgkill", self, self, 0), want: want},
		{name: "rt_sigqueueinfo", do: raw("rt_sigqueueinfo", self, 0, bad), want: want},
		{name: "rt_tgsigqueueinfo", do: raw("rt_tgsigqueueinfo", self, self, 0, bad), want: want},
		{name: "pidfd_send_signal", do: raw("pidfd_send_signal", bad, 0, 0, 0), want: want},
		{name: "F_SETOWN", do: raw("fcntl", fd, setOwner, self), want: want},
		{name: "F_SETOWN of nobody", do: raw("fcntl", fd, setOwner, 0), want: unchanged},
		{name: "F_SETSIG", do: raw("fcntl", fd, setSignal, 0), want: want},
		{name: "F_SETFL", do: raw("fcntl", fd, setFlags, syscall.O_NONBLOCK), want: unchanged},
		{name: "O_ASYNC", do: raw("fcntl", fd, setFlags, async), want: want},
		{name: "FIOASYNC", do: raw("ioctl", fd, 0x5452, address(&zero)), want: want},
	}
}

var zero int32
