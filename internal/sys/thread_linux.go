// SPDX-License-Identifier: Apache-2.0

package sys

import (
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// BlockThreadSignals blocks, for the calling thread, every signal but those
// that the thread's own faults raise: blocked, they would kill the process
// before Go can turn them into a panic (force_sig_info in kernel/signal.c).
// The caller has locked its goroutine to the thread, for good.
//
// Go's own signals are blocked too: SIGURG, by which it preempts goroutines,
// would interrupt system calls; preemption then waits for the next call.
func BlockThreadSignals() error {
	var set unix.Sigset_t
	for i := range set.Val {
		set.Val[i] = ^set.Val[i]
	}
	bits := unsafe.Sizeof(set.Val[0]) * 8
	for _, s := range []syscall.Signal{unix.SIGSEGV, unix.SIGBUS, unix.SIGFPE, unix.SIGILL, unix.SIGTRAP, unix.SIGABRT} {
		n := uintptr(s) - 1
		set.Val[n/bits] &^= 1 << (n % bits)
	}
	return os.NewSyscallError("rt_sigprocmask", unix.PthreadSigmask(unix.SIG_SETMASK, &set, nil))
}

// DropThreadCapabilities empties the capability sets of the calling thread,
// for good; other threads keep theirs (capset(2): pid 0 is the thread). The
// caller has locked its goroutine to the thread.
func DropThreadCapabilities() error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	return os.NewSyscallError("capset", unix.Capset(&header, &none[0]))
}
