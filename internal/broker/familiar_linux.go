// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// familiar keeps open what a worker needs of the threads that it served last:
// most calls come from one that has just made another, and opening costs more
// than reading.
//
// What is kept stands for a thread, not for its number: when the thread is
// gone it says ESRCH for ever, whoever has the number by then (struct pid,
// include/linux/pid.h), and is opened anew.
type familiar struct {
	faces [familiarFaces]face
	next  int // whose place the next stranger gets
}

// familiarFaces bounds the descriptors that a worker keeps to twice as many.
const familiarFaces = 4

// familiarLimit is how many descriptors this process must be allowed to have
// for any to be kept.
const familiarLimit = 256

// face is one thread; tid 0 is none. Descriptors are one more than they are, so
// that 0 is none.
type face struct{ tid, status, pidfd int }

func (f *face) forget() {
	drop(&f.status)
	drop(&f.pidfd)
	f.tid = 0
}

func drop(fd *int) {
	if *fd > 0 {
		_ = syscall.Close(*fd - 1)
	}
	*fd = 0
}

func (m *familiar) of(tid int) *face {
	for i := range m.faces {
		if m.faces[i].tid == tid {
			return &m.faces[i]
		}
	}
	f := &m.faces[m.next]
	m.next = (m.next + 1) % familiarFaces
	f.forget()
	f.tid = tid
	return f
}

func (m *familiar) close() {
	for i := range m.faces {
		m.faces[i].forget()
	}
}

// readStatus returns what proc_pid_status(5) says of the calling thread.
func (t *task) readStatus() (string, syscall.Errno) {
	name := "/proc/" + t.proc("status")
	if t.w == nil || t.w.familiar == nil {
		text, err := sys.ReadSmallFile(name)
		if err != nil {
			return "", errGone
		}
		return text, 0
	}
	f := t.w.familiar.of(t.tid)
	if f.status > 0 {
		if text, errno := sys.RereadSmallFile(f.status - 1); errno == 0 && text != "" {
			return text, 0
		}
		drop(&f.status)
	}
	fd, errno := sys.OpenAt(sys.AtCWD, name, syscall.O_RDONLY, 0)
	if errno != 0 {
		return "", errGone
	}
	f.status = fd + 1
	text, errno := sys.RereadSmallFile(fd)
	if errno != 0 || text == "" {
		return "", errGone
	}
	return text, 0
}

// duplicate returns a duplicate of one of the caller's descriptors, and its
// flags.
func (t *task) duplicate(fd int32) (dup, flags int, errno syscall.Errno) {
	if t.w == nil || t.w.familiar == nil {
		return duplicate(t.tid, fd)
	}
	f := t.w.familiar.of(t.tid)
	if f.pidfd > 0 {
		if dup, errno = sys.TakeFD(f.pidfd-1, int(fd)); errno != syscall.ESRCH {
			return withFlags(dup, errno)
		}
		drop(&f.pidfd)
	}
	thread, errno := sys.OpenThread(t.tid)
	if errno != 0 { // perhaps a thread that no descriptor can stand for
		return duplicate(t.tid, fd)
	}
	f.pidfd = thread + 1
	return withFlags(sys.TakeFD(thread, int(fd)))
}
