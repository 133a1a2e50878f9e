// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// A process of the sandbox can join any process group of its session
// (setpgid(2)), and "everybody" is everybody of the user. So the members of
// the sandbox among them are found, and sent to one by one.

// maxSweeps bounds how often a signal that cannot be caught looks for those
// that were forked while it was sent.
const maxSweeps = 100

// volley is one signal to many processes.
type volley struct {
	t    *task
	sig  int32
	pick func(standing) bool
	// done are the processes that have been dealt with, by their numbers, and
	// when each was started.
	done map[int]uint64
	// sent is how many got it, foreign how many could not.
	sent, foreign int
	last          syscall.Errno
}

// signalGroup: __kill_pgrp_info in kernel/signal.c. Group 0 is the caller's.
func (t *task) signalGroup(group int, sig int32) syscall.Errno {
	if group == 0 {
		s, ok := standingOf(t.tid)
		if !ok {
			return errGone
		}
		group = s.group
	}
	v := &volley{t: t, sig: sig, pick: func(s standing) bool { return s.group == group }}
	if errno := v.fire(); errno != 0 {
		return errno
	}
	switch {
	case v.sent > 0:
		return 0
	case v.last != 0:
		return v.last
	case v.foreign > 0:
		return t.refuse("process group "+strconv.Itoa(group), "", nil, syscall.EPERM)
	}
	return syscall.ESRCH
}

// signalEverybody: kill_something_info in kernel/signal.c. It succeeds also
// where none may be signalled, and leaves the caller out.
func (t *task) signalEverybody(sig int32) syscall.Errno {
	own, errno := t.group()
	if errno != 0 {
		return errno
	}
	v := &volley{t: t, sig: sig, pick: func(s standing) bool { return s.pid != own }}
	if errno := v.fire(); errno != 0 {
		return errno
	}
	return v.last
}

// fire sends to everybody who is there. Who is forked meanwhile may not get a
// signal that the parent handles; the kernel locks the list of processes. No
// one can handle SIGKILL and SIGSTOP, so there what was forked before they
// came is found by looking again.
func (v *volley) fire() syscall.Errno {
	if v.sig < 0 || v.sig > maxSignal {
		return syscall.EINVAL
	}
	if errno := v.t.alive(); errno != 0 {
		return errno
	}
	v.done = map[int]uint64{}
	for range maxSweeps {
		before := v.sent
		if errno := v.sweep(); errno != 0 {
			return errno
		}
		if v.sent == before || v.sig != int32(syscall.SIGKILL) && v.sig != int32(syscall.SIGSTOP) {
			break
		}
	}
	return 0
}

func (v *volley) sweep() syscall.Errno {
	dir, err := os.Open("/proc")
	if err != nil {
		return syscall.EAGAIN
	}
	names, err := dir.Readdirnames(-1)
	_ = dir.Close()
	if err != nil {
		return syscall.EAGAIN
	}
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			v.at(pid)
		}
	}
	return 0
}

// at sends to one process, if it is meant and a member.
func (v *volley) at(pid int) {
	if s, ok := standingOf(pid); !ok || !v.pick(s) || v.done[pid] == s.start {
		return
	}
	fd, errno := sys.OpenProcess(pid)
	if errno != 0 {
		return
	}
	defer func() { _ = syscall.Close(fd) }()
	s, ok := standingOf(pid) // now that it is pinned
	if !ok || !v.pick(s) {
		return
	}
	v.done[pid] = s.start
	if !v.member(pid) {
		v.foreign++
		return
	}
	switch errno := sys.SendSignal(fd, v.sig, nil, 0); errno {
	case 0:
		v.sent++
	case syscall.ESRCH: // it is gone
	default:
		v.last = errno
	}
}

// member reports whether a process is one of the sandbox's. The caller may
// have been killed by what was sent already, so it is not asked whether it
// still waits.
func (v *volley) member(pid int) bool { return v.t.b.below(pid) }

// standing is a process among others.
type standing struct {
	pid, group int
	// start is when it was started, in ticks.
	start uint64
}

// standingOf reads fields 5 and 22 of /proc/PID/stat (proc_pid_stat(5)).
func standingOf(pid int) (standing, bool) {
	text, err := sys.ReadSmallFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return standing{}, false
	}
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(fields) < 20 {
		return standing{}, false
	}
	group, err := strconv.Atoi(fields[2])
	start, err2 := strconv.ParseUint(fields[19], 10, 64)
	return standing{pid, group, start}, err == nil && err2 == nil
}
