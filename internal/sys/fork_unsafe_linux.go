// SPDX-License-Identifier: Apache-2.0

package sys

import (
	"os"
	"runtime"
	"syscall"
	_ "unsafe" // for go:linkname
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

// vfork is clone(2). In the child it returns on the parent's stack.
//
//go:noescape
func vfork(flags uintptr) (pid, errno uintptr)

// StepFailure is a step that failed in the child, and how. Errno 0 is none.
type StepFailure struct {
	Index int
	Errno syscall.Errno
}

// ForkSteps starts a child that makes the given calls, the last of which are
// to be execs, and returns when it has executed or ended. A failing call ends
// the child with status 125.
//
// The child is a child of the calling thread, as far as its parent-death
// signal goes: the caller has locked its goroutine to it. The child borrows
// this process's memory meanwhile and the thread waits, as with vfork(2):
// nothing is copied, and what failed needs no pipe.
func ForkSteps(steps []Step) (pid int, failed StepFailure, err error) {
	syscall.ForkLock.Lock()
	defer syscall.ForkLock.Unlock()
	child, errno := forkSteps(steps, &failed)
	runtime.KeepAlive(steps)
	if errno != 0 {
		return 0, failed, os.NewSyscallError("clone", syscall.Errno(errno))
	}
	return int(child), failed, nil
}

// forkSteps returns only in the parent, whose frames above this one the child
// leaves alone.
//
// Preconditions in the child, between fork and exec: no allocation, no lock,
// no stack growth, no call but raw system calls. The memory is shared, so all
// that it may write to is what steps store and *failed; its signal handlers are
// its own (CLONE_SIGHAND is not set, clone(2)), and none runs before they are
// the defaults: signals are blocked until then, as in syscall.forkAndExecInChild,
// which clones with the same flags.
//
//go:noinline
//go:norace
//go:nocheckptr
func forkSteps(steps []Step, failed *StepFailure) (pid, errno uintptr) {
	beforeFork()
	pid, errno = vfork(uintptr(syscall.SIGCHLD) | syscall.CLONE_VM | syscall.CLONE_VFORK)
	if errno != 0 || pid != 0 {
		afterFork()
		return pid, errno
	}
	afterForkInChild()
	runSteps(steps, failed)
	for {
		_, _, _ = syscall.RawSyscall(syscall.SYS_EXIT_GROUP, 125, 0, 0)
	}
}

//go:noinline
//go:nosplit
//go:norace
//go:nocheckptr
func runSteps(steps []Step, failed *StepFailure) {
	var worst StepFailure
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
		if worst.Errno == 0 || worst.Errno == syscall.ENOENT {
			worst.Index, worst.Errno = i, e
		}
		if !s.exec {
			break
		}
	}
	// Not before: the parent sees it, and a later file may be executed.
	failed.Index, failed.Errno = worst.Index, worst.Errno
}
