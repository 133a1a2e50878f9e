// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// Signals are the broker's where Landlock does not scope them (below ABI 6).
// What is to get one is pinned first, and judged then: a number that passes to
// another process in between makes the signal get lost, as it would have a
// moment later. Nothing is sent by
// number, but to the caller itself.

// signalCalls are those that send signals.
func signalCalls() map[int32]call {
	return map[int32]call{
		syscall.SYS_KILL:              {"kill", kill},
		syscall.SYS_TKILL:             {"tkill", tkill},
		syscall.SYS_TGKILL:            {"tgkill", tgkill},
		syscall.SYS_RT_SIGQUEUEINFO:   {"rt_sigqueueinfo", queueToProcess},
		syscall.SYS_RT_TGSIGQUEUEINFO: {"rt_tgsigqueueinfo", queueToThread},
		sysPidfdSendSignal:            {"pidfd_send_signal", pidfdSendSignal},
	}
}

const (
	// sysPidfdSendSignal has the same number on every architecture.
	sysPidfdSendSignal = 424
	// maxSignal is _NSIG (asm-generic/signal.h).
	maxSignal = 64
	// siCode is where si_code is in siginfo_t, siTKill SI_TKILL
	// (asm-generic/siginfo.h).
	siCode, siTKill = 8, -6
)

// kill: kernel/signal.c, kill_something_info.
func kill(t *task) syscall.Errno {
	pid, sig := t.reg(0), t.reg(1)
	switch {
	case pid > 0 && t.own(pid):
		return toItself
	case pid > 0:
		return t.signalProcess(int(pid), sig, nil)
	case pid == -1:
		return t.signalEverybody(sig)
	case pid == math.MinInt32:
		return syscall.ESRCH
	}
	return t.signalGroup(int(-pid), sig)
}

// queueToProcess: rt_sigqueueinfo in kernel/signal.c.
func queueToProcess(t *task) syscall.Errno {
	pid, sig := t.reg(0), t.reg(1)
	if pid > 0 && t.own(pid) {
		return toItself
	}
	info, errno := t.copyInfo(2, sig)
	switch {
	case errno != 0:
		return errno
	case pid <= 0:
		return syscall.ESRCH
	}
	return t.signalProcess(int(pid), sig, info)
}

// copyInfo copies a siginfo_t. Nobody may claim to be the kernel, or that a
// kill(2) sent it; the caller may to itself, but the broker is not the caller.
func (t *task) copyInfo(arg int, sig int32) ([]byte, syscall.Errno) {
	info, errno := t.copyBytes(t.args[arg], sys.SiginfoSize)
	if errno != 0 {
		return nil, errno
	}
	if code := int32(binary.NativeEndian.Uint32(info[siCode:])); code >= 0 || code == siTKill {
		return nil, syscall.EPERM
	}
	binary.NativeEndian.PutUint32(info, uint32(sig)) // as the kernel does
	return info, 0
}

// pidfdSendSignal: kernel/signal.c. The caller's descriptor pins the target
// already.
func pidfdSendSignal(t *task) syscall.Errno {
	const thread, threadGroup = 1, 2 // PIDFD_SIGNAL_*, linux/pidfd.h
	sig, flags := t.reg(1), uint32(t.args[3])
	if flags != 0 && flags != thread && flags != threadGroup {
		return syscall.EINVAL
	}
	var info []byte
	fd, _, errno := t.duplicate(t.reg(0))
	if errno != 0 {
		return errno
	}
	defer func() { _ = syscall.Close(fd) }()
	if t.args[2] != 0 {
		given := binary.NativeEndian.AppendUint32(nil, uint32(sig))
		if info, errno = t.copyBytes(t.args[2], sys.SiginfoSize); errno != 0 {
			return errno
		}
		if string(info[:4]) != string(given) {
			return syscall.EINVAL
		}
	}
	pid, errno := pidOf(fd)
	if errno != 0 {
		return errno
	}
	if errno := t.mayReach(fd, pid, sig); errno != 0 {
		return errno
	}
	return sys.SendSignal(fd, sig, info, flags)
}

// pidOf returns which process or thread a pidfd stands for (pidfd_show_fdinfo
// in kernel/fork.c, later fs/pidfs.c).
func pidOf(pidfd int) (int, syscall.Errno) {
	text, err := sys.ReadSmallFile("/proc/self/fdinfo/" + strconv.Itoa(pidfd))
	if err != nil {
		return 0, syscall.EBADF
	}
	_, after, found := strings.Cut(text, "\nPid:\t")
	line, _, _ := strings.Cut(after, "\n")
	pid, err := strconv.Atoi(line)
	switch {
	case !found, err != nil:
		return 0, syscall.EBADF
	case pid <= 0: // it is gone
		return 0, syscall.ESRCH
	}
	return pid, 0
}

// signalProcess sends to the process that has this number, or a thread with it.
func (t *task) signalProcess(pid int, sig int32, info []byte) syscall.Errno {
	fd, errno := openProcess(pid)
	if errno != 0 {
		return errno
	}
	defer func() { _ = syscall.Close(fd) }()
	if errno := t.mayReach(fd, pid, sig); errno != 0 {
		return errno
	}
	return sys.SendSignal(fd, sig, info, 0)
}

// openProcess pins the process that a thread belongs to.
func openProcess(tid int) (int, syscall.Errno) {
	fd, errno := sys.OpenProcess(tid)
	if errno != syscall.EINVAL && errno != syscall.ENOENT {
		return fd, errno
	}
	group, errno := groupOf(tid)
	if errno != 0 {
		return -1, syscall.ESRCH
	}
	if fd, errno = sys.OpenProcess(group); errno != 0 {
		return -1, syscall.ESRCH
	}
	if now, errno := groupOf(tid); errno != 0 || now != group {
		_ = syscall.Close(fd)
		return -1, syscall.ESRCH
	}
	return fd, 0
}

// mayReach judges a target that is pinned, by a number that it had after it
// was. If it has that number no more, it is gone, and what is sent to it too.
func (t *task) mayReach(pidfd, pid int, sig int32) syscall.Errno {
	if sig < 0 || sig > maxSignal {
		return syscall.EINVAL
	}
	ours := t.inside(pid)
	if errno := t.alive(); errno != 0 {
		return errno
	}
	switch {
	case ours:
		return 0
	case sys.SendSignal(pidfd, 0, nil, 0) == syscall.ESRCH:
		return syscall.ESRCH
	}
	return t.refuse("process "+strconv.Itoa(pid), "", nil, syscall.EPERM)
}
