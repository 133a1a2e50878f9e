// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"sync/atomic"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// inner knows which callers have restricted themselves further, with Landlock,
// inside the sandbox. The broker acts from outside of their domains: what it
// did for them would not be bound by what they gave up.
//
// Nothing in /proc tells a domain. So the filter hands over
// landlock_restrict_self, and the broker marks the caller before the kernel
// runs the call, by something that goes with a domain wherever that goes, and
// that nobody in the sandbox can take off: the hard limit of a resource that
// the kernel has not looked at since Linux 2.4 (RLIMIT_LOCKS, getrlimit(2)).
// fork, clone and execve hand limits on, threads share them, and only
// CAP_SYS_RESOURCE, which nothing in the sandbox has, could raise one again.
// A mark holds for all threads of a process, a domain perhaps for one: the
// others lose no more than what the kernel would not grant without the broker.
type inner struct {
	// any: somebody was marked. Until then nobody need be asked.
	any atomic.Bool
	// unmarkable: this process, which the sandbox has its limits from, has the
	// mark already.
	unmarkable bool
}

// innerMark is the hard limit of those who are marked.
const innerMark = 0

// sysRestrictSelf has the same number on every architecture (Linux 5.13).
const sysRestrictSelf = 446

func newInner() inner {
	limit, errno := sys.LocksLimit(0)
	return inner{unmarkable: errno != 0 || limit == innerMark}
}

// restrictSelf lets the kernel run landlock_restrict_self. It is Landlock's
// own: whatever another thread makes of its arguments meanwhile, it takes
// rights away, and gives none.
func restrictSelf(t *task) syscall.Errno {
	if t.b.inner.unmarkable {
		return syscall.EPERM
	}
	t.b.inner.any.Store(true)
	// Should the caller be gone and its number another's, that one loses
	// nothing by it.
	if errno := sys.LowerLocksLimit(t.tid, innerMark); errno != 0 {
		return syscall.EPERM
	}
	if errno := t.alive(); errno != 0 {
		return errno
	}
	return letKernel
}

// restricted reports whether the caller may be in a domain of its own. What
// can't be found out is taken for a yes. Whoever acts on a no makes sure
// afterwards that the caller was still there.
func (t *task) restricted() bool {
	if !t.b.inner.any.Load() {
		return false
	}
	limit, errno := sys.LocksLimit(t.tid)
	return errno != 0 || limit == innerMark
}
