// SPDX-License-Identifier: Apache-2.0

package seccomp

// landlockRules are those of a verdict for a domain inside the command's.
func landlockRules(v Verdict) []rule {
	switch v {
	case Allow:
		return nil
	case Notify:
		return landlockNotify
	}
	return landlockRefuse
}

const landlockReason = "the broker acts from outside of the domain that this makes, and what it did for the caller would not be bound by it"

var landlockNotify = []rule{{
	calls: []call{callLandlockRestrictSelf}, then: Notify,
	reason: landlockReason + "; so it marks the caller, and then lets the kernel run the call",
	source: "landlock_restrict_self(2)",
}}

var landlockRefuse = []rule{{
	calls: []call{callLandlockRestrictSelf}, errno: EOPNOTSUPP,
	reason: landlockReason,
	source: "landlock_restrict_self(2): EOPNOTSUPP, Landlock was disabled at boot time",
}}
