// SPDX-License-Identifier: Apache-2.0

package denial

import (
	"fmt"

	"github.com/ambit-sandbox/ambit/policy"
)

// NetworkDenied says in one sentence that the policy closes the network and
// that the command tried to use it; empty if it did not.
//
// A call that only a use of the network explains is told whatever the exit
// code, since a command may go on from it and report something else. A call
// that libraries also make to look at addresses is told only after a failure.
// One that lists interfaces is no use of the network.
func NetworkDenied(list []Denial, exitCode int) string {
	const closed = "the policy closes the network, and the command "
	if d := lastOf(list, NetworkUsed); d != nil {
		return fmt.Sprintf(closed+"tried to use it (%s: %s)", d.Named, d.Errno)
	}
	if d := lastOf(list, NetworkProbed); d != nil && exitCode != 0 {
		return fmt.Sprintf(closed+"made a socket that may have been meant for it (%s: %s)", d.Named, d.Errno)
	}
	return ""
}

// lastOf finds the last denial of a kind, nil if there is none.
func lastOf(list []Denial, kind Network) *Denial {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].Network == kind {
			return &list[i]
		}
	}
	return nil
}

// NetworkGrant is the grant for a call that an open network would let through:
// nil for every other one.
func NetworkGrant(d *Denial) *Grant {
	if d.Network == "" {
		return nil
	}
	open := true
	return &Grant{Flag: "--allow-network", Policy: &policy.Policy{AllowNetwork: &open}, Keep: "it opens TCP and UDP to every address"}
}
