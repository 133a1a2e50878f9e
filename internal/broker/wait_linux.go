// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// errRestart is ERESTARTSYS (linux/errno.h): with a signal pending, the
// kernel turns it into EINTR or makes the call once more, as the signal's
// handler was set up (SA_RESTART, signal(7)).
const errRestart = syscall.Errno(512)

// perform connects. A socket that may block is made non-blocking for the
// moment of the attempt: a thread that is blocked in connect could not be
// called back when the caller is killed or gets a signal. The caller's own
// thread is stopped meanwhile; another one that reads the flags in that
// moment sees O_NONBLOCK.
func (c *connection) perform(connect func(int, []byte) syscall.Errno) syscall.Errno {
	stream := c.kind.Type == syscall.SOCK_STREAM || c.kind.Type == syscall.SOCK_SEQPACKET
	if !stream || c.flags&syscall.O_NONBLOCK != 0 {
		return connect(c.sock, c.addr)
	}
	try := func() syscall.Errno {
		if errno := sys.SetFileFlags(c.sock, c.flags|syscall.O_NONBLOCK); errno != 0 {
			return errno
		}
		errno := connect(c.sock, c.addr)
		_ = sys.SetFileFlags(c.sock, c.flags)
		return errno
	}
	if errno := try(); !wouldWait(c.kind, errno) {
		return errno
	}
	return c.wait(try)
}

// wouldWait reports whether a blocking attempt would go on: a unix socket
// waits for room in the listener's queue, others for the peer's answer.
func wouldWait(kind sys.SocketKind, errno syscall.Errno) bool {
	if kind.Domain == syscall.AF_UNIX {
		return errno == syscall.EAGAIN
	}
	return errno == syscall.EINPROGRESS || errno == syscall.EALREADY
}

// wait has the attempt go on in the waiting room, for as long as a blocking
// call of the caller's would.
func (c *connection) wait(try func() syscall.Errno) syscall.Errno {
	limit, began := sys.SendTimeout(c.sock), time.Now()
	v := &visitor{t: c.t, timed: limit > 0, poll: -1}
	over := syscall.EAGAIN
	if c.kind.Domain != syscall.AF_UNIX { // a listener's queue can't be polled for
		v.poll, v.events, over = c.sock, sys.PollOut, syscall.EINPROGRESS
	}
	v.try = func() (bool, syscall.Errno) {
		if limit > 0 && time.Since(began) >= limit {
			return true, over
		}
		errno := try()
		return !wouldWait(c.kind, errno), errno
	}
	v.leave = func(errno syscall.Errno) syscall.Errno {
		c.close()
		return c.verdict(errno)
	}
	c.waits = true
	return c.t.await(v)
}

// look tells whether the caller must be let go: it was killed, or a signal
// waits for it, which the kernel delivers only after the answer
// (SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, seccomp(2)).
func (v *visitor) look() syscall.Errno {
	if errno := v.t.alive(); errno != 0 {
		return errno
	}
	text, err := sys.ReadSmallFile("/proc/" + v.t.proc("status"))
	if err != nil {
		return errGone
	}
	s := statusFields(text)
	deliverable := ^(s["SigBlk"] | s["SigIgn"])
	own, shared := s["SigPnd"]&deliverable, s["ShdPnd"]&deliverable
	before := v.shared
	v.shared = shared
	// A process's signal is for its leader, if that does not block it, or
	// else for one thread that the kernel chooses (complete_signal in
	// kernel/signal.c). If it still waits, this one was chosen.
	leader := s["Tgid"] == s["Pid"]
	if own == 0 && shared&before == 0 && (shared == 0 || !leader) {
		return 0
	}
	if v.timed { // sock_intr_errno in include/net/sock.h
		return syscall.EINTR
	}
	return errRestart
}

// statusFields reads the fields of /proc/PID/status that are one number
// (proc_pid_status(5)): the signals' are hexadecimal, and those that are not
// are only compared with each other.
func statusFields(text string) map[string]uint64 {
	fields := map[string]uint64{}
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(line, ":")
		if n, err := strconv.ParseUint(strings.TrimSpace(value), 16, 64); err == nil {
			fields[name] = n
		}
	}
	return fields
}
