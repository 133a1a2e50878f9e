// SPDX-License-Identifier: Apache-2.0

package cli

import "github.com/ambit-sandbox/ambit"

// deniedNetwork says in one line that the command tried to use a network that
// the policy closes, whatever its exit code: it may have gone on, and reported
// a wrong key. It reports whether the last refusal on record is told by that.
func (a *App) deniedNetwork(r *ambit.Receipt) bool {
	if r.NetworkDenied == "" {
		return false
	}
	a.complain(r.NetworkDenied + "; --allow-network opens it")
	return r.Denials[len(r.Denials)-1].Network != ""
}
