// SPDX-License-Identifier: Apache-2.0

package sys

import (
	"os"

	"golang.org/x/sys/unix"
)

// ReadMemory copies memory of another process from addr into buf and returns
// how much it got: less than asked for where the mapping ends. It needs
// ptrace access to the process (process_vm_readv(2), EPERM).
func ReadMemory(pid int, addr uintptr, buf []byte) (int, error) {
	if len(buf) == 0 {
		return 0, nil
	}
	local := []unix.Iovec{{Base: &buf[0]}}
	local[0].SetLen(len(buf))
	remote := []unix.RemoteIovec{{Base: addr, Len: len(buf)}}
	n, err := unix.ProcessVMReadv(pid, local, remote, 0)
	return max(n, 0), os.NewSyscallError("process_vm_readv", err)
}
