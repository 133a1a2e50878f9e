// SPDX-License-Identifier: Apache-2.0

// Package launch is the supervisor's side of a run: it starts the launcher,
// passes signals, copies output, keeps the time, and learns how it ended.
// The protocol between the two is drawn in package child.
package launch

import "github.com/ambit-sandbox/ambit/internal/probe"

// Guards reports whether the kernel can make a guard domain.
func Guards(r probe.Rights) bool {
	return r.Scope&(probe.ScopeSignal|probe.ScopeAbstractUnix) == probe.ScopeSignal|probe.ScopeAbstractUnix &&
		r.FS&probe.FSRefer != 0
}
