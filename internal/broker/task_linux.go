// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"strconv"
	"syscall"

	"github.com/ambit-sandbox/ambit/denial"
	"github.com/ambit-sandbox/ambit/internal/plan"
	"github.com/ambit-sandbox/ambit/internal/sys"
)

// task is one call, and the stopped thread that makes it.
type task struct {
	b    *Broker
	w    *worker
	id   uint64
	tid  int
	nr   int32
	call string
	args [6]uint64
	// value is what the call returns if it succeeds.
	value int64
	// umask is the caller's, once takeUmask has succeeded.
	umask uint32
	// status is what /proc/TID/status said when the call began, if that was
	// read.
	status string
	// wants is the access to the object that the call asks for, where it is
	// not to write, as most calls that get here.
	wants plan.Mode
	// inner: the caller may be in a Landlock domain of its own. The broker
	// refuses file calls as for everybody, and makes none.
	inner bool
}

// reg returns an argument as the kernel takes an int: the lower half of the
// register, whatever the upper half holds (SYSCALL_DEFINE's casts,
// include/linux/syscalls.h).
func (t *task) reg(i int) int32 { return int32(t.args[i]) }

// alive returns 0 while the caller still waits. Everything that was read
// under its thread id before is then really the caller's: the id can't have
// passed to another thread. What follows may act on it.
func (t *task) alive() syscall.Errno {
	if err := sys.NotificationValid(t.b.listener, t.id); err != nil {
		return errGone
	}
	return 0
}

// errGone is the answer that nobody will hear.
const errGone = syscall.ESRCH

// proc names something in the caller's directory under /proc, relative to
// that: what a thread has of its own (unshare(CLONE_FS), CLONE_FILES) is seen
// under its own id (proc_tid(5)).
func (t *task) proc(name string) string { return strconv.Itoa(t.tid) + "/" + name }

// closed is the answer where the broker may not look into the caller: it made
// itself undumpable, or Yama forbids tracing. Nothing is known, so nothing is
// done.
func closed(errno syscall.Errno) syscall.Errno {
	switch errno {
	case syscall.EPERM, syscall.ENOSYS:
		return syscall.EACCES
	}
	return errno
}

// refuse records a denial and returns its errno.
func (t *task) refuse(named, object string, node *plan.Node, errno syscall.Errno) syscall.Errno {
	t.refuseFor("", named, object, node, errno)
	return errno
}

// refuseFor records a denial for another reason than that the tree says so.
func (t *task) refuseFor(why, named, object string, node *plan.Node, errno syscall.Errno) {
	d := denial.Denial{
		Call: t.call, Named: named, Object: object,
		Errno: sys.ErrnoName(errno), Reason: why,
	}
	if node != nil {
		rule := node.Rule
		d.Rule = &rule
	}
	switch {
	case t.wants == plan.Read:
		d.Access = denial.Read
	case node != nil || object != "":
		d.Access = denial.Write
	}
	t.record(d)
}

// record adds who was refused, and when.
func (t *task) record(d denial.Denial) {
	d.PID, d.At = t.tid, t.b.elapsed()
	if !t.b.log.full() {
		d.Process, d.Program = t.caller()
	}
	t.b.log.add(d)
}
