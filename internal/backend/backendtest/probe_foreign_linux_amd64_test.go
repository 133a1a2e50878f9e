// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"errors"
	"runtime/debug"
	"syscall"
	"unsafe"
)

// foreignOperations are calls of getpid by the entries that are not the
// 64-bit one.
func foreignOperations() map[string]operation {
	return map[string]operation{"x32": x32GetPID, "int80": int80GetPID}
}

// x32GetPID: x32 numbers have bit 30 set (__X32_SYSCALL_BIT, asm/unistd.h).
func x32GetPID([]string) (string, error) {
	r, _, errno := syscall.RawSyscall(0x40000000|syscall.SYS_GETPID, 0, 0, 0)
	if errno != 0 {
		return "", errno
	}
	return "entered", errnoOfResult(r)
}

// int80GetPID runs machine code, since no Go function uses that entry. The
// code keeps to the registers that a Go function may change.
// Kernels without that entry end the instruction with a fault, error "fault".
func int80GetPID([]string) (detail string, err error) {
	debug.SetPanicOnFault(true)
	defer func() {
		if recover() != nil {
			detail, err = "", errors.New("fault")
		}
	}()
	code := []byte{
		0xb8, 20, 0, 0, 0, // mov eax, 20: getpid of the 32-bit table
		0xcd, 0x80, // int 0x80
		0xc3, // ret: Go's ABI returns the first result in rax
	}
	page, err := syscall.Mmap(-1, 0, 4096, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		return "mmap", err
	}
	copy(page, code)
	if err := syscall.Mprotect(page, syscall.PROT_READ|syscall.PROT_EXEC); err != nil {
		return "mprotect", err
	}
	entry := &page[0]
	function := &entry // a func value points to where its code's address is
	call := *(*func() int32)(unsafe.Pointer(&function))
	if r := call(); r < 0 {
		return "", syscall.Errno(-r)
	}
	return "entered", nil
}

func errnoOfResult(r uintptr) error {
	if int(r) < 0 {
		return syscall.Errno(-int(r))
	}
	return nil
}
