// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"runtime"
	"syscall"

	"github.com/ambit-sandbox/ambit/denial"
	"github.com/ambit-sandbox/ambit/internal/seccomp"
)

// answerRefusal answers a call that the filter refuses, and traps only so that the
// refusal is recorded. It returns an errno for every call, whatever the rules
// say: one that no rule refuses gets ENOSYS, and does not run either.
//
// It looks at nothing but the notification's registers, a copy that the kernel
// made when the filter ran (seccomp_unotify(2), SECCOMP_IOCTL_NOTIF_RECV).
func answerRefusal(t *task) syscall.Errno {
	r, ok := seccomp.Refused(runtime.GOARCH, t.b.options.Filter, uint32(t.nr), t.args)
	if !ok || r.Errno == 0 {
		return syscall.ENOSYS
	}
	errno := syscall.Errno(r.Errno)
	t.record(denial.Denial{
		Call: r.Call, Named: r.Asked, Errno: r.Errno.String(),
		Reason: r.Reason, Filter: r.Name, Network: networkUses[r.Network],
	})
	return errno
}

var networkUses = map[seccomp.NetworkUse]denial.Network{
	seccomp.NetworkListed: denial.NetworkListed, seccomp.NetworkProbed: denial.NetworkProbed, seccomp.NetworkUsed: denial.NetworkUsed,
}

// refuseNetwork records that a socket which the command came with was to be
// connected, and returns the errno.
func (t *task) refuseNetwork() syscall.Errno {
	t.b.log.add(denial.Denial{Call: t.call, Named: "network address", Errno: "EACCES", PID: t.tid, Network: denial.NetworkUsed})
	return syscall.EACCES
}
