// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"strconv"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// tkill and tgkill: do_tkill in kernel/signal.c. raise(3), abort(3) and
// pthread_kill(3) end here, and runtimes that stop their own threads.
func tkill(t *task) syscall.Errno {
	tid := t.reg(0)
	if tid <= 0 {
		return syscall.EINVAL
	}
	return t.signalThread(0, int(tid), t.reg(1), nil)
}

func tgkill(t *task) syscall.Errno {
	group, tid := t.reg(0), t.reg(1)
	if tid <= 0 || group <= 0 {
		return syscall.EINVAL
	}
	if t.own(group) {
		return toItself
	}
	return t.signalThread(int(group), int(tid), t.reg(2), nil)
}

// queueToThread: rt_tgsigqueueinfo in kernel/signal.c.
func queueToThread(t *task) syscall.Errno {
	group, tid, sig := t.reg(0), t.reg(1), t.reg(2)
	if tid <= 0 || group <= 0 {
		return syscall.EINVAL
	}
	if t.own(group) {
		return toItself
	}
	info, errno := t.copyInfo(3, sig)
	if errno != 0 {
		return errno
	}
	return t.signalThread(int(group), int(tid), sig, info)
}

// signalThread sends to one thread, of the given process unless that is 0.
func (t *task) signalThread(group, tid int, sig int32, info []byte) syscall.Errno {
	if t.b.threadPidfds {
		return t.signalPidfd(group, tid, sig, info)
	}
	return t.signalHeld(group, tid, sig, info)
}

// signalPidfd pins the thread itself (Linux 6.9).
func (t *task) signalPidfd(group, tid int, sig int32, info []byte) syscall.Errno {
	fd, errno := sys.OpenSingleThread(tid)
	if errno != 0 {
		return syscall.ESRCH
	}
	defer func() { _ = syscall.Close(fd) }()
	if _, errno := t.judgeThread(group, tid, sig); errno != 0 {
		return errno
	}
	return sys.SendSignal(fd, sig, info, 0)
}

// signalHeld does it on kernels that have no pidfds of threads. To the only
// thread of a process a signal may as well be sent by the process. Of several
// one is held in another way, which takes no siginfo.
func (t *task) signalHeld(group, tid int, sig int32, info []byte) syscall.Errno {
	s, errno := statusOf(tid)
	switch {
	case errno != 0:
		return syscall.ESRCH
	case s.threads == 1:
		return t.signalAlone(group, tid, s.group, sig, info)
	}
	bell, errno := t.w.takeBell()
	if errno != 0 {
		return errno
	}
	if errno := bell.Aim(tid); errno != 0 {
		return errno
	}
	if _, errno := t.judgeThread(group, tid, sig); errno != 0 {
		return errno
	}
	switch {
	case bell.Aimed() != tid: // the number is another's by now
		return syscall.ESRCH
	case sig == 0:
		return 0
	case info != nil:
		return syscall.ENOSYS
	}
	return bell.Ring(sig)
}

// signalAlone sends to the only thread of a process.
func (t *task) signalAlone(group, tid, process int, sig int32, info []byte) syscall.Errno {
	fd, errno := sys.OpenProcess(process)
	if errno != 0 {
		return syscall.ESRCH
	}
	defer func() { _ = syscall.Close(fd) }()
	s, errno := t.judgeThread(group, tid, sig)
	switch {
	case errno != 0:
		return errno
	case s.group != process: // the number is another's by now
		return syscall.ESRCH
	}
	return sys.SendSignal(fd, sig, info, 0)
}

// judgeThread judges a thread that is pinned, as mayReach does a process.
func (t *task) judgeThread(group, tid int, sig int32) (status, syscall.Errno) {
	s, errno := statusOf(tid)
	switch {
	case errno != 0, group != 0 && s.group != group:
		return s, syscall.ESRCH
	case sig < 0 || sig > maxSignal:
		return s, syscall.EINVAL
	}
	ours := tid == t.tid || t.inside(s.group)
	if errno := t.alive(); errno != 0 {
		return s, errno
	}
	if !ours {
		return s, t.refuse("thread "+strconv.Itoa(tid), "", nil, syscall.EPERM)
	}
	return s, 0
}

// takeBell returns the worker's bell.
func (w *worker) takeBell() (*sys.Bell, syscall.Errno) {
	if w.bell == nil {
		bell, err := sys.NewBell()
		if err != nil {
			return nil, syscall.EAGAIN
		}
		w.bell = bell
	}
	return w.bell, 0
}
