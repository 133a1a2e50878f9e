// SPDX-License-Identifier: Apache-2.0

package sys

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Step is one system call that a forked child makes before it becomes the
// command. Everything it needs is laid out before the fork: after it, the
// child of a process with several threads may neither allocate nor lock nor
// grow its stack, so it only runs down a list of such steps.
type Step struct {
	nr   uintptr
	args [6]uintptr
	// exec marks execve: it returns only on failure, and the next step may
	// then try another file.
	exec bool
	// want, if not 0, is the only result that is a success.
	want uintptr
	// store receives the result, where a later step's arguments hold it.
	store *int32
	// keep holds what args point to, so that it stays allocated.
	keep []any
}

func step(nr uintptr, args ...uintptr) Step {
	s := Step{nr: nr}
	copy(s.args[:], args)
	return s
}

// StepRlimit sets soft and hard limit of a resource (RLIMIT_*).
func StepRlimit(resource int, soft, hard uint64) Step {
	lim := &unix.Rlimit{Cur: soft, Max: hard}
	s := step(unix.SYS_PRLIMIT64, 0, uintptr(resource), uintptr(unsafe.Pointer(lim)), 0)
	s.keep = []any{lim}
	return s
}

// StepJoinGroup puts the child into a process group of its session.
func StepJoinGroup(group int) Step { return step(unix.SYS_SETPGID, 0, uintptr(group)) }

// StepEnterCgroup moves the child into the control group whose open
// cgroup.procs this is: "0" is who writes (cgroups(7)).
func StepEnterCgroup(procs int) Step {
	self := []byte("0")
	s := step(unix.SYS_WRITE, uintptr(procs), uintptr(unsafe.Pointer(unsafe.SliceData(self))), uintptr(len(self)))
	s.want, s.keep = uintptr(len(self)), []any{self}
	return s
}

// StepChdir makes an open folder the working directory.
func StepChdir(fd int) Step { return step(unix.SYS_FCHDIR, uintptr(fd)) }

// StepPrctl calls prctl(2).
func StepPrctl(args ...uintptr) Step { return step(unix.SYS_PRCTL, args...) }

// StepNoNewPrivs gives up gaining privileges by exec, for ever.
func StepNoNewPrivs() Step { return StepPrctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }

// StepParentDeath has the kernel send sig when the thread that forked ends.
func StepParentDeath(sig syscall.Signal) Step { return StepPrctl(unix.PR_SET_PDEATHSIG, uintptr(sig)) }

// StepParentIs makes sure that the child's parent is still the process pid: of
// one that ended before StepParentDeath no signal comes (prctl(2)).
func StepParentIs(pid int) Step {
	s := step(unix.SYS_GETPPID)
	s.want = uintptr(pid)
	return s
}

// StepDropCapabilities empties the effective, permitted and inheritable set.
func StepDropCapabilities() Step {
	hdr := &unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	data := &[2]unix.CapUserData{}
	s := step(unix.SYS_CAPSET, uintptr(unsafe.Pointer(hdr)), uintptr(unsafe.Pointer(data)))
	s.keep = []any{hdr, data}
	return s
}

// StepLandlock enters a new domain made of a ruleset.
func StepLandlock(ruleset int, flags uint32) Step {
	return step(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(ruleset), uintptr(flags))
}

// StepSeccomp installs a filter given as sock_filter instructions of 8 bytes
// each. Where flags ask for a listener, its descriptor is stored in listener.
func StepSeccomp(filter []byte, flags uintptr, listener *int32) Step {
	prog := &unix.SockFprog{
		Len:    uint16(len(filter) / 8),
		Filter: (*unix.SockFilter)(unsafe.Pointer(unsafe.SliceData(filter))),
	}
	s := step(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(prog)))
	s.store, s.keep = listener, []any{prog, filter, listener}
	return s
}

// StepSendFD sends a message over a socket, and with it the descriptor whose
// number an earlier step has stored in the returned cell.
func StepSendFD(socket int, msg []byte) (Step, *int32) {
	type rights struct {
		header unix.Cmsghdr
		fd     int32
		_      int32 // the kernel reads no further than header.Len
	}
	r := &rights{header: unix.Cmsghdr{Level: unix.SOL_SOCKET, Type: unix.SCM_RIGHTS}}
	r.header.SetLen(unix.CmsgLen(4))
	iov := &unix.Iovec{Base: unsafe.SliceData(msg)}
	iov.SetLen(len(msg))
	m := &unix.Msghdr{Iov: iov, Control: (*byte)(unsafe.Pointer(r))}
	m.SetIovlen(1)
	m.SetControllen(unix.CmsgLen(4))
	s := step(unix.SYS_SENDMSG, uintptr(socket), uintptr(unsafe.Pointer(m)), unix.MSG_NOSIGNAL)
	s.keep = []any{r, iov, m, msg}
	return s, &r.fd
}

// StepAwaitByte waits until a byte comes down a pipe. A pipe that ends
// without one fails the step with ECANCELED.
func StepAwaitByte(fd int) Step {
	buf := new([1]byte)
	s := step(unix.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(buf)), 1)
	s.want, s.keep = 1, []any{buf}
	return s
}

// StepCloseOnExec marks every descriptor from first on to be closed by exec
// (CLOSE_RANGE_CLOEXEC, close_range(2), Linux 5.11).
func StepCloseOnExec(first int) Step {
	return step(unix.SYS_CLOSE_RANGE, uintptr(first), uintptr(^uint32(0)), unix.CLOSE_RANGE_CLOEXEC)
}

// StepExec becomes the program.
func StepExec(file string, argv, env []string) (Step, error) {
	path, err := syscall.BytePtrFromString(file)
	if err != nil {
		return Step{}, err
	}
	args, err := syscall.SlicePtrFromStrings(argv)
	if err != nil {
		return Step{}, err
	}
	vars, err := syscall.SlicePtrFromStrings(env)
	if err != nil {
		return Step{}, err
	}
	s := step(unix.SYS_EXECVE, uintptr(unsafe.Pointer(path)),
		uintptr(unsafe.Pointer(unsafe.SliceData(args))), uintptr(unsafe.Pointer(unsafe.SliceData(vars))))
	s.exec, s.keep = true, []any{path, args, vars}
	return s, nil
}
