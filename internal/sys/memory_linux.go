// SPDX-License-Identifier: Apache-2.0

package sys

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// PlaceMemory copies buf to addr in the process that tid belongs to, as far as
// that may be written by itself, and returns how much it was
// (process_vm_writev(2)).
func PlaceMemory(tid int, addr uint64, buf []byte) (int, syscall.Errno) {
	if len(buf) == 0 {
		return 0, 0
	}
	local := unix.Iovec{Base: &buf[0]}
	local.SetLen(len(buf))
	remote := unix.RemoteIovec{Base: uintptr(addr), Len: len(buf)}
	n, _, errno := unix.Syscall6(unix.SYS_PROCESS_VM_WRITEV, uintptr(tid),
		uintptr(unsafe.Pointer(&local)), 1, uintptr(unsafe.Pointer(&remote)), 1, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(n), 0
}
