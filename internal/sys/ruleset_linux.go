// SPDX-License-Identifier: Apache-2.0

package sys

import (
	"os"
	"runtime"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Ruleset says what a Landlock ruleset handles: what it denies unless a rule
// allows it. A bit that the kernel does not know makes it answer EINVAL.
type Ruleset struct {
	FS, Net, Scoped uint64
}

// LandlockCreateRuleset makes a ruleset and returns its descriptor. The full
// structure goes to every kernel: an older one takes it as long as what it
// does not know is zero (copy_min_struct_from_user in
// security/landlock/syscalls.c).
func LandlockCreateRuleset(r Ruleset) (int, error) {
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET,
		uintptr(unsafe.Pointer(&r)), unsafe.Sizeof(r), 0)
	if errno != 0 {
		return -1, os.NewSyscallError("landlock_create_ruleset", errno)
	}
	return int(fd), nil
}

// pathBeneath is struct landlock_path_beneath_attr, which is packed: 12 bytes.
type pathBeneath struct {
	access [2]uint32 // a __u64, in host order, at an alignment of 4
	fd     int32
}

// LandlockAllow adds a rule: access beneath the object that fd pins (O_PATH
// is enough).
func LandlockAllow(ruleset int, access uint64, fd int) error {
	a := pathBeneath{fd: int32(fd)}
	*(*uint64)(unsafe.Pointer(&a.access)) = access
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset),
		unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&a)), 0, 0, 0)
	if errno != 0 {
		return os.NewSyscallError("landlock_add_rule", errno)
	}
	return nil
}

// LandlockRestrictSelf puts the calling thread into a new domain. The thread
// must have no_new_privs set.
func LandlockRestrictSelf(ruleset int, flags uint32) error {
	_, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(ruleset), uintptr(flags), 0)
	if errno != 0 {
		return os.NewSyscallError("landlock_restrict_self", errno)
	}
	return nil
}

// SetNoNewPrivs makes the calling thread unable to gain privileges by exec.
func SetNoNewPrivs() error {
	return os.NewSyscallError("prctl(PR_SET_NO_NEW_PRIVS)", unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
}

// BecomeSubreaper makes orphaned descendants children of this process
// (PR_SET_CHILD_SUBREAPER(2const)).
func BecomeSubreaper() error {
	return os.NewSyscallError("prctl(PR_SET_CHILD_SUBREAPER)", unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
}

// SealedMemfd returns a descriptor of an anonymous file with this content,
// which nobody can change any more (memfd_create(2), F_SEAL_WRITE).
func SealedMemfd(name string, content []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	f := os.NewFile(uintptr(fd), name)
	if _, err := f.Write(content); err != nil {
		_ = f.Close()
		return nil, err
	}
	seals := unix.F_SEAL_SEAL | unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_WRITE
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals); err != nil {
		_ = f.Close()
		return nil, os.NewSyscallError("fcntl(F_ADD_SEALS)", err)
	}
	return f, nil
}

// IsSealed reports whether nobody can change the file behind fd any more.
func IsSealed(fd int) (bool, error) {
	seals, err := unix.FcntlInt(uintptr(fd), unix.F_GET_SEALS, 0)
	if err != nil {
		return false, os.NewSyscallError("fcntl(F_GET_SEALS)", err)
	}
	const need = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_WRITE
	return seals&need == need, nil
}

// ControlPair returns two connected sockets that keep message boundaries.
func ControlPair() (a, b *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	return os.NewFile(uintptr(fds[0]), "control"), os.NewFile(uintptr(fds[1]), "control"), nil
}

// maxPassed bounds the descriptors that one message may carry.
const maxPassed = 16

// Receive reads one message and the descriptors that came with it. n is 0 at
// the end of the connection.
func Receive(fd int, buf []byte) (n int, passed []int, err error) {
	oob := make([]byte, unix.CmsgSpace(4*maxPassed))
	for {
		var oobn int
		n, oobn, _, _, err = unix.Recvmsg(fd, buf, oob, unix.MSG_CMSG_CLOEXEC)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return 0, nil, os.NewSyscallError("recvmsg", err)
		}
		return n, passedFDs(oob[:oobn]), nil
	}
}

func passedFDs(oob []byte) []int {
	msgs, err := unix.ParseSocketControlMessage(oob)
	if err != nil || len(msgs) == 0 {
		return nil
	}
	fds, err := unix.ParseUnixRights(&msgs[0])
	if err != nil {
		return nil
	}
	return fds
}

// Send writes one message, and descriptors with it. A reader that is gone is
// EPIPE, not SIGPIPE.
func Send(fd int, msg []byte, pass ...int) error {
	var oob []byte
	if len(pass) > 0 {
		oob = unix.UnixRights(pass...)
	}
	for {
		err := unix.Sendmsg(fd, msg, oob, nil, unix.MSG_NOSIGNAL)
		if err != unix.EINTR {
			return os.NewSyscallError("sendmsg", err)
		}
	}
}

// MoveOver makes to another name of what from is, and closes from. What to
// was before is closed. It survives exec.
func MoveOver(from, to int) error {
	if err := unix.Dup3(from, to, 0); err != nil {
		return os.NewSyscallError("dup3", err)
	}
	return os.NewSyscallError("close", unix.Close(from))
}

// Kill sends a signal; 0 only asks whether it could be sent.
func Kill(pid int, sig syscall.Signal) error {
	return os.NewSyscallError("kill", syscall.Kill(pid, sig))
}

// Wait waits for any child of this process and returns its pid and status;
// ECHILD says that there is none.
func Wait() (int, syscall.WaitStatus, error) {
	var ws syscall.WaitStatus
	for {
		pid, err := syscall.Wait4(-1, &ws, syscall.WALL, nil)
		if err != syscall.EINTR {
			return pid, ws, os.NewSyscallError("wait4", err)
		}
	}
}

// NoNewPrivs reports whether the calling thread has no_new_privs set.
func NoNewPrivs() (bool, error) {
	v, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)
	return v == 1, os.NewSyscallError("prctl(PR_GET_NO_NEW_PRIVS)", err)
}

// WaitFor waits for one child and returns its status; where there is no such
// child, one that is neither an exit nor a signal.
func WaitFor(pid int) syscall.WaitStatus {
	var ws syscall.WaitStatus
	for {
		switch _, err := syscall.Wait4(pid, &ws, syscall.WALL, nil); err {
		case nil:
			return ws
		case syscall.EINTR:
		default:
			return ^syscall.WaitStatus(0)
		}
	}
}

// HasChildren reports whether this process has a child, ended or not. It
// reaps none.
func HasChildren() bool {
	for {
		err := unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT|unix.WALL, nil)
		if err != unix.EINTR {
			return err == nil
		}
	}
}

// Detach lets a child go on that has stopped for the calling thread as its
// tracer, with the signal that stopped it, and traces it no more. The trap
// after an exec is no signal of its own (ptrace(2), PTRACE_TRACEME).
func Detach(pid int, ws syscall.WaitStatus) {
	s := ws.StopSignal()
	if s == syscall.SIGTRAP {
		s = 0
	}
	_, _, _ = syscall.RawSyscall6(syscall.SYS_PTRACE, unix.PTRACE_DETACH, uintptr(pid), 0, uintptr(s), 0, 0)
}

// ParkThreads makes the Go runtime have n threads to spare, so that it need
// not start any when the system's limit of them has been reached: it ends the
// process then (runtime.newosproc).
func ParkThreads(n int) {
	var ready, done sync.WaitGroup
	release := make(chan struct{})
	for range n {
		ready.Add(1)
		done.Add(1)
		go func() {
			defer done.Done()
			runtime.LockOSThread() // each on a thread of its own
			ready.Done()
			<-release
			runtime.UnlockOSThread()
		}()
	}
	ready.Wait()
	close(release)
	done.Wait()
}

// IgnoreSignal sets a signal to SIG_IGN behind the Go runtime's back, which
// costs one call; package os/signal costs several switches of threads. Since
// the runtime counts the signal as handled, a forked child gets the default
// action back (clearSignalHandlers, runtime/signal_unix.go), but for a signal
// that was ignored when this process started.
func IgnoreSignal(s syscall.Signal) error {
	// struct sigaction of both supported architectures: handler, flags,
	// restorer, mask (arch/*/include/uapi/asm/signal.h).
	act := [4]uintptr{sigIgn}
	_, _, errno := syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(s), uintptr(unsafe.Pointer(&act)), 0, 8, 0, 0)
	if errno != 0 {
		return os.NewSyscallError("rt_sigaction", errno)
	}
	return nil
}

const sigIgn = 1

// ReadWhole reads a memory file from its start to its end.
func ReadWhole(fd int) ([]byte, error) {
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil {
		return nil, os.NewSyscallError("fstat", err)
	}
	b := make([]byte, st.Size)
	for n := 0; n < len(b); {
		m, err := syscall.Pread(fd, b[n:], int64(n))
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return nil, os.NewSyscallError("pread", err)
		case m == 0:
			return nil, os.NewSyscallError("pread", syscall.EIO)
		default:
			n += m
		}
	}
	return b, nil
}

// OnFirstThread reports whether the calling thread is the one whose id is the
// process's.
func OnFirstThread() bool { return unix.Gettid() == unix.Getpid() }
