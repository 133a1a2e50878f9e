// SPDX-License-Identifier: Apache-2.0

package broker

import "syscall"

// toItself is the answer of a call that signals the caller's own process: the
// kernel may run it, and the receiver sees who really sent it (glibc's
// pthread_cancel and setuid believe nobody else). All that decides is in
// registers, which nobody can change while the caller waits: a tracer's stops
// come before the filter or after the call (syscall_trace_enter in
// kernel/entry/common.c). And while the caller lives the number is its
// process's; if it is killed, the call is not made. It is no errno of the
// kernel's.
const toItself = syscall.Errno(1<<16 + 2)

// own reports whether a number is that of the caller's process.
func (t *task) own(pid int32) bool {
	group, errno := t.group()
	return errno == 0 && group == int(pid) && t.alive() == 0
}
