// SPDX-License-Identifier: Apache-2.0

package sys

import (
	"os"
	"runtime"
	"syscall"
	"unsafe"
)

// The runtime's own preparations for a fork, which package syscall uses and
// which are kept for other forking code (their comments in runtime/proc.go):
// signals are blocked around it, and the child gets default handlers back
// for all signals but the ignored ones, and the caller's signal mask.

//go:linkname beforeFork syscall.runtime_BeforeFork
func beforeFork()

//go:linkname afterFork syscall.runtime_AfterFork
func afterFork()

//go:linkname afterForkInChild syscall.runtime_AfterForkInChild
func afterForkInChild()

// StepFailure is what a forked child reports when a step fails. Its layout is
// the report's wire format.
type StepFailure struct {
	Index int32 // of the step
	Errno int32
}

// ForkSteps forks a child that makes the given calls, the last of which are
// to be execs. A failing call ends the child with status 125, after it wrote
// a [StepFailure] to the descriptor report, which exec must close.
//
// The child is a child of the calling thread, as far as its parent-death
// signal goes: the caller has locked its goroutine to it.
func ForkSteps(steps []Step, report int) (int, error) {
	syscall.ForkLock.Lock()
	defer syscall.ForkLock.Unlock()
	pid, errno := forkSteps(steps, uintptr(report))
	runtime.KeepAlive(steps)
	if errno != 0 {
		return 0, errno
	}
	return int(pid), nil
}

// forkSteps returns only in the parent.
//
// Preconditions in the child, between fork and exec: no allocation, no lock,
// no stack growth, no call but raw system calls. Other threads do not exist
// there, and what they held stays held.
//
//go:noinline
//go:norace
//go:nocheckptr
func forkSteps(steps []Step, report uintptr) (pid uintptr, errno syscall.Errno) {
	var failed StepFailure
	beforeFork()
	pid, _, errno = syscall.RawSyscall6(syscall.SYS_CLONE, uintptr(syscall.SIGCHLD), 0, 0, 0, 0, 0)
	if errno != 0 || pid != 0 {
		afterFork()
		return pid, errno
	}
	afterForkInChild()
	for i := range steps {
		s := &steps[i]
		r, _, e := syscall.RawSyscall6(s.nr, s.args[0], s.args[1], s.args[2], s.args[3], s.args[4], s.args[5])
		if e == 0 && s.want != 0 && r != s.want {
			e = syscall.ECANCELED
		}
		if e == 0 {
			if s.store != nil {
				*s.store = int32(r)
			}
			continue
		}
		// Of several files that can't be executed, the first one that is
		// there tells most; execvp(3) reports EACCES in the same way.
		if failed.Errno == 0 || syscall.Errno(failed.Errno) == syscall.ENOENT {
			failed.Index, failed.Errno = int32(i), int32(e)
		}
		if !s.exec {
			break
		}
	}
	_, _, _ = syscall.RawSyscall(syscall.SYS_WRITE, report, uintptr(unsafe.Pointer(&failed)), unsafe.Sizeof(failed))
	for {
		_, _, _ = syscall.RawSyscall(syscall.SYS_EXIT_GROUP, 125, 0, 0)
	}
}

// ReadFailure waits at the other end of a fork's report pipe until the child
// has either executed the command (the pipe ends) or reported a failed step.
func ReadFailure(fd int) (f StepFailure, failed bool, err error) {
	buf := unsafe.Slice((*byte)(unsafe.Pointer(&f)), unsafe.Sizeof(f))
	for {
		n, err := syscall.Read(fd, buf)
		switch {
		case err == syscall.EINTR:
			continue
		case err != nil:
			return f, false, os.NewSyscallError("read", err)
		case n != 0 && n != len(buf):
			return f, false, os.NewSyscallError("read", syscall.EIO) // a pipe keeps 8 bytes together
		}
		return f, n != 0, nil
	}
}
