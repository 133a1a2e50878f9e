// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

const (
	// maxWaiting bounds the connection attempts that wait at one time. It
	// leaves some of maxWorkers to other calls. One more fails with EAGAIN.
	maxWaiting = 48
	// lookAgain is how often a waiting attempt looks after its caller.
	lookAgain = 50 * time.Millisecond
	// firstPause and longestPause are how long an attempt waits for room in
	// a listener's queue, which can't be polled for.
	firstPause   = time.Millisecond
	longestPause = 20 * time.Millisecond
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
	errno := try()
	if wouldWait(c.kind, errno) {
		return c.wait(try, errno)
	}
	return errno
}

// wouldWait reports whether a blocking attempt would go on: a unix socket
// waits for room in the listener's queue, others for the peer's answer.
func wouldWait(kind sys.SocketKind, errno syscall.Errno) bool {
	if kind.Domain == syscall.AF_UNIX {
		return errno == syscall.EAGAIN
	}
	return errno == syscall.EINPROGRESS || errno == syscall.EALREADY
}

// wait goes on with an attempt until it ends, for as long as a blocking call
// of the caller's would. Others are served meanwhile.
func (c *connection) wait(try func() syscall.Errno, errno syscall.Errno) syscall.Errno {
	b := c.t.b
	if b.waiting.Add(1) > maxWaiting {
		b.waiting.Add(-1)
		return syscall.EAGAIN
	}
	defer b.waiting.Add(-1)
	b.crew.resign(c.t.w)
	limit := sys.SendTimeout(c.sock)
	began := time.Now()
	pause := firstPause
	who := &caller{t: c.t, timed: limit > 0}
	for looked := began; wouldWait(c.kind, errno); {
		if limit > 0 && time.Since(began) >= limit {
			if c.kind.Domain == syscall.AF_UNIX {
				return syscall.EAGAIN
			}
			return syscall.EINPROGRESS
		}
		if time.Since(looked) >= lookAgain {
			looked = time.Now()
			if e := who.look(); e != 0 {
				return e
			}
		}
		if b.crew.finished() {
			return syscall.EINTR
		}
		if c.pause(&pause, limit-time.Since(began)) {
			errno = try()
		}
	}
	return errno
}

// pause waits until another try makes sense, or somebody must be looked
// after, and reports whether it does.
func (c *connection) pause(length *time.Duration, left time.Duration) bool {
	if c.kind.Domain != syscall.AF_UNIX {
		most := lookAgain
		if left > 0 {
			most = min(most, max(left, time.Millisecond))
		}
		ended, errno := sys.WaitConnected(c.sock, c.t.b.stop, most)
		return ended || errno != 0
	}
	time.Sleep(*length)
	*length = min(*length*2, longestPause)
	return true
}

// caller is what a waiting attempt remembers of the thread it is for.
type caller struct {
	t *task
	// timed: the socket has a limit for the wait.
	timed bool
	// shared are the process's signals that waited at the last look.
	shared uint64
}

// look tells whether the caller must be let go: it was killed, or a signal
// waits for it, which the kernel delivers only after the answer
// (SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, seccomp(2)).
func (c *caller) look() syscall.Errno {
	if errno := c.t.alive(); errno != 0 {
		return errno
	}
	text, err := sys.ReadSmallFile("/proc/" + c.t.proc("status"))
	if err != nil {
		return errGone
	}
	s := statusFields(text)
	deliverable := ^(s["SigBlk"] | s["SigIgn"])
	own, shared := s["SigPnd"]&deliverable, s["ShdPnd"]&deliverable
	before := c.shared
	c.shared = shared
	// A process's signal is for its leader, if that does not block it, or
	// else for one thread that the kernel chooses (complete_signal in
	// kernel/signal.c). If it still waits, this one was chosen.
	leader := s["Tgid"] == s["Pid"]
	if own == 0 && shared&before == 0 && (shared == 0 || !leader) {
		return 0
	}
	if c.timed { // sock_intr_errno in include/net/sock.h
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
