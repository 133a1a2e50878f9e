// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"errors"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// seccomp fills in what filters can do here, without installing one.
//
// The usual answer comes from a single question: a kernel that takes both
// flags has everything older than them too. Only where it doesn't is each
// asked apart.
func (h host) seccomp(f *Facts) {
	both := h.filterFlags(sys.SeccompNewListener | sys.SeccompWaitKillableRecv)
	filter, notif := both, both
	if both != nil {
		filter = h.filterFlags(0)
		notif = h.filterFlags(sys.SeccompNewListener)
	}
	if notif == nil {
		f.NotifSizes, notif = h.notifSizes()
	}
	f.SeccompFilter = seccompResult(FeatSeccompFilter, filter)
	f.UserNotif = seccompResult(FeatUserNotif, notif)
	f.WaitKillable = seccompResult(FeatWaitKillable, both)
}

// seccompResult reads seccomp(2)'s answer to a question. EINVAL and
// EOPNOTSUPP are the kernel's way to say that it doesn't know the thing; it
// answers EPERM or EACCES only after it has read a program, and none was
// given, so those come from another filter.
func seccompResult(name Name, err error) Result {
	r := Result{Feature: featureIn(quickFeatures, name), Err: err}
	switch {
	case err == nil:
		r.Verdict = Yes
	case errors.Is(err, syscall.EINVAL), errors.Is(err, syscall.EOPNOTSUPP):
		r.Verdict, r.Detail = No, "not known to this kernel"
	case errors.Is(err, syscall.ENOSYS):
		r.Verdict, r.Detail = No, "not built into the kernel, or hidden by a seccomp filter"
	case errors.Is(err, syscall.EPERM), errors.Is(err, syscall.EACCES):
		r.Verdict, r.Detail = No, "refused by a seccomp filter on this process"
	default:
		r.Detail = "the kernel gave no answer that is known"
	}
	return r
}
