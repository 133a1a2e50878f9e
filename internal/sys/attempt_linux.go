// SPDX-License-Identifier: Apache-2.0

package sys

import (
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Attempt makes one system call in a way that succeeds wherever the kernel
// has it and that changes nothing outside the calling process. What stops it
// is then a seccomp filter, a security module, or a kernel without the call.
type Attempt struct {
	Call string // the system call's name
	Try  func() error
}

// Attempts returns the calls that a sandboxed run makes and that container
// runtimes are known to refuse. They set no_new_privs and the subreaper flag
// of the caller, so they belong into a process that ends afterwards.
func Attempts() []Attempt {
	return []Attempt{
		{"landlock_create_ruleset", tryRuleset},
		{"landlock_add_rule", tryAddRule},
		{"landlock_restrict_self", tryRestrictSelf},
		{"seccomp", func() error { return SeccompTryFlags(0) }},
		{"prctl", tryPrctl},
		{"memfd_create", tryMemfd},
		{"close_range", tryCloseRange},
		{"openat2", tryOpenat2},
		{"pidfd_open", tryPidfdOpen},
		{"pidfd_send_signal", tryPidfdSignal},
		{"pidfd_getfd", tryPidfdGetfd},
		{"process_vm_readv", tryReadMemory},
	}
}

func tryRuleset() error {
	_, err := LandlockABI()
	return err
}

// tryAddRule, like the others that need a descriptor, passes one that cannot
// exist: EBADF then proves that the call reached the kernel.
func tryAddRule() error {
	return unlessBadFD(LandlockAllow(-1, unix.LANDLOCK_ACCESS_FS_EXECUTE, -1))
}

// tryRestrictSelf sets no_new_privs first, which the kernel asks for before
// it looks at the descriptor (landlock_restrict_self(2), EPERM).
func tryRestrictSelf() error {
	if err := SetNoNewPrivs(); err != nil {
		return err
	}
	return unlessBadFD(LandlockRestrictSelf(-1, 0))
}

func unlessBadFD(err error) error {
	if s, ok := err.(*os.SyscallError); ok && s.Err == unix.EBADF {
		return nil
	}
	return err
}

func tryPrctl() error {
	if err := SetNoNewPrivs(); err != nil {
		return err
	}
	return BecomeSubreaper()
}

func tryMemfd() error {
	f, err := SealedMemfd("probe", []byte("x"))
	if err != nil {
		return err
	}
	defer f.Close()
	sealed, err := IsSealed(int(f.Fd()))
	if err == nil && !sealed {
		err = os.NewSyscallError("fcntl(F_GET_SEALS)", syscall.EINVAL)
	}
	return err
}

// tryCloseRange names the highest descriptor number alone, which no process
// can hold.
func tryCloseRange() error {
	const highest = ^uint32(0)
	return os.NewSyscallError("close_range", unix.CloseRange(uint(highest), uint(highest), 0))
}

func tryOpenat2() error {
	fd, err := OpenPathCanonical("/")
	if err == nil {
		err = unix.Close(fd)
	}
	return err
}

func tryPidfdOpen() error {
	fd, err := unix.PidfdOpen(os.Getpid(), 0)
	if err == nil {
		err = unix.Close(fd)
	}
	return os.NewSyscallError("pidfd_open", err)
}

func tryPidfdSignal() error {
	return unlessBadFD(os.NewSyscallError("pidfd_send_signal", unix.PidfdSendSignal(-1, 0, nil, 0)))
}

func tryPidfdGetfd() error {
	_, err := unix.PidfdGetfd(-1, 0, 0)
	return unlessBadFD(os.NewSyscallError("pidfd_getfd", err))
}

// pattern is what tryReadMemory reads back. It is not on a stack, which Go
// may move while its address is on the way to the kernel.
var pattern = [8]byte{1, 2, 3, 4, 5, 6, 7, 8}

func tryReadMemory() error {
	var got [len(pattern)]byte
	n, errno := CopyMemory(os.Getpid(), uint64(uintptr(unsafe.Pointer(&pattern))), got[:])
	if errno == 0 && (n != len(got) || got != pattern) {
		errno = syscall.EIO
	}
	if errno != 0 {
		return os.NewSyscallError("process_vm_readv", errno)
	}
	return nil
}
