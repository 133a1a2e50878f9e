// SPDX-License-Identifier: Apache-2.0

package probe

import "github.com/ambit-sandbox/ambit/internal/sys"

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
		var sizes NotifSizes
		if sizes, notif = h.notifSizes(); notif == nil {
			f.NotifSizes = sizes
		}
	}
	f.SeccompFilter = seccompResult(FeatSeccompFilter, filter)
	f.UserNotif = seccompResult(FeatUserNotif, notif)
	f.WaitKillable = seccompResult(FeatWaitKillable, both)
}

func seccompResult(name Name, err error) Result {
	r := Result{Feature: featureIn(quickFeatures, name), Err: err}
	r.Verdict, r.Detail = seccompRefusals.judge(err)
	return r
}
