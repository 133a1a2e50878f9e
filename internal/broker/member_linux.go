// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"strconv"
	"strings"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// group returns the process that the calling thread belongs to.
func (t *task) group() (int, syscall.Errno) { return groupOf(t.tid) }

// groupOf returns the process id of a thread.
func groupOf(tid int) (int, syscall.Errno) {
	s, errno := statusOf(tid)
	return s.group, errno
}

// status is what proc_pid_status(5) says of a thread's process: its id, and
// how many threads it has.
type status struct{ group, threads int }

func statusOf(tid int) (s status, errno syscall.Errno) {
	text, err := sys.ReadSmallFile("/proc/" + strconv.Itoa(tid) + "/status")
	if err != nil {
		return s, errGone
	}
	for _, field := range []struct {
		name string
		to   *int
	}{{"\nTgid:\t", &s.group}, {"\nThreads:\t", &s.threads}} {
		_, after, _ := strings.Cut(text, field.name)
		line, _, _ := strings.Cut(after, "\n")
		if *field.to, err = strconv.Atoi(line); err != nil {
			return s, syscall.EIO
		}
	}
	return s, 0
}

// inside reports whether a thread is one of the sandbox's.
func (t *task) inside(tid int) bool {
	if tid == t.tid {
		return true
	}
	group, errno := t.group()
	if errno != 0 {
		return false
	}
	return tid == group || t.b.below(tid)
}

// maxDepth bounds how many generations below looks at.
const maxDepth = 1000

// below reports whether a process descends from the launcher, which takes in
// its orphans, so that everything of the sandbox does and nothing else.
//
// Process ids are used again. The folder of a parent is opened while the
// child is asked twice: if it says the same parent after the opening, that
// parent was alive, and is the one that was opened.
func (b *Broker) below(pid int) bool {
	guard := b.options.Guard
	if guard == 0 {
		return false
	}
	at, errno := sys.Pin(b.proc, strconv.Itoa(pid), sys.PinPlain)
	if errno != 0 {
		return false
	}
	defer func() { _ = syscall.Close(at) }()
	for range maxDepth {
		parent := parentOf(at)
		switch {
		case parent == guard:
			return true
		case parent <= 1:
			return false
		}
		up, errno := sys.Pin(b.proc, strconv.Itoa(parent), sys.PinPlain)
		if errno != 0 {
			return false
		}
		if parentOf(at) != parent { // it became an orphan meanwhile
			_ = syscall.Close(up)
			continue
		}
		_ = syscall.Close(at)
		at = up
	}
	return false
}

// parentOf returns the parent of the process whose folder of /proc is pinned,
// 0 if it is gone. The field stands behind the command's name, which may hold
// anything (proc_pid_stat(5)).
func parentOf(dir int) int {
	text, err := sys.ReadSmallFile(sys.FDPath(dir) + "/stat")
	if err != nil {
		return 0
	}
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(fields) < 2 {
		return 0
	}
	id, err := strconv.Atoi(fields[1])
	if err != nil {
		return 0
	}
	return id
}
